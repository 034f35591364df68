// SPDX-License-Identifier: Apache-2.0
#include "plugins/deferred_pod_scheduling/deferred_pod_scheduling.h"

#include "plugins/deferred_pods.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::CycleState;
using framework::EventResource;
using framework::NodeInfo;
using framework::Status;

class DeferredPodScheduling final : public framework::Plugin,
                                    public framework::PreFilterPlugin,
                                    public framework::FilterPlugin,
                                    public framework::PermitPlugin,
                                    public framework::EnqueueExtensions,
                                    public framework::NodeLocalPlugin {
 public:
  explicit DeferredPodScheduling(framework::Handle& handle) : deferred_pods_(handle) {}

  std::string_view Name() const override { return kDeferredPodSchedulingName; }

  framework::PreFilterResult PreFilter(CycleState&, const api::Pod& pod,
                                       const framework::Snapshot&) override {
    if (!deferred_pods_.Exempt(pod)) return {skip_, {}};
    return {};
  }

  Status Filter(const CycleState&, const api::Pod& pod, const NodeInfo& node) const override {
    if (!deferred_pods_.Exempt(pod)) return {};
    if (!pod.node_name.empty() && pod.node_name != node.name()) return other_node_;
    return node.node()->disable_resize_preemption.empty() ? Status() : disabled_;
  }

  // A pod that fits is never bound again.
  framework::PermitResult Permit(CycleState&, const api::PodPtr& pod, const std::string&) override {
    if (!deferred_pods_.Exempt(*pod)) return {};
    return {.status = fits_};
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    return {{{EventResource::kNode, framework::kActionUpdateNodePreemptionPolicy, {}}, {}},
            {{EventResource::kNode, framework::kActionAdd, {}}, {}}};
  }

 private:
  static Status Rejection(std::string reason) {
    return {Code::kUnschedulableAndUnresolvable,
            {std::move(reason)},
            std::string(kDeferredPodSchedulingName)};
  }

  const DeferredPods deferred_pods_;
  const Status skip_{Code::kSkip, {}, std::string(kDeferredPodSchedulingName)};
  const Status other_node_ = Rejection("pod assigned to different node");
  const Status disabled_ = Rejection("node had resize preemption disabled");
  const Status fits_ = Rejection("pod resize fits, waiting for Kubelet actuation");
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewDeferredPodScheduling(const config::PluginArgs&,
                                                                    framework::Handle& handle) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<DeferredPodScheduling>(handle));
}

}  // namespace ks::plugins
