// SPDX-License-Identifier: Apache-2.0
#include "plugins/taint_toleration/taint_toleration.h"

#include <algorithm>

#include "plugins/kit/deferred_pods.h"
#include "plugins/kit/hinting.h"
#include "plugins/kit/normalize_score.h"
#include "plugins/kit/signature.h"
#include "plugins/kit/tolerations.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::CycleState;
using framework::EventResource;
using framework::NodeInfo;
using framework::Status;

// The tolerations that can answer a PreferNoSchedule taint.
struct SoftTolerations final : framework::StateData {
  std::vector<api::Toleration> tolerations;
};

class TaintToleration final : public framework::Plugin,
                              public framework::PreFilterPlugin,
                              public framework::FilterPlugin,
                              public framework::PreScorePlugin,
                              public framework::ScorePlugin,
                              public framework::ScoreNormalizer,
                              public framework::EnqueueExtensions,
                              public framework::SignPlugin,
                              public framework::NodeLocalPlugin {
 public:
  explicit TaintToleration(framework::Handle& handle)
      : deferred_pods_(handle),
        lt_and_gt_(LtAndGtOf(handle.gates())),
        pre_score_slot_(handle.NewStateSlot()) {}

  std::string_view Name() const override { return kTaintTolerationName; }

  framework::PreFilterResult PreFilter(CycleState&, const api::Pod& pod,
                                       const framework::Snapshot&) override {
    if (deferred_pods_.Exempt(pod)) return {skip_, {}};
    return {};
  }

  Status Filter(const CycleState&, const api::Pod& pod, const NodeInfo& node) const override {
    if (!node.has_hard_taints()) return {};
    return Repelled(pod, *node.node()) ? untolerated_ : Status();
  }

  Status PreScore(CycleState& state, const api::Pod& pod,
                  std::span<const NodeInfo* const>) override {
    std::shared_ptr<SoftTolerations> soft;
    for (const api::Toleration& toleration : pod.spec->tolerations) {
      if (!toleration.effect.empty() && toleration.effect != prefer_no_schedule_) continue;
      if (soft == nullptr) soft = std::make_shared<SoftTolerations>();
      soft->tolerations.push_back(toleration);
    }
    if (soft == nullptr) {
      pre_score_slot_.Write(state, no_tolerations_);
    } else {
      pre_score_slot_.Write(state, std::move(soft));
    }
    return {};
  }

  Status Score(const CycleState& state, const api::Pod&, const NodeInfo& node,
               int64_t* score) const override {
    const SoftTolerations* soft = pre_score_slot_.Read(state);
    if (soft == nullptr) return not_found_;
    *score = 0;
    if (!node.has_soft_taints()) return {};
    for (const api::Taint& taint : node.node()->taints) {
      if (taint.effect != prefer_no_schedule_) continue;
      if (!Tolerated(soft->tolerations, taint, lt_and_gt_)) ++*score;
    }
    return {};
  }

  Status NormalizeScore(const CycleState&, const api::Pod&, std::span<const NodeInfo* const>,
                        std::span<int64_t> scores) const override {
    NormalizeToMaximum(scores, true);
    return {};
  }
  bool ScalesToHighest() const override { return true; }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    const auto node = [this](const api::Pod& pod, const api::Node* before, const api::Node* after) {
      return QueueIf(after != nullptr && !Repelled(pod, *after) &&
                     (before == nullptr || Repelled(pod, *before)));
    };
    return {{{EventResource::kNode, framework::kActionAdd | framework::kActionUpdateNodeTaint, {}},
             HintOn<api::Node>(node),
             framework::HintScope::kSpec},
            {{EventResource::kTargetPod, framework::kActionUpdatePodToleration, {}}, {}}};
  }

  Status Sign(const api::Pod& pod, std::vector<framework::SignFragment>* fragments) const override {
    fragments->push_back(TolerationsFragment(pod));
    return {};
  }

 private:
  // Some taint that keeps pods away is not tolerated.
  bool Repelled(const api::Pod& pod, const api::Node& node) const {
    return std::any_of(node.taints.begin(), node.taints.end(), [&](const api::Taint& taint) {
      return (taint.effect == no_schedule_ || taint.effect == no_execute_) &&
             !Tolerated(pod.spec->tolerations, taint, lt_and_gt_);
    });
  }

  const DeferredPods deferred_pods_;
  const LtAndGt lt_and_gt_;
  const framework::StateSlot<SoftTolerations> pre_score_slot_;
  const Status skip_{Code::kSkip, {}, std::string(kTaintTolerationName)};
  const std::shared_ptr<SoftTolerations> no_tolerations_ = std::make_shared<SoftTolerations>();
  const Symbol no_schedule_{"NoSchedule"};
  const Symbol no_execute_{"NoExecute"};
  const Symbol prefer_no_schedule_{"PreferNoSchedule"};
  const Status untolerated_{Code::kUnschedulableAndUnresolvable,
                            {"node(s) had untolerated taint(s)"},
                            std::string(kTaintTolerationName)};
  const Status not_found_ =
      Status::Error("failed to read \"PreScoreTaintToleration\" from cycleState: not found");
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewTaintToleration(const config::PluginArgs&,
                                                              framework::Handle& handle) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<TaintToleration>(handle));
}

}  // namespace ks::plugins
