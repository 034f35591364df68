// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who would have to leave the cluster so that a whole group of pods has its nodes.
//
// Upstream: docs/spec/preemption.md section 18.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "framework/group_plugins.h"
#include "framework/handle.h"
#include "plugins/default_preemption/eviction.h"
#include "plugins/default_preemption/victim_units.h"

namespace ks::plugins {

// What preempting for a group comes to.
struct GroupFinding {
  framework::GroupPostFilterResult result;  // what PodGroupPostFilter answers
  // Absent: nobody is to be evicted for it, or is leaving already.
  std::optional<Preemption> preemption{};
  int64_t violations = 0;
  size_t disruptions = 0;  // units that belong to groups
};

// "podgroup" or "compositepodgroup".
std::string_view KindOf(const framework::PodGroupKey& group);
// The uid of the group's object; empty: it is not known. Valid until the groups change.
std::string_view UidOf(const framework::PodGroupStates& groups,
                       const framework::PodGroupKey& group);

// One search. All that it tries happens in the snapshot, and is taken back.
//
// Its cost: every pod below the group's priority leaves once, and of who comes back the members on
// its nodes are asked; all of them if some plugin counts pods beyond nodes or reserves something.
// Threads: the scheduling thread. Lifetime: for one call of PodGroupPostFilter.
class GroupPreemption {
 public:
  GroupPreemption(framework::Handle& handle, const framework::GroupPreemptor& preemptor);

  GroupFinding Find();

 private:
  // A member on the node that was proposed for it.
  struct Placed {
    framework::GroupAssignment assignment;
    api::PodPtr on_node;
    std::string nominated_node;  // while its nomination is taken away; empty: it had none
  };

  bool NeverPreempts() const;
  bool WaitsForVictims();
  GroupFinding FindInScope();
  void Choose(const framework::GroupProposal& proposal);
  framework::Status Reprieve(const PotentialUnit& potential);
  std::span<const size_t> Concerned(const VictimUnit& unit);
  bool AllFit(std::span<const size_t> members);
  framework::Status TakeAway(const VictimUnit& unit);
  framework::Status PutBack(const VictimUnit& unit);
  using Hook = framework::Status (framework::PluginsRunner::*)(framework::CycleState&,
                                                               const api::Pod&,
                                                               const framework::PodInfo&,
                                                               const framework::NodeInfo&) const;
  framework::Status TellMembers(Hook hook, const framework::PodInfo& info);
  GroupFinding Chosen();
  Preemptor Described() const;

  framework::Handle& handle_;
  const framework::GroupPreemptor& preemptor_;
  const int32_t priority_;
  VictimUnits units_;
  std::vector<Placed> placed_;
  // Numbers of placed members, ascending.
  std::vector<size_t> everyone_;
  absl::flat_hash_map<const framework::NodeInfo*, std::vector<size_t>> on_node_;
  std::vector<size_t> concerned_;  // as Concerned answered last
  // Some plugin, for some member: what it says of a node depends
  bool counts_beyond_nodes_ = false;  // on pods of other nodes
  bool reserves_ = false;             // on what was reserved for members on other nodes
  PotentialUnits victims_;
};

}  // namespace ks::plugins
