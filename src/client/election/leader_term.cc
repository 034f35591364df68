// SPDX-License-Identifier: Apache-2.0
#include "client/election/leader_term.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace ks::client {

// Others see whole seconds of the lease duration only.
LeaderTerm::LeaderTerm(const Clock& clock, const LeaderElectorOptions& options,
                       LeaderMetrics* metrics)
    : clock_(clock),
      metrics_(metrics),
      lease_name_(options.lease_name),
      lease_duration_(options.lease_duration),
      write_time_(
          std::min<Duration>(options.renew_deadline,
                             std::chrono::floor<std::chrono::seconds>(options.lease_duration))) {}

void LeaderTerm::Begin(std::shared_ptr<WriteFence> fence) {
  MutexLock lock(mutex_);
  fence_ = std::move(fence);
  SetLeading(false);
}

bool LeaderTerm::Renew(TimePoint sent) {
  MutexLock lock(mutex_);
  const bool was_open = fence_->IsOpen();
  renewed_ = sent;
  fence_->OpenUntil(sent + write_time_);
  return !was_open && fence_->IsOpen();
}

void LeaderTerm::Lead() {
  MutexLock lock(mutex_);
  SetLeading(true);
}

void LeaderTerm::End() {
  Close();
  MutexLock lock(mutex_);
  if (fence_ != nullptr) SetLeading(false);
}

void LeaderTerm::Close() {
  MutexLock lock(mutex_);
  leading_ = false;
  if (fence_ != nullptr) fence_->Close();
}

void LeaderTerm::SetLeading(bool leading) {
  leading_ = leading;
  if (metrics_ != nullptr) metrics_->SetLeading(leading);
}

bool LeaderTerm::IsLeader() const {
  MutexLock lock(mutex_);
  return leading_;
}

bool LeaderTerm::MayWrite() const {
  MutexLock lock(mutex_);
  return fence_->IsOpen();
}

std::shared_ptr<const WriteFence> LeaderTerm::fence() const {
  MutexLock lock(mutex_);
  return fence_;
}

std::string LeaderTerm::Failure(Duration tolerance) const {
  MutexLock lock(mutex_);
  if (!leading_ || clock_.Now() <= renewed_ + lease_duration_ + tolerance) return "";
  return "failed election to renew leadership on lease " + lease_name_;
}

void LeaderTerm::CountSlowPath() {
  if (metrics_ != nullptr) metrics_->SlowPath();
}

}  // namespace ks::client
