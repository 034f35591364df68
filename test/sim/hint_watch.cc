// SPDX-License-Identifier: Apache-2.0
#include "sim/hint_watch.h"

#include <utility>
#include <variant>

namespace ks::sim {
namespace {

using framework::ClusterEvent;
using framework::EventObject;
using framework::EventResource;

template <class Ptr>
EventObject Object(const Ptr& object) {
  return object == nullptr ? EventObject() : EventObject(object);
}

}  // namespace

void HintWatch::Add(EventResource resource, uint32_t action, EventObject before,
                    EventObject after) {
  changes_.push_back({.event = {.resource = resource, .actions = action, .custom_label = {}},
                      .before = std::move(before),
                      .after = std::move(after)});
}

template <class Ptr>
void HintWatch::Add(EventResource resource, const Ptr& before, const Ptr& after) {
  if (before != nullptr && after != nullptr &&
      before->meta.resource_version == after->meta.resource_version) {
    return;
  }
  const uint32_t action = before == nullptr  ? framework::kActionAdd
                          : after == nullptr ? framework::kActionDelete
                                             : framework::kActionUpdate;
  Add(resource, action, Object(before), Object(after));
}

void HintWatch::Changed(const api::PodPtr& before, const api::PodPtr& after) {
  const bool had = before != nullptr && !before->node_name.empty();
  const bool has = after != nullptr && !after->node_name.empty();
  const bool same = before != nullptr && after != nullptr && before->meta.uid == after->meta.uid &&
                    (!had || before->node_name == after->node_name);
  if (!same || had != has) {
    if (had) Add(EventResource::kAssignedPod, framework::kActionDelete, before, {});
    if (has) Add(EventResource::kAssignedPod, framework::kActionAdd, {}, after);
    return;
  }
  for (const ClusterEvent& event :
       framework::PodUpdateEvents(*before, *after, EventResource::kTargetPod)) {
    if (!has && event.actions == framework::kActionUpdate) continue;
    changes_.push_back({.event = event,
                        .before = before,
                        .after = after,
                        .only = has ? std::string() : after->meta.uid});
  }
}

void HintWatch::Changed(const api::NodePtr& before, const api::NodePtr& after) {
  if (before == nullptr || after == nullptr) return Add(EventResource::kNode, before, after);
  for (const ClusterEvent& event : framework::NodeUpdateEvents(*before, *after)) {
    Add(event.resource, event.actions, before, after);
  }
}

void HintWatch::Changed(const api::PersistentVolumePtr& before,
                        const api::PersistentVolumePtr& after) {
  Add(EventResource::kPersistentVolume, before, after);
}
void HintWatch::Changed(const api::PersistentVolumeClaimPtr& before,
                        const api::PersistentVolumeClaimPtr& after) {
  Add(EventResource::kPersistentVolumeClaim, before, after);
}
void HintWatch::Changed(const api::StorageClassPtr& before, const api::StorageClassPtr& after) {
  Add(EventResource::kStorageClass, before, after);
}
void HintWatch::Changed(const api::CsiNodePtr& before, const api::CsiNodePtr& after) {
  Add(EventResource::kCsiNode, before, after);
}
void HintWatch::Changed(const api::CsiDriverPtr& before, const api::CsiDriverPtr& after) {
  Add(EventResource::kCsiDriver, before, after);
}
void HintWatch::Changed(const api::CsiStorageCapacityPtr& before,
                        const api::CsiStorageCapacityPtr& after) {
  Add(EventResource::kCsiStorageCapacity, before, after);
}
void HintWatch::Changed(const api::VolumeAttachmentPtr& before,
                        const api::VolumeAttachmentPtr& after) {
  Add(EventResource::kVolumeAttachment, before, after);
}

void HintWatch::Changed(const api::ResourceSlicePtr& before, const api::ResourceSlicePtr& after) {
  Add(EventResource::kResourceSlice, before, after);
}
void HintWatch::Changed(const api::DeviceClassPtr& before, const api::DeviceClassPtr& after) {
  Add(EventResource::kDeviceClass, before, after);
}

void HintWatch::Changed(const api::ResourceClaimPtr& before, const api::ResourceClaimPtr& after) {
  ++claims_told_[(after == nullptr ? before : after)->meta.Key()];
}

void HintWatch::Know(const cache::DeviceStores& devices,
                     const std::map<std::string, api::ResourceClaimPtr>& claims) {
  std::map<std::string, api::ResourceClaimPtr> latest;
  for (const auto& [key, told] : claims) {
    if (auto claim = devices.FindClaim(key)) latest.emplace(key, std::move(claim));
  }
  for (const auto& [key, before] : known_claims_) {
    if (claims_told_[key] > 1) continue;
    const auto now = latest.find(key);
    Add(EventResource::kResourceClaim, before, now == latest.end() ? nullptr : now->second);
  }
  for (const auto& [key, now] : latest) {
    if (!known_claims_.contains(key) && claims_told_[key] <= 1) {
      Add(EventResource::kResourceClaim, api::ResourceClaimPtr(), now);
    }
  }
  known_claims_ = std::move(latest);
  claims_told_.clear();
  std::map<std::string, api::ResourceSlicePtr> slices;
  for (const api::ResourceSlicePtr& now : devices.Slices()) {
    const auto before = known_slices_.find(now->meta.name);
    if (before != known_slices_.end() && before->second != now &&
        before->second->meta.resource_version == now->meta.resource_version) {
      Add(EventResource::kResourceSlice, framework::kActionUpdate, before->second, now);
    }
    slices.emplace(now->meta.name, now);
  }
  known_slices_ = std::move(slices);
}

void HintWatch::Freed(const api::PodPtr& assumed) {
  Add(EventResource::kAssignedPod, framework::kActionDelete, assumed, {});
}

std::string HintWatch::WhyToWake(const framework::QueuedPod& parked, const InVain& in_vain) {
  for (const Change& change : changes_) {
    if (!change.only.empty() && change.only != parked.pod()->meta.uid) continue;
    if (!rules_->IsInteresting(change.event)) continue;
    if (rules_->Decide(parked, change.event, change.before, change.after) !=
        queue::Strategy::kSkip) {
      const auto* gone = std::get_if<api::PodPtr>(&change.before);
      const bool deleted = change.event.actions == framework::kActionDelete;
      if (deleted && gone != nullptr && in_vain(parked, **gone)) continue;
      return change.event.Label();
    }
  }
  return {};
}

std::string HintWatch::AfterStep(const queue::SchedulingQueue& queue, const InVain& in_vain) {
  std::string wrong;
  std::map<std::string, framework::QueuedPod> now;
  queue.stores().ForEach([&](const queue::Record& record) {
    if (record.store != queue::Store::kUnschedulable || record.gated) return;
    const std::string& uid = record.pod->pod()->meta.uid;
    now.emplace(uid, *record.pod);
    const auto before = parked_.find(uid);
    if (!wrong.empty() || before == parked_.end()) return;
    if (before->second.attempts != record.pod->attempts) return;
    const std::string event = WhyToWake(before->second, in_vain);
    if (event.empty()) return;
    wrong =
        "pod " + record.pod->pod()->meta.name + " sleeps through " + event + ", which it waits for";
  });
  parked_ = std::move(now);
  changes_.clear();
  return wrong;
}

}  // namespace ks::sim
