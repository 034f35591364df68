// SPDX-License-Identifier: Apache-2.0
#include "framework/pod_group_listers.h"

namespace ks::framework {
namespace {

class Nothing final : public PodGroupLister {
 public:
  api::PodGroupPtr FindPodGroup(Symbol, std::string_view) const override { return nullptr; }
  api::CompositePodGroupPtr FindCompositePodGroup(Symbol, std::string_view) const override {
    return nullptr;
  }
  std::span<const GroupPtr> ChildrenOf(Symbol, std::string_view) const override { return {}; }
};

}  // namespace

const PodGroupLister& NoPodGroups() {
  static const auto* const nothing = new Nothing;
  return *nothing;
}

}  // namespace ks::framework
