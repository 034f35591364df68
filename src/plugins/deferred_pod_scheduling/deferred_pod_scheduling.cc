// SPDX-License-Identifier: Apache-2.0
#include "plugins/deferred_pod_scheduling/deferred_pod_scheduling.h"

#include "plugins/kit/deferred_pods.h"
#include "plugins/kit/hinting.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::CycleState;
using framework::EventResource;
using framework::NodeInfo;
using framework::Status;

Status Rejection(std::string reason) {
  return {Code::kUnschedulableAndUnresolvable,
          {std::move(reason)},
          std::string(kDeferredPodSchedulingName)};
}

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
    return {.status = ResizeFits()};
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    const auto allowed = [this](const api::Pod& pod, const api::Node* before,
                                const api::Node* after) {
      const bool was = before == nullptr || before->disable_resize_preemption.empty();
      return QueueIf(!was && IsOwnNodeAllowing(pod, after));
    };
    const auto added = [this](const api::Pod& pod, const api::Node*, const api::Node* after) {
      return QueueIf(IsOwnNodeAllowing(pod, after));
    };
    // A pod that fitted is to preempt when what it waits for is taken from it, or when it asks for
    // more. Upstream looks again after each backoff.
    const auto taken = [this](const api::Pod& pod, const api::Pod*, const api::Pod* after) {
      return QueueIf(deferred_pods_.Exempt(pod) && after != nullptr &&
                     after->node_name == pod.node_name);
    };
    return {{{EventResource::kNode, framework::kActionUpdateNodePreemptionPolicy, {}},
             HintOn<api::Node>(allowed)},
            {{EventResource::kNode, framework::kActionAdd, {}}, HintOn<api::Node>(added)},
            {{EventResource::kAssignedPod,
              framework::kActionAdd | framework::kActionUpdatePodScaleUp,
              {}},
             HintOn<api::Pod>(taken)}};
  }

 private:
  bool IsOwnNodeAllowing(const api::Pod& pod, const api::Node* node) const {
    return deferred_pods_.Exempt(pod) && node != nullptr && node->meta.name == pod.node_name &&
           node->disable_resize_preemption.empty();
  }

  const DeferredPods deferred_pods_;
  const Status skip_{Code::kSkip, {}, std::string(kDeferredPodSchedulingName)};
  const Status other_node_ = Rejection("pod assigned to different node");
  const Status disabled_ = Rejection("node had resize preemption disabled");
};

}  // namespace

const Status& ResizeFits() {
  static const Status status = Rejection("pod resize fits, waiting for Kubelet actuation");
  return status;
}

Result<std::unique_ptr<framework::Plugin>> NewDeferredPodScheduling(const config::PluginArgs&,
                                                                    framework::Handle& handle) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<DeferredPodScheduling>(handle));
}

}  // namespace ks::plugins
