// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why a group of pods, or a tree of groups, fits or does not: what the group cycle's own algorithm
// says of the whole, of each placement and of each member. It runs in a copy of the cluster
// (cluster_trial.h).
//
// Upstream: docs/spec/explain.md (the form), docs/spec/cycle.md section 25 (the rules).

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/print/print_json.h"
#include "inspect/cluster_copy.h"
#include "inspect/cluster_trial.h"
#include "inspect/explain.h"

namespace ks::inspect {

// A member for which no node was found.
struct FailedMember {
  std::string pod;    // namespace/name
  size_t number = 0;  // among all, from 1
  std::string message;
  std::vector<std::string> unschedulable_plugins;
};

// For how many of some members there is room, those before them in their PodGroup on their nodes.
// All are looked at, though an attempt ends when too few are left to try.
struct MemberTally {
  size_t members = 0;
  size_t tried = 0;  // before an attempt ends
  size_t fit = 0;
  std::optional<FailedMember> first_failure;
};

// A group tried within some nodes.
struct PlacementVerdict {
  std::string group;  // PodGroupKey::Text
  std::string name;   // of the topology domain; empty: the nodes of the placement around it
  size_t nodes = 0;
  Verdict result = Verdict::kError;
  std::string message;
  MemberTally tally;
  std::vector<PlacementVerdict> inside;  // of a composite: its children, in this placement
};

// A group of the tree.
struct GroupVerdict {
  std::string group;  // PodGroupKey::Text
  Verdict result = Verdict::kError;
  std::string message;
  std::optional<int64_t> wanted;  // minCount, of a composite minGroupCount; absent: policy basic
  size_t scheduled = 0;           // members that were on nodes before
  size_t queued = 0;              // members that the attempt is about
  size_t fit = 0;                 // of them
};

struct MemberVerdict {
  std::string pod;    // namespace/name
  std::string group;  // of its PodGroup
  Verdict result = Verdict::kError;
  std::string node;
  std::string message;
  std::vector<std::string> unschedulable_plugins;
};

struct GroupExplanation {
  std::string group;  // of the root: PodGroupKey::Text
  std::string profile;
  Verdict result = Verdict::kError;
  // The PodGroup's condition before PostFilter adds to it; kGated: what it waits for.
  std::string message;
  // For people, in one line: how many members fit, which is the first that does not and why, and
  // the placement in which most fit.
  std::string summary;
  std::vector<GroupVerdict> groups;          // from the top
  std::vector<MemberVerdict> members;        // in the order in which they are tried
  std::vector<PlacementVerdict> placements;  // of the root, in the order in which they are tried
  // What preemption would do for a group that fits nowhere, when asked for; and how the placements
  // are without all pods that it may evict.
  std::optional<GroupPreemptionVerdict> preemption{};
  std::vector<PlacementVerdict> preempting_placements{};
  std::vector<std::string> notes{};
};

// The groups of one copy; each is explained as if its tree were the only one that waits.
// Threads: one at a time. Lifetime: the copy outlives it.
class GroupExplainer {
 public:
  explicit GroupExplainer(const ClusterCopy& cluster,
                          ExplainPreemption preemption = ExplainPreemption::kNo)
      : cluster_(cluster), preemption_(preemption) {}

  // The tree that the group belongs to. Refuses with 404 for a group of which nothing is known, 500
  // when a profile cannot be built. The result lives as long as this.
  std::variant<const GroupExplanation*, Refusal> Explain(const framework::PodGroupKey& group);
  // As ClusterTrial::IsQueuedMember.
  bool IsQueuedMember(const api::Pod& pod);
  // The trees that have queued members, by name.
  std::vector<framework::PodGroupKey> WaitingRoots();

 private:
  std::variant<GroupExplanation, Refusal> Make(const framework::PodGroupKey& group,
                                               ClusterTrial& trial);

  // For the names of roots; null: a profile cannot be built.
  const ClusterTrial* LookUp();

  const ClusterCopy& cluster_;
  const ExplainPreemption preemption_;
  std::unique_ptr<ClusterTrial> look_up_;
  std::map<std::string, std::unique_ptr<const GroupExplanation>, std::less<>> known_;  // by root
};

// A queued member's group is not known up to its root.
std::string UnknownGroupText(const framework::PodGroupKey& group);
// "podgroup/NAME", "podgroup/NAMESPACE/NAME", the same with "compositepodgroup"; absent: it names
// no group.
std::optional<framework::PodGroupKey> ParseGroupName(std::string_view text);

// {"podGroup", "profile", "result", "message", "summary", "groups": […], "members": […],
// "placements": […], "preemption": {…}, "notes": […]}, and `live` (JSON; may be empty) as a field
// of that name.
std::string GroupExplanationJson(const GroupExplanation& explanation, std::string_view live = {});
// What is added to a member's own explanation.
GroupShare ShareOf(const GroupExplanation& explanation, const api::Pod& pod);
// Adds it, if the pod is a member that waits, and takes away what preemption would do for the pod
// alone.
void ExplainGroupOf(const api::Pod& pod, GroupExplainer& groups, Explanation* explanation);

std::vector<GroupVerdict> GroupVerdicts(const GroupPlacement& placement);
std::vector<MemberVerdict> MemberVerdicts(const GroupPlacement& placement);
// The field "preemption" of a group that it is told of.
void AddGroupPreemption(config::JsonBuilder& json, const GroupPreemptionVerdict& preemption,
                        const std::vector<PlacementVerdict>& placements);
// The fields "groups" and "members".
void AddGroupList(config::JsonBuilder& json, const std::vector<GroupVerdict>& groups);
void AddMemberList(config::JsonBuilder& json, const std::vector<MemberVerdict>& members);

}  // namespace ks::inspect
