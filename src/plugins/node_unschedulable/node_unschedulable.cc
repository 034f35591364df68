// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_unschedulable/node_unschedulable.h"

#include "plugins/signature.h"
#include "plugins/tolerations.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::CycleState;
using framework::EventResource;
using framework::NodeInfo;
using framework::Status;

class NodeUnschedulable final : public framework::Plugin,
                                public framework::PreFilterPlugin,
                                public framework::FilterPlugin,
                                public framework::EnqueueExtensions,
                                public framework::SignPlugin,
                                public framework::NodeLocalPlugin {
 public:
  std::string_view Name() const override { return kNodeUnschedulableName; }

  framework::PreFilterResult PreFilter(CycleState&, const api::Pod&,
                                       const framework::Snapshot&) override {
    return {};
  }

  // The node's own taints do not matter: the cordon itself is the taint to tolerate.
  Status Filter(const CycleState&, const api::Pod& pod, const NodeInfo& node) const override {
    if (!node.unschedulable() || Tolerated(pod.spec->tolerations, cordon_)) return {};
    return cordoned_;
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    return {
        {{EventResource::kNode, framework::kActionAdd | framework::kActionUpdateNodeTaint, {}}, {}},
        {{EventResource::kTargetPod, framework::kActionUpdatePodToleration, {}}, {}}};
  }

  Status Sign(const api::Pod& pod, std::vector<framework::SignFragment>* fragments) const override {
    fragments->push_back(TolerationsFragment(pod));
    return {};
  }

 private:
  const api::Taint cordon_{Symbol("node.kubernetes.io/unschedulable"), Symbol(),
                           Symbol("NoSchedule")};
  const Status cordoned_{Code::kUnschedulableAndUnresolvable,
                         {"node(s) were unschedulable"},
                         std::string(kNodeUnschedulableName)};
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewNodeUnschedulable(const config::PluginArgs&,
                                                                framework::Handle&) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<NodeUnschedulable>());
}

}  // namespace ks::plugins
