// SPDX-License-Identifier: Apache-2.0
#include "framework/pod_group_state.h"

namespace ks::framework {
namespace {

class NoGroups final : public PodGroupStates {
 public:
  const PodGroupState* Find(Symbol, std::string_view) const override { return nullptr; }
  std::shared_ptr<const api::CompositePodGroup> FindComposite(Symbol,
                                                              std::string_view) const override {
    return nullptr;
  }
  std::optional<PodGroupKey> RootOf(const PodGroupKey&) const override { return std::nullopt; }
  std::vector<PodGroupKey> ChildrenOf(const PodGroupKey&) const override { return {}; }
  int32_t PriorityOf(const PodGroupKey&) const override { return 0; }
  Symbol PolicyOf(const PodGroupKey&) const override { return {}; }
};

}  // namespace

const PodGroupStates& NoPodGroupStates() {
  static const NoGroups none;
  return none;
}

}  // namespace ks::framework
