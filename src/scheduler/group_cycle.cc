// SPDX-License-Identifier: Apache-2.0
#include "scheduler/group_cycle.h"

#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "api/pod_group.h"
#include "base/canary.h"
#include "base/check.h"
#include "base/logging.h"
#include "golang/quote.h"
#include "scheduler/decision_ring.h"
#include "scheduler/group_members.h"

namespace ks::scheduler {

using framework::Code;
using framework::PodGroupKey;
using framework::PodGroupState;
using framework::Status;

namespace {

// The status with one reason more; an empty one, too.
Status WithReason(const Status& status, const std::string& reason, size_t times) {
  std::vector<std::string> reasons = status.reasons();
  for (size_t i = 0; i < times; ++i) reasons.push_back(reason);
  if (!status.error()) return Status(status.code(), std::move(reasons));
  reasons.erase(reasons.begin());
  return Status::WithError(status.code(), *status.error(), std::move(reasons));
}

queue::ReturnStatus ReturnStatusOf(const Status& status) {
  if (status.ok()) return queue::ReturnStatus::kSuccess;
  return status.IsRejected() ? queue::ReturnStatus::kRejected : queue::ReturnStatus::kError;
}

}  // namespace

// One cycle. `plan` holds the members that are left.
struct GroupCycle::Run {
  framework::QueuedPodGroupPtr group;
  TimePoint began{};
  const framework::Framework* framework = nullptr;                                 // of all members
  absl::flat_hash_map<PodGroupKey, std::vector<framework::QueuedPodPtr>> members;  // by group
  AwaitedExtenders extenders;
  GroupPlan plan{};
  std::shared_ptr<GroupAttempt> told{};  // what its members' decisions show of it

  template <class Visit>
  void ForEachQueued(Visit visit) const {
    for (const auto& leaf : group->leaves) {
      for (const framework::QueuedPodPtr& queued : leaf.members) visit(leaf.group, queued);
    }
  }
};

void GroupCycle::ScheduleGroup(const framework::QueuedPodGroupPtr& group) {
  KS_LOG(3, "Attempting to schedule pod group", {{"podGroup", group->root().Name()}});
  Run run{.group = group,
          .began = context_.clock.Now(),
          .extenders = AwaitedExtenders(context_, algorithm_)};
  run.told = std::make_shared<GroupAttempt>();
  run.told->group = group->root().Text();
  run.told->attempt = group->attempts;
  if (Result<void> refreshed = context_.cluster.cache.RefreshSnapshot(); !refreshed.ok()) {
    return FailEarly(run, refreshed.error().message, true);
  }
  if (Result<void> known = Reconcile(*group); !known.ok()) {
    return FailEarly(run, known.error().message, false);
  }
  if (Result<void> valid = Validate(run); !valid.ok()) {
    return FailEarly(run, valid.error().message, true);
  }
  DropMembers(run);
  if (run.members.empty()) return Return(run, Status());
  run.plan = MakePlan(run, group->root());

  GroupResult result = Search(run, /*proposal=*/false);
  const Status found = result.status;
  if (found.code() == Code::kUnschedulable) PostFilter(run, result);
  if (run.extenders.given_up()) return;  // the scheduler stops
  Tell(run, result.status);
  Count(run, result);
  PatchConditions(result);
  Submit(run, result);
  Return(run, found);
}

// ---- before the search ----

// The groups are those that the cache knows; what the queue holds may be older only if an object
// went away since.
Result<void> GroupCycle::Reconcile(const framework::QueuedPodGroup& group) const {
  for (const auto& leaf : group.leaves) {
    const PodGroupState* state = states().Find(leaf.group.ns, leaf.group.name);
    if (state == nullptr) {
      return Error{"pod group state not found for pod group " + leaf.group.Text()};
    }
    if (state->object == nullptr) {
      return Error{"pod group object not found for pod group " + leaf.group.Text()};
    }
  }
  const PodGroupKey& root = group.root();
  if (root.composite && states().FindComposite(root.ns, root.name) == nullptr) {
    return Error{"composite pod group not found in snapshot: " + root.Text()};
  }
  return {};
}

// Queued members and those that are on nodes already (docs/spec/cycle.md 25.3).
Result<void> GroupCycle::Validate(Run& run) const {
  MemberAgreement::Terms terms{.priority = run.group->Priority(), .policy = {}};
  if (context_.gated.groups_have_policies) terms.policy = states().PolicyOf(run.group->root());
  MemberAgreement agreement(std::move(terms));
  Result<void> checked;
  const auto check = [&](const api::PodPtr& pod) {
    if (checked.ok()) checked = agreement.Check(pod);
  };
  run.ForEachQueued(
      [&](const PodGroupKey&, const framework::QueuedPodPtr& queued) { check(queued->pod()); });
  for (const auto& leaf : run.group->leaves) {
    for (const auto& [uid, member] : states().Find(leaf.group.ns, leaf.group.name)->members()) {
      if (member.state != framework::MemberState::kUnscheduled) check(member.pod);
    }
  }
  if (!checked.ok()) return checked;
  const api::Pod& first = *agreement.first();
  run.framework = context_.ProfileFor(first);
  if (run.framework == nullptr) {
    return Error{"profile not found for scheduler name " +
                 golang::Quote(first.spec->scheduler_name.view())};
  }
  return {};
}

// Members that must not be attempted leave the cycle, as single pods do.
void GroupCycle::DropMembers(Run& run) {
  run.ForEachQueued([&](const PodGroupKey& leaf, const framework::QueuedPodPtr& queued) {
    if (cycle_.SkipPod(*run.framework, queued->pod())) {
      context_.queue.Done(queued->pod()->meta.uid);
    } else {
      run.members[leaf].push_back(queued);
    }
  });
}

GroupPlan GroupCycle::MakePlan(const Run& run, const PodGroupKey& group) const {
  GroupPlan plan{.group = group, .children = {}, .members = {}};
  for (const PodGroupKey& child : states().ChildrenOf(group)) {
    plan.children.push_back(MakePlan(run, child));
  }
  const auto queued = run.members.find(group);
  if (queued == run.members.end()) return plan;
  for (const framework::QueuedPodPtr& member : queued->second) {
    KS_LOG(3, "Attempting to schedule pod", {{"pod", member->pod()->meta.Key()}});
    ++context_.stats.attempts;
    plan.members.push_back({.queued = member,
                            .decision = context_.decisions.Begin(*member, run.told),
                            .began = run.began});
  }
  return plan;
}

// The members come back with the error, whatever state they are in.
void GroupCycle::FailEarly(Run& run, const std::string& text, bool patch) {
  log::Error(text, "Error scheduling pod group", {{"podGroup", run.group->root().Name()}});
  const Status status = Status::Error(text);
  Tell(run, status);
  run.ForEachQueued([&](const PodGroupKey&, const framework::QueuedPodPtr& queued) {
    const framework::Framework* framework = context_.ProfileFor(*queued->pod());
    if (framework == nullptr) {
      context_.queue.Done(queued->pod()->meta.uid);
      return;
    }
    if (run.framework == nullptr) run.framework = framework;
    Attempt attempt(*framework, queued->pod(), context_.search_spaces);
    attempt.queued = queued;
    attempt.began = run.began;
    ++context_.stats.attempts;
    attempt.decision = context_.decisions.Begin(*queued, run.told);
    if (context_.traces != nullptr) attempt.spans = context_.traces->Begin(*queued, run.began);
    failures_.Handle(attempt, {.status = status});
  });
  if (patch) {
    for (const auto& leaf : run.group->leaves) PatchCondition(leaf.group, status);
  }
  if (metrics_ != nullptr && run.framework != nullptr) {
    metrics_->AttemptEnded(run.framework->ProfileName(), GroupOutcome::kError, run.began);
  }
  Return(run, status);
}

// ---- the search, and what may make room ----

GroupResult GroupCycle::Search(Run& run, bool proposal) {
  GroupAlgorithm algorithm({.trial = context_.cluster.cache.mutable_snapshot(),
                            .snapshot = context_.cluster.cache,
                            .states = states(),
                            .algorithm = algorithm_,
                            .search_spaces = context_.search_spaces,
                            .nominator = context_.nominator,
                            .random = context_.random,
                            .extenders = &run.extenders,
                            .metrics = metrics_},
                           *run.framework);
  const TimePoint began = context_.clock.Now();
  GroupResult result = proposal ? algorithm.Propose(run.plan) : algorithm.Run(run.plan);
  if (metrics_ != nullptr) metrics_->AlgorithmEnded(began);
  return result;
}

// docs/spec/cycle.md 25.8.
void GroupCycle::PostFilter(Run& run, GroupResult& result) {
  framework::GroupPreemptor preemptor{
      .root = run.group->root(), .members = result.Unassigned(), .propose = {}};
  GroupResult proposed;  // keeps the states of the last proposal
  preemptor.propose = [&] {
    proposed = Search(run, /*proposal=*/true);
    return framework::GroupProposal{.status = proposed.status,
                                    .assignments = proposed.Assignments()};
  };
  framework::GroupPostFilterResult outcome =
      run.framework->group_points().RunPodGroupPostFilterPlugins(preemptor);
  if (outcome.status.code() == Code::kError) {
    result.ForEachGroup([&](GroupResult& group) { group.status = outcome.status; });
    return;
  }
  const bool made_room = outcome.status.ok();
  const std::string message = made_room ? outcome.message : outcome.status.Message();
  // Groups that share one status share its reasons, so that each of them adds to all.
  std::map<const void*, size_t> sharers;
  result.ForEachGroup([&](GroupResult& group) {
    if (group.status.IsRejected()) ++sharers[group.status.id()];
  });
  result.ForEachGroup([&](GroupResult& group) {
    if (!group.status.IsRejected()) return;
    group.status = WithReason(group.status, message, sharers[group.status.id()]);
    group.waiting_on_preemption = made_room;
  });
  if (!made_room) return;
  result.ForEachMember([&](GroupResult&, MemberResult& member) {
    const auto found = outcome.nominations.find(member.member->pod()->meta.uid);
    if (found != outcome.nominations.end()) member.nomination = found->second;
  });
}

// ---- after it ----

void GroupCycle::Submit(const Run& run, GroupResult& result) {
  result.ForEachMember(
      [&](GroupResult& group, MemberResult& member) { SubmitMember(run, group, member); });
}

// docs/spec/cycle.md 25.9.
void GroupCycle::SubmitMember(const Run& run, const GroupResult& group, MemberResult& member) {
  const bool placed = group.status.ok() && member.status.ok();
  const bool kept_wrongly =
      KS_CANARY(MembersKeptBelowQuorum) && group.status.IsRejected() && member.status.ok();
  if (!placed && !kept_wrongly) {
    Fail(run, member, FailureOf(group, member));
    return;
  }
  KS_CHECK(member.attempt != nullptr, "a member was given a node without an attempt");
  member.attempt->assumed = nullptr;
  if (context_.traces != nullptr) {
    member.attempt->spans = context_.traces->Begin(*member.member->queued, run.began);
  }
  member.attempt->extenders = context_.extenders;
  context_.decisions.Chosen(member.member->decision, member.attempt->result,
                            context_.cluster.cache.nodes().size());
  cycle_.AssumeAndBind(std::move(member.attempt));
}

void GroupCycle::Fail(const Run& run, MemberResult& member, const AttemptFailure& failure) {
  member.attempt.reset();
  Attempt attempt(*run.framework, member.member->pod(), context_.search_spaces);
  attempt.queued = member.member->queued;
  attempt.decision = member.member->decision;
  attempt.began = member.member->began;
  if (context_.traces != nullptr) {
    attempt.spans = context_.traces->Begin(*attempt.queued, run.began);
  }
  failures_.Handle(attempt, failure);
}

void GroupCycle::PatchConditions(GroupResult& result) {
  result.ForEachGroup([this](GroupResult& group) {
    if (!group.group.composite) PatchCondition(group.group, group.status);
  });
}

void GroupCycle::PatchCondition(const PodGroupKey& group, const Status& status) {
  const PodGroupState* state = states().Find(group.ns, group.name);
  if (state != nullptr && state->object != nullptr) conditions_.Tell(state->object, status);
}

// For operators. Comes before the members' decisions are complete.
void GroupCycle::Tell(const Run& run, const Status& status) {
  if (status.ok()) {
    run.told->result = DecisionResult::kScheduled;
    return;
  }
  run.told->result = status.IsRejected() ? DecisionResult::kUnschedulable : DecisionResult::kError;
  run.told->message = status.IsRejected() ? status.Message() : status.ErrorText();
}

void GroupCycle::Count(const Run& run, const GroupResult& result) {
  const std::string name = run.group->root().Name();
  if (result.status.ok()) {
    KS_LOG(2, "Successfully scheduled a pod group", {{"podGroup", name}});
  } else if (result.waiting_on_preemption) {
    KS_LOG(2, "Pod group is waiting for preemption", {{"podGroup", name}});
  } else if (result.status.IsRejected()) {
    KS_LOG(2, "Unable to schedule a pod group",
           {{"podGroup", name}, {"err", result.status.Message()}});
  } else {
    log::Error(result.status.ErrorText(), "Error scheduling pod group", {{"podGroup", name}});
  }
  if (metrics_ == nullptr) return;
  GroupOutcome outcome = GroupOutcome::kError;
  if (result.status.ok()) {
    outcome = GroupOutcome::kScheduled;
  } else if (result.waiting_on_preemption) {
    outcome = GroupOutcome::kWaitingOnPreemption;
  } else if (result.status.IsRejected()) {
    outcome = GroupOutcome::kUnschedulable;
  }
  metrics_->AttemptEnded(run.framework->ProfileName(), outcome, run.began);
}

void GroupCycle::Return(const Run& run, const Status& status) {
  const Result<void> returned = context_.queue.groups()->Return(run.group, ReturnStatusOf(status));
  if (!returned.ok()) {
    log::Error(returned.error().message, "Error occurred",
               {{"podGroup", run.group->root().Name()}});
  }
}

}  // namespace ks::scheduler
