// SPDX-License-Identifier: Apache-2.0
#include "inspect/cluster_trial.h"

#include <algorithm>
#include <utility>

#include "base/string_map.h"
#include "plugins/dynamic_resources/pod_claims.h"
#include "queue/group_queue.h"
#include "queue/member_order.h"
#include "scheduler/group_members.h"

namespace ks::inspect {

using framework::NodeInfo;
using framework::PodGroupKey;
using framework::PodGroupState;
using framework::Status;

namespace {

config::FeatureGates GatesOf(const ClusterCopy& cluster) {
  return cluster.gates == nullptr ? config::FeatureGates() : *cluster.gates;
}

std::unique_ptr<cache::PodGroups> MakeMembers(const cache::GroupStores& objects,
                                              const config::FeatureGates& gates) {
  if (!gates.Enabled(config::Gate::kGenericWorkload)) return nullptr;
  return std::make_unique<cache::PodGroups>(objects,
                                            gates.Enabled(config::Gate::kCompositePodGroup));
}

void SetVerdict(const Status& status, Verdict* result, std::string* message) {
  if (status.ok()) {
    *result = Verdict::kSchedulable;
    message->clear();
    return;
  }
  *result = status.IsRejected() ? Verdict::kUnschedulable : Verdict::kError;
  *message = status.IsRejected() ? status.Message() : status.ErrorText();
}

void SetAll(Verdict result, const std::string& message, GroupPlacement* placement) {
  placement->result = result;
  placement->message = message;
  for (GroupPlacement::Group& group : placement->groups) {
    group.result = result;
    group.message = message;
  }
  for (GroupPlacement::Member& member : placement->members) {
    member.placement.result = result;
    member.placement.message = message;
  }
}

}  // namespace

// The copied nominations, to which a group's members come back when they leave their nodes.
class ClusterTrial::Nominations final : public framework::Nominator {
 public:
  explicit Nominations(const ClusterCopy& cluster) : nominated_(cluster.nominated) {
    for (const auto& [node, pods] : nominated_) {
      for (const framework::PodInfoPtr& pod : pods) node_of_[pod->pod().meta.uid] = node;
    }
  }

  std::span<const framework::PodInfoPtr> NominatedPodsForNode(
      std::string_view node_name) const override {
    const auto found = nominated_.find(node_name);
    if (found == nominated_.end()) return {};
    return found->second;
  }
  bool HasNominatedPods() const override { return !node_of_.empty(); }
  void ForEachNominatedNode(
      const std::function<void(std::string_view node_name)>& visit) const override {
    for (const auto& [node, pods] : nominated_) visit(node);
  }
  std::string_view NodeOf(std::string_view uid) const override {
    const auto node = node_of_.find(uid);
    return node == node_of_.end() ? std::string_view() : std::string_view(node->second);
  }
  const framework::NominationLog& changes() const override { return changes_; }
  void AddNominatedPod(const api::PodPtr& pod,
                       const std::optional<framework::NominatingInfo>& info) override {
    DeleteNominatedPodIfExists(*pod);
    const std::string& node = info ? info->node_name : pod->status.nominated_node_name.str();
    if (node.empty()) return;
    changes_.Append(node);
    nominated_[node].push_back(std::make_shared<framework::PodInfo>(pod));
    node_of_[pod->meta.uid] = node;
  }
  void DeleteNominatedPodIfExists(const api::Pod& pod) override {
    const auto node = node_of_.find(pod.meta.uid);
    if (node == node_of_.end()) return;
    changes_.Append(node->second);
    const auto pods = nominated_.find(node->second);
    std::erase_if(pods->second,
                  [&](const auto& info) { return info->pod().meta.uid == pod.meta.uid; });
    if (pods->second.empty()) nominated_.erase(pods);
    node_of_.erase(node);
  }

 private:
  std::map<std::string, std::vector<framework::PodInfoPtr>, std::less<>> nominated_;
  StringMap<std::string> node_of_;  // by uid
  framework::NominationLog changes_{256};
};

// Only preemption asks for pods by name, and only binding for nodes.
class ClusterTrial::NoObjects final : public framework::PodLister, public framework::NodeLister {
 public:
  api::PodPtr FindPod(std::string_view) const override { return nullptr; }
  api::NodePtr FindNode(std::string_view) const override { return nullptr; }
};

ClusterTrial::ClusterTrial(const ClusterCopy& cluster)
    : cluster_(cluster),
      gates_(GatesOf(cluster)),
      nominations_(std::make_unique<Nominations>(cluster)),
      no_objects_(std::make_unique<NoObjects>()),
      groups_(cluster.groups),
      members_(MakeMembers(groups_, gates_)),
      cache_(members_.get()),
      owners_(cluster.owners),
      storage_(cluster.storage),
      devices_(cluster.devices) {
  for (const api::NodePtr& node : cluster.nodes) cache_.AddNode(node);
  for (const api::PodPtr& pod : cluster.pods) (void)cache_.AddPod(pod);
}

ClusterTrial::~ClusterTrial() = default;

Result<std::unique_ptr<ClusterTrial>> ClusterTrial::Make(const ClusterCopy& cluster,
                                                         const AddedObjects& added) {
  std::unique_ptr<ClusterTrial> trial(new ClusterTrial(cluster));
  if (Result<void> prepared = trial->Prepare(added); !prepared.ok()) return prepared.error();
  return trial;
}

Result<void> ClusterTrial::Prepare(const AddedObjects& added) {
  ApplyGroups(added.groups);
  for (const cache::OwnerDeltas& owner : added.owners) owners_.Apply(owner, {});
  using ClaimDelta = api::Delta<api::ResourceClaim>;
  for (const api::ResourceClaimPtr& claim : added.claims) {
    devices_.Apply(std::vector<ClaimDelta>{{ClaimDelta::Type::kUpsert, claim, {}}});
  }
  scheduler::SchedulerOptions options;
  options.configuration = cluster_.configuration;
  options.registry = cluster_.registry;
  options.clock = cluster_.clock;
  options.gates = &gates_;
  auto made = WhatIf::Make(options,
                           {.snapshot = cache_,
                            .owners = owners_,
                            .storage = storage_,
                            .devices = devices_,
                            .groups = states(),
                            .nominator = *nominations_,
                            .pods = *no_objects_,
                            .nodes = *no_objects_,
                            .trial = &cache_.mutable_snapshot(),
                            .trial_nominator = nominations_.get()},
                           /*remember_verdicts=*/true);
  if (!made.ok()) return made.error();
  what_if_ = std::move(made).value();
  AddMembers(added.pods);
  return {};
}

void ClusterTrial::ApplyGroups(const std::vector<cache::GroupDeltas>& added) {
  for (const cache::GroupDeltas& group : added) groups_.Apply(group, {});
  if (members_ == nullptr) return;
  for (const api::PodGroupPtr& group : groups_.PodGroups()) members_->SetGroup(group);
}

// Members of other schedulers are not known before they are on nodes.
void ClusterTrial::AddMembers(const std::vector<api::PodPtr>& added) {
  if (members_ == nullptr) return;
  std::vector<framework::QueuedPodPtr> queued = cluster_.members;
  for (const api::PodPtr& pod : added) {
    if (!IsQueuedMember(*pod) || what_if_->ProfileFor(*pod) == nullptr) continue;
    queued.push_back(std::make_shared<framework::QueuedPod>(pod));
    queued.back()->timestamp = cluster_.time;
  }
  for (const framework::QueuedPodPtr& member : queued) {
    members_->AddMember(member->pod());
    if (member->pod()->meta.deletion_timestamp) continue;
    queued_[framework::GroupOf(*member->pod())->Text()].push_back(member);
  }
  for (auto& [group, those] : queued_) {
    std::sort(those.begin(), those.end(), queue::TriedBefore);
  }
}

// ---- a pod ----

SimulatedPlacement ClusterTrial::Place(const api::PodPtr& pod) {
  SimulatedPlacement placement;
  const framework::Framework* framework = what_if_->ProfileFor(*pod);
  if (framework == nullptr) {
    placement.message = "no profile is named " + pod->spec->scheduler_name.str();
    return placement;
  }
  if (!pod->node_name.empty()) {
    if (members_ != nullptr) members_->AddMember(pod);
    Assume(*pod, pod->node_name.str(), &placement);
    return placement;
  }
  const Status gate = framework->queue_points().RunPreEnqueuePlugins(*pod, {});
  if (!gate.ok()) {
    placement.result = Verdict::kGated;
    placement.message = gate.Message();
    return placement;
  }
  Decide(*framework, pod, &placement);
  return placement;
}

Explanation ClusterTrial::Explain(const api::PodPtr& pod) {
  Explanation failed{.pod = pod->meta.Key()};
  const framework::Framework* framework = what_if_->ProfileFor(*pod);
  if (framework == nullptr) {
    failed.message = "no profile is named " + pod->spec->scheduler_name.str();
    return failed;
  }
  if (Result<void> refreshed = cache_.RefreshSnapshot(); !refreshed.ok()) {
    failed.message = refreshed.error().message;
    return failed;
  }
  return inspect::Explain(*framework, pod);
}

void ClusterTrial::SetNode(const api::NodePtr& node) {
  const NodeInfo* known = cache_.Find(node->meta.name);
  if (known == nullptr || known->node_ptr() == nullptr) {
    cache_.AddNode(node);
  } else {
    cache_.UpdateNode(api::Node(*known->node_ptr()), node);
  }
}

void ClusterTrial::RemoveNode(const api::Node& node) { (void)cache_.RemoveNode(node); }

void ClusterTrial::Decide(const framework::Framework& framework, const api::PodPtr& pod,
                          SimulatedPlacement* placement) {
  if (Result<void> refreshed = cache_.RefreshSnapshot(); !refreshed.ok()) {
    placement->message = refreshed.error().message;
    return;
  }
  scheduler::Attempt attempt(framework, pod, spaces_);
  algorithm_.SchedulePod(attempt);
  const scheduler::ScheduleResult& result = attempt.result;
  const framework::Diagnosis& diagnosis = attempt.search->diagnosis;
  placement->feasible_nodes = result.feasible_nodes;
  if (result.status.ok()) {
    attempt.assumed = Assume(*pod, result.node->name(), placement);
    if (attempt.assumed != nullptr) Reserve(attempt, placement);
    return;
  }
  const bool rejected = result.fit_error || cache_.nodes().empty();
  placement->result = rejected ? Verdict::kUnschedulable : Verdict::kError;
  placement->message = result.fit_error ? diagnosis.Text() : result.status.ErrorText();
  placement->unschedulable_plugins.assign(diagnosis.unschedulable_plugins.begin(),
                                          diagnosis.unschedulable_plugins.end());
}

// The pod on its node; null: it failed.
api::PodPtr ClusterTrial::Assume(const api::Pod& pod, const std::string& node,
                                 SimulatedPlacement* placement) {
  api::PodPtr assumed = scheduler::OnNode(pod, node);
  if (Result<void> done = cache_.AssumePod(assumed); !done.ok()) {
    placement->message = done.error().message;
    return nullptr;
  }
  placement->result = Verdict::kSchedulable;
  placement->node = node;
  return assumed;
}

// What plugins keep for the pod, such as its volumes, the following pods see as taken.
void ClusterTrial::Reserve(scheduler::Attempt& attempt, SimulatedPlacement* placement) {
  const framework::Framework& framework = attempt.framework;
  const Status reserved =
      framework.RunReservePluginsReserve(attempt.state, attempt.assumed, attempt.node());
  if (reserved.ok()) {
    WriteClaims(*attempt.assumed);
    return;
  }
  framework.RunReservePluginsUnreserve(attempt.state, attempt.assumed, attempt.node());
  (void)cache_.ForgetPod(*attempt.assumed);
  placement->result = reserved.IsRejected() ? Verdict::kUnschedulable : Verdict::kError;
  placement->node.clear();
  placement->message = reserved.ErrorText();
}

// As if the allocations had been written, so that other pods can share the claims.
void ClusterTrial::WriteClaims(const api::Pod& pod) {
  const auto claims = plugins::ResolveClaims(devices_, pod, plugins::ClaimOwners::kPodsAndGroups);
  if (!claims.ok()) return;
  for (const api::ResourceClaimPtr& claim : *claims) {
    const std::string& uid = claim->meta.uid;
    const api::ClaimAllocationPtr decided = devices_.PendingAllocation(uid);
    if (decided == nullptr) continue;
    auto written = std::make_shared<api::ResourceClaim>(*claim);
    written->allocation = decided;
    if (!devices_.Assume(written).ok()) continue;
    devices_.RemovePendingAllocation(uid, framework::DeviceState::Sharers::kAll);
  }
}

// ---- a tree of groups ----

const framework::PodGroupStates& ClusterTrial::states() const {
  return members_ == nullptr ? framework::NoPodGroupStates() : *members_;
}

bool ClusterTrial::IsQueuedMember(const api::Pod& pod) const {
  return members_ != nullptr && queue::GroupQueue::IsMember(pod);
}

std::optional<PodGroupKey> ClusterTrial::RootOf(const PodGroupKey& group) const {
  return states().RootOf(group);
}

scheduler::GroupPlan ClusterTrial::PlanOf(const PodGroupKey& group) const {
  scheduler::GroupPlan plan{.group = group, .children = {}, .members = {}};
  for (const PodGroupKey& child : states().ChildrenOf(group)) {
    plan.children.push_back(PlanOf(child));
  }
  const auto queued = queued_.find(group.Text());
  if (queued == queued_.end()) return plan;
  for (const framework::QueuedPodPtr& member : queued->second) {
    plan.members.push_back({.queued = member});
  }
  return plan;
}

// Groups and members as they are before the attempt.
void ClusterTrial::Describe(const scheduler::GroupPlan& plan, GroupPlacement* placement) const {
  GroupPlacement::Group group{.key = plan.group, .message = {}, .queued = plan.members.size()};
  if (plan.group.composite) {
    const auto object = states().FindComposite(plan.group.ns, plan.group.name);
    if (object != nullptr) group.wanted = object->min_group_count;
  } else if (const PodGroupState* state = states().Find(plan.group.ns, plan.group.name)) {
    group.scheduled = state->scheduled();
    if (state->object != nullptr) group.wanted = state->object->min_count;
  }
  placement->groups.push_back(std::move(group));
  for (const scheduler::GroupMember& member : plan.members) {
    placement->members.push_back({.queued = member.queued, .group = plan.group});
  }
  for (const scheduler::GroupPlan& child : plan.children) Describe(child, placement);
}

// False: a plugin holds some member, and with it the group.
bool ClusterTrial::RunPreEnqueue(GroupPlacement* placement) const {
  for (const GroupPlacement::Member& member : placement->members) {
    const api::Pod& pod = *member.queued->pod();
    const framework::Framework* framework = what_if_->ProfileFor(pod);
    if (framework == nullptr) continue;
    const Status gate = framework->queue_points().RunPreEnqueuePlugins(pod, {});
    if (gate.ok()) continue;
    SetAll(Verdict::kGated, gate.Message(), placement);
    return false;
  }
  return true;
}

// The profile of all members.
Result<const framework::Framework*> ClusterTrial::Agree(const GroupPlacement& placement) const {
  scheduler::MemberAgreement::Terms terms{.priority = states().PriorityOf(placement.root),
                                          .policy = {}};
  if (gates_.Enabled(config::Gate::kPodGroupPreemptionPolicy)) {
    terms.policy = states().PolicyOf(placement.root);
  }
  scheduler::MemberAgreement agreement(std::move(terms));
  for (const GroupPlacement::Member& member : placement.members) {
    if (Result<void> checked = agreement.Check(member.queued->pod()); !checked.ok()) {
      return checked.error();
    }
  }
  for (const GroupPlacement::Group& group : placement.groups) {
    const PodGroupState* state =
        group.key.composite ? nullptr : states().Find(group.key.ns, group.key.name);
    if (state == nullptr) continue;
    for (const auto& [uid, member] : state->members()) {
      if (member.state == framework::MemberState::kUnscheduled) continue;
      if (Result<void> checked = agreement.Check(member.pod); !checked.ok()) {
        return checked.error();
      }
    }
  }
  return what_if_->ProfileFor(*agreement.first());
}

GroupPlacement ClusterTrial::PlaceGroup(const PodGroupKey& root,
                                        scheduler::PlacementObserver* observer,
                                        GroupPreemptionTrial* preemption) {
  GroupPlacement placement{.root = root, .profile = {}, .message = {}, .groups = {}, .members = {}};
  const scheduler::GroupPlan plan = PlanOf(root);
  Describe(plan, &placement);
  if (placement.members.empty()) {
    SetAll(Verdict::kSchedulable, "", &placement);
    return placement;
  }
  if (!RunPreEnqueue(&placement)) return placement;
  if (Result<void> refreshed = cache_.RefreshSnapshot(); !refreshed.ok()) {
    SetAll(Verdict::kError, refreshed.error().message, &placement);
    return placement;
  }
  const auto framework = Agree(placement);
  if (!framework.ok()) {
    SetAll(Verdict::kError, framework.error().message, &placement);
    return placement;
  }
  placement.profile = (*framework)->ProfileName();
  scheduler::GroupResult result = Search(**framework, plan, observer, &placement);
  if (preemption != nullptr) Preempt(**framework, plan, result, preemption);
  return placement;
}

scheduler::GroupAlgorithm ClusterTrial::AlgorithmOf(const framework::Framework& framework,
                                                    scheduler::PlacementObserver* observer) {
  return scheduler::GroupAlgorithm({.trial = cache_.mutable_snapshot(),
                                    .snapshot = cache_,
                                    .states = states(),
                                    .algorithm = algorithm_,
                                    .search_spaces = spaces_,
                                    .nominator = *nominations_,
                                    .random = random_,
                                    .observer = observer,
                                    .to_the_end = true},
                                   framework);
}

// As the group cycle, which asks in the same case.
void ClusterTrial::Preempt(const framework::Framework& framework, const scheduler::GroupPlan& plan,
                           scheduler::GroupResult& result, GroupPreemptionTrial* preemption) {
  const framework::GroupPoints& points = framework.group_points();
  if (result.status.code() != framework::Code::kUnschedulable) return;
  if (!points.HasPodGroupPostFilterPlugins()) return;
  scheduler::GroupResult proposed;  // keeps the states of the last proposal
  const framework::GroupPreemptor preemptor{
      .root = plan.group, .members = result.Unassigned(), .propose = [&] {
        proposed = AlgorithmOf(framework, preemption->observer).Propose(plan);
        return framework::GroupProposal{.status = proposed.status,
                                        .assignments = proposed.Assignments()};
      }};
  preemption->result = points.ExplainPodGroupPostFilterPlugins(preemptor, &preemption->victims);
}

scheduler::GroupResult ClusterTrial::Search(const framework::Framework& framework,
                                            const scheduler::GroupPlan& plan,
                                            scheduler::PlacementObserver* observer,
                                            GroupPlacement* placement) {
  scheduler::GroupResult result = AlgorithmOf(framework, observer).Run(plan);
  SetVerdict(result.status, &placement->result, &placement->message);
  size_t group_at = 0;
  size_t member_at = 0;
  result.ForEachGroup([&](scheduler::GroupResult& group) {
    GroupPlacement::Group& known = placement->groups[group_at++];
    SetVerdict(group.status, &known.result, &known.message);
    for (scheduler::MemberResult& member : group.members) {
      Settle(group, member, &placement->members[member_at++]);
    }
  });
  for (auto& [leaf, waiting] : queued_) {
    std::erase_if(waiting, [&](const framework::QueuedPodPtr& one) {
      return std::any_of(placement->members.begin(), placement->members.end(),
                         [&](const auto& member) {
                           return member.queued == one && !member.placement.node.empty();
                         });
    });
  }
  return result;
}

void ClusterTrial::Settle(const scheduler::GroupResult& group, scheduler::MemberResult& result,
                          GroupPlacement::Member* member) {
  member->tried = result.tried;
  member->searched = result.searched();
  member->fits = result.searched() && result.fits();
  if (member->searched && !member->fits) {
    const auto& fit = result.own_fit();
    member->own_cause = fit ? fit->text : result.own_status().Message();
    if (fit) {
      member->own_plugins = {fit->unschedulable_plugins.begin(), fit->unschedulable_plugins.end()};
    }
  }
  SimulatedPlacement& placement = member->placement;
  if (result.attempt != nullptr) placement.feasible_nodes = result.attempt->result.feasible_nodes;
  if (result.placed() && group.status.ok()) {
    scheduler::Attempt& attempt = *result.attempt;
    attempt.assumed = Assume(*member->queued->pod(), attempt.result.node->name(), &placement);
    if (attempt.assumed != nullptr) Reserve(attempt, &placement);
    return;
  }
  if (result.fit) placement.unschedulable_plugins = member->own_plugins;
  const scheduler::AttemptFailure failure = scheduler::FailureOf(group, result);
  const bool rejected = failure.fit || failure.status.IsRejected();
  placement.result = rejected ? Verdict::kUnschedulable : Verdict::kError;
  placement.message = failure.Message();
}

}  // namespace ks::inspect
