// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/group_preemption.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <absl/container/flat_hash_set.h>

#include "base/canary.h"
#include "framework/nomination.h"
#include "plugins/default_preemption/terminating.h"

namespace ks::plugins {

using framework::Code;
using framework::GroupProposal;
using framework::NodeInfo;
using framework::PluginsRunner;
using framework::PodGroupKey;
using framework::PodInfoPtr;
using framework::Status;

namespace {

constexpr std::string_view kGroupPrefix = "pod group preemption: ";
// What stands for the node where the whole cluster is searched.
constexpr std::string_view kCluster = "cluster";

std::string GroupMessage(std::string_view message) {
  return std::string(kGroupPrefix).append(message);
}

GroupFinding GroupRejected(Code code, std::string_view message) {
  return {.result = {.status = Status(code, {GroupMessage(message)})}};
}

GroupFinding GroupFailed(std::string_view message) {
  return {.result = {.status = Status::Error(GroupMessage(message))}};
}

Status StatusOf(const Result<void>& result) {
  return result.ok() ? Status() : Status::Error(result.error().message);
}

}  // namespace

std::string_view KindOf(const PodGroupKey& group) {
  return group.composite ? "compositepodgroup" : "podgroup";
}

std::string_view UidOf(const framework::PodGroupStates& groups, const PodGroupKey& group) {
  if (group.composite) {
    const api::CompositePodGroupPtr object = groups.FindComposite(group.ns, group.name);
    return object == nullptr ? std::string_view() : std::string_view(object->meta.uid);
  }
  const framework::PodGroupState* state = groups.Find(group.ns, group.name);
  const bool known = state != nullptr && state->object != nullptr;
  return known ? std::string_view(state->object->meta.uid) : std::string_view();
}

GroupPreemption::GroupPreemption(framework::Handle& handle,
                                 const framework::GroupPreemptor& preemptor)
    : handle_(handle),
      preemptor_(preemptor),
      priority_(handle.pod_groups().PriorityOf(preemptor.root)),
      units_(handle.snapshot(), handle.pod_groups()) {}

GroupFinding GroupPreemption::Find() {
  framework::MutableSnapshot& snapshot = handle_.mutable_snapshot();
  if (Result<void> started = snapshot.StartMutations(); !started.ok()) {
    return GroupFailed("failed to start mutations: " + started.error().message);
  }
  GroupFinding finding = FindInScope();
  if (Result<void> ended = snapshot.EndMutations(); !ended.ok()) {
    return GroupFailed("failed to end mutations: " + ended.error().message);
  }
  return finding;
}

// ---- whether to preempt ----

bool GroupPreemption::NeverPreempts() const {
  constexpr std::string_view kNever = "Never";
  if (handle_.gates().Enabled(config::Gate::kPodGroupPreemptionPolicy)) {
    return handle_.pod_groups().PolicyOf(preemptor_.root).view() == kNever;
  }
  return std::any_of(preemptor_.members.begin(), preemptor_.members.end(), [&](const auto& member) {
    return member.pod->spec->preemption_policy.view() == kNever;
  });
}

// Victims of an earlier preemption are still leaving a node that was nominated.
bool GroupPreemption::WaitsForVictims() {
  absl::flat_hash_set<const NodeInfo*> nominated;
  for (const framework::GroupAssignment& member : preemptor_.members) {
    const std::string_view name = framework::NominatedNode(*member.pod, handle_.nominator());
    if (!name.empty()) nominated.insert(handle_.snapshot().Find(name));
  }
  nominated.erase(nullptr);
  return std::any_of(nominated.begin(), nominated.end(), [this](const NodeInfo* node) {
    return std::any_of(node->pods().begin(), node->pods().end(), [this](const PodInfoPtr& info) {
      return IsTerminatingByPreemption(info->pod()) && units_.PriorityOf(info->pod()) < priority_;
    });
  });
}

// ---- the search ----

GroupFinding GroupPreemption::FindInScope() {
  if (NeverPreempts()) {
    return GroupRejected(Code::kUnschedulable, "not eligible due to preemptionPolicy=Never.");
  }
  if (WaitsForVictims()) {
    GroupFinding finding{.result = {}};
    finding.result.message = GroupMessage("ongoing preemption on nominated nodes");
    for (const framework::GroupAssignment& member : preemptor_.members) {
      finding.result.nominations[member.pod->meta.uid] = framework::NominatingInfo{
          std::string(framework::NominatedNode(*member.pod, handle_.nominator()))};
    }
    return finding;
  }
  Result<PotentialUnits> potential = units_.Below(priority_, handle_.snapshot().nodes());
  if (!potential.ok()) {
    return GroupFailed("failed to create domain: " + potential.error().message);
  }
  if (potential->empty()) {
    return GroupRejected(Code::kUnschedulableAndUnresolvable,
                         "No preemption victims found for incoming preemptor");
  }
  for (const PotentialUnit& each : *potential) {
    if (Status status = TakeAway(*each.unit); !status.ok()) return GroupFailed(status.ErrorText());
  }
  const GroupProposal proposal = preemptor_.propose();
  if (proposal.status.code() == Code::kError) return GroupFailed(proposal.status.ErrorText());
  if (!proposal.status.ok()) {
    return GroupRejected(proposal.status.code(), proposal.status.Message());
  }
  Choose(proposal);
  SortByImportance(&*potential);
  PartitionByBudgets(handle_.owner_listers(), &*potential);
  framework::Nominator& nominator = handle_.nominator();
  for (Placed& placed : placed_) {
    placed.nominated_node = framework::TakeNomination(*placed.assignment.pod, nominator);
  }
  // Members of failed groups of a tree are proposed, too, and may have one place twice.
  counts_beyond_nodes_ = counts_beyond_nodes_ || !AllFit(everyone_);
  Status status;
  for (size_t i = 0; i < potential->size() && status.ok(); ++i) status = Reprieve((*potential)[i]);
  for (const Placed& placed : placed_) {
    framework::GiveNominationBack(placed.assignment.pod, placed.nominated_node, nominator);
  }
  return status.ok() ? Chosen() : GroupFailed(status.ErrorText());
}

void GroupPreemption::Choose(const GroupProposal& proposal) {
  for (const framework::GroupAssignment& assignment : proposal.assignments) {
    auto on_node = std::make_shared<api::Pod>(*assignment.pod);
    on_node->node_name = Symbol(assignment.node->name());
    placed_.push_back(
        {.assignment = assignment, .on_node = std::move(on_node), .nominated_node = {}});
    everyone_.push_back(everyone_.size());
    on_node_[assignment.node].push_back(everyone_.back());
    counts_beyond_nodes_ |= handle_.runner().HasPreFilterExtensions(*assignment.state);
    reserves_ |= handle_.runner().HasReserve(*assignment.state);
  }
}

// The unit stays if every member fits on its node all the same; else it is a victim.
Status GroupPreemption::Reprieve(const PotentialUnit& potential) {
  const std::span<const size_t> concerned = Concerned(*potential.unit);
  if (concerned.empty()) return {};
  Status status = PutBack(*potential.unit);
  if (!status.ok() || (AllFit(concerned) && !KS_CANARY(NobodySpared))) return status;
  victims_.push_back(potential);
  for (const PodInfoPtr& info : potential.unit->pods) {
    status = TellMembers(&PluginsRunner::RunPreFilterExtensionRemovePod, *info);
    if (!status.ok()) return status;
  }
  return TakeAway(*potential.unit);
}

// The members that may fit no more when the unit is back. What Filter says of a node depends on its
// pods, and on others only where plugins count them; so all other members still fit.
std::span<const size_t> GroupPreemption::Concerned(const VictimUnit& unit) {
  if (counts_beyond_nodes_) return everyone_;
  concerned_.clear();
  absl::flat_hash_set<const NodeInfo*> seen;
  for (const PodInfoPtr& info : unit.pods) {
    const auto found = on_node_.find(handle_.snapshot().Find(info->pod().node_name.str()));
    if (found == on_node_.end() || !seen.insert(found->first).second) continue;
    concerned_.insert(concerned_.end(), found->second.begin(), found->second.end());
  }
  if (!concerned_.empty() && reserves_) return everyone_;
  return concerned_;
}

// Whether each fits on its node beside those of them before it.
bool GroupPreemption::AllFit(std::span<const size_t> members) {
  const framework::PluginsRunner& runner = handle_.runner();
  size_t tried = 0;
  bool fits = true;
  for (; tried < members.size(); ++tried) {
    const Placed& placed = placed_[members[tried]];
    const framework::GroupAssignment& member = placed.assignment;
    fits = runner.RunFilterPluginsWithNominatedPods(*member.state, *member.pod, *member.node).ok();
    if (!fits) break;
    handle_.mutable_snapshot().AssumePod(placed.on_node);
    (void)runner.RunReservePluginsReserve(*member.state, placed.on_node, member.node->name());
  }
  while (tried > 0) {
    const Placed& last = placed_[members[--tried]];
    runner.RunReservePluginsUnreserve(*last.assignment.state, last.on_node,
                                      last.on_node->node_name.str());
    (void)handle_.mutable_snapshot().ForgetPod(*last.on_node);
  }
  return fits;
}

Status GroupPreemption::TakeAway(const VictimUnit& unit) {
  for (const PodInfoPtr& info : unit.pods) {
    Status status = StatusOf(handle_.mutable_snapshot().RemovePod(info->pod()));
    if (!status.ok()) return status;
  }
  return {};
}

Status GroupPreemption::PutBack(const VictimUnit& unit) {
  for (const PodInfoPtr& info : unit.pods) {
    Status status = StatusOf(handle_.mutable_snapshot().AddPod(info->ptr()));
    if (status.ok()) status = TellMembers(&PluginsRunner::RunPreFilterExtensionAddPod, *info);
    if (!status.ok()) return status;
  }
  return {};
}

// That a pod is back, or goes again: to the plugins of each member that count pods beyond nodes.
Status GroupPreemption::TellMembers(Hook hook, const framework::PodInfo& info) {
  if (!counts_beyond_nodes_) return {};
  const NodeInfo& node = *handle_.snapshot().Find(info.pod().node_name.str());
  for (const Placed& placed : placed_) {
    const framework::GroupAssignment& member = placed.assignment;
    Status status = (handle_.runner().*hook)(*member.state, *member.pod, info, node);
    if (!status.ok()) return status;
  }
  return {};
}

// ---- what was found ----

GroupFinding GroupPreemption::Chosen() {
  SortByImportance(&victims_);
  GroupFinding finding{.result = {}};
  finding.preemption = {.preemptor = Described(), .node = std::string(kCluster), .victims = {}};
  for (const PotentialUnit& victim : victims_) {
    finding.violations += victim.violations;
    if (victim.unit->kind != VictimUnit::Kind::kPod) ++finding.disruptions;
    for (const PodInfoPtr& info : victim.unit->pods) {
      finding.preemption->victims.push_back(info->ptr());
    }
  }
  finding.result.message =
      GroupMessage("found a placement for podgroup, preempting " +
                   std::to_string(finding.preemption->victims.size()) + " victims");
  for (const Placed& placed : placed_) {
    finding.result.nominations[placed.on_node->meta.uid] =
        framework::NominatingInfo{placed.on_node->node_name.str()};
  }
  return finding;
}

Preemptor GroupPreemption::Described() const {
  const framework::PodGroupStates& groups = handle_.pod_groups();
  const PodGroupKey& root = preemptor_.root;
  Preemptor described{.kind = KindOf(root),
                      .uid = std::string(UidOf(groups, root)),
                      .key = root.Name(),
                      .priority = priority_,
                      .pods = {},
                      .gone = {}};
  for (const framework::GroupAssignment& member : preemptor_.members) {
    described.pods.push_back(member.pod);
  }
  if (root.composite) {
    described.related = groups.FindComposite(root.ns, root.name);
  } else if (const framework::PodGroupState* state = groups.Find(root.ns, root.name)) {
    described.related = state->object;
  }
  described.gone = [&groups, root, uid = described.uid] { return UidOf(groups, root) != uid; };
  return described;
}

}  // namespace ks::plugins
