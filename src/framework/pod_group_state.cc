// SPDX-License-Identifier: Apache-2.0
#include "framework/pod_group_state.h"

#include "absl/container/flat_hash_set.h"
#include "api/pod_group.h"

namespace ks::framework {
namespace {

class NoGroups final : public PodGroupStates {
 public:
  const PodGroupState* Find(const Symbol&, std::string_view) const override { return nullptr; }
  std::shared_ptr<const api::CompositePodGroup> FindComposite(const Symbol&,
                                                              std::string_view) const override {
    return nullptr;
  }
  std::optional<PodGroupKey> RootOf(const PodGroupKey&) const override { return std::nullopt; }
  std::vector<PodGroupKey> ChildrenOf(const PodGroupKey&) const override { return {}; }
  int32_t PriorityOf(const PodGroupKey&) const override { return 0; }
  Symbol PolicyOf(const PodGroupKey&) const override { return {}; }
};

}  // namespace

std::optional<PodGroupView> GroupViewOf(const api::Pod& pod) {
  if (!pod.spec->scheduling_group) return std::nullopt;
  return PodGroupView{.ns = pod.meta.ns, .name = *pod.spec->scheduling_group};
}

std::optional<PodGroupKey> GroupOf(const api::Pod& pod) {
  const std::optional<PodGroupView> group = GroupViewOf(pod);
  return group ? std::optional(group->Key()) : std::nullopt;
}

const api::GroupSpec* SpecOf(const PodGroupStates& states, const PodGroupKey& group) {
  if (group.composite) {
    const api::CompositePodGroupPtr object = states.FindComposite(group.ns, group.name);
    return object == nullptr ? nullptr : &object->spec;  // its store keeps it
  }
  const PodGroupState* state = states.Find(group.ns, group.name);
  return state == nullptr || state->object == nullptr ? nullptr : &state->object->spec;
}

std::vector<PodGroupKey> LeavesBelow(const PodGroupStates& states, const PodGroupKey& group) {
  if (!group.composite) return {group};
  std::vector<PodGroupKey> leaves;
  absl::flat_hash_set<PodGroupKey> seen;
  std::vector<PodGroupKey> open{group};
  while (!open.empty()) {
    const PodGroupKey next = std::move(open.back());
    open.pop_back();
    if (!seen.insert(next).second) continue;
    if (!next.composite) {
      leaves.push_back(next);
      continue;
    }
    const std::vector<PodGroupKey> children = states.ChildrenOf(next);
    open.insert(open.end(), children.rbegin(), children.rend());
  }
  return leaves;
}

const PodGroupStates& NoPodGroupStates() {
  static const NoGroups none;
  return none;
}

}  // namespace ks::framework
