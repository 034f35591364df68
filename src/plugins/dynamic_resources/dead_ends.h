// SPDX-License-Identifier: Apache-2.0
#pragma once
// States of a search for devices from which no solution was found. Two states that differ in
// nothing that the rest of the search can see are one: which devices of a kind are taken does not
// count, only how many, and devices that no later request could take do not count at all.
//
// Upstream searches on blindly: docs/spec/plugins-dra.md section 15, trap 39; decision 0046.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/string_map.h"
#include "plugins/dynamic_resources/compatibility.h"
#include "plugins/dynamic_resources/counters.h"
#include "plugins/dynamic_resources/device_kinds.h"
#include "plugins/dynamic_resources/device_pick.h"

namespace ks::plugins {

// Before a device of a request is chosen.
struct SearchPlace {
  uint32_t claim = 0;
  uint32_t request = 0;
  const AlternativePlan* alternative = nullptr;  // null: none has been chosen yet
  uint32_t first = 0;                            // devices before this one are not tried any more
  int64_t needed = 0;                            // further devices of the alternative
};

// What a search has taken so far. `constrained`: by claim and constraint, the accepted values.
struct SearchLedgers {
  const DevicePicks& picks;
  const std::vector<std::vector<std::vector<const api::DeviceAttributeValue*>>>& constrained;
  CounterLedger& counters;
  CompatibilityLedger& compatibility;
};

// Threads: one. Lifetime: all that it is given must outlive it.
class DeadEnds {
 public:
  // `alone`: it matters which devices of a kind are left.
  DeadEnds(const AllocationPlan& plan, const NodePools& pools, const AllocatedState& allocated,
           DeviceCandidates& candidates, bool alone);

  const DeviceKinds& kinds() const { return kinds_; }

  // The state as a text; never empty.
  std::string State(const SearchPlace& place, const SearchLedgers& ledgers);
  bool Contains(const std::string& state) const { return states_.contains(state); }
  // Without effect once kMaxBytes are used.
  void Add(std::string state);

 private:
  static constexpr size_t kMaxBytes = size_t{16} << 20;

  // Alternatives with a lower index than these have no say any more.
  struct Remaining {
    size_t now = 0;    // in devices that can still be chosen for the place's request
    size_t later = 0;  // in all others
  };

  Remaining RemainingAt(const SearchPlace& place) const;
  void AppendPicks(const SearchPlace& place, const Remaining& remaining, const DevicePicks& picks,
                   std::string& state) const;
  void AppendPools(const Remaining& remaining, const SearchLedgers& ledgers, std::string& state);
  void AppendConstraints(const SearchPlace& place, const Remaining& remaining,
                         const SearchLedgers& ledgers, std::string& state);

  const AllocationPlan& plan_;
  const NodePools& pools_;
  bool admin_ = false;  // some request has administrative access
  ValueNumbers values_;
  DeviceKinds kinds_;
  std::vector<std::vector<size_t>> first_;  // alternative, by claim and request, with an end
  std::vector<std::vector<size_t>> constraint_until_;  // by claim and constraint
  std::vector<size_t> counters_until_;                 // by pool
  StringSet states_;
  size_t bytes_ = 0;
};

}  // namespace ks::plugins
