// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/pod_topology_spread.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "framework/place_wise_plugin.h"
#include "plugins/kit/cross_pod/places.h"
#include "plugins/kit/deferred_pods.h"
#include "plugins/kit/hinting.h"
#include "plugins/pod_topology_spread/filter_state.h"
#include "plugins/pod_topology_spread/hints.h"
#include "plugins/pod_topology_spread/score_state.h"
#include "plugins/pod_topology_spread/spread_plan.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::CycleState;
using framework::EventObject;
using framework::EventResource;
using framework::NodeInfo;
using framework::OptionalKind;
using framework::QueueingHint;
using framework::Status;

// Upstream marks ignored nodes so among the scores; a score that happens to be the same, which
// takes a maxSkew below 1, ends as theirs do, although it counts for minimum and maximum.
constexpr int64_t kMarkOfIgnored = -1;

class PodTopologySpread final : public framework::Plugin,
                                public framework::PreFilterPlugin,
                                public framework::PreFilterExtensions,
                                public framework::FilterPlugin,
                                public framework::PreScorePlugin,
                                public framework::ScorePlugin,
                                public framework::ScoreNormalizer,
                                public framework::EnqueueExtensions,
                                public framework::SignPlugin,
                                public framework::PlaceWisePlugin,
                                public framework::OptionalKindReader {
 public:
  PodTopologySpread(const config::PluginArgs& args, framework::Handle& handle)
      : handle_(handle),
        filter_slot_(handle.NewStateSlot()),
        score_slot_(handle.NewStateSlot()),
        deferred_(handle),
        plans_(std::make_unique<SpreadPlans>(args, handle.gates())) {}

  std::string_view Name() const override { return kPodTopologySpreadName; }

  framework::OptionalKinds NeededKinds() const override {
    if (plans_->defaults().empty()) return {};
    return {OptionalKind::kService, OptionalKind::kReplicationController, OptionalKind::kReplicaSet,
            OptionalKind::kStatefulSet};
  }

  framework::PreFilterResult PreFilter(CycleState& state, const api::Pod& pod,
                                       const framework::Snapshot& snapshot) override {
    if (deferred_.Exempt(pod) || !plans_->MayConstrain(pod, SpreadAction::kDoNotSchedule)) {
      return {skip_, {}};
    }
    std::shared_ptr<const SpreadPlan> plan = plans_->Of(pod, handle_.owner_listers());
    if (!plan->hard.error.empty()) {
      return {Status::Error("get constraints from pod: obtaining pod's hard topology spread "
                            "constraints: " +
                            plan->hard.error),
              {}};
    }
    if (plan->hard.constraints.empty()) return {skip_, {}};
    filter_slot_.Write(
        state, std::make_shared<SpreadFilterState>(std::move(plan), pod, counters_, snapshot));
    return {};
  }

  Status AddPod(CycleState& state, const api::Pod&, const framework::PodInfo& pod_to_add,
                const NodeInfo& node) const override {
    return Change(state, pod_to_add, node, 1);
  }
  Status RemovePod(CycleState& state, const api::Pod&, const framework::PodInfo& pod_to_remove,
                   const NodeInfo& node) const override {
    return Change(state, pod_to_remove, node, -1);
  }

  Status Filter(const CycleState& state, const api::Pod& pod, const NodeInfo& node) const override {
    if (deferred_.Exempt(pod)) return {};
    const SpreadFilterState* spread = filter_slot_.Read(state);
    if (spread == nullptr) return no_filter_state_;
    switch (spread->Verdict(node)) {
      case SpreadVerdict::kFits:
        return {};
      case SpreadVerdict::kMissingLabel:
        return missing_label_;
      case SpreadVerdict::kSkewed:
        return skewed_;
    }
    return {};
  }

  bool ReadsNodes(const api::Pod& pod) const override {
    if (!plans_->MayConstrain(pod, SpreadAction::kScheduleAnyway)) return false;
    const std::shared_ptr<const SpreadPlan> plan = plans_->Of(pod, handle_.owner_listers());
    return !plan->soft.error.empty() || !plan->soft.constraints.empty();
  }
  Status PreScore(CycleState& state, const api::Pod& pod,
                  std::span<const NodeInfo* const> nodes) override {
    return PreScorePlaces(state, pod, nodes, {});
  }
  Status PreScorePlaces(CycleState& state, const api::Pod& pod,
                        std::span<const NodeInfo* const> nodes,
                        std::span<const size_t> counts) override {
    const framework::Snapshot& snapshot = handle_.snapshot();
    if (snapshot.nodes().empty() || !plans_->MayConstrain(pod, SpreadAction::kScheduleAnyway)) {
      return skip_;
    }
    std::shared_ptr<const SpreadPlan> plan = plans_->Of(pod, handle_.owner_listers());
    if (!plan->soft.error.empty()) {
      return Status::Error(
          "calculating preScoreState: obtaining pod's soft topology spread constraints: " +
          plan->soft.error);
    }
    if (plan->soft.constraints.empty()) return skip_;
    score_slot_.Write(state, std::make_shared<SpreadScoreState>(std::move(plan), counters_,
                                                                snapshot, nodes, counts, marks_));
    return {};
  }

  bool FindPlaces(const CycleState& state, std::vector<uint64_t>* basis) const override {
    return FindPlacesOf(filter_slot_.Read(state), score_slot_.Read(state), basis);
  }
  void AppendPlace(const CycleState& state, const NodeInfo& node,
                   std::vector<int64_t>* place) const override {
    AppendPlaceOf(filter_slot_.Read(state), score_slot_.Read(state), node, place);
  }

  Status Score(const CycleState& state, const api::Pod&, const NodeInfo& node,
               int64_t* score) const override {
    const SpreadScoreState* spread = score_slot_.Read(state);
    if (spread == nullptr) return no_score_state_;
    *score = spread->Score(node);
    return {};
  }

  Status NormalizeScore(const CycleState& state, const api::Pod&,
                        std::span<const NodeInfo* const> nodes,
                        std::span<int64_t> scores) const override {
    const SpreadScoreState* spread = score_slot_.Read(state);
    if (spread == nullptr) return no_score_state_;
    int64_t lowest = INT64_MAX;
    int64_t highest = 0;
    for (size_t i = 0; i < scores.size(); ++i) {
      if (spread->Ignores(*nodes[i])) continue;
      lowest = std::min(lowest, scores[i]);
      highest = std::max(highest, scores[i]);
    }
    for (size_t i = 0; i < scores.size(); ++i) {
      if (scores[i] == kMarkOfIgnored || spread->Ignores(*nodes[i])) {
        scores[i] = framework::kMinNodeScore;
      } else if (highest == 0) {
        scores[i] = framework::kMaxNodeScore;
      } else {
        scores[i] = framework::kMaxNodeScore * (highest + lowest - scores[i]) / highest;
      }
    }
    return {};
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override;

  Status Sign(const api::Pod& pod, std::vector<framework::SignFragment>*) const override {
    if (!pod.spec->topology_spread_constraints.empty()) return own_not_signable_;
    return plans_->defaults().empty() ? Status() : defaults_not_signable_;
  }
  bool SignsPods() const override { return plans_->defaults().empty(); }

 private:
  Status Change(CycleState& state, const framework::PodInfo& other, const NodeInfo& node,
                int64_t sign) const {
    SpreadFilterState* spread = filter_slot_.Mutable(state);
    if (spread == nullptr) return no_filter_state_;
    spread->Change(other.pod(), node, sign);
    return {};
  }

  // `decide` gets the pod's hard constraints.
  template <class Decide>
  Result<QueueingHint> Hint(const api::Pod& pod, Decide decide) const {
    static const SpreadConstraints none;
    if (!plans_->MayConstrain(pod, SpreadAction::kDoNotSchedule)) return decide(none);
    const std::shared_ptr<const SpreadPlan> plan = plans_->Of(pod, handle_.owner_listers());
    if (!plan->hard.error.empty()) {
      return Error{"obtaining pod's hard topology spread constraints: " + plan->hard.error};
    }
    return decide(plan->hard.constraints);
  }

  static Status Rejection(Code code, std::string reason) {
    return {code, {std::move(reason)}, std::string(kPodTopologySpreadName)};
  }

  const framework::Handle& handle_;
  const framework::StateSlot<SpreadFilterState> filter_slot_;
  const framework::StateSlot<SpreadScoreState> score_slot_;
  const DeferredPods deferred_;
  const std::unique_ptr<SpreadPlans> plans_;  // also used by hints, which change nothing else
  SpreadCounters counters_;
  DomainMarks marks_;

  const Status skip_{Code::kSkip, {}, std::string(kPodTopologySpreadName)};
  const Status missing_label_ =
      Rejection(Code::kUnschedulableAndUnresolvable,
                "node(s) didn't match pod topology spread constraints (missing required label)");
  const Status skewed_ =
      Rejection(Code::kUnschedulable, "node(s) didn't match pod topology spread constraints");
  const Status no_filter_state_ =
      Status::Error("reading \"PreFilterPodTopologySpread\" from cycleState: not found");
  const Status no_score_state_ =
      Status::Error("error reading \"PreScorePodTopologySpread\" from cycleState: not found");
  const Status own_not_signable_ =
      Rejection(Code::kUnschedulable, "pods with topology constraints are not signable");
  const Status defaults_not_signable_ =
      Rejection(Code::kUnschedulable, "pods with default topology constraints are not signable");
};

std::vector<framework::EventRegistration> PodTopologySpread::EventsToRegister() const {
  const auto assigned_pod = [this](const api::Pod& pod, const EventObject& old_object,
                                   const EventObject& new_object) {
    const auto* old_pod = ObjectOf<api::Pod>(old_object);
    const auto* new_pod = ObjectOf<api::Pod>(new_object);
    const bool known = old_pod != nullptr || new_pod != nullptr;
    if (known && HasSoundConstraints(*pod.spec) &&
        CannotHelpAfterAssignedPod(pod, old_pod, new_pod)) {
      return Result<QueueingHint>(QueueingHint::kSkip);
    }
    return Hint(pod, [&](const SpreadConstraints& constraints) {
      if (old_pod == nullptr && new_pod == nullptr) return QueueingHint::kQueue;
      return HintAfterAssignedPod(pod, constraints, old_pod, new_pod);
    });
  };
  const auto own_change = [this](const api::Pod& pod, const EventObject& old_object,
                                 const EventObject& new_object) {
    const auto* old_pod = ObjectOf<api::Pod>(old_object);
    const auto* new_pod = ObjectOf<api::Pod>(new_object);
    return Hint(pod, [&](const SpreadConstraints& constraints) {
      if (old_pod == nullptr || new_pod == nullptr) return QueueingHint::kQueue;
      return HintAfterOwnChange(constraints, *old_pod, *new_pod);
    });
  };
  const auto node = [this](const api::Pod& pod, const EventObject& old_object,
                           const EventObject& new_object) {
    const auto* old_node = ObjectOf<api::Node>(old_object);
    const auto* new_node = ObjectOf<api::Node>(new_object);
    const bool known = old_node != nullptr || new_node != nullptr;
    if (known && HasSoundConstraints(*pod.spec)) {
      return Result<QueueingHint>(HintAfterNode(*pod.spec, old_node, new_node));
    }
    return Hint(pod, [&](const SpreadConstraints& constraints) {
      if (old_node == nullptr && new_node == nullptr) return QueueingHint::kQueue;
      return HintAfterNode(constraints, old_node, new_node);
    });
  };
  // Default constraints select by the owners of each pod.
  const bool own_only = !plans_->defaults().Has(SpreadAction::kDoNotSchedule);
  const auto scope = own_only ? framework::HintScope::kLabels : framework::HintScope::kPod;
  return {
      {{EventResource::kAssignedPod,
        framework::kActionAdd | framework::kActionDelete | framework::kActionUpdatePodLabel,
        {}},
       assigned_pod,
       scope},
      {{EventResource::kTargetPod,
        framework::kActionUpdatePodLabel | framework::kActionUpdatePodToleration,
        {}},
       own_change},
      {{EventResource::kNode,
        framework::kActionAdd | framework::kActionDelete | framework::kActionUpdateNodeLabel |
            framework::kActionUpdateNodeTaint,
        {}},
       node,
       scope,
       own_only ? framework::NodeLabelReadsFn(AddTopologyKeys) : nullptr},
  };
}

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewPodTopologySpread(const config::PluginArgs& args,
                                                                framework::Handle& handle) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<PodTopologySpread>(args, handle));
}

}  // namespace ks::plugins
