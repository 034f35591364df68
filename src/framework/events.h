// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cluster events, what plugins register for, and queueing hints: the vocabulary between event
// routing and the queue.
//
// Upstream: docs/spec/queue.md section 9, docs/spec/framework.md section 7.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/devices.h"
#include "api/node.h"
#include "api/pod.h"
#include "api/pod_group.h"
#include "api/storage.h"
#include "base/result.h"

namespace ks::framework {

// Action bits; sets are combined by or.
enum ActionType : uint32_t {
  kActionAdd = 1U << 0,
  kActionDelete = 1U << 1,
  kActionUpdateNodeAllocatable = 1U << 2,
  kActionUpdateNodeLabel = 1U << 3,
  kActionUpdateNodeTaint = 1U << 4,
  kActionUpdateNodeCondition = 1U << 5,
  kActionUpdateNodeAnnotation = 1U << 6,
  kActionUpdateNodeDeclaredFeature = 1U << 7,
  kActionUpdateNodePreemptionPolicy = 1U << 8,
  kActionUpdatePodLabel = 1U << 9,
  kActionUpdatePodScaleDown = 1U << 10,
  kActionUpdatePodScaleUp = 1U << 11,
  kActionUpdatePodToleration = 1U << 12,
  kActionUpdatePodSchedulingGatesEliminated = 1U << 13,
  kActionUpdatePodGeneratedResourceClaim = 1U << 14,
  kActionUpdate = 32764,
  kActionAll = 32767,
};

enum class EventResource : uint8_t {
  kWildcard,  // "*"
  kPod,       // registration only: stands for the next three
  kAssignedPod,
  kUnscheduledPod,
  kTargetPod,
  kNode,
  kPersistentVolume,
  kPersistentVolumeClaim,
  kCsiNode,
  kCsiDriver,
  kCsiStorageCapacity,
  kStorageClass,
  kVolumeAttachment,
  kResourceClaim,
  kResourceSlice,
  kDeviceClass,
  kPodGroup,
  kCompositePodGroup,
  kService,    // only legacy plugins ask for it; no event of upstream v1.37
  kNamespace,  // no event of upstream v1.37
};
// "Node", "storage.k8s.io/CSINode", … as used in labels.
std::string_view EventResourceText(EventResource resource);

// Threads: like a value.
struct ClusterEvent {
  EventResource resource = EventResource::kWildcard;
  uint32_t actions = kActionAll;
  std::string_view custom_label;  // static text; empty: resource + action

  // "*" with all actions.
  bool IsWildcard() const { return resource == EventResource::kWildcard && actions == kActionAll; }
  // Whether this registration matches an incoming event (docs/spec/queue.md 9.3).
  bool Matches(const ClusterEvent& incoming) const;
  std::string Label() const;
};

// Special events and labels (docs/spec/queue.md 9.7).
inline constexpr std::string_view kLabelScheduleAttemptFailure = "ScheduleAttemptFailure";
inline constexpr std::string_view kLabelBackoffComplete = "BackoffComplete";
inline constexpr std::string_view kLabelPopFromBackoffQ = "PopFromBackoffQ";
inline constexpr std::string_view kLabelForceActivate = "ForceActivate";
inline constexpr std::string_view kLabelUnschedulableTimeout = "UnschedulableTimeout";
// Not upstream's: a new configuration came into force; the node that the pod is nominated to is
// gone, or can never take it any more; room is expected by nobody any more.
inline constexpr std::string_view kLabelConfigurationReload = "ConfigurationReload";
inline constexpr std::string_view kLabelNominatedNodeLost = "NominatedNodeLost";
inline constexpr std::string_view kLabelExpectedElsewhere = "ExpectedElsewhere";
inline constexpr std::string_view kLabelUnscheduledPodAdd = "UnscheduledPodAdd";
inline constexpr std::string_view kLabelUnscheduledPodUpdate = "UnscheduledPodUpdate";

// An event's object, old or new; monostate when there is none. Other kinds join as their plugins
// land.
using EventObject =
    std::variant<std::monostate, api::PodPtr, api::NodePtr, api::PersistentVolumePtr,
                 api::PersistentVolumeClaimPtr, api::StorageClassPtr, api::CsiNodePtr,
                 api::CsiDriverPtr, api::CsiStorageCapacityPtr, api::VolumeAttachmentPtr,
                 api::NamespacePtr, api::ResourceClaimPtr, api::ResourceSlicePtr,
                 api::DeviceClassPtr, api::PodGroupPtr, api::CompositePodGroupPtr>;

enum class QueueingHint : uint8_t { kSkip, kQueue };

// Decides whether the event may make `pod` schedulable. An error counts as Queue. Must be fast and
// must not block.
using QueueingHintFn = std::function<Result<QueueingHint>(
    const api::Pod& pod, const EventObject& old_object, const EventObject& new_object)>;

// What of the pod a hint's answer depends on, apart from the event's objects and from what is the
// same for all pods that one event concerns (the node, device classes, owners). The queue asks once
// for all parked pods that agree in it.
enum class HintScope : uint8_t {
  kPod,     // anything: asked for each pod
  kClaims,  // anything, and Skip for a pod that does not use the claim which the event is about
            // (api::ClaimKey, api::ResourceClaimName): asked for those that use it. Events of
            // claims only; one that frees devices is asked for each pod
  kGroup,  // the tree of pod groups; Skip where that is not the one of the group, or of the member,
           // which the event is about: asked for one of those of that tree that wait as a group.
           // For pods and PodGroups or CompositePodGroups that are added or updated
  kLabels,  // spec, namespace and labels
  kSpec,    // the spec alone
};

// Labels of nodes that a hint looks at for one pod spec. Entries may repeat.
struct NodeLabelReads {
  std::vector<Symbol> keys;                     // any change of them counts
  std::vector<api::LabelMap::Entry> additions;  // counts when a node gets it
  bool others = false;  // or the answer can be another one than Skip whatever they say
};
using NodeLabelReadsFn = std::function<void(const api::PodSpec& spec, NodeLabelReads* reads)>;

// One registration of a plugin. Without a function the answer is always Queue.
struct EventRegistration {
  ClusterEvent event;
  QueueingHintFn hint;
  HintScope scope = HintScope::kPod;
  // Only for events of nodes. Promises that the hint skips a pod after a change of labels of a node
  // if the taints and the labels `keys`, which it adds for the pod's spec, are what they were, and
  // the node has got none of `additions`. The queue then asks no pod about a change that nobody
  // reads. Adds to `reads`. Empty: promises nothing.
  NodeLabelReadsFn node_labels = nullptr;
};

// What a plugin without a registration of its own gets (docs/spec/framework.md section 7): action
// All on every kind of the list.
std::vector<EventRegistration> DefaultEventRegistrations();

// The property changes between two versions of a node, in upstream's order
// (docs/spec/queue.md 9.4); empty: nothing relevant.
std::vector<ClusterEvent> NodeUpdateEvents(const api::Node& old_node, const api::Node& new_node);
// The same for a pod (9.5). `resource` is used when the new object has no node: kTargetPod or
// kUnscheduledPod.
std::vector<ClusterEvent> PodUpdateEvents(const api::Pod& old_pod, const api::Pod& new_pod,
                                          EventResource resource);

}  // namespace ks::framework
