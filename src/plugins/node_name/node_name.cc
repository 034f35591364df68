// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_name/node_name.h"

#include <nlohmann/json.hpp>

#include "plugins/kit/signature.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::CycleState;
using framework::NodeInfo;
using framework::PreFilterResult;
using framework::Status;

class NodeName final : public framework::Plugin,
                       public framework::PreFilterPlugin,
                       public framework::FilterPlugin,
                       public framework::EnqueueExtensions,
                       public framework::SignPlugin,
                       public framework::NodeLocalPlugin {
 public:
  std::string_view Name() const override { return kNodeNameName; }

  PreFilterResult PreFilter(CycleState&, const api::Pod& pod, const framework::Snapshot&) override {
    PreFilterResult result;
    if (!pod.node_name.empty()) result.nodes = std::set<std::string>{pod.node_name.str()};
    return result;
  }

  Status Filter(const CycleState&, const api::Pod& pod, const NodeInfo& node) const override {
    if (pod.node_name.empty() || pod.node_name == node.name()) return {};
    return mismatch_;
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    return {{{framework::EventResource::kNode, framework::kActionAdd, {}}, {}}};
  }

  Status Sign(const api::Pod& pod, std::vector<framework::SignFragment>* fragments) const override {
    fragments->push_back({"v1.Pod.Spec.NodeName", SignatureText(pod.node_name.str())});
    return {};
  }

 private:
  const Status mismatch_{Code::kUnschedulableAndUnresolvable,
                         {"node(s) didn't match the requested node name"},
                         std::string(kNodeNameName)};
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewNodeName(const config::PluginArgs&,
                                                       framework::Handle&) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<NodeName>());
}

}  // namespace ks::plugins
