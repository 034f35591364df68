// SPDX-License-Identifier: Apache-2.0
#pragma once
// Handle: what a plugin gets at construction and may keep.
//
// Upstream: docs/spec/framework.md sections 8, 9 and 10.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "config/gates/feature_gates.h"
#include "framework/device_classes.h"
#include "framework/device_state.h"
#include "framework/mutable_snapshot.h"
#include "framework/owner_listers.h"
#include "framework/plugin.h"
#include "framework/pod_group_state.h"
#include "framework/preemption_extender.h"
#include "framework/ring_log.h"
#include "framework/storage_state.h"

namespace ks::framework {

class PreemptionMetrics;
class VolumeMetrics;
class DeviceMetrics;

// Names of nodes whose nominated pods changed.
using NominationLog = RingLog<std::string>;

// Pods that are expected to run on a node although they are not there yet.
// Threads: the scheduling thread; workers may read while a cycle runs.
class Nominator {
 public:
  virtual ~Nominator() = default;
  // Pods nominated to the node, in nomination order; entries that are in no store are stubs
  // (priority 0, no requests). Valid until the next change.
  virtual std::span<const PodInfoPtr> NominatedPodsForNode(std::string_view node_name) const = 0;
  virtual bool HasNominatedPods() const = 0;
  // Calls `visit` with the name of each node that has nominated pods, in no particular order.
  virtual void ForEachNominatedNode(
      const std::function<void(std::string_view node_name)>& visit) const = 0;
  // The node to which the pod with this uid is nominated; empty: none. Valid until the next change.
  virtual std::string_view NodeOf(std::string_view uid) const = 0;
  // Complete: also of a pod that was replaced by another version of it.
  virtual const NominationLog& changes() const = 0;
  // See docs/spec/queue.md section 11. Absent info means Noop: the entry follows the pod's status.
  virtual void AddNominatedPod(const api::PodPtr& pod,
                               const std::optional<NominatingInfo>& info) = 0;
  virtual void DeleteNominatedPodIfExists(const api::Pod& pod) = 0;
};

// Moves pods to the active queue.
class PodActivator {
 public:
  virtual ~PodActivator() = default;
  virtual void Activate(const std::vector<api::PodPtr>& pods) = 0;
  // All members that are queued below this root of pod groups. If the group is being scheduled,
  // pods in flight are told once.
  virtual void ActivateGroup(const PodGroupKey& root) = 0;
};

// Pods as the API server last showed them. Threads: the scheduling thread.
class PodLister {
 public:
  virtual ~PodLister() = default;
  // Null when unknown. `key`: "namespace/name".
  virtual api::PodPtr FindPod(std::string_view key) const = 0;
};

// Nodes as the API server last showed them. Threads: the scheduling thread.
class NodeLister {
 public:
  virtual ~NodeLister() = default;
  // Null when unknown.
  virtual api::NodePtr FindNode(std::string_view name) const = 0;
};

// The way to the scheduling thread, for answers that come on other threads. Tasks run there in
// order, between two attempts. Threads: any.
class TaskInbox {
 public:
  virtual ~TaskInbox() = default;
  virtual void PostTask(std::function<void()> task) = 0;
  // Whether tasks run at all; not where somebody only asks what would be.
  virtual bool attended() const { return true; }
};

// A pod held by Permit. Exactly one verdict counts, the first.
class WaitingPod {
 public:
  virtual ~WaitingPod() = default;
  virtual const api::PodPtr& pod() const = 0;
  virtual std::vector<std::string> PendingPlugins() const = 0;
  virtual void Allow(std::string_view plugin) = 0;
  // Whether this was the first verdict.
  virtual bool Reject(std::string_view plugin, std::string_view message) = 0;
  virtual bool Preempt(std::string_view plugin, std::string_view message) = 0;
};

class WaitingPodAccess {
 public:
  virtual ~WaitingPodAccess() = default;
  virtual void ForEachWaitingPod(const std::function<void(WaitingPod&)>& visit) = 0;
  virtual WaitingPod* GetWaitingPod(std::string_view uid) = 0;  // null when unknown
  // U, plugin name empty, reason `removed`. False for unknown pods.
  virtual bool RejectWaitingPod(std::string_view uid) = 0;
};

// A pod between Permit and Bind whose PreBind plugins run. All profiles share the set.
class PodInPreBind {
 public:
  virtual ~PodInPreBind() = default;
  // Gives the pod up; the first call ends PreBind with `cause`. False once the pod is marked
  // prebound, true otherwise, also when it was canceled before and has not stopped yet.
  virtual bool Cancel(std::string_view cause) = 0;
  // From now on nobody can cancel. False when the pod was canceled: its binding fails with that
  // cause.
  virtual bool MarkPrebound() = 0;
};

class PodsInPreBindAccess {
 public:
  // Told once, from inside Cancel, with the cause.
  using CancelFunction = std::function<void(std::string_view cause)>;

  virtual ~PodsInPreBindAccess() = default;
  // Replaces an entry of the same uid.
  virtual void AddPodInPreBind(std::string_view uid, CancelFunction cancel) = 0;
  virtual PodInPreBind* GetPodInPreBind(std::string_view uid) = 0;  // null when unknown
  virtual void RemovePodInPreBind(std::string_view uid) = 0;
};

// Scores of the feasible nodes. totals[i] belongs to nodes[i] of the call.
struct NodeScores {
  std::vector<int64_t> totals;
  // Raw and weighted scores per plugin, for explaining; filled only when `keep_details` is set.
  struct PluginScores {
    std::string_view plugin;
    int64_t weight = 1;
    std::vector<int64_t> raw;
    std::vector<int64_t> normalized;
  };
  bool keep_details = false;
  std::vector<PluginScores> details;
};

// What the plugins of a profile read of a pod: pods with equal signatures get equal verdicts and
// scores.
struct SignOutcome {
  // Success; U: the pod cannot be signed, or a plugin of the profile cannot sign; Error.
  Status status;
  std::string signature;  // empty unless Success
};

// What plugins reach beyond their profile. Threads: see each part. Lifetime: everything outlives
// the frameworks that are built with it, and what their plugins started.
struct HandleParts {
  const Snapshot& snapshot;  // only inside an attempt
  // What an OptionalKindReader asked for; anything else looks empty. Only inside an attempt.
  const OwnerListers& owner_listers;
  // The same for volumes; also between attempts, on the scheduling thread.
  StorageState& storage;
  // The same for devices.
  DeviceState& devices;
  // Which extended resources devices serve.
  const DeviceClassLister& device_classes = NoDeviceClasses();
  // Empty while the gate GenericWorkload is off.
  const PodGroupStates& pod_groups = NoPodGroupStates();
  // Null where no group can be attempted.
  MutableSnapshot* mutable_snapshot = nullptr;
  const Clock& clock;
  const config::FeatureGates& gates;
  Random& random;
  ApiWriter& api;
  Nominator& nominator;
  PodActivator& activator;
  const PodLister& pods;
  const NodeLister& nodes;
  TaskInbox& tasks;
  WaitingPodAccess& waiting_pods;
  PodsInPreBindAccess& pods_in_pre_bind;
  // In the order in which they are asked (docs/spec/cycle.md 10.1).
  std::vector<PreemptionExtender*> preemption_extenders{};
};

// The plugins of a profile, for a plugin that tries pods out on nodes (preemption and the like).
// Contracts: framework/runtime/runtime.h.
class PluginsRunner {
 public:
  virtual ~PluginsRunner() = default;
  virtual Status RunFilterPlugins(const CycleState& state, const api::Pod& pod,
                                  const NodeInfo& node) const = 0;
  virtual Status RunFilterPluginsWithNominatedPods(const CycleState& state, const api::Pod& pod,
                                                   const NodeInfo& node) const = 0;
  // Whether some plugin wants to know of pods that join or leave in this state.
  virtual bool HasPreFilterExtensions(const CycleState& state) const = 0;
  // Whether some plugin may keep something for a pod in this state, which others get no more then.
  virtual bool HasReserve(const CycleState& state) const = 0;
  virtual Status RunPreFilterExtensionAddPod(CycleState& state, const api::Pod& pod,
                                             const PodInfo& pod_to_add,
                                             const NodeInfo& node) const = 0;
  virtual Status RunPreFilterExtensionRemovePod(CycleState& state, const api::Pod& pod,
                                                const PodInfo& pod_to_remove,
                                                const NodeInfo& node) const = 0;
  virtual Status RunPreScorePlugins(CycleState& state, const api::Pod& pod,
                                    std::span<const NodeInfo* const> nodes) const = 0;
  virtual Status RunScorePlugins(const CycleState& state, const api::Pod& pod,
                                 std::span<const NodeInfo* const> nodes,
                                 NodeScores* scores) const = 0;
  virtual Status RunReservePluginsReserve(CycleState& state, const api::PodPtr& pod,
                                          const std::string& node) const = 0;
  virtual void RunReservePluginsUnreserve(CycleState& state, const api::PodPtr& pod,
                                          const std::string& node) const = 0;
  virtual SignOutcome SignPod(const api::Pod& pod) const = 0;
};

// Everything is there from the beginning; still, a factory asks only for what does not change:
// names, gates, slots, and parts to keep a reference to.
// Threads: see each part. Lifetime: outlives the plugins.
class Handle {
 public:
  // What depends on the profile or on what is measured. Null: nothing is measured.
  struct Profile {
    std::string name;
    // How much may be done at once; at least 1.
    int32_t parallelism = 1;
    PreemptionMetrics* preemption_metrics = nullptr;  // outlives the plugins and what they started
    VolumeMetrics* volume_metrics = nullptr;          // outlives the plugins
    DeviceMetrics* device_metrics = nullptr;          // outlives the plugins and their sequences
  };
  // Lifetime: `runner` outlives the handle.
  Handle(HandleParts parts, Profile profile, const PluginsRunner& runner)
      : parts_(std::move(parts)), profile_(std::move(profile)), runner_(runner) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  const std::string& ProfileName() const { return profile_.name; }
  const Snapshot& snapshot() const { return parts_.snapshot; }
  const OwnerListers& owner_listers() const { return parts_.owner_listers; }
  StorageState& storage() const { return parts_.storage; }
  DeviceState& devices() const { return parts_.devices; }
  const DeviceClassLister& device_classes() const { return parts_.device_classes; }
  const PodGroupStates& pod_groups() const { return parts_.pod_groups; }
  // Only in PodGroupPostFilter.
  MutableSnapshot& mutable_snapshot() const { return *parts_.mutable_snapshot; }
  const Clock& clock() const { return parts_.clock; }
  const config::FeatureGates& gates() const { return parts_.gates; }
  Random& random() const { return parts_.random; }
  ApiWriter& api() const { return parts_.api; }
  Nominator& nominator() const { return parts_.nominator; }
  PodActivator& activator() const { return parts_.activator; }
  const PodLister& pods() const { return parts_.pods; }
  const NodeLister& nodes() const { return parts_.nodes; }
  TaskInbox& tasks() const { return parts_.tasks; }
  WaitingPodAccess& waiting_pods() const { return parts_.waiting_pods; }
  PodsInPreBindAccess& pods_in_pre_bind() const { return parts_.pods_in_pre_bind; }
  std::span<PreemptionExtender* const> preemption_extenders() const {
    return parts_.preemption_extenders;
  }
  int32_t parallelism() const { return profile_.parallelism; }
  PreemptionMetrics* preemption_metrics() const { return profile_.preemption_metrics; }
  VolumeMetrics* volume_metrics() const { return profile_.volume_metrics; }
  DeviceMetrics* device_metrics() const { return profile_.device_metrics; }
  // Not in factories: there are no plugins yet.
  const PluginsRunner& runner() const { return runner_; }
  // Factories only; wrap it in a StateSlot<T>.
  uint32_t NewStateSlot() { return next_slot_++; }

 private:
  const HandleParts parts_;
  const Profile profile_;
  const PluginsRunner& runner_;
  uint32_t next_slot_ = 0;
};

}  // namespace ks::framework
