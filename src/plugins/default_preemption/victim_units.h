// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who is evicted together when pods belong to groups, and how important that is (gate
// GenericWorkload): a group with disruption mode `all` goes as a whole, any other pod alone.
//
// Upstream: docs/spec/preemption.md section 15.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "api/pod_group.h"
#include "base/result.h"
#include "framework/owner_listers.h"
#include "framework/pod_group_state.h"
#include "framework/snapshot.h"

namespace ks::plugins {

// Threads: immutable once shared.
struct VictimUnit {
  // By importance, the lowest first.
  enum class Kind : uint8_t {
    kPod,
    kGroup,  // or one pod of a group
    kComposite,
  };

  std::vector<framework::PodInfoPtr> pods;  // at least one
  int32_t priority = 0;
  Kind kind = Kind::kPod;
  std::optional<TimePoint> start_time{};  // the earliest
};
using VictimUnitPtr = std::shared_ptr<const VictimUnit>;

// A unit that may have to go.
struct PotentialUnit {
  VictimUnitPtr unit;
  uint32_t place = 0;      // where it was found, of units without start time
  int64_t violations = 0;  // pods whose eviction violates a budget
};
using PotentialUnits = std::vector<PotentialUnit>;

// The units of one snapshot. What it found out about a group it remembers.
// Threads: the scheduling thread. Lifetime: one attempt, until the snapshot or a group is changed.
class VictimUnits {
 public:
  VictimUnits(const framework::Snapshot& snapshot, const framework::PodGroupStates& groups)
      : snapshot_(snapshot), groups_(groups) {}

  // Of a member that of the highest group above it that is known; else its own.
  int32_t PriorityOf(const api::Pod& pod);

  // Those with pods on these nodes and lower priority, each at its first pod. Error: some pod of
  // one is on a node that is not in the snapshot.
  Result<PotentialUnits> Below(int32_t priority, std::span<const framework::NodeInfo* const> nodes);

 private:
  // What is known above the pods of a PodGroup.
  struct Group {
    std::optional<int32_t> priority{};                  // of the highest known; absent: none is
    std::optional<framework::PodGroupKey> disrupted{};  // the highest that goes as a whole
  };

  const Group& GroupOf(const framework::PodGroupView& group);
  Result<VictimUnitPtr> UnitOf(const framework::PodInfoPtr& info);
  Result<VictimUnitPtr> MakeWhole(const framework::PodGroupKey& group, int32_t priority) const;
  Result<void> AddMembers(const framework::PodGroupKey& group, VictimUnit* unit) const;

  const framework::Snapshot& snapshot_;
  const framework::PodGroupStates& groups_;
  // By PodGroup.
  absl::flat_hash_map<framework::PodGroupKey, Group, framework::PodGroupHash,
                      framework::PodGroupEqual>
      known_;
  absl::flat_hash_map<framework::PodGroupKey, VictimUnitPtr> whole_;  // null: nobody is known
};

// Higher priority first; then composites before groups before plain pods, more pods, earlier start.
void SortByImportance(PotentialUnits* units);

// Counts the violations of each in their order; those that have some come first then, both parts in
// their order.
void PartitionByBudgets(const framework::OwnerListers& listers, PotentialUnits* units);

}  // namespace ks::plugins
