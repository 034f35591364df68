// SPDX-License-Identifier: Apache-2.0
#include "scheduler/group_algorithm.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/logging.h"
#include "scheduler/binding_cycle.h"

namespace ks::scheduler {

using framework::Code;
using framework::PlacementCandidate;
using framework::PodGroupKey;
using framework::Status;

namespace {

Status Unschedulable(std::vector<std::string> reasons = {}) {
  return Status::WithError(Code::kUnschedulable, std::string(kGroupUnschedulable),
                           std::move(reasons));
}

Status FeasibilityFailure(const Status& status) {
  return Status::Error("failed to evaluate placement feasibility: " + status.ErrorText());
}

// Members that were not tried share their group's lot.
void Inherit(GroupResult& result) {
  for (MemberResult& member : result.members) {
    if (!member.tried) member.status = result.status;
  }
}

// A group that was successful shares the lot of the one above it, and so do its members.
void Invalidate(GroupResult& result, const Status& status) {
  if (!result.status.ok()) return;
  result.status = status;
  for (MemberResult& member : result.members) {
    if (member.tried && !member.status.ok()) continue;
    member.status = status;
    member.tried = false;
  }
  for (GroupResult& child : result.children) Invalidate(child, status);
}

// Every member as if it had not been tried.
GroupResult Untried(const GroupPlan& plan, const Status& status) {
  GroupResult result{.group = plan.group, .status = status, .children = {}, .members = {}};
  for (const GroupMember& member : plan.members) {
    MemberResult& untried = result.members.emplace_back();
    untried.member = &member;
    untried.status = status;
  }
  for (const GroupPlan& child : plan.children) result.children.push_back(Untried(child, status));
  return result;
}

// "0/3 placements are available, first placement status: …"
std::string NoPlacementText(size_t placements, const Status& first) {
  return "0/" + std::to_string(placements) + " placements are available, first placement status: " +
         (first.error() ? *first.error() : first.Message());
}

}  // namespace

GroupResult GroupAlgorithm::Run(const GroupPlan& plan) {
  GroupResult result = Place(plan, nullptr);
  if (result.status.ok() && result.CountScheduled() == 0) {
    Invalidate(result, Unschedulable());
  }
  UndoTo(0);
  return result;
}

// ---- placements ----

GroupResult GroupAlgorithm::Place(const GroupPlan& plan, const Placement* within) {
  return points_.HasPlacementGenerator() ? ChoosePlacement(plan, within) : PlaceIn(plan, within);
}

GroupResult GroupAlgorithm::ChoosePlacement(const GroupPlan& plan, const Placement* within) {
  Placement all;
  if (within == nullptr) {
    const auto nodes = parts_.snapshot.nodes();
    all.nodes.assign(nodes.begin(), nodes.end());
  }
  std::vector<Placement> placements;
  const Status generated = points_.RunPlacementGeneratePlugins(
      plan.group, within == nullptr ? all : *within, &placements);
  if (parts_.metrics != nullptr) {
    parts_.metrics->PlacementsGenerated(framework_.ProfileName(), placements.size());
  }
  if (!generated.ok()) return Untried(plan, generated);
  std::vector<GroupResult> results;
  std::vector<size_t> feasible;
  for (size_t i = 0; i < placements.size(); ++i) {
    results.push_back(TryPlacement(plan, placements[i]));
    const Status& status = results.back().status;
    if (status.code() == Code::kError) return std::move(results.back());
    if (status.ok()) feasible.push_back(i);
  }
  if (feasible.empty()) {
    GroupResult& first = results.front();
    first.status = Unschedulable({NoPlacementText(placements.size(), first.status)});
    Inherit(first);
    return std::move(first);
  }
  size_t best = feasible.front();
  if (feasible.size() > 1) {
    if (Status scored = PickBest(plan, placements, results, std::move(feasible), &best);
        !scored.ok()) {
      return Untried(plan, scored);
    }
  }
  PutBack(results[best]);
  return std::move(results[best]);
}

// Nothing of it stays.
GroupResult GroupAlgorithm::TryPlacement(const GroupPlan& plan, const Placement& placement) {
  const TimePoint began = parts_.metrics == nullptr ? TimePoint() : parts_.metrics->Now();
  const size_t mark = placed_.size();
  const bool everywhere = placement.nodes.size() == parts_.snapshot.nodes().size();
  GroupResult result = PlaceIn(plan, everywhere ? nullptr : &placement);
  UndoTo(mark);
  if (parts_.metrics != nullptr) {
    parts_.metrics->PlacementTried(framework_.ProfileName(), result.status, began);
  }
  return result;
}

Status GroupAlgorithm::PickBest(const GroupPlan& plan, const std::vector<Placement>& placements,
                                std::vector<GroupResult>& results, std::vector<size_t> feasible,
                                size_t* best) {
  std::vector<PlacementCandidate> candidates;
  for (const size_t at : feasible) {
    PlacementCandidate& candidate = candidates.emplace_back();
    candidate.placement = &placements[at];
    candidate.assignments = results[at].Assignments();
  }
  std::vector<int64_t> totals;
  Status scored = points_.RunPlacementScorePlugins(plan.group, candidates, &totals);
  if (!scored.ok()) return scored;
  const int64_t most = *std::max_element(totals.begin(), totals.end());
  for (size_t i = totals.size(); i-- > 0;) {
    if (totals[i] != most) feasible.erase(feasible.begin() + static_cast<ptrdiff_t>(i));
  }
  *best = feasible[parts_.random.Below(feasible.size())];
  return {};
}

// The members of a chosen placement are seen by what comes after.
void GroupAlgorithm::PutBack(GroupResult& result) {
  result.ForEachMember([this](GroupResult&, MemberResult& member) {
    if (member.placed()) PutOn(member);
  });
}

// ---- one group ----

GroupResult GroupAlgorithm::PlaceIn(const GroupPlan& plan, const Placement* within) {
  return plan.group.composite ? PlaceChildren(plan, within) : PlaceMembers(plan, within);
}

Status GroupAlgorithm::Feasible(const PodGroupKey& group, size_t scheduled,
                                size_t remaining) const {
  return points_.RunPlacementFeasiblePlugin(
      {.group = group, .scheduled = scheduled, .remaining = remaining});
}

GroupResult GroupAlgorithm::PlaceMembers(const GroupPlan& plan, const Placement* within) {
  const framework::PodGroupState* state = parts_.states.Find(plan.group.ns, plan.group.name);
  if (state == nullptr) {
    return Untried(plan,
                   Status::Error("failed to get podGroup state for podGroup " + plan.group.Name() +
                                 " to compute gang feasibility: pod group state not found "
                                 "for pod group " +
                                 plan.group.Name()));
  }
  size_t scheduled = state->scheduled();
  size_t remaining = plan.members.size();
  Status verdict = Feasible(plan.group, scheduled, remaining);
  if (verdict.IsRejected()) return Untried(plan, Unschedulable(verdict.reasons()));
  if (verdict.code() == Code::kError) return Untried(plan, FeasibilityFailure(verdict));

  const size_t mark = placed_.size();
  GroupResult result = Untried(plan, verdict);
  for (MemberResult& at : result.members) {
    at = PlaceMember(*at.member, within);
    if (!at.status.ok() && !at.status.IsRejected()) {
      verdict =
          Status::Error("failed to schedule other pod from a pod group: " + at.status.ErrorText());
      break;
    }
    --remaining;
    if (at.status.ok()) ++scheduled;
    verdict = Feasible(plan.group, scheduled, remaining);
    if (verdict.code() == Code::kError) verdict = FeasibilityFailure(verdict);
    if (!verdict.ok() && !verdict.IsWait()) break;
  }
  if (verdict.IsWait()) verdict = Unschedulable(verdict.reasons());
  result.status = verdict;
  if (!verdict.ok()) UndoTo(mark);
  Inherit(result);
  return result;
}

GroupResult GroupAlgorithm::PlaceChildren(const GroupPlan& plan, const Placement* within) {
  size_t scheduled = 0;
  size_t remaining = plan.children.size();
  Status verdict = Feasible(plan.group, scheduled, remaining);
  if (verdict.IsRejected()) return Untried(plan, Unschedulable(verdict.reasons()));
  if (verdict.code() == Code::kError) return Untried(plan, FeasibilityFailure(verdict));

  const size_t mark = placed_.size();
  GroupResult result{.group = plan.group, .status = {}, .children = {}, .members = {}};
  for (const GroupPlan& child : plan.children) {
    result.children.push_back(Place(child, within));
    const Status& status = result.children.back().status;
    if (status.code() == Code::kError) {
      verdict = Status::Error("composite pod group evaluation failed due to child error: " +
                              status.ErrorText());
      break;
    }
    --remaining;
    if (status.ok()) ++scheduled;
    verdict = Feasible(plan.group, scheduled, remaining);
    if (verdict.code() == Code::kError) verdict = FeasibilityFailure(verdict);
    if (!verdict.ok() && !verdict.IsWait()) break;
  }
  if (verdict.IsWait()) verdict = Unschedulable(verdict.reasons());
  result.status = verdict;
  for (size_t i = result.children.size(); i < plan.children.size(); ++i) {
    result.children.push_back(Untried(plan.children[i], verdict));
  }
  if (!verdict.ok()) {
    UndoTo(mark);
    for (GroupResult& child : result.children) Invalidate(child, verdict);
  }
  return result;
}

// ---- one member ----

MemberResult GroupAlgorithm::PlaceMember(const GroupMember& member, const Placement* within) {
  MemberResult result;
  result.member = &member;
  result.tried = true;
  auto attempt = std::make_unique<Attempt>(framework_, member.pod(), parts_.search_spaces);
  attempt->queued = member.queued;
  attempt->decision = member.decision;
  attempt->began = member.began;
  attempt->placement = within;
  attempt->state.record_plugin_metrics = framework_.DrawMetricsSample();
  attempt->state.pods_to_activate = std::make_shared<framework::PodsToActivate>();
  parts_.algorithm.SchedulePod(*attempt);
  result.status = attempt->result.status;
  if (attempt->result.fit_error) result.fit = FitFailure::Of(attempt->search->diagnosis);
  attempt->search.reset();
  attempt->placement = nullptr;
  result.attempt = std::move(attempt);
  if (!result.status.ok()) return result;
  // What was chosen once may be chosen again, and other members are tried in between.
  if (parts_.keeps_states || points_.HasPlacementGenerator()) {
    result.attempt->state.Fix(*result.attempt->result.node);
  }
  result.attempt->assumed = OnNode(*member.pod(), result.attempt->result.node->name());
  Reserve(result);
  return result;
}

void GroupAlgorithm::Reserve(MemberResult& result) {
  Attempt& attempt = *result.attempt;
  parts_.trial.AssumePod(attempt.assumed);
  parts_.nominator.DeleteNominatedPodIfExists(*attempt.assumed);
  placed_.push_back(&attempt);
  const Status reserved =
      framework_.RunReservePluginsReserve(attempt.state, attempt.assumed, attempt.node());
  if (reserved.ok()) return;
  placed_.pop_back();
  TakeOff(attempt);
  result.status = reserved;
  if (reserved.IsRejected()) result.fit = FitFailure::Of(OneNodeDiagnosis(reserved));
}

// What was possible once is again, in the same order.
void GroupAlgorithm::PutOn(MemberResult& result) {
  Reserve(result);
  if (!result.status.ok()) {
    log::Error(result.status.ErrorText(), "A member of the chosen placement cannot be put back",
               {{"pod", result.member->pod()->meta.Key()}});
  }
}

void GroupAlgorithm::TakeOff(Attempt& attempt) {
  framework_.RunReservePluginsUnreserve(attempt.state, attempt.assumed, attempt.node());
  const Result<void> forgotten = parts_.trial.ForgetPod(*attempt.assumed);
  if (!forgotten.ok()) log::Error(forgotten.error().message, "Failed to forget a member");
  if (!attempt.pod->status.nominated_node_name.empty()) {
    parts_.nominator.AddNominatedPod(attempt.pod, std::nullopt);
  }
}

void GroupAlgorithm::UndoTo(size_t mark) {
  while (placed_.size() > mark) {
    Attempt* last = placed_.back();
    placed_.pop_back();
    TakeOff(*last);
  }
}

}  // namespace ks::scheduler
