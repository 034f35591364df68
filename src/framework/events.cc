// SPDX-License-Identifier: Apache-2.0
#include "framework/events.h"

#include <map>

#include "framework/pod_requests.h"

namespace ks::framework {
namespace {

bool IsPodResource(EventResource resource) {
  return resource == EventResource::kAssignedPod || resource == EventResource::kUnscheduledPod ||
         resource == EventResource::kTargetPod;
}

std::string_view ActionText(uint32_t actions) {
  switch (actions) {
    case kActionAdd:
      return "Add";
    case kActionDelete:
      return "Delete";
    case kActionUpdateNodeAllocatable:
      return "UpdateNodeAllocatable";
    case kActionUpdateNodeLabel:
      return "UpdateNodeLabel";
    case kActionUpdateNodeTaint:
      return "UpdateNodeTaint";
    case kActionUpdateNodeCondition:
      return "UpdateNodeCondition";
    case kActionUpdateNodeAnnotation:
      return "UpdateNodeAnnotation";
    case kActionUpdateNodeDeclaredFeature:
      return "UpdateNodeDeclaredFeature";
    case kActionUpdateNodePreemptionPolicy:
      return "UpdateNodePreemptionPolicy";
    case kActionUpdatePodLabel:
      return "UpdatePodLabel";
    case kActionUpdatePodScaleDown:
      return "UpdatePodScaleDown";
    case kActionUpdatePodScaleUp:
      return "UpdatePodScaleUp";
    case kActionUpdatePodToleration:
      return "UpdatePodToleration";
    case kActionUpdatePodSchedulingGatesEliminated:
      return "UpdatePodSchedulingGatesEliminated";
    case kActionUpdatePodGeneratedResourceClaim:
      return "UpdatePodGeneratedResourceClaim";
    case kActionUpdate:
      return "Update";
    case kActionAll:
      return "All";
    default:  // a combination, as only registrations have
      return {};
  }
}

bool ConditionsDiffer(const api::Node& old_node, const api::Node& new_node) {
  if (old_node.conditions == new_node.conditions) return false;
  // Compared as maps: of two conditions with one type the last one counts.
  const auto as_map = [](const api::Node& node) {
    std::map<Symbol, Symbol> statuses;
    for (const auto& [type, status] : node.conditions) statuses[type] = status;
    return statuses;
  };
  return as_map(old_node) != as_map(new_node);
}

bool PreemptionPolicyDiffers(const api::Node& old_node, const api::Node& new_node) {
  return old_node.pod_preemption_policy_present != new_node.pod_preemption_policy_present ||
         old_node.disable_resize_preemption != new_node.disable_resize_preemption;
}

struct Scaling {
  bool down = false;
  bool up = false;
};

Scaling CompareRequests(const api::Pod& old_pod, const api::Pod& new_pod) {
  const bool resizes = old_pod.FindCondition(api::kPodResizePending) != nullptr ||
                       new_pod.FindCondition(api::kPodResizePending) != nullptr;
  if (old_pod.spec == new_pod.spec && old_pod.status.resources == new_pod.status.resources &&
      (!resizes || *new_pod.status.resources == api::PodResourceStatus())) {
    return {};  // the usual update: only conditions changed
  }
  const RequestOptions options{.use_status = true};
  const api::ResourceList old_list = AggregateRequests(old_pod, options);
  const api::ResourceList new_list = AggregateRequests(new_pod, options);
  // True when some resource of `a` is missing in `b`, or smaller there.
  const auto some_less = [](const api::ResourceList& a, const api::ResourceList& b) {
    for (const auto& [name, amount] : a) {
      const api::Quantity* other = b.Find(name);
      if (other == nullptr || other->MilliValue() < amount.MilliValue()) return true;
    }
    return false;
  };
  return {.down = some_less(old_list, new_list), .up = some_less(new_list, old_list)};
}

bool GeneratedClaimsDiffer(const api::PodStatus& a, const api::PodStatus& b) {
  return a.claims != b.claims;
}

}  // namespace

std::string_view EventResourceText(EventResource resource) {
  switch (resource) {
    case EventResource::kWildcard:
      return "*";
    case EventResource::kPod:
      return "Pod";
    case EventResource::kAssignedPod:
      return "AssignedPod";
    case EventResource::kUnscheduledPod:
      return "UnscheduledPod";
    case EventResource::kTargetPod:
      return "TargetPod";
    case EventResource::kNode:
      return "Node";
    case EventResource::kPersistentVolume:
      return "PersistentVolume";
    case EventResource::kPersistentVolumeClaim:
      return "PersistentVolumeClaim";
    case EventResource::kCsiNode:
      return "storage.k8s.io/CSINode";
    case EventResource::kCsiDriver:
      return "storage.k8s.io/CSIDriver";
    case EventResource::kCsiStorageCapacity:
      return "storage.k8s.io/CSIStorageCapacity";
    case EventResource::kStorageClass:
      return "storage.k8s.io/StorageClass";
    case EventResource::kVolumeAttachment:
      return "storage.k8s.io/VolumeAttachment";
    case EventResource::kResourceClaim:
      return "resource.k8s.io/ResourceClaim";
    case EventResource::kResourceSlice:
      return "resource.k8s.io/ResourceSlice";
    case EventResource::kDeviceClass:
      return "resource.k8s.io/DeviceClass";
    case EventResource::kPodGroup:
      return "scheduling.k8s.io/PodGroup";
    case EventResource::kCompositePodGroup:
      return "scheduling.k8s.io/CompositePodGroup";
    case EventResource::kService:
      return "Service";
    case EventResource::kNamespace:
      return "Namespace";
  }
  return {};
}

bool ClusterEvent::Matches(const ClusterEvent& incoming) const {
  if (IsWildcard()) return true;
  const bool resource_matches =
      resource == incoming.resource || resource == EventResource::kWildcard ||
      (resource == EventResource::kPod && IsPodResource(incoming.resource));
  // The comparison of the numbers keeps the generic Update (all update bits) away from
  // registrations of single updates.
  return resource_matches && (actions & incoming.actions) != 0 && incoming.actions <= actions;
}

std::string ClusterEvent::Label() const {
  if (!custom_label.empty()) return std::string(custom_label);
  std::string label(EventResourceText(resource));
  label += ActionText(actions);
  return label;
}

std::vector<EventRegistration> DefaultEventRegistrations() {
  static constexpr EventResource kResources[] = {
      EventResource::kAssignedPod,
      EventResource::kUnscheduledPod,
      EventResource::kTargetPod,
      EventResource::kNode,
      EventResource::kPersistentVolume,
      EventResource::kPersistentVolumeClaim,
      EventResource::kCsiNode,
      EventResource::kCsiDriver,
      EventResource::kCsiStorageCapacity,
      EventResource::kStorageClass,
      EventResource::kResourceClaim,
      EventResource::kDeviceClass,
  };
  std::vector<EventRegistration> registrations;
  for (const EventResource resource : kResources) {
    registrations.push_back({.event = {.resource = resource, .actions = kActionAll}, .hint = {}});
  }
  return registrations;
}

std::vector<ClusterEvent> NodeUpdateEvents(const api::Node& old_node, const api::Node& new_node) {
  std::vector<ClusterEvent> events;
  const auto add_if = [&events](bool condition, uint32_t action) {
    if (condition) events.push_back({.resource = EventResource::kNode, .actions = action});
  };
  add_if(old_node.unschedulable && !new_node.unschedulable, kActionUpdateNodeTaint);
  add_if(old_node.allocatable != new_node.allocatable, kActionUpdateNodeAllocatable);
  add_if(old_node.meta.labels != new_node.meta.labels, kActionUpdateNodeLabel);
  add_if(old_node.taints != new_node.taints, kActionUpdateNodeTaint);
  add_if(ConditionsDiffer(old_node, new_node), kActionUpdateNodeCondition);
  add_if(old_node.meta.annotations != new_node.meta.annotations, kActionUpdateNodeAnnotation);
  add_if(PreemptionPolicyDiffers(old_node, new_node), kActionUpdateNodePreemptionPolicy);
  add_if(old_node.declared_features != new_node.declared_features,
         kActionUpdateNodeDeclaredFeature);
  return events;
}

std::vector<ClusterEvent> PodUpdateEvents(const api::Pod& old_pod, const api::Pod& new_pod,
                                          EventResource resource) {
  if (!new_pod.node_name.empty()) resource = EventResource::kAssignedPod;
  std::vector<ClusterEvent> events;
  const auto add_if = [&events, resource](bool condition, uint32_t action) {
    if (condition) events.push_back({.resource = resource, .actions = action});
  };
  const Scaling scaling = CompareRequests(old_pod, new_pod);
  add_if(old_pod.meta.labels != new_pod.meta.labels, kActionUpdatePodLabel);
  add_if(scaling.down, kActionUpdatePodScaleDown);
  add_if(scaling.up, kActionUpdatePodScaleUp);
  add_if(!old_pod.spec->scheduling_gates.empty() && new_pod.spec->scheduling_gates.empty(),
         kActionUpdatePodSchedulingGatesEliminated);
  add_if(old_pod.spec->tolerations.size() != new_pod.spec->tolerations.size(),
         kActionUpdatePodToleration);
  add_if(GeneratedClaimsDiffer(old_pod.status, new_pod.status),
         kActionUpdatePodGeneratedResourceClaim);
  add_if(events.empty(), kActionUpdate);
  return events;
}

}  // namespace ks::framework
