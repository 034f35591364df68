// SPDX-License-Identifier: Apache-2.0
// How a lease is given back, and the end of an elector.
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/logging.h"
#include "client/election/leader_elector_core.h"

namespace ks::client {
namespace {

// How long a release waits for the answer of a try that may just have acquired the lease.
constexpr Duration kPatience = std::chrono::seconds(1);

}  // namespace

void LeaderElector::Core::ReleaseToPreferred(std::function<void()> done) {
  {
    MutexLock lock(mutex_);
    KS_CHECK(phase_ == Phase::kCalledBack, "ReleaseToPreferred of a lease that nobody called back");
    after_release_ = Phase::kIdle;
    StartRelease(options_.renew_deadline, std::move(done));
    RecordStopped();
  }
  CancelStopped();
}

void LeaderElector::Core::Release(std::function<void()> done) {
  {
    MutexLock lock(mutex_);
    KS_CHECK(phase_ != Phase::kReleasing && phase_ != Phase::kOver, "Release is called once");
    const Phase before = phase_;
    after_release_ = Phase::kOver;
    term_.End();
    // A try under way may be acquiring the lease just now: its answer is waited for.
    const bool acquiring = before == Phase::kAcquiring && IsWriting();
    StartRelease(acquiring ? kPatience : options_.renew_deadline, std::move(done));
    if (before == Phase::kLeading || before == Phase::kCalledBack) {
      RecordStopped();
    } else if (!acquiring) {
      FinishRelease();
    }
  }
  CancelStopped();
}

void LeaderElector::Core::StartRelease(Duration deadline, std::function<void()> done) {
  phase_ = Phase::kReleasing;
  StopFollowing();
  released_ = std::move(done);
  StartDeadline(deadline, &Core::FinishRelease);
}

void LeaderElector::Core::RecordStopped() {
  Send(lease_lock_.RecordEvent(observed_.lease(), "stopped leading", clock().WallNow()),
       &Core::ReadForRelease);
}

void LeaderElector::Core::ReadForRelease() { Send(lease_lock_.Get(), &Core::OnReadForRelease); }

void LeaderElector::Core::OnReadForRelease(const RestReply& reply) {
  if (!reply.ok()) {
    if (!reply.error->IsNotFound()) {
      log::Error(reply.error->message, "Failed to release lock",
                 {{"lock", lease_lock_.Describe()}});
    }
    return FinishRelease();
  }
  Result<LeaseObject> read = LeaseObject::Parse(reply.body);
  if (!read.ok() || read->record().holder != options_.identity) return FinishRelease();
  observed_.Observe(std::move(read).value(), clock().Now());
  const std::string now = FormatMicroTime(clock().WallNow());
  Send(lease_lock_.Update(observed_.lease(),
                          {.holder = "",
                           .duration_seconds = 1,
                           .acquire_time = now,
                           .renew_time = now,
                           .transitions = observed_.lease().record().transitions}),
       &Core::OnReleased);
}

void LeaderElector::Core::OnReleased(const RestReply& reply) {
  if (!reply.ok()) {
    if (reply.error->IsConflict()) return ReadForRelease();
    log::Error(reply.error->message, "Failed to release lock", {{"lock", lease_lock_.Describe()}});
  }
  FinishRelease();
}

void LeaderElector::Core::FinishRelease() {
  StopStep();
  StopDeadline();
  phase_ = after_release_;
  runner_->RunSoon(std::exchange(released_, nullptr));
}

void LeaderElector::Core::Stop() {
  runner_->Close();
  {
    MutexLock lock(mutex_);
    phase_ = Phase::kOver;
    StopFollowing();
    StopStep();
    StopDeadline();
    term_.Close();
  }
  runner_->WaitUntilQuiet();
  CancelStopped();
}

}  // namespace ks::client
