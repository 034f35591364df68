// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/default_preemption.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/canary.h"
#include "base/logging.h"
#include "framework/group_plugins.h"
#include "framework/metrics/preemption_metrics.h"
#include "framework/nomination.h"
#include "framework/pod_requests.h"
#include "framework/preemption_explainer.h"
#include "golang/quote.h"
#include "plugins/default_preemption/ask_extenders.h"
#include "plugins/default_preemption/candidates.h"
#include "plugins/default_preemption/eviction.h"
#include "plugins/default_preemption/group_preemption.h"
#include "plugins/default_preemption/terminating.h"
#include "plugins/default_preemption/victim_units.h"
#include "plugins/kit/fits_empty.h"
#include "plugins/kit/hinting.h"
#include "plugins/kit/spec_cache.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::CycleState;
using framework::NodeInfo;
using framework::NodeStatuses;
using framework::PodInfoPtr;
using framework::PostFilterResult;
using framework::Resource;
using framework::Status;

constexpr std::string_view kPrefix = "preemption: ";

// So often the first extender is asked about all candidates as they are.
constexpr int kMostRounds = 3;

// What preemption would do.
struct Finding {
  PostFilterResult result;     // what PostFilter answers
  framework::Victims victims;  // on the chosen node; empty unless the status is Success
};

std::string Prefixed(std::string_view message) {
  std::string text(kPrefix);
  text += message;
  return text;
}

Finding Rejected(std::string_view message,
                 std::optional<framework::NominatingInfo> nomination = {}) {
  Finding finding;
  finding.result.status = Status(Code::kUnschedulable, {Prefixed(message)});
  finding.result.nomination = std::move(nomination);
  return finding;
}

Finding Waiting() {
  Finding finding;
  finding.result.status = Status(Code::kWait, {});
  return finding;
}

Finding Failed(std::string_view message) {
  Finding finding;
  finding.result.status = Status::Error(Prefixed(message));
  return finding;
}

// Several errors as one text.
std::string Joined(const std::vector<std::string>& errors) {
  if (errors.size() == 1) return errors.front();
  std::string text = "[";
  for (const std::string& error : errors) {
    if (text.size() > 1) text += ", ";
    text += error;
  }
  return text + "]";
}

class DefaultPreemption final : public framework::Plugin,
                                public framework::PreEnqueuePlugin,
                                public framework::PostFilterPlugin,
                                public framework::PodGroupPostFilterPlugin,
                                public framework::EnqueueExtensions,
                                public framework::OptionalKindReader,
                                public framework::PreemptionExplainer,
                                public framework::GroupPreemptionExplainer {
 public:
  DefaultPreemption(framework::Handle& handle, const config::DefaultPreemptionArgs& args)
      : handle_(handle),
        in_background_(handle.gates().Enabled(config::Gate::kSchedulerAsyncPreemption)),
        workloads_(handle.gates().Enabled(config::Gate::kGenericWorkload)),
        search_(handle, args) {}

  std::string_view Name() const override { return kDefaultPreemptionName; }

  framework::OptionalKinds NeededKinds() const override {
    framework::OptionalKinds kinds = {framework::OptionalKind::kPodDisruptionBudget};
    if (workloads_) kinds.Add(framework::OptionalKind::kPodGroup);
    if (handle_.gates().Enabled(config::Gate::kCompositePodGroup)) {
      kinds.Add(framework::OptionalKind::kCompositePodGroup);
    }
    return kinds;
  }

  Status PreEnqueue(const api::Pod& pod) override {
    if (ongoing_->empty() || !ongoing_->Blocks(PreemptorOf(pod), handle_)) return {};
    return IsMember(pod) ? blocked_group_ : blocked_;
  }
  framework::GateScope ScopeOf(const api::Pod& pod) const override {
    return IsMember(pod) ? framework::GateScope::kPodGroup : framework::GateScope::kAny;
  }

  PostFilterResult PostFilter(CycleState& state, const api::PodPtr& pod,
                              const NodeStatuses& statuses) override {
    framework::PreemptionMetrics* const metrics = handle_.preemption_metrics();
    const bool first = state.preemption_inquiry == nullptr;
    if (metrics != nullptr && first) metrics->CountAttempt();
    const TimePoint start = first ? handle_.clock().Now() : state.preemption_inquiry->began;
    Finding finding = FindVictims(state, pod, statuses, nullptr);
    if (finding.result.status.IsWait()) {
      state.preemption_inquiry->began = start;
      return std::move(finding.result);
    }
    if (metrics != nullptr && workloads_) {
      metrics->ObserveEvaluation("pod", finding.result.status.code(),
                                 handle_.clock().Now() - start);
    }
    if (!finding.result.status.ok()) return std::move(finding.result);
    if (metrics != nullptr) {
      metrics->ObserveVictims(finding.victims.pods.size());
      if (workloads_) metrics->CountViolations("pod", finding.victims.pdb_violations);
    }
    KS_LOG(2, "the target node for the preemption is determined",
           {{"node", finding.result.nomination->node_name}, {"pod", pod->meta.Key()}});
    Evict({.preemptor = PodPreemptor(pod, handle_.pods()),
           .node = finding.result.nomination->node_name,
           .victims = std::move(finding.victims.pods)});
    return std::move(finding.result);
  }

  // Its victims are being evicted, so that PreEnqueue would hold it, or are leaving their node.
  bool IsIdle(const api::Pod& pod, std::string_view freed) override {
    using Stage = OngoingPreemptions::Stage;
    if (IsMember(pod)) return false;
    const Stage stage = ongoing_->StageOf(pod.meta.uid, freed, handle_);
    if (stage != Stage::kFree) return stage == Stage::kHeld;
    // One that has become too small for it would not be waited for.
    return WaitsForVictims(pod, [&](const NodeInfo& node) {
      const Resource& request = *requests_.GetOrMake(
          pod.spec, [&] { return std::make_shared<Resource>(framework::PodRequest(pod)); });
      return FitsEmpty(handle_, request, node.allocatable());
    });
  }

  framework::GroupPostFilterResult PodGroupPostFilter(
      const framework::GroupPreemptor& preemptor) override {
    const TimePoint start = handle_.clock().Now();
    GroupFinding finding = GroupPreemption(handle_, preemptor).Find();
    const Code code = finding.result.status.code();
    if (framework::PreemptionMetrics* const metrics = handle_.preemption_metrics()) {
      const std::string_view kind = KindOf(preemptor.root);
      metrics->CountGroupAttempt(code);
      metrics->ObserveEvaluation("podgroup", code, handle_.clock().Now() - start);
      metrics->CountViolations(kind, finding.violations);
      metrics->ObserveDisruptions(kind, finding.disruptions);
      if (finding.preemption) metrics->ObserveGroupVictims(finding.preemption->victims.size());
    }
    if (finding.preemption) Evict(*std::move(finding.preemption));
    return std::move(finding.result);
  }

  PostFilterResult Explain(CycleState& state, const api::PodPtr& pod, const NodeStatuses& statuses,
                           framework::PreemptionObserver& observer) override {
    Finding finding = FindVictims(state, pod, statuses, &observer);
    if (finding.result.status.ok()) {
      observer.OnChosen(finding.result.nomination->node_name, finding.victims);
    }
    return std::move(finding.result);
  }

  framework::GroupPostFilterResult ExplainGroup(const framework::GroupPreemptor& preemptor,
                                                framework::GroupVictims* victims) override {
    GroupFinding finding = GroupPreemption(handle_, preemptor).Find();
    if (finding.preemption) {
      *victims = {.pods = std::move(finding.preemption->victims),
                  .pdb_violations = finding.violations,
                  .disruptions = finding.disruptions};
    }
    return std::move(finding.result);
  }

  // The registration lets the event through to the pods that PreEnqueue holds. Upstream's hint
  // never wakes one; a preemptor that missed something while it was held comes back here at the
  // latest.
  std::vector<framework::EventRegistration> EventsToRegister() const override {
    const auto hint = [this](const api::Pod& pod, const framework::EventObject&,
                             const framework::EventObject&) -> Result<framework::QueueingHint> {
      return QueueIf(ongoing_->MayComeBack(PreemptorOf(pod)));
    };
    return {{{framework::EventResource::kAssignedPod, framework::kActionDelete, {}}, hint}};
  }

 private:
  bool IsMember(const api::Pod& pod) const { return workloads_ && pod.spec->scheduling_group; }
  // The uid by which its preemption is known: of a member that of the top group; empty: nobody
  // knows it.
  std::string_view PreemptorOf(const api::Pod& pod) const {
    if (!IsMember(pod)) return pod.meta.uid;
    const framework::PodGroupStates& groups = handle_.pod_groups();
    const std::optional<framework::PodGroupKey> root = groups.RootOf(*framework::GroupOf(pod));
    return root ? UidOf(groups, *root) : std::string_view();
  }

  void Evict(Preemption preemption) {
    if (in_background_) {
      EvictInBackground(handle_, std::move(preemption), ongoing_);
    } else {
      EvictAtOnce(handle_, std::move(preemption), ongoing_);
    }
  }

  // With an observer, extenders are not asked.
  Finding FindVictims(CycleState& state, const api::PodPtr& attempted, const NodeStatuses& statuses,
                      framework::PreemptionObserver* observer) {
    const api::PodPtr pod = handle_.pods().FindPod(attempted->meta.Key());
    if (pod == nullptr) {
      return Failed("pod " + golang::Quote(attempted->meta.name) + " not found");
    }
    if (pod->spec->preemption_policy.view() == "Never") {
      return Rejected("not eligible due to preemptionPolicy=Never.");
    }
    const auto may_help = [&statuses](const NodeInfo& node) {
      return statuses.Get(node.index()).code() != Code::kUnschedulableAndUnresolvable;
    };
    if (WaitsForVictims(*pod, may_help)) {
      return Rejected("not eligible due to a terminating pod on the nominated node.",
                      framework::UnseenNomination(*pod, handle_.nominator()));
    }
    const framework::PreemptionInquiry* const inquiry = state.preemption_inquiry.get();
    Candidates candidates =
        search_.Find(state, *pod, statuses, observer,
                     inquiry == nullptr ? std::optional<size_t>() : inquiry->place);
    if (candidates.found.empty()) {
      if (!candidates.errors.empty()) return Failed(Joined(candidates.errors));
      KS_LOG(2, "No preemption candidate is found; preemption is not helpful for scheduling",
             {{"pod", pod->meta.Key()}});
      return Rejected(candidates.fit_error, framework::NominatingInfo{});
    }
    if (observer != nullptr || !AnyoneToAsk(handle_.preemption_extenders(), *pod)) {
      return Taken(std::move(candidates.found));
    }
    return Consult(&state.preemption_inquiry, *pod, candidates);
  }

  // The cluster moves on while extenders are asked. Their answers count if the search still finds
  // what they were asked about; else they are asked anew, until what is still as it was has to do.
  Finding Consult(std::shared_ptr<framework::PreemptionInquiry>* kept, const api::Pod& pod,
                  const Candidates& candidates) {
    framework::VictimsByNode present = ByNode(candidates.found);
    if (*kept == nullptr) {
      *kept = std::make_shared<framework::PreemptionInquiry>();
      (*kept)->place = candidates.place;
      (*kept)->candidates = present;
    }
    framework::PreemptionInquiry& inquiry = **kept;
    const std::set<std::string> same = SameNodes(inquiry.candidates, present);
    // As they are now: those that have begun to leave meanwhile are not evicted once more.
    for (const std::string& node : same) inquiry.candidates[node] = present[node];
    const bool moved = !KS_CANARY(StalePreemptAnswers) &&
                       (same.size() != present.size() || same.size() != inquiry.candidates.size());
    if (moved && (inquiry.rounds < kMostRounds || same.empty())) {
      ++inquiry.rounds;
      inquiry.candidates = std::move(present);
      inquiry.answers.clear();
    }
    const bool partly = moved && !inquiry.answers.empty();
    Result<std::optional<std::vector<Candidate>>> left = AskExtenders(
        handle_.preemption_extenders(), handle_.snapshot(), pod, *kept, partly ? &same : nullptr);
    if (!left.ok()) return Failed(left.error().message);
    if (!left->has_value()) return Waiting();
    if ((*left)->empty()) return Rejected("no candidate node for preemption");
    return Taken(std::move(**left));
  }

  // Victims of an earlier preemption are still leaving the nominated node, which may help without
  // another one.
  template <class MayHelp>
  bool WaitsForVictims(const api::Pod& pod, MayHelp may_help) const {
    const auto usable = [&](std::string_view name) {
      const NodeInfo* const node = handle_.snapshot().Find(name);
      return node != nullptr && may_help(*node) ? node : nullptr;
    };
    // As if the news were here: else another node's pods would have to go as well.
    const std::string* const unheard = ongoing_->NodeOfUnheardVictim(pod.meta.uid);
    if (unheard != nullptr && usable(*unheard) != nullptr) return true;
    const std::string_view nominated = framework::NominatedNode(pod, handle_.nominator());
    const NodeInfo* const node = nominated.empty() ? nullptr : usable(nominated);
    if (node == nullptr) return false;
    const int32_t priority = pod.Priority();
    if (workloads_) {
      VictimUnits units(handle_.snapshot(), handle_.pod_groups());
      return std::any_of(node->pods().begin(), node->pods().end(), [&](const PodInfoPtr& p) {
        return IsTerminatingByPreemption(p->pod()) && units.PriorityOf(p->pod()) < priority;
      });
    }
    return std::any_of(node->pods().begin(), node->pods().end(), [priority](const PodInfoPtr& p) {
      return p->pod().Priority() < priority && IsTerminatingByPreemption(p->pod());
    });
  }

  Finding Taken(std::vector<Candidate> candidates) const {
    const Candidate& best = PickCandidate(candidates, handle_.clock().WallNow());
    Finding finding;
    finding.result.nomination = framework::NominatingInfo{best.node};
    finding.result.message =
        Prefixed("found a potential placement for pod on node " + best.node + ", preempting " +
                 std::to_string(best.victims.pods.size()) + " victims");
    finding.victims = best.victims;
    return finding;
  }

  framework::Handle& handle_;
  const bool in_background_;
  const bool workloads_;  // gate GenericWorkload
  // With the plugin's name, so that the runtime gives them on as they are: each victim that leaves
  // has every waiting preemptor asked.
  const Status blocked_group_{Code::kUnschedulableAndUnresolvable,
                              {"waiting for the preemption for this pod group to be finished"},
                              std::string(kDefaultPreemptionName)};
  const Status blocked_{Code::kUnschedulableAndUnresolvable,
                        {"waiting for the preemption for this pod to be finished"},
                        std::string(kDefaultPreemptionName)};
  CandidateSearch search_;
  SpecCache<Resource> requests_;  // by pod
  // Shared with the evictions under way, which may outlive this plugin.
  const std::shared_ptr<OngoingPreemptions> ongoing_ = std::make_shared<OngoingPreemptions>();
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewDefaultPreemption(const config::PluginArgs& args,
                                                                framework::Handle& handle) {
  const auto* typed = std::get_if<config::DefaultPreemptionArgs>(&args);
  return std::unique_ptr<framework::Plugin>(std::make_unique<DefaultPreemption>(
      handle, typed == nullptr ? config::DefaultPreemptionArgs() : *typed));
}

}  // namespace ks::plugins
