// SPDX-License-Identifier: Apache-2.0
#include "scheduler/group_algorithm.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/canary.h"
#include "base/check.h"
#include "base/logging.h"
#include "framework/nomination.h"
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

// Members that were not tried share their group's lot.
void Inherit(GroupResult& result) {
  for (MemberResult& member : result.members) {
    if (!member.tried) member.status = result.status;
  }
}

// Nothing is left of what the group and its members came to.
void Disregard(GroupResult& result) {
  result.tried = false;
  for (MemberResult& member : result.members) {
    if (member.tried) member.aside = MemberOutcome{member.status, std::move(member.fit)};
    member.tried = false;
    member.fit.reset();
  }
}

// What was found for a group that counts as untried.
void NoteAside(GroupResult& found, GroupResult* untried) {
  std::vector<MemberResult*> members;
  untried->ForEachMember([&](GroupResult&, MemberResult& member) { members.push_back(&member); });
  size_t at = 0;
  found.ForEachMember([&](GroupResult&, MemberResult& member) {
    std::optional<MemberOutcome>& aside = members[at++]->aside;
    if (!member.tried) aside = std::move(member.aside);
    if (member.tried) aside = MemberOutcome{member.status, std::move(member.fit)};
  });
}

// Groups that were not tried, and successful ones below one that failed, share its lot.
void Complete(GroupResult& result) {
  Inherit(result);
  for (GroupResult& child : result.children) {
    if (!result.status.ok() && child.status.ok()) Disregard(child);
    if (!child.tried) child.status = result.status;
    Complete(child);
  }
}

// Every member as if it had not been tried.
GroupResult Untried(const GroupPlan& plan, const Status& status) {
  GroupResult result{.group = plan.group, .status = status, .children = {}, .members = {}};
  for (const GroupMember& member : plan.members) {
    MemberResult& untried = result.members.emplace_back();
    untried.member = &member;
    untried.status = status;
  }
  for (const GroupPlan& child : plan.children) {
    result.children.push_back(Untried(child, status));
    result.children.back().tried = false;
  }
  return result;
}

// "0/3 placements are available, first placement status: …"
std::string NoPlacementText(size_t placements, const Status& first) {
  return "0/" + std::to_string(placements) + " placements are available, first placement status: " +
         (first.error() ? *first.error() : first.Message());
}

}  // namespace

GroupResult GroupAlgorithm::Run(const GroupPlan& plan) {
  GroupResult result = Propose(plan);
  Complete(result);
  return result;
}

GroupResult GroupAlgorithm::Propose(const GroupPlan& plan) {
  GroupResult result = Place(plan, nullptr);
  if (result.status.ok()) {
    bool any = false;
    result.ForEachKept([&any](MemberResult&) { any = true; });
    if (!any) result.status = Unschedulable();
  }
  if (KS_CANARY(GroupTrialStays) && !result.status.ok()) return result;
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
    if (status.code() == Code::kError) {
      for (GroupResult& child : results.back().children) child.tried = false;
      return std::move(results.back());
    }
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
  const size_t mark = placed_.size();
  if (const Status back = PutBack(results[best]); !back.ok()) {
    UndoTo(mark);
    return Untried(plan,
                   Status::Error("failed to assume pod group placement: " + back.ErrorText()));
  }
  return std::move(results[best]);
}

// Nothing of it stays.
GroupResult GroupAlgorithm::TryPlacement(const GroupPlan& plan, const Placement& placement) {
  const TimePoint began = parts_.metrics == nullptr ? TimePoint() : parts_.metrics->Now();
  const size_t mark = placed_.size();
  const bool everywhere = placement.nodes.size() == parts_.snapshot.nodes().size();
  if (parts_.observer != nullptr) parts_.observer->OnBegin(plan.group, placement);
  GroupResult result = PlaceIn(plan, everywhere ? nullptr : &placement);
  UndoTo(mark);
  if (parts_.observer != nullptr) parts_.observer->OnEnd(result);
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
    results[at].ForEachKept([&candidate](MemberResult& member) {
      candidate.assignments.push_back(member.Assignment());
    });
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
Status GroupAlgorithm::PutBack(GroupResult& result) {
  Status status;
  result.ForEachKept([&](MemberResult& member) {
    if (!status.ok()) return;
    Reserve(member);
    status = member.status;
  });
  return status;
}

// ---- one group ----

GroupResult GroupAlgorithm::PlaceIn(const GroupPlan& plan, const Placement* within) {
  return plan.group.composite ? PlaceChildren(plan, within) : PlaceMembers(plan, within);
}

Status GroupAlgorithm::Feasible(const PodGroupKey& group, size_t scheduled,
                                size_t remaining) const {
  Status status = points_.RunPlacementFeasiblePlugin(
      {.group = group, .scheduled = scheduled, .remaining = remaining});
  if (status.code() != Code::kError) return status;
  return Status::Error("failed to evaluate placement feasibility: " + status.ErrorText());
}

// One member or child after the other, until all were tried or the quorum is reached for good or
// out of reach. `try_next` says how it went; `failure` comes before the text of an error.
Status GroupAlgorithm::TryAll(const PodGroupKey& group, size_t scheduled, size_t count,
                              std::string_view failure,
                              const std::function<Status()>& try_next) const {
  size_t remaining = count;
  Status verdict = Feasible(group, scheduled, remaining);
  if (verdict.IsRejected()) return group.composite ? verdict : Unschedulable(verdict.reasons());
  while (remaining > 0 && (verdict.ok() || verdict.IsWait())) {
    const Status status = try_next();
    if (!status.ok() && !status.IsRejected()) {
      return Status::Error(std::string(failure) + status.ErrorText());
    }
    --remaining;
    if (status.ok()) ++scheduled;
    verdict = Feasible(group, scheduled, remaining);
  }
  return verdict.IsWait() ? Unschedulable(verdict.reasons()) : verdict;
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
  const size_t mark = placed_.size();
  GroupResult result = Untried(plan, {});
  auto next = result.members.begin();
  result.status = TryAll(plan.group, state->scheduled(), plan.members.size(),
                         "failed to schedule other pod from a pod group: ", [&] {
                           *next = PlaceMember(*next->member, within);
                           return (next++)->status;
                         });
  std::vector<MemberResult> aside;  // until they are off their nodes
  if (GoesOn(result.status)) aside = PlaceAside({next, result.members.end()}, within);
  if (!result.status.ok() && !KS_CANARY(GroupTrialStays)) UndoTo(mark);
  Inherit(result);
  return result;
}

GroupResult GroupAlgorithm::PlaceChildren(const GroupPlan& plan, const Placement* within) {
  const size_t mark = placed_.size();
  GroupResult result{.group = plan.group, .status = {}, .children = {}, .members = {}};
  auto next = plan.children.begin();
  result.status = TryAll(plan.group, 0, plan.children.size(),
                         "composite pod group evaluation failed due to child error: ", [&] {
                           result.children.push_back(Place(*next++, within));
                           return result.children.back().status;
                         });
  std::vector<GroupResult> aside;  // until their members are off their nodes
  for (; next != plan.children.end(); ++next) {
    result.children.push_back(Untried(*next, result.status));
    result.children.back().tried = false;
    if (!GoesOn(result.status)) continue;
    aside.push_back(Place(*next, within));
    NoteAside(aside.back(), &result.children.back());
  }
  if (!result.status.ok()) UndoTo(mark);
  return result;
}

// ---- one member ----

// Everyone's node sees those before.
std::vector<MemberResult> GroupAlgorithm::PlaceAside(std::span<MemberResult> untried,
                                                     const Placement* within) {
  std::vector<MemberResult> found;
  for (MemberResult& member : untried) {
    MemberResult& one = found.emplace_back(PlaceMember(*member.member, within));
    member.aside = MemberOutcome{one.status, std::move(one.fit)};
  }
  return found;
}

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
  if (parts_.extenders != nullptr && parts_.extenders->Take(*attempt->pod)) {
    parts_.extenders->SchedulePod(*attempt);
  } else {
    parts_.algorithm.SchedulePod(*attempt);
  }
  result.status = attempt->result.status;
  if (attempt->result.fit_error) result.fit = FitFailure::Of(attempt->search->diagnosis);
  attempt->search.reset();
  attempt->placement = nullptr;
  result.attempt = std::move(attempt);
  if (!result.status.ok()) return result;
  // What is tried here is reserved once more: in a chosen placement, and when it is submitted.
  result.attempt->state.Fix(*result.attempt->result.node);
  result.attempt->assumed = OnNode(*member.pod(), result.attempt->result.node->name());
  Reserve(result);
  return result;
}

void GroupAlgorithm::Reserve(MemberResult& result) {
  Attempt& attempt = *result.attempt;
  parts_.trial.AssumePod(attempt.assumed);
  placed_.push_back(
      {.attempt = &attempt,
       .nominated_node = framework::TakeNomination(*attempt.assumed, parts_.nominator)});
  const Status reserved =
      framework_.RunReservePluginsReserve(attempt.state, attempt.assumed, attempt.node());
  if (reserved.ok()) return;
  TakeLastOff();
  result.status = reserved;
  if (reserved.IsRejected()) result.fit = FitFailure::Of(OneNodeDiagnosis(reserved));
}

void GroupAlgorithm::TakeLastOff() {
  const PlacedMember last = std::move(placed_.back());
  placed_.pop_back();
  Attempt& attempt = *last.attempt;
  framework_.RunReservePluginsUnreserve(attempt.state, attempt.assumed, attempt.node());
  const Result<void> forgotten = parts_.trial.ForgetPod(*attempt.assumed);
  if (!forgotten.ok()) log::Error(forgotten.error().message, "Failed to forget a member");
  framework::GiveNominationBack(attempt.pod, last.nominated_node, parts_.nominator);
}

void GroupAlgorithm::UndoTo(size_t mark) {
  while (placed_.size() > mark) TakeLastOff();
}

}  // namespace ks::scheduler
