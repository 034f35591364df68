// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_unschedulable/node_unschedulable.h"

#include "plugins/kit/deferred_pods.h"
#include "plugins/kit/hinting.h"
#include "plugins/kit/signature.h"
#include "plugins/kit/tolerations.h"

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
  explicit NodeUnschedulable(const framework::Handle& handle)
      : deferred_pods_(handle), lt_and_gt_(LtAndGtOf(handle.gates())) {}

  std::string_view Name() const override { return kNodeUnschedulableName; }

  framework::PreFilterResult PreFilter(CycleState&, const api::Pod& pod,
                                       const framework::Snapshot&) override {
    if (deferred_pods_.Exempt(pod)) return {skip_, {}};
    return {};
  }

  // The node's own taints do not matter: the cordon itself is the taint to tolerate.
  Status Filter(const CycleState&, const api::Pod& pod, const NodeInfo& node) const override {
    if (!node.unschedulable() || Tolerated(pod.spec->tolerations, cordon_, lt_and_gt_)) return {};
    return deferred_pods_.Exempt(pod) ? Status() : cordoned_;
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    const auto node = [](const api::Pod&, const api::Node* before, const api::Node* after) {
      const bool was_open = before != nullptr && !before->unschedulable;
      return QueueIf(after != nullptr && !after->unschedulable && !was_open);
    };
    const auto own_change = [this](const api::Pod& pod, const api::Pod*, const api::Pod* after) {
      const api::Pod& changed = after == nullptr ? pod : *after;
      return QueueIf(Tolerated(changed.spec->tolerations, cordon_, lt_and_gt_));
    };
    return {{{EventResource::kNode, framework::kActionAdd | framework::kActionUpdateNodeTaint, {}},
             HintOn<api::Node>(node),
             framework::HintScope::kSpec},
            {{EventResource::kTargetPod, framework::kActionUpdatePodToleration, {}},
             HintOn<api::Pod>(own_change)}};
  }

  Status Sign(const api::Pod& pod, std::vector<framework::SignFragment>* fragments) const override {
    fragments->push_back(TolerationsFragment(pod));
    return {};
  }

 private:
  const DeferredPods deferred_pods_;
  const LtAndGt lt_and_gt_;
  const Status skip_{Code::kSkip, {}, std::string(kNodeUnschedulableName)};
  const api::Taint cordon_{Symbol("node.kubernetes.io/unschedulable"), Symbol(),
                           Symbol("NoSchedule")};
  const Status cordoned_{Code::kUnschedulableAndUnresolvable,
                         {"node(s) were unschedulable"},
                         std::string(kNodeUnschedulableName)};
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewNodeUnschedulable(const config::PluginArgs&,
                                                                framework::Handle& handle) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<NodeUnschedulable>(handle));
}

}  // namespace ks::plugins
