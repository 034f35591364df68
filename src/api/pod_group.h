// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kinds that pods are scheduled together by: PodGroup and CompositePodGroup of
// scheduling.k8s.io, as far as scheduling reads them. A pod is a member by
// PodSpec::scheduling_group.
//
// Upstream: docs/spec/pod-groups.md section 2.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/labels.h"
#include "api/object.h"
#include "api/pod.h"

namespace ks::api {

// The only condition of a PodGroup that is written.
inline constexpr std::string_view kPodGroupInitiallyScheduled = "PodGroupInitiallyScheduled";

// What is evicted together.
enum class DisruptionMode : uint8_t {
  kSingle,  // also when the field is absent: the API server's default
  kAll,
};

// The fields of spec that both kinds have. All but the policy (which is not here) are immutable.
struct GroupSpec {
  std::string parent_composite_pod_group_name;  // empty: a root
  std::vector<Symbol> topology_keys;            // schedulingConstraints.topology[].key
  DisruptionMode disruption_mode = DisruptionMode::kSingle;
  std::string priority_class_name;  // only for people: `priority` has its value
  std::optional<int32_t> priority;
  Symbol preemption_policy;  // empty: PreemptLowerPriority

  friend bool operator==(const GroupSpec&, const GroupSpec&) = default;
};

// scheduling.k8s.io/v1beta1; v1alpha3 looks the same. Annotations are not kept. The server never
// sets metadata.generation. Threads: immutable once shared.
struct PodGroup {
  ObjectMeta meta;
  GroupSpec spec;
  std::optional<int32_t> min_count;  // schedulingPolicy.gang.minCount; none: policy basic
  std::vector<PodResourceClaim> resource_claims;
  std::vector<Condition> conditions;
  std::vector<PodResourceClaimStatus> resource_claim_statuses;

  bool operator==(const PodGroup&) const = default;
};

// scheduling.k8s.io/v1alpha3: the parent of PodGroups and other composites. Its status is not read.
// Threads: immutable once shared.
struct CompositePodGroup {
  ObjectMeta meta;
  GroupSpec spec;
  std::optional<int32_t> min_group_count;  // schedulingPolicy.gang.minGroupCount; none: basic

  bool operator==(const CompositePodGroup&) const = default;
};

using PodGroupPtr = std::shared_ptr<const PodGroup>;
using CompositePodGroupPtr = std::shared_ptr<const CompositePodGroup>;

}  // namespace ks::api
