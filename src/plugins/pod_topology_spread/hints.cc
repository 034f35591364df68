// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/hints.h"

#include <algorithm>

#include "plugins/kit/cross_pod/refutation.h"
#include "plugins/kit/hinting.h"

namespace ks::plugins {
namespace {

using framework::QueueingHint;

bool IsHard(const api::TopologySpreadConstraint& constraint) {
  return constraint.when_unsatisfiable == "DoNotSchedule";
}

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

// Only the keys of the hard constraints matter. Visits them until `visit` answers false.
template <class Visit>
bool AllKeys(const SpreadConstraints& constraints, Visit visit) {
  return std::all_of(
      constraints.begin(), constraints.end(),
      [&visit](const SpreadConstraint& constraint) { return visit(constraint.topology_key); });
}
template <class Visit>
bool AllKeys(const api::PodSpec& spec, Visit visit) {
  return std::all_of(spec.topology_spread_constraints.begin(),
                     spec.topology_spread_constraints.end(),
                     [&visit](const api::TopologySpreadConstraint& constraint) {
                       return !IsHard(constraint) || visit(constraint.topology_key);
                     });
}

template <class Constraints>
QueueingHint AfterNode(const Constraints& constraints, const api::Node* old_node,
                       const api::Node* new_node) {
  const auto has_all = [&constraints](const api::Node& node) {
    return AllKeys(constraints,
                   [&node](const Symbol& key) { return node.meta.labels.Contains(key); });
  };
  if (old_node == nullptr || new_node == nullptr) {
    return QueueIf(has_all(old_node != nullptr ? *old_node : *new_node));
  }
  const bool before = has_all(*old_node);
  const bool after = has_all(*new_node);
  if (before != after) return QueueingHint::kQueue;
  if (!after) return QueueingHint::kSkip;
  const bool same_values = AllKeys(constraints, [&](const Symbol& key) {
    return *old_node->meta.labels.Find(key) == *new_node->meta.labels.Find(key);
  });
  return QueueIf(!same_values || old_node->taints != new_node->taints);
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
  return AfterNode(constraints, old_node, new_node);
}

QueueingHint HintAfterNode(const api::PodSpec& spec, const api::Node* old_node,
                           const api::Node* new_node) {
  return AfterNode(spec, old_node, new_node);
}

void AddTopologyKeys(const api::PodSpec& spec, framework::NodeLabelReads* reads) {
  if (!spec.topology_spread_constraints.empty() && !HasSoundConstraints(spec)) reads->others = true;
  AllKeys(spec, [reads](const Symbol& key) {
    reads->keys.push_back(key);
    return true;
  });
}

bool HasSoundConstraints(const api::PodSpec& spec) {
  const auto& constraints = spec.topology_spread_constraints;
  return !constraints.empty() &&
         std::all_of(constraints.begin(), constraints.end(),
                     [](const auto& constraint) { return LooksSound(constraint.label_selector); });
}

bool CannotHelpAfterAssignedPod(const api::Pod& pod, const api::Pod* old_pod,
                                const api::Pod* new_pod) {
  for (const api::Pod* other : {old_pod, new_pod}) {
    if (other != nullptr && !Involved(pod, *other)) return true;
  }
  const auto& constraints = pod.spec->topology_spread_constraints;
  return std::all_of(
      constraints.begin(), constraints.end(), [&](const api::TopologySpreadConstraint& constraint) {
        if (!IsHard(constraint)) return true;
        const auto refuted = [&constraint](const api::Pod* other) {
          return other == nullptr || CannotMatch(constraint.label_selector, other->meta.labels);
        };
        return refuted(old_pod) && refuted(new_pod);
      });
}

}  // namespace ks::plugins
