// SPDX-License-Identifier: Apache-2.0
#include "client/write/pod_writes.h"

#include "client/write/patch_job.h"

namespace ks::client {

bool PodWrites::AddBinding(const std::string& uid) {
  MutexLock lock(mutex_);
  binding_.insert(uid);
  const auto queued = queued_.find(uid);
  if (queued == queued_.end()) return false;
  queued->second->Drop();
  queued_.erase(queued);
  return true;
}

bool PodWrites::MayBind(const std::string& uid) const {
  MutexLock lock(mutex_);
  return !IsPatching(uid);
}

void PodWrites::EndBinding(const std::string& uid) {
  MutexLock lock(mutex_);
  binding_.erase(uid);
}

bool PodWrites::IsIdle(const std::string& uid) const {
  MutexLock lock(mutex_);
  return !IsPatching(uid) && !queued_.contains(uid) && !binding_.contains(uid);
}

std::optional<framework::ApiWriter::Done> PodWrites::AddPatch(PatchJob& patch) {
  MutexLock lock(mutex_);
  if (binding_.contains(patch.uid())) return patch.TakeDone();
  const auto [queued, added] = queued_.try_emplace(patch.uid(), &patch);
  if (added) return std::nullopt;
  if (queued->second->CanMerge(patch)) return queued->second->Merge(patch);
  queued->second = &patch;
  return std::nullopt;
}

bool PodWrites::MayStart(const PatchJob& patch) const {
  MutexLock lock(mutex_);
  return !IsPatching(patch.uid());
}

void PodWrites::StartPatch(PatchJob& patch) {
  MutexLock lock(mutex_);
  const auto queued = queued_.find(patch.uid());
  if (queued != queued_.end() && queued->second == &patch) queued_.erase(queued);
  in_flight_[patch.uid()] = &patch;
}

void PodWrites::EndPatch(const PatchJob& patch) {
  MutexLock lock(mutex_);
  const auto queued = queued_.find(patch.uid());
  if (queued != queued_.end() && queued->second == &patch) queued_.erase(queued);
  const auto in_flight = in_flight_.find(patch.uid());
  if (in_flight != in_flight_.end() && in_flight->second == &patch) in_flight_.erase(in_flight);
}

}  // namespace ks::client
