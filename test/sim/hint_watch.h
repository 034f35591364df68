// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether every cluster event reaches the pods that wait for it. What the streams told is turned
// into events here once more, and the hints of the plugins that rejected a parked pod are asked
// about each: one that says Queue must have moved the pod. A second opinion on the way from the
// streams through the router and the queue's index to the hints, not on the hints themselves.
//
// Upstream: docs/spec/queue.md sections 8 and 9.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/node.h"
#include "api/pod.h"
#include "api/storage.h"
#include "base/clock.h"
#include "cache/device_stores.h"
#include "queue/requeue_rules.h"
#include "queue/scheduling_queue.h"

namespace ks::sim {

// Threads: one.
class HintWatch {
 public:
  // Whose hints are asked from now on, by scheduler name. Lifetime: their frameworks outlive the
  // last AfterStep.
  void Watch(const queue::ProfileHooksByName& profiles, const Clock& clock) {
    rules_.emplace(profiles, clock, nullptr);
  }

  // What the scheduler is about to be told of one object: null before, it is new; null after, gone.
  void Changed(const api::PodPtr& before, const api::PodPtr& after);
  void Changed(const api::NodePtr& before, const api::NodePtr& after);
  void Changed(const api::PersistentVolumePtr& before, const api::PersistentVolumePtr& after);
  void Changed(const api::PersistentVolumeClaimPtr& before,
               const api::PersistentVolumeClaimPtr& after);
  void Changed(const api::StorageClassPtr& before, const api::StorageClassPtr& after);
  void Changed(const api::CsiNodePtr& before, const api::CsiNodePtr& after);
  void Changed(const api::CsiDriverPtr& before, const api::CsiDriverPtr& after);
  void Changed(const api::CsiStorageCapacityPtr& before, const api::CsiStorageCapacityPtr& after);
  void Changed(const api::VolumeAttachmentPtr& before, const api::VolumeAttachmentPtr& after);
  void Changed(const api::ResourceSlicePtr& before, const api::ResourceSlicePtr& after);
  void Changed(const api::DeviceClassPtr& before, const api::DeviceClassPtr& after);
  // What became of it, Know tells.
  void Changed(const api::ResourceClaimPtr& before, const api::ResourceClaimPtr& after);

  // What a scheduler knows of devices after a step. Told of once more is what no stream tells:
  // versions of claims that were assumed, and taints that rules put on devices. Of a claim that the
  // streams told of several times within the step nothing is: a hint may have had its reason in
  // none of them, but in all together. `claims`: those that the streams told, by key.
  void Know(const cache::DeviceStores& devices,
            const std::map<std::string, api::ResourceClaimPtr>& claims);

  // The binding of a pod that is still known without a node failed: its room is free.
  void Freed(const api::PodPtr& assumed);

  // Empty: everybody was woken who had to be. Else what is wrong. Requires: nothing was posted
  // since the scheduler's last Step. `in_vain`: whether the parked pod may sleep although that pod
  // left its node.
  using InVain = std::function<bool(const framework::QueuedPod& parked, const api::Pod& gone)>;
  std::string AfterStep(const queue::SchedulingQueue& queue, const InVain& in_vain);

 private:
  struct Change {
    framework::ClusterEvent event;
    framework::EventObject before;
    framework::EventObject after;
    std::string only{};  // not empty: concerns the pod of this uid alone
  };

  template <class Ptr>
  void Add(framework::EventResource resource, const Ptr& before, const Ptr& after);
  void Add(framework::EventResource resource, uint32_t action, framework::EventObject before,
           framework::EventObject after);
  std::string WhyToWake(const framework::QueuedPod& parked, const InVain& in_vain);

  std::optional<queue::RequeueRules> rules_;
  std::map<std::string, api::ResourceClaimPtr> known_claims_;  // by key, in their latest version
  std::map<std::string, api::ResourceSlicePtr> known_slices_;  // by name, with taints of rules
  std::map<std::string, int> claims_told_;              // by key, how often since the last step
  std::vector<Change> changes_;                         // since the last step
  std::map<std::string, framework::QueuedPod> parked_;  // by uid, and not gated, after that step
};

}  // namespace ks::sim
