// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/v1 Pod as the scheduler reads it: immutable after decoding, shared by pointer. Fields that
// no decision reads are dropped.
//
// Upstream: docs/spec/api.md section 2.2 (fields and their meaning).

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/labels.h"
#include "api/object.h"
#include "api/selector.h"
#include "base/shared_value.h"

namespace ks::api {

struct ContainerPort {
  std::string host_ip;   // as written; empty means 0.0.0.0
  std::string protocol;  // as written; empty means TCP
  int32_t host_port = 0;

  friend bool operator==(const ContainerPort&, const ContainerPort&) = default;
};

struct ContainerClaim {
  std::string name;
  std::string request;

  friend bool operator==(const ContainerClaim&, const ContainerClaim&) = default;
};

struct Container {
  std::string name;
  std::string image;
  ResourceList requests;
  ResourceList limits;
  std::vector<ContainerPort> ports;  // entries with hostPort > 0 only
  std::vector<ContainerClaim> claims;
  bool restart_always = false;  // init containers: a sidecar
  // Inputs of the declared-features inference (docs/spec/plugins-node.md 4.11).
  bool restarts_all_containers = false;  // a restart policy rule with action RestartAllContainers
  bool has_bind_mount_options = false;   // a volume mount with non-empty bindMountOptions

  friend bool operator==(const Container&, const Container&) = default;
};

struct Toleration {
  Symbol key;
  std::string op;  // "", "Equal", "Exists", "Lt", "Gt" or anything else
  Symbol value;
  Symbol effect;

  friend bool operator==(const Toleration&, const Toleration&) = default;
};

struct NodeAffinity {
  std::optional<NodeSelectorSpec> required;
  std::vector<PreferredSchedulingTerm> preferred;
  bool preferred_present = false;  // the list was non-null, possibly empty

  friend bool operator==(const NodeAffinity&, const NodeAffinity&) = default;
};

struct PodAffinityTerm {
  std::optional<LabelSelectorSpec> label_selector;
  std::vector<Symbol> namespaces;
  std::optional<LabelSelectorSpec> namespace_selector;
  Symbol topology_key;

  friend bool operator==(const PodAffinityTerm&, const PodAffinityTerm&) = default;
};
struct WeightedPodAffinityTerm {
  int32_t weight = 0;
  PodAffinityTerm term;

  friend bool operator==(const WeightedPodAffinityTerm&, const WeightedPodAffinityTerm&) = default;
};
struct PodAffinity {
  std::vector<PodAffinityTerm> required;
  std::vector<WeightedPodAffinityTerm> preferred;

  friend bool operator==(const PodAffinity&, const PodAffinity&) = default;
};

struct TopologySpreadConstraint {
  int32_t max_skew = 0;
  Symbol topology_key;
  std::string when_unsatisfiable;
  std::optional<LabelSelectorSpec> label_selector;
  std::optional<int32_t> min_domains;
  std::string node_affinity_policy;  // empty: absent
  std::string node_taints_policy;    // empty: absent
  std::vector<std::string> match_label_keys;

  friend bool operator==(const TopologySpreadConstraint&,
                         const TopologySpreadConstraint&) = default;
};

struct PodResourceClaim {
  std::string name;
  std::string resource_claim_name;
  std::string resource_claim_template_name;

  friend bool operator==(const PodResourceClaim&, const PodResourceClaim&) = default;
};

// One entry of spec.volumes, as far as plugins look at it.
struct Volume {
  enum class Source : uint8_t {
    kOther,  // emptyDir, projected, downwardAPI, hostPath …: nothing to schedule by
    kConfigMapOrSecret,
    kPersistentVolumeClaim,
    kEphemeral,
    kGcePersistentDisk,
    kAwsElasticBlockStore,
    kIscsi,
    kRbd,
    kCsi,
    kImage,
    kAzureDisk,
    kCinder,
    kVsphere,
    kPortworx,
    kAzureFile,
  };
  std::string name;
  Source source = Source::kOther;
  bool read_only = false;
  std::string id;    // claimName, pdName, volumeID, iqn, rbd image, csi driver, image reference
  std::string pool;  // rbd
  std::vector<std::string> monitors;  // rbd
  // A hash of the source as it was written; equal sources have equal ones. 0 for
  // kConfigMapOrSecret, whose contents nothing looks at.
  uint64_t fingerprint = 0;

  friend bool operator==(const Volume&, const Volume&) = default;
};

// The part of the spec that pods of one template have in common: everything but the node.
// Threads: immutable after decoding.
struct PodSpec {
  Symbol scheduler_name;
  std::optional<int32_t> priority;
  Symbol preemption_policy;  // empty: PreemptLowerPriority
  std::vector<std::string> scheduling_gates;
  std::optional<std::string> scheduling_group;  // spec.schedulingGroup.podGroupName
  LabelMap node_selector;
  bool node_selector_present = false;  // non-null, possibly empty
  std::optional<NodeAffinity> node_affinity;
  std::optional<PodAffinity> pod_affinity;
  std::optional<PodAffinity> pod_anti_affinity;
  std::vector<Toleration> tolerations;
  std::vector<TopologySpreadConstraint> topology_spread_constraints;
  std::vector<Container> containers;
  std::vector<Container> init_containers;
  bool ephemeral_bind_mount_options = false;  // some ephemeral container has bindMountOptions
  ResourceList overhead;
  std::optional<ResourceList> resource_requests;  // spec.resources.requests
  ResourceList resource_limits;                   // spec.resources.limits; only for metrics
  std::vector<PodResourceClaim> resource_claims;
  std::vector<Volume> volumes;
  bool host_network = false;
  std::optional<bool> host_users;

  friend bool operator==(const PodSpec&, const PodSpec&) = default;
};

struct ContainerStatus {
  std::string name;
  std::optional<ResourceList> allocated_resources;
  std::optional<ResourceList> resources_requests;  // resources.requests, both non-null

  friend bool operator==(const ContainerStatus&, const ContainerStatus&) = default;
};

struct PodResourceClaimStatus {
  std::string name;
  std::optional<std::string> resource_claim_name;

  friend bool operator==(const PodResourceClaimStatus&, const PodResourceClaimStatus&) = default;
};

// What the kubelet reports of resources.
struct PodResourceStatus {
  std::vector<ContainerStatus> containers;       // only entries that carry resources
  std::vector<ContainerStatus> init_containers;  // the same
  std::optional<ResourceList> allocated;         // status.allocatedResources
  bool present = false;                          // status.resources non-null
  std::optional<ResourceList> requests;          // status.resources.requests

  bool operator==(const PodResourceStatus&) const = default;
};

// The claims that were made for the pod.
struct PodClaimStatus {
  std::vector<PodResourceClaimStatus> resource_claims;
  std::optional<std::string> extended_resource_claim_name;

  bool operator==(const PodClaimStatus&) const = default;
};

// Types of conditions that something reads.
inline constexpr std::string_view kPodScheduled = "PodScheduled";
inline constexpr std::string_view kDisruptionTarget = "DisruptionTarget";
inline constexpr std::string_view kPodResizePending = "PodResizePending";

// Conditions of those types, and the types of all: a patch names them.
class PodConditions {
 public:
  // At the end. Of one type only the first is kept.
  void Add(Condition condition);
  // From now on nothing reads that type.
  void Drop(std::string_view type);

  // The first of that type; null when it is absent or nothing reads that type.
  const Condition* Find(std::string_view type) const;
  // Of all conditions, in their order.
  const std::vector<std::string>& types() const { return types_; }
  bool operator==(const PodConditions&) const = default;

 private:
  std::vector<std::string> types_;
  std::vector<Condition> kept_;
};

struct PodStatus {
  Symbol phase;
  Symbol nominated_node_name;
  OptionalTime start_time;
  SharedValue<PodConditions> conditions;
  SharedValue<PodResourceStatus> resources;
  SharedValue<PodClaimStatus> claims;

  bool operator==(const PodStatus&) const = default;
};

// Threads: immutable once shared.
struct Pod {
  ObjectMeta meta;
  Symbol node_name;                     // spec.nodeName; non-empty: bound
  std::shared_ptr<const PodSpec> spec;  // never null
  PodStatus status;
  // The whole object as JSON for extenders (Decoder::set_keep_raw); null unless asked for.
  std::shared_ptr<const std::string> raw{};

  // spec.priority, 0 when null.
  int32_t Priority() const { return spec->priority.value_or(0); }
  // See PodConditions::Find. PodScheduled is read of pods without a node only.
  const Condition* FindCondition(std::string_view type) const {
    return status.conditions->Find(type);
  }
  // Its containers have ended for good.
  bool IsTerminal() const;
};

using PodPtr = std::shared_ptr<const Pod>;

}  // namespace ks::api
