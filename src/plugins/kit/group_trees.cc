// SPDX-License-Identifier: Apache-2.0
#include "plugins/kit/group_trees.h"

#include <string>

#include "api/pod_group.h"

namespace ks::plugins {

using framework::PodGroupKey;
using framework::PodGroupState;
using framework::PodGroupStates;

namespace {

// Levels above a PodGroup: a tree is at most four high.
constexpr int kMostSteps = 3;

}  // namespace

int64_t QuorumOf(const PodGroupStates& groups, const PodGroupKey& group) {
  if (group.composite) {
    return groups.FindComposite(group.ns, group.name)->min_group_count.value_or(1);
  }
  return groups.Find(group.ns, group.name)->object->min_count.value_or(1);
}

bool HasQuorum(const PodGroupStates& groups, const PodGroupKey& group, MemberCount count) {
  if (SpecOf(groups, group) == nullptr) return false;
  int64_t ready = 0;
  if (group.composite) {
    for (const PodGroupKey& child : groups.ChildrenOf(group)) {
      if (HasQuorum(groups, child, count)) ++ready;
    }
  } else {
    const PodGroupState& state = *groups.Find(group.ns, group.name);
    ready = static_cast<int64_t>(count == MemberCount::kKnown ? state.all() : state.scheduled());
  }
  return ready >= QuorumOf(groups, group);
}

Result<PodGroupKey> TreeOf(const PodGroupStates& groups, const PodGroupKey& group) {
  const PodGroupState* state = groups.Find(group.ns, group.name);
  if (state == nullptr) return Error{"pod group state not found for " + group.Text()};
  if (state->object == nullptr) {
    return Error{"pod group object not found in state for " + group.Text()};
  }
  PodGroupKey top = group;
  for (int step = 0; step < kMostSteps; ++step) {
    const std::string& parent = SpecOf(groups, top)->parent_composite_pod_group_name;
    if (parent.empty()) break;
    PodGroupKey above{group.ns, parent, true};
    if (SpecOf(groups, above) == nullptr) {
      return Error{"composite pod group object not found in state for " + above.Text()};
    }
    top = std::move(above);
  }
  return top;
}

}  // namespace ks::plugins
