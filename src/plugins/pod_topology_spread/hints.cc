// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/hints.h"

#include <algorithm>

#include "plugins/hinting.h"

namespace ks::plugins {
namespace {

using framework::QueueingHint;

bool Involved(const api::Pod& pod, const api::Pod& other) {
  return IsPlaced(other) && other.meta.ns == pod.meta.ns;
}

bool Matches(const SpreadConstraints& constraints, const api::Pod& other) {
  return std::any_of(constraints.begin(), constraints.end(),
                     [&other](const SpreadConstraint& constraint) {
                       return constraint.selector.Matches(other.meta.labels);
                     });
}

bool LabelsMatter(const SpreadConstraints& constraints, const api::LabelMap& before,
                  const api::LabelMap& after) {
  if (before == after) return false;
  return std::any_of(
      constraints.begin(), constraints.end(), [&](const SpreadConstraint& constraint) {
        return constraint.selector.Matches(before) != constraint.selector.Matches(after);
      });
}

bool HasAllKeys(const SpreadConstraints& constraints, const api::Node& node) {
  return std::all_of(constraints.begin(), constraints.end(),
                     [&node](const SpreadConstraint& constraint) {
                       return node.meta.labels.Contains(constraint.topology_key);
                     });
}

bool SomeValueDiffers(const SpreadConstraints& constraints, const api::Node& a,
                      const api::Node& b) {
  return std::any_of(constraints.begin(), constraints.end(),
                     [&](const SpreadConstraint& constraint) {
                       return *a.meta.labels.Find(constraint.topology_key) !=
                              *b.meta.labels.Find(constraint.topology_key);
                     });
}

}  // namespace

QueueingHint HintAfterAssignedPod(const api::Pod& pod, const SpreadConstraints& constraints,
                                  const api::Pod* old_pod, const api::Pod* new_pod) {
  for (const api::Pod* other : {old_pod, new_pod}) {
    if (other != nullptr && !Involved(pod, *other)) return QueueingHint::kSkip;
  }
  if (old_pod != nullptr && new_pod != nullptr) {
    return QueueIf(LabelsMatter(constraints, old_pod->meta.labels, new_pod->meta.labels));
  }
  return QueueIf(Matches(constraints, old_pod != nullptr ? *old_pod : *new_pod));
}

QueueingHint HintAfterOwnChange(const SpreadConstraints& constraints, const api::Pod& old_pod,
                                const api::Pod& new_pod) {
  const bool taints_matter =
      std::any_of(constraints.begin(), constraints.end(),
                  [](const SpreadConstraint& constraint) { return constraint.honor_taints; });
  if (taints_matter && old_pod.spec->tolerations != new_pod.spec->tolerations) {
    return QueueingHint::kQueue;
  }
  return QueueIf(LabelsMatter(constraints, old_pod.meta.labels, new_pod.meta.labels));
}

QueueingHint HintAfterNode(const SpreadConstraints& constraints, const api::Node* old_node,
                           const api::Node* new_node) {
  if (old_node == nullptr || new_node == nullptr) {
    return QueueIf(HasAllKeys(constraints, old_node != nullptr ? *old_node : *new_node));
  }
  const bool before = HasAllKeys(constraints, *old_node);
  const bool after = HasAllKeys(constraints, *new_node);
  if (before != after) return QueueingHint::kQueue;
  return QueueIf(after && (SomeValueDiffers(constraints, *old_node, *new_node) ||
                           old_node->taints != new_node->taints));
}

}  // namespace ks::plugins
