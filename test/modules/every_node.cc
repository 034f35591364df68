// SPDX-License-Identifier: Apache-2.0
// EveryNode: a Filter that lets every node pass, for what a loaded call costs.
#include "kubesched/plugin.hpp"

namespace {

class EveryNode final : public kubesched::FilterPlugin {
 public:
  EveryNode(const kubesched::Host&, std::string_view) {}
  kubesched::Status Filter(kubesched::Call, kubesched::Pod, kubesched::Node) const override {
    return {};
  }
};

}  // namespace

KUBESCHED_MODULE("every-node", "1", 0, KUBESCHED_PLUGIN("EveryNode", EveryNode));
