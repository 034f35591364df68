// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/default_preemption.h"

#include <algorithm>

#include "plugins/placeholders/neutral.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::CycleState;
using framework::NodeInfo;
using framework::NodeStatuses;
using framework::PodInfoPtr;
using framework::PostFilterResult;
using framework::Status;

constexpr std::string_view kPrefix = "preemption: ";
// Differs from upstream, which would evict.
constexpr std::string_view kDoesNotPreempt =
    "this version of kubesched does not preempt; lower-priority pods were left running";

bool IsTerminatingByPreemption(const api::Pod& pod) {
  if (!pod.meta.deletion_timestamp) return false;
  const api::Condition* condition = pod.FindCondition("DisruptionTarget");
  return condition != nullptr && condition->status == "True" &&
         condition->reason == "PreemptionByScheduler";
}

PostFilterResult Unschedulable(std::string_view message,
                               std::optional<framework::NominatingInfo> nomination) {
  std::string reason(kPrefix);
  reason += message;
  return {Status(Code::kUnschedulable, {std::move(reason)}), std::move(nomination)};
}

// Nothing is evicted yet, so there is nothing to wait for at PreEnqueue.
class DefaultPreemption final : public framework::Plugin,
                                public Neutral<framework::PreEnqueuePlugin>,
                                public framework::PostFilterPlugin,
                                public Neutral<framework::PodGroupPostFilterPlugin>,
                                public framework::EnqueueExtensions {
 public:
  explicit DefaultPreemption(framework::Handle& handle) : handle_(handle) {}

  std::string_view Name() const override { return kDefaultPreemptionName; }

  PostFilterResult PostFilter(CycleState&, const api::PodPtr& pod,
                              const NodeStatuses& statuses) override {
    if (pod->spec->preemption_policy.view() == "Never") {
      return Unschedulable("not eligible due to preemptionPolicy=Never.", std::nullopt);
    }
    if (WaitsForVictims(*pod, statuses)) {
      return Unschedulable("not eligible due to a terminating pod on the nominated node.",
                           std::nullopt);
    }
    const std::vector<uint32_t> tried = statuses.NodesForCode(Code::kUnschedulable);
    for (const uint32_t index : tried) {
      if (HasLowerPriorityPod(*pod, *handle_.snapshot().nodes()[index])) {
        return Unschedulable(kDoesNotPreempt, std::nullopt);
      }
    }
    return Unschedulable(FitErrorText(statuses.size(), tried), framework::NominatingInfo{});
  }

  // Preemption never wakes a pod by itself.
  std::vector<framework::EventRegistration> EventsToRegister() const override {
    const auto skip = [](const api::Pod&, const framework::EventObject&,
                         const framework::EventObject&) -> Result<framework::QueueingHint> {
      return framework::QueueingHint::kSkip;
    };
    return {
        {{framework::EventResource::kAssignedPod, framework::kActionDelete, {}},
         skip,
         framework::HintScope::kSpec},
    };
  }

 private:
  static bool HasLowerPriorityPod(const api::Pod& preemptor, const NodeInfo& node) {
    const int32_t priority = preemptor.Priority();
    return std::any_of(node.pods().begin(), node.pods().end(), [priority](const PodInfoPtr& info) {
      return info->pod().Priority() < priority;
    });
  }

  // Victims of an earlier preemption are still leaving the nominated node, which may help without
  // another one.
  bool WaitsForVictims(const api::Pod& pod, const NodeStatuses& statuses) const {
    if (pod.status.nominated_node_name.empty()) return false;
    const NodeInfo* node = handle_.snapshot().Find(pod.status.nominated_node_name);
    if (node == nullptr) return false;
    if (statuses.Get(node->index()).code() == Code::kUnschedulableAndUnresolvable) return false;
    const int32_t priority = pod.Priority();
    return std::any_of(node->pods().begin(), node->pods().end(), [priority](const PodInfoPtr& p) {
      return p->pod().Priority() < priority && IsTerminatingByPreemption(p->pod());
    });
  }

  std::string FitErrorText(size_t num_nodes, const std::vector<uint32_t>& tried) const {
    framework::Diagnosis diagnosis;
    diagnosis.num_all_nodes = num_nodes;
    diagnosis.nodes.Reset(num_nodes);
    diagnosis.nodes.set_absent(not_helpful_);
    for (const uint32_t index : tried) diagnosis.nodes.Set(index, no_victims_);
    return diagnosis.Text();
  }

  framework::Handle& handle_;
  const Status not_helpful_{Code::kUnschedulableAndUnresolvable,
                            {"Preemption is not helpful for scheduling"}};
  const Status no_victims_{Code::kUnschedulableAndUnresolvable,
                           {"No preemption victims found for incoming pod"}};
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewDefaultPreemption(const config::PluginArgs&,
                                                                framework::Handle& handle) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<DefaultPreemption>(handle));
}

}  // namespace ks::plugins
