// SPDX-License-Identifier: Apache-2.0
#pragma once
// What DynamicResources remembers during one attempt: the claims of the pod, and for each node that
// passed the devices that they would get.
//
// Upstream: docs/spec/plugins-dra.md sections 4.2 (step 6), 4.3, 4.5, 12.

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/devices.h"
#include "api/pod.h"
#include "api/pod_group.h"
#include "base/mutex.h"
#include "base/thread_annotations.h"
#include "framework/cycle_state.h"
#include "framework/device_explainer.h"
#include "framework/handle.h"
#include "framework/node_info.h"
#include "framework/status.h"
#include "plugins/dynamic_resources/allocator.h"
#include "plugins/dynamic_resources/answers.h"
#include "plugins/dynamic_resources/claim_calls.h"
#include "plugins/dynamic_resources/device_memory.h"
#include "plugins/dynamic_resources/extended_requests.h"
#include "plugins/dynamic_resources/plan.h"

namespace ks::plugins {

// One claim of the pod.
struct AttemptClaim {
  api::ResourceClaimPtr claim;  // as PreFilter found it; once it is written, as it is then
  bool extended = false;        // the one of the pod's extended resources
  bool exists = true;           // false: so far only here
  bool unusable = false;        // its devices failed to become ready, or took too long
  bool for_group = false;       // it is reserved for the pod's group, not for the pod
  // What members of the group that were tried before are given; null: nothing.
  api::ClaimAllocationPtr shared{};
  // Decided by Reserve, and what the devices are kept under until they are written; null: the claim
  // was allocated before.
  api::ClaimAllocationPtr decided{};
  std::string decided_uid{};
  // The write that was to give it its devices failed or met a conflict, and may have been done for
  // all that.
  bool uncertain = false;
  // Of the request that was under way when PreBind was given up; null: none was. It is answered
  // when Unreserve comes.
  std::shared_ptr<const ClaimAnswer> unread{};

  bool allocated() const { return allocation() != nullptr; }
  const api::ClaimAllocationPtr& allocation() const {
    return shared != nullptr ? shared : claim->allocation;
  }
};

// The claims of a pod, and of which group it is a member.
struct ClaimsOfPod {
  std::vector<AttemptClaim> claims;
  std::vector<Symbol> extended{};  // its extended resources, ascending, if the last claim is theirs
  api::PodGroupPtr group{};        // null: it has none, or groups have no claims (gate)
};

// What is allocated on the nodes on which devices serve the same extended resources.
struct NodePlan {
  std::vector<ServedResource> served;
  std::shared_ptr<const ExtendedRequests> extended;  // null: the pod asks for no such resource
  std::unique_ptr<const AllocationPlan> plan;        // of the claims that are not allocated
  std::shared_ptr<NodeAnswers> answers;
};

// What the claims that are not allocated get on a node.
struct NodeDevices {
  std::shared_ptr<const NodePlan> plan{};  // null: the node did not pass
  std::shared_ptr<const NodePools> pools{};
  std::shared_ptr<const DevicePicks> picks{};

  // One a claim. `new_share_id`: see MakeAllocations.
  std::vector<api::ClaimAllocation> Allocations(
      const std::string& node_name, const std::function<std::string()>& new_share_id) const;
  // How early in the lists of `firstAvailable` they stand.
  int64_t Score() const;
};

// What an attempt uses of its plugin. Lifetime: outlives it.
struct DeviceTools {
  framework::Handle& handle;
  DeviceMemory& memory;
  Duration filter_timeout{};  // for one node; 0: none
};

// Threads: the scheduling thread; workers call Filter and Score for different nodes at the same
// time. Lifetime: of an attempt and what follows it; all clones of the cycle state share it.
class ClaimsAttempt final : public framework::StateData {
 public:
  // Of a pod without claims.
  ClaimsAttempt() = default;
  ClaimsAttempt(const DeviceTools& tools, ClaimsOfPod pod, size_t node_slots);

  std::vector<AttemptClaim>& claims() { return claims_; }
  const std::vector<AttemptClaim>& claims() const { return claims_; }
  // See ClaimsOfPod.
  const api::PodGroupPtr& group() const { return group_; }

  // Judges the node and remembers what the claims would get there.
  framework::Status Filter(const api::Pod& pod, const framework::NodeInfo& node) const;
  // How early in the lists of `firstAvailable` the node's devices stand.
  int64_t Score(const framework::NodeInfo& node) const;
  // Null: the node did not pass, or every claim was allocated before.
  const NodeDevices* DevicesOf(const framework::NodeInfo& node) const;
  // The same, told.
  std::vector<framework::ClaimOutcome> Outcomes(const framework::NodeInfo& node) const;
  // The requests of the claim of the pod's extended resources on the chosen node; null: devices
  // serve none there.
  const std::shared_ptr<const ExtendedRequests>& chosen_extended() const {
    return chosen_extended_;
  }
  // Gives back what served to choose a node, unless it is fixed. `devices` of that node may be
  // null; `given`: one allocation a claim that was not allocated, or none.
  void NodeChosen(const std::string& node, const NodeDevices* devices,
                  std::vector<api::ClaimAllocationPtr> given);
  // What NodeChosen was told of this node; null: another one was chosen, or none. Members of a
  // group reserve twice: when the group is tried, and in earnest.
  const std::vector<api::ClaimAllocationPtr>* GivenOn(const std::string& node) const {
    return node == chosen_node_ ? &given_ : nullptr;
  }
  std::shared_ptr<StateData> Fix(const std::shared_ptr<StateData>& self,
                                 const framework::NodeInfo& /*node*/) override {
    fixed_ = true;
    return self;
  }
  // Whether the claim was allocated, but not for a node that would have done otherwise.
  bool WasUnavailable(size_t claim) const { return unavailable_[claim].load(); }

 private:
  std::shared_ptr<const NodePlan> PlanFor(const api::Pod& pod,
                                          std::vector<ServedResource> served) const;
  std::shared_ptr<const NodePlan> MakePlan(const api::Pod& pod,
                                           std::vector<ServedResource> served) const;
  framework::Status FindServed(const framework::NodeInfo& node,
                               std::vector<ServedResource>& served) const;
  framework::Status Allocate(const NodePlan& plan, const framework::NodeInfo& node,
                             NodeDevices& found) const;
  NodeAllocation Ask(const NodePlan& plan, const framework::NodeInfo& node,
                     const NodePools& pools) const;
  framework::Status CheckAllocated(const framework::NodeInfo& node) const;
  bool Available(const AttemptClaim& claim, const api::Node& node) const;
  bool has_extended() const { return !claims_.empty() && claims_.back().extended; }

  const DeviceTools* tools_ = nullptr;
  std::vector<AttemptClaim> claims_;
  std::vector<Symbol> extended_resources_;
  api::PodGroupPtr group_;
  bool any_to_allocate_ = false;
  mutable std::vector<std::atomic<bool>> unavailable_;  // by claim
  // By slot; each worker writes its nodes'.
  mutable std::vector<NodeDevices> devices_;
  std::string chosen_node_;  // empty: none yet
  std::vector<api::ClaimAllocationPtr> given_;
  std::shared_ptr<const ExtendedRequests> chosen_extended_;
  bool fixed_ = false;
  mutable Mutex plans_mutex_;
  mutable std::vector<std::shared_ptr<const NodePlan>> plans_ KS_GUARDED_BY(plans_mutex_);
};

}  // namespace ks::plugins
