// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_volume_limits/attached_volumes.h"

#include <utility>

namespace ks::plugins {

using framework::OptionalKind;
using framework::Status;

void VolumeCounts::Add(const AttachableVolume& volume) {
  if (++uses_[volume.name] > 1) return;
  for (auto& [driver, count] : drivers_) {
    if (driver != volume.driver) continue;
    ++count;
    return;
  }
  drivers_.emplace_back(volume.driver, 1);
}

void VolumeCounts::Remove(const AttachableVolume& volume) {
  const auto found = uses_.find(volume.name);
  KS_CHECK(found != uses_.end(), "a volume leaves that did not join");
  if (--found->second > 0) return;
  uses_.erase(found);
  for (auto& [driver, count] : drivers_) {
    if (driver == volume.driver) --count;
  }
}

int64_t VolumeCounts::Count(const Symbol& driver) const {
  for (const auto& [counted, count] : drivers_) {
    if (counted == driver) return count;
  }
  return 0;
}

Status CountAttached(std::span<const framework::PodInfoPtr> pods,
                     const framework::StorageState& storage, VolumeCounts* counts) {
  std::vector<AttachableVolume> volumes;
  for (const framework::PodInfoPtr& pod : pods) {
    volumes.clear();
    Status status = IdentifyAttached(pod->pod(), storage, &volumes);
    if (!status.ok()) return status;
    for (const AttachableVolume& volume : volumes) counts->Add(volume);
  }
  return {};
}

void AttachedVolumes::Refresh(const framework::Snapshot& snapshot,
                              const framework::StorageState& storage) {
  storage_ = &storage;
  if (!FollowsStorage()) ForgetPods();
  // Pods that join are counted by what claims and volumes are now; counting them once more for a
  // change that they already saw does no harm.
  const bool anew = FollowPods(snapshot);
  if (!anew) CatchUp();
  if (slots_.size() < snapshot.slots()) slots_.resize(snapshot.slots());  // nodes without pods
  snapshot_ = &snapshot;
  pods_position_ = snapshot.changes().end();
  storage_position_ = storage_->changes().end();
}

const VolumeCounts* AttachedVolumes::Find(const framework::NodeInfo& node,
                                          const framework::Snapshot& snapshot) const {
  const bool current = snapshot_ == &snapshot && pods_position_ == snapshot.changes().end() &&
                       storage_position_ == storage_->changes().end();
  if (!current || node.slot() >= slots_.size()) return nullptr;
  const framework::NodeInfo* known =
      node.slot() < snapshot.slots() ? snapshot.AtSlot(node.slot()) : nullptr;
  if (known == nullptr || known->generation() != node.generation()) return nullptr;
  const Slot& slot = slots_[node.slot()];
  return slot.failed_pods == 0 ? &slot.counts : nullptr;
}

bool AttachedVolumes::FollowsStorage() const {
  const framework::ObjectLog& log = storage_->changes();
  if (!storage_position_ || !log.Holds(*storage_position_)) return false;
  for (uint64_t i = *storage_position_; i < log.end(); ++i) {
    if (log.At(i).kind == OptionalKind::kStorageClass) return false;
  }
  return true;
}

void AttachedVolumes::CatchUp() {
  const framework::ObjectLog& log = storage_->changes();
  for (uint64_t i = *storage_position_; i < log.end(); ++i) {
    const framework::ObjectChange& change = log.At(i);
    if (change.kind == OptionalKind::kPersistentVolumeClaim) Recount(change.key);
    if (change.kind != OptionalKind::kPersistentVolume) continue;
    const auto found = claims_of_volume_.find(change.key);
    if (found == claims_of_volume_.end()) continue;
    const std::set<std::string> keys = found->second;  // counting may move them
    for (const std::string& key : keys) Recount(key);
  }
}

void AttachedVolumes::Clear(size_t slots) {
  slots_.clear();
  slots_.resize(slots);
  claims_.clear();
  claims_of_volume_.clear();
}

void AttachedVolumes::Join(uint32_t slot, AttachingPod& pod) {
  if (slot >= slots_.size()) slots_.resize(slot + 1);
  pod.slot = slot;
  for (const api::Volume& volume : pod.pod->spec->volumes) {
    if (api::MeansClaim(volume)) claims_[api::ClaimKey(*pod.pod, volume)].users.insert(&pod);
  }
  Count(pod);
}

void AttachedVolumes::Leave(uint32_t, AttachingPod& pod) {
  Uncount(pod);
  for (const api::Volume& volume : pod.pod->spec->volumes) {
    if (!api::MeansClaim(volume)) continue;
    const auto claim = claims_.find(api::ClaimKey(*pod.pod, volume));
    if (claim == claims_.end()) continue;  // of two volumes with one claim
    claim->second.users.erase(&pod);
    if (!claim->second.users.empty()) continue;
    SetVolume(claim->first, claim->second, "");
    claims_.erase(claim);
  }
}

void AttachedVolumes::Count(AttachingPod& pod) {
  for (const api::Volume& volume : pod.pod->spec->volumes) {
    if (!api::MeansClaim(volume)) continue;
    const std::string key = api::ClaimKey(*pod.pod, volume);
    const api::PersistentVolumeClaimPtr claim = storage_->FindClaim(key);
    SetVolume(key, claims_[key], claim == nullptr ? "" : claim->volume_name);
  }
  Slot& slot = slots_[pod.slot];
  pod.failed = !IdentifyAttached(*pod.pod, *storage_, &pod.volumes).ok();
  if (pod.failed) ++slot.failed_pods;
  for (const AttachableVolume& volume : pod.volumes) slot.counts.Add(volume);
}

void AttachedVolumes::Uncount(AttachingPod& pod) {
  Slot& slot = slots_[pod.slot];
  if (pod.failed) --slot.failed_pods;
  for (const AttachableVolume& volume : pod.volumes) slot.counts.Remove(volume);
  pod.failed = false;
  pod.volumes.clear();
}

void AttachedVolumes::Recount(const std::string& claim_key) {
  const auto found = claims_.find(claim_key);
  if (found == claims_.end()) return;
  // Its users stay: Count adds no claim that is not here already.
  for (AttachingPod* pod : found->second.users) {
    Uncount(*pod);
    Count(*pod);
  }
}

void AttachedVolumes::SetVolume(const std::string& claim_key, Claim& claim,
                                const std::string& volume_name) {
  if (claim.volume_name == volume_name) return;
  if (!claim.volume_name.empty()) {
    const auto old = claims_of_volume_.find(claim.volume_name);
    old->second.erase(claim_key);
    if (old->second.empty()) claims_of_volume_.erase(old);
  }
  claim.volume_name = volume_name;
  if (!volume_name.empty()) claims_of_volume_[volume_name].insert(claim_key);
}

}  // namespace ks::plugins
