// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who would have to leave the cluster so that a whole group of pods has its nodes.
//
// Upstream: docs/spec/preemption.md section 18.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <absl/container/flat_hash_set.h>

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
// Its cost: every pod below the group's priority leaves once; those come back unseen that share no
// node with a member, unless some plugin counts pods beyond nodes.
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
  bool Concerns(const VictimUnit& unit) const;
  bool EveryoneFits();
  framework::Status TakeAway(const VictimUnit& unit);
  framework::Status PutBack(const VictimUnit& unit);
  GroupFinding Chosen();
  Preemptor Described() const;

  framework::Handle& handle_;
  const framework::GroupPreemptor& preemptor_;
  const int32_t priority_;
  VictimUnits units_;
  std::vector<Placed> placed_;
  absl::flat_hash_set<const framework::NodeInfo*> nodes_;  // of placed members
  bool counts_beyond_nodes_ = false;                       // some plugin, for some member
  PotentialUnits victims_;
};

}  // namespace ks::plugins
