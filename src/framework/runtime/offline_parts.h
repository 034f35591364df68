// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of a Handle for frameworks that schedule nothing for real: profiles that are checked,
// shown, or asked "what if".
//
// Upstream: none.

#include <memory>

#include "base/random.h"
#include "framework/handle.h"

namespace ks::framework {

// Answers with what it is given; the rest is an empty cluster that forgets what it is told, and
// ways out that lead nowhere.
// Threads: those of the parts. Lifetime: outlives the frameworks; what it is given outlives it.
class OfflineParts {
 public:
  // Null: the empty one.
  struct Given {
    const Snapshot* snapshot = nullptr;
    const OwnerListers* owner_listers = nullptr;
    StorageState* storage = nullptr;
    DeviceState* devices = nullptr;
    const DeviceClassLister* device_classes = nullptr;
    const PodGroupStates* pod_groups = nullptr;
    MutableSnapshot* mutable_snapshot = nullptr;  // stays null: preemption for groups is not asked
    const Clock* clock = nullptr;                 // the real one
    const config::FeatureGates* gates = nullptr;  // the defaults
    Random* random = nullptr;
    ApiWriter* api = nullptr;
    Nominator* nominator = nullptr;
    PodActivator* activator = nullptr;
    const PodLister* pods = nullptr;
    const NodeLister* nodes = nullptr;
    TaskInbox* tasks = nullptr;
    WaitingPodAccess* waiting_pods = nullptr;
    PodsInPreBindAccess* pods_in_pre_bind = nullptr;
  };
  OfflineParts() : OfflineParts(Given()) {}
  explicit OfflineParts(const Given& given);
  ~OfflineParts();

  HandleParts parts() const;

 private:
  struct Empty;
  const std::unique_ptr<Empty> empty_;
  const Given given_;
};

}  // namespace ks::framework
