// SPDX-License-Identifier: Apache-2.0
#pragma once
// The search for devices on one node: depth first, the first complete solution in the order of
// claims, requests, subrequests and devices.
//
// Upstream: docs/spec/plugins-dra.md sections 6.2 and 6.3.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/dynamic_resources/allocated_state.h"
#include "plugins/dynamic_resources/candidates.h"
#include "plugins/dynamic_resources/capacity.h"
#include "plugins/dynamic_resources/compatibility.h"
#include "plugins/dynamic_resources/counters.h"
#include "plugins/dynamic_resources/dead_ends.h"
#include "plugins/dynamic_resources/device_pick.h"
#include "plugins/dynamic_resources/plan.h"
#include "plugins/dynamic_resources/pools.h"

namespace ks::plugins {

// Threads: one. Lifetime: all that it is given must outlive it.
class DeviceSearch {
 public:
  // kTooMany: more results than a claim may have, which other devices of earlier requests would not
  // change; only another alternative of a request may.
  enum class Outcome : uint8_t { kFound, kNone, kTooMany, kFatal };

  // After so many devices that led nowhere it begins to remember dead ends (dead_ends.h).
  static constexpr size_t kPatience = 512;

  // `cancelled` is asked at every step; it answers why, or nothing.
  DeviceSearch(const AllocationPlan& plan, const NodePools& pools, const AllocatedState& allocated,
               DeviceCandidates& candidates, const std::function<std::string()>& cancelled,
               size_t patience = kPatience);

  Outcome Run() { return FromRequest(0, 0); }

  // In order of picking; called once. Requires: kFound.
  DevicePicks TakePicks() { return std::move(picks_); }
  // Requires: kFatal.
  const std::string& error() const { return error_; }

 private:
  // One request that is being satisfied.
  struct Place {
    uint32_t claim = 0;
    uint32_t request = 0;
    const ClaimPlan& claim_plan;
    const AlternativePlan& alternative;
  };
  using Values = std::vector<const api::DeviceAttributeValue*>;

  Outcome FromRequest(uint32_t claim, uint32_t request);
  Outcome AnyAlternative(uint32_t claim, uint32_t request);
  Outcome ExactCount(const Place& place, uint32_t first, int64_t needed);
  Outcome FromDevice(const Place& place, uint32_t first, int64_t needed);
  Outcome AllDevices(const Place& place, size_t next);
  Outcome Fatal(std::string text);

  // What `search` answers at the place; kNone at once where it has failed before.
  template <class Search>
  Outcome UnlessDeadEnd(const SearchPlace& place, const Search& search);
  void CountFailure();

  // Takes the device; kNone: it cannot be taken, and nothing has changed.
  Outcome Take(const Place& place, uint32_t device);
  void TakeBack(const Place& place);
  Outcome Admit(const Place& place, uint32_t device);
  bool InUse(const Place& place, uint32_t device) const;
  bool SkipsOperations(const PoolDevice& device) const {
    return !pools_.slices[device.slice]->slice->skip_node_operations.empty();
  }
  bool IsShareable(const api::Device& device) const {
    return plan_.features().consumable_capacity && device.allow_multiple_allocations;
  }
  Outcome Selected(const Place& place, uint32_t device);
  Outcome FitsCapacity(const Place& place, uint32_t device);
  bool TakeCounters(uint32_t device, bool* taken);
  void GiveBackCounters(uint32_t device);
  Outcome TakeConstraints(const Place& place, uint32_t device);
  void DropConstraints(const Place& place, size_t count);

  // Results that the claim has, and needs at least for its requests from this one on.
  int64_t ResultsOf(uint32_t claim) const;
  // Whether no request can tell two unused devices apart: what failed with one fails with the
  // other.
  bool Alike(uint32_t a, uint32_t b) const;
  std::string Name(uint32_t device) const;

  const AllocationPlan& plan_;
  const NodePools& pools_;
  const AllocatedState& allocated_;
  DeviceCandidates& candidates_;
  const std::function<std::string()>& cancelled_;
  CounterLedger counters_;
  CompatibilityLedger compatibility_;
  CapacityLedger capacity_;
  DevicePicks picks_;
  bool ordered_ = false;                          // some request takes devices in order
  std::vector<uint8_t> picked_;                   // by device: not shareable, and picked
  std::vector<std::vector<Values>> constrained_;  // by claim and constraint
  std::string error_;
  const size_t patience_;
  size_t failures_ = 0;
  std::optional<DeadEnds> dead_ends_;  // from the time on when patience ends
};

}  // namespace ks::plugins
