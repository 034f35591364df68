// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/dead_ends.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ks::plugins {
namespace {

bool HasAdmin(const AllocationPlan& plan) {
  for (const ClaimPlan& claim : plan.claims()) {
    for (const RequestPlan& request : claim.requests) {
      for (const AlternativePlan& alternative : request.alternatives) {
        if (alternative.admin) return true;
      }
    }
  }
  return false;
}

void AppendAll(const std::vector<uint32_t>& numbers, std::string& text) {
  AppendNumber(numbers.size(), text);
  for (const uint32_t number : numbers) AppendNumber(number, text);
}

}  // namespace

// With administrative access a device can be picked twice, which is not the same as two devices.
DeadEnds::DeadEnds(const AllocationPlan& plan, const NodePools& pools,
                   const AllocatedState& allocated, DeviceCandidates& candidates, bool alone)
    : plan_(plan),
      pools_(pools),
      admin_(HasAdmin(plan)),
      kinds_(plan, pools, allocated, candidates, alone || admin_, values_),
      counters_until_(pools.pools.size()) {
  size_t next = 0;
  for (const ClaimPlan& claim : plan.claims()) {
    std::vector<size_t>& until = constraint_until_.emplace_back(claim.constraints.size());
    std::vector<size_t>& first = first_.emplace_back();
    for (const RequestPlan& request : claim.requests) {
      first.push_back(next);
      next += request.alternatives.size();
      for (const AlternativePlan& alternative : request.alternatives) {
        for (const size_t index : alternative.constraints) until[index] = alternative.index + 1;
      }
    }
    first.push_back(next);
  }
  for (uint32_t i = 0; i < pools.devices.size(); ++i) {
    const PoolDevice& device = pools.devices[i];
    if (device.device->consumes_counters.empty()) continue;
    size_t& until = counters_until_[device.pool];
    while (kinds_.Matters(kinds_.Of(i), until)) ++until;
  }
}

void DeadEnds::Add(std::string state) {
  constexpr size_t kNode = 64;
  if (bytes_ >= kMaxBytes) return;
  bytes_ += state.size() + kNode;
  states_.insert(std::move(state));
}

DeadEnds::Remaining DeadEnds::RemainingAt(const SearchPlace& place) const {
  const std::vector<size_t>& first = first_[place.claim];
  if (place.alternative == nullptr) return {first[place.request], first[place.request]};
  return {place.alternative->index, first[place.request + 1]};
}

std::string DeadEnds::State(const SearchPlace& place, const SearchLedgers& ledgers) {
  const Remaining remaining = RemainingAt(place);
  std::string state;
  AppendNumber(remaining.now, state);
  state += place.alternative == nullptr ? 'r' : 'a';
  AppendNumber(place.first, state);
  AppendNumber(static_cast<uint64_t>(place.needed), state);
  AppendPicks(place, remaining, ledgers.picks, state);
  AppendPools(remaining, ledgers, state);
  AppendConstraints(place, remaining, ledgers, state);
  return state;
}

void DeadEnds::AppendPicks(const SearchPlace& place, const Remaining& remaining,
                           const DevicePicks& picks, std::string& state) const {
  uint64_t results = 0;
  std::map<uint32_t, std::vector<uint32_t>> of_device;
  for (const DevicePick& pick : picks) {
    const bool own = pick.claim == place.claim;
    results += own ? 1 : 0;
    const bool ahead = place.alternative != nullptr && pick.device >= place.first;
    const uint32_t kind = kinds_.Of(pick.device);
    if (!kinds_.Matters(kind, ahead ? remaining.now : remaining.later)) continue;
    std::vector<uint32_t>& device = of_device[pick.device];
    if (device.empty()) device = {ahead ? 1U : 0U, kind};
    if (pick.amounts != nullptr) device.push_back(static_cast<uint32_t>(pick.alternative));
    if (admin_) device.push_back(own ? 1 : 0);
  }
  AppendNumber(results, state);
  std::vector<std::vector<uint32_t>> taken;
  for (auto& [device, what] : of_device) {
    std::sort(what.begin() + 2, what.end());
    taken.push_back(std::move(what));
  }
  std::sort(taken.begin(), taken.end());
  AppendNumber(taken.size(), state);
  for (const std::vector<uint32_t>& what : taken) AppendAll(what, state);
}

void DeadEnds::AppendPools(const Remaining& remaining, const SearchLedgers& ledgers,
                           std::string& state) {
  if (!plan_.features().partitions) return;
  const bool groups = plan_.features().compatibility_groups;
  for (uint32_t pool = 0; pool < pools_.pools.size(); ++pool) {
    if (counters_until_[pool] <= remaining.now) continue;
    for (const api::Quantity& left : ledgers.counters.Left(pool)) {
      AppendNumber(values_.Of(left), state);
    }
    if (groups) state += ledgers.compatibility.StateOf(pool) + ";";
  }
}

// Of claims that have not begun nothing is constrained yet.
void DeadEnds::AppendConstraints(const SearchPlace& place, const Remaining& remaining,
                                 const SearchLedgers& ledgers, std::string& state) {
  const std::vector<AttributeConstraint>& constraints = plan_.claims()[place.claim].constraints;
  for (size_t i = 0; i < constraints.size(); ++i) {
    if (constraint_until_[place.claim][i] <= remaining.now) continue;
    std::vector<uint32_t> values;
    for (const api::DeviceAttributeValue* value : ledgers.constrained[place.claim][i]) {
      values.push_back(values_.Of(value));
      if (constraints[i].first_decides()) break;
    }
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    AppendAll(values, state);
  }
}

}  // namespace ks::plugins
