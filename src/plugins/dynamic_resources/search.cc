// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/search.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "plugins/dynamic_resources/device_taints.h"

namespace ks::plugins {
namespace {

using Outcome = DeviceSearch::Outcome;

// Whether what was taken on the way is to be given back.
bool IsInVain(Outcome outcome) { return outcome == Outcome::kNone || outcome == Outcome::kTooMany; }

bool HasPolicy(const api::Device& device) {
  return std::any_of(device.capacity.begin(), device.capacity.end(),
                     [](const api::DeviceCapacity& one) { return one.policy != nullptr; });
}

// Whether a request takes devices in their order, of which the first that a constraint refuses is
// fatal: then it matters which of equal devices is left.
bool TakesInOrder(const ClaimPlan& claim) {
  return std::any_of(claim.requests.begin(), claim.requests.end(), [](const RequestPlan& request) {
    return std::any_of(request.alternatives.begin(), request.alternatives.end(),
                       [](const AlternativePlan& alternative) {
                         return alternative.all && !alternative.constraints.empty();
                       });
  });
}

}  // namespace

DeviceSearch::DeviceSearch(const AllocationPlan& plan, const NodePools& pools,
                           const AllocatedState& allocated, DeviceCandidates& candidates,
                           const std::function<std::string()>& cancelled, size_t patience)
    : plan_(plan),
      pools_(pools),
      allocated_(allocated),
      candidates_(candidates),
      cancelled_(cancelled),
      counters_(pools, allocated),
      compatibility_(pools, allocated),
      picked_(pools.devices.size()),
      patience_(patience) {
  for (const ClaimPlan& claim : plan.claims()) {
    constrained_.emplace_back(claim.constraints.size());
    ordered_ = ordered_ || TakesInOrder(claim);
  }
}

Outcome DeviceSearch::Fatal(std::string text) {
  error_ = std::move(text);
  return Outcome::kFatal;
}

std::string DeviceSearch::Name(uint32_t device) const {
  const PoolDevice& one = pools_.devices[device];
  const Pool& pool = pools_.pools[one.pool];
  return fmt::format("{}/{}/{}", pool.driver.view(), pool.name.view(), one.device->name.view());
}

int64_t DeviceSearch::ResultsOf(uint32_t claim) const {
  return std::count_if(picks_.begin(), picks_.end(),
                       [claim](const DevicePick& pick) { return pick.claim == claim; });
}

template <class Search>
Outcome DeviceSearch::UnlessDeadEnd(const SearchPlace& place, const Search& search) {
  std::string state;
  if (dead_ends_) {
    state = dead_ends_->State(place, {picks_, constrained_, counters_, compatibility_});
    if (dead_ends_->Contains(state)) return Outcome::kNone;
  }
  const Outcome outcome = search();
  if (outcome == Outcome::kNone && !state.empty()) dead_ends_->Add(std::move(state));
  return outcome;
}

void DeviceSearch::CountFailure() {
  if (++failures_ <= patience_ || dead_ends_) return;
  dead_ends_.emplace(plan_, pools_, allocated_, candidates_, ordered_);
}

Outcome DeviceSearch::FromRequest(uint32_t claim, uint32_t request) {
  if (claim == plan_.claims().size()) return Outcome::kFound;
  if (request == plan_.claims()[claim].requests.size()) return FromRequest(claim + 1, 0);
  return UnlessDeadEnd({.claim = claim, .request = request},
                       [&] { return AnyAlternative(claim, request); });
}

Outcome DeviceSearch::AnyAlternative(uint32_t claim, uint32_t request) {
  const ClaimPlan& plan = plan_.claims()[claim];
  const int64_t results = ResultsOf(claim);
  for (const AlternativePlan& alternative : plan.requests[request].alternatives) {
    const int64_t needed = candidates_.Needed(alternative);
    if (needed < 0 || (alternative.all && needed == 0)) continue;
    const Place place{
        .claim = claim, .request = request, .claim_plan = plan, .alternative = alternative};
    Outcome outcome = Outcome::kTooMany;
    if (results + needed <= kMaxDeviceResults) {
      outcome = alternative.all ? AllDevices(place, 0) : ExactCount(place, 0, needed);
    }
    if (outcome == Outcome::kTooMany && plan.requests[request].first_available) continue;
    if (outcome != Outcome::kNone) return outcome;
  }
  return Outcome::kNone;
}

Outcome DeviceSearch::ExactCount(const Place& place, uint32_t first, int64_t needed) {
  if (needed == 0) return FromRequest(place.claim, place.request + 1);
  if (cancelled_) {
    if (std::string cause = cancelled_(); !cause.empty()) {
      return Fatal("filter operation aborted: " + cause);
    }
  }
  return UnlessDeadEnd({.claim = place.claim,
                        .request = place.request,
                        .alternative = &place.alternative,
                        .first = first,
                        .needed = needed},
                       [&] { return FromDevice(place, first, needed); });
}

Outcome DeviceSearch::FromDevice(const Place& place, uint32_t first, int64_t needed) {
  std::vector<uint32_t> failed;
  for (uint32_t device = first; device < pools_.devices.size(); ++device) {
    if (InUse(place, device)) continue;
    Outcome outcome = Selected(place, device);
    if (outcome == Outcome::kFound) outcome = FitsCapacity(place, device);
    if (outcome == Outcome::kFatal) return outcome;
    if (outcome == Outcome::kNone) continue;
    const bool known = std::any_of(failed.begin(), failed.end(),
                                   [&](uint32_t other) { return Alike(device, other); });
    if (known) continue;
    outcome = Take(place, device);
    if (outcome == Outcome::kFound) {
      outcome = ExactCount(place, device + 1, needed - 1);
      if (IsInVain(outcome)) TakeBack(place);
    }
    if (outcome != Outcome::kNone) return outcome;
    failed.push_back(device);
    CountFailure();
  }
  return Outcome::kNone;
}

Outcome DeviceSearch::AllDevices(const Place& place, size_t next) {
  const std::vector<uint32_t>& all = candidates_.AllOf(place.alternative);
  if (next == all.size()) return FromRequest(place.claim, place.request + 1);
  const uint32_t device = all[next];
  if (InUse(place, device)) return Outcome::kNone;
  Outcome outcome = Take(place, device);
  if (outcome == Outcome::kFound) {
    outcome = AllDevices(place, next + 1);
    if (IsInVain(outcome)) TakeBack(place);
  }
  return outcome;
}

bool DeviceSearch::InUse(const Place& place, uint32_t device) const {
  const PoolDevice& one = pools_.devices[device];
  if (!place.alternative.admin) return allocated_.Dedicated(one.number) || picked_[device] != 0;
  if (picked_[device] == 0) return false;
  return std::any_of(picks_.begin(), picks_.end(), [&](const DevicePick& pick) {
    return pick.claim == place.claim && pick.device == device;
  });
}

Outcome DeviceSearch::Selected(const Place& place, uint32_t device) {
  const auto selects = candidates_.Selects(place.claim_plan, place.alternative, device);
  if (!selects.ok()) return Fatal(selects.error().message);
  return *selects ? Outcome::kFound : Outcome::kNone;
}

Outcome DeviceSearch::FitsCapacity(const Place& place, uint32_t device) {
  const PoolDevice& one = pools_.devices[device];
  if (!plan_.features().consumable_capacity) return Outcome::kFound;
  if (one.device->capacity.empty() && place.alternative.spec->capacity.empty()) {
    return Outcome::kFound;
  }
  const Result<CapacityAmounts>& amounts = *candidates_.Amounts(place.alternative, device);
  if (!amounts.ok()) {
    return Fatal(fmt::format("{}checking capacity for device {}: {}",
                             place.alternative.error_prefix, Name(device),
                             amounts.error().message));
  }
  const bool fits =
      capacity_.Fits(*one.device, one.number, *amounts, allocated_.Consumed(one.number));
  return fits ? Outcome::kFound : Outcome::kNone;
}

// Returns whether the counters suffice, for a device that may share them with the others.
bool DeviceSearch::TakeCounters(uint32_t device, bool* taken) {
  const PoolDevice& one = pools_.devices[device];
  *taken = false;
  if (one.device->consumes_counters.empty()) return true;
  if (!plan_.features().partitions) return false;
  const bool charged_already =
      IsShareable(*one.device) && (allocated_.Shared(one.number) || capacity_.Shares(one.number));
  if (charged_already) return true;
  const bool groups = plan_.features().compatibility_groups;
  if (groups && !compatibility_.Take(one)) return false;
  *taken = counters_.Take(one);
  if (!*taken && groups) compatibility_.GiveBack();
  return *taken;
}

void DeviceSearch::GiveBackCounters(uint32_t device) {
  counters_.GiveBack(pools_.devices[device]);
  if (plan_.features().compatibility_groups) compatibility_.GiveBack();
}

Outcome DeviceSearch::TakeConstraints(const Place& place, uint32_t device) {
  size_t taken = 0;
  for (const size_t index : place.alternative.constraints) {
    const AttributeConstraint& constraint = place.claim_plan.constraints[index];
    Values& values = constrained_[place.claim][index];
    const auto value = candidates_.ValueOf(constraint, place.alternative, device);
    if (!value.ok()) return Fatal(value.error().message);
    if (*value == nullptr || !constraint.Accepts(**value, values)) {
      DropConstraints(place, taken);
      return Outcome::kNone;
    }
    values.push_back(*value);
    ++taken;
  }
  return Outcome::kFound;
}

void DeviceSearch::DropConstraints(const Place& place, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    constrained_[place.claim][place.alternative.constraints[i]].pop_back();
  }
}

// Taints, constraints and capacity; constraints are taken if all is well.
Outcome DeviceSearch::Admit(const Place& place, uint32_t device) {
  const PoolDevice& one = pools_.devices[device];
  if (plan_.features().taints &&
      UntoleratedTaint(place.alternative.spec->tolerations, *one.device) != nullptr) {
    return Outcome::kNone;
  }
  Outcome outcome = TakeConstraints(place, device);
  if (outcome == Outcome::kNone && place.alternative.all) {
    return Fatal(
        fmt::format("{}cannot add device {} because a claim constraint would not be satisfied",
                    place.alternative.error_prefix, Name(device)));
  }
  if (outcome != Outcome::kFound) return outcome;
  outcome = FitsCapacity(place, device);
  if (outcome == Outcome::kNone) DropConstraints(place, place.alternative.constraints.size());
  return outcome;
}

Outcome DeviceSearch::Take(const Place& place, uint32_t device) {
  const PoolDevice& one = pools_.devices[device];
  if (SkipsOperations(one) && !pools_.operations_optional) return Outcome::kNone;
  DevicePick pick{.claim = place.claim, .device = device, .alternative = place.alternative.index};
  if (!TakeCounters(device, &pick.counters_taken)) return Outcome::kNone;
  const Outcome outcome = Admit(place, device);
  if (outcome != Outcome::kFound) {
    if (pick.counters_taken) GiveBackCounters(device);
    return outcome;
  }
  if (IsShareable(*one.device)) {
    const auto& amounts = candidates_.Amounts(place.alternative, device);
    pick.amounts = std::shared_ptr<const CapacityAmounts>(amounts, &amounts->value());
    capacity_.Add(one.number, *pick.amounts);
  } else {
    ++picked_[device];
  }
  picks_.push_back(std::move(pick));
  return Outcome::kFound;
}

void DeviceSearch::TakeBack(const Place& place) {
  const DevicePick pick = std::move(picks_.back());
  picks_.pop_back();
  const PoolDevice& one = pools_.devices[pick.device];
  if (pick.counters_taken) GiveBackCounters(pick.device);
  DropConstraints(place, place.alternative.constraints.size());
  if (pick.amounts != nullptr) {
    capacity_.Remove(one.number, *pick.amounts);
  } else {
    --picked_[pick.device];
  }
}

bool DeviceSearch::Alike(uint32_t a, uint32_t b) const {
  if (ordered_) return false;
  const PoolDevice& one = pools_.devices[a];
  const PoolDevice& other = pools_.devices[b];
  if (dead_ends_ && dead_ends_->kinds().Of(a) == dead_ends_->kinds().Of(b)) {
    return picked_[a] == 0 && picked_[b] == 0 && !capacity_.Shares(one.number) &&
           !capacity_.Shares(other.number);
  }
  if (one.pool != other.pool || one.for_node != other.for_node) return false;
  if (SkipsOperations(one) != SkipsOperations(other)) return false;
  if (pools_.slices[one.slice]->content[one.position] !=
      pools_.slices[other.slice]->content[other.position]) {
    return false;
  }
  if (picked_[a] != picked_[b] || picked_[a] != 0) return false;
  if (allocated_.Dedicated(one.number) || allocated_.Dedicated(other.number)) return false;
  if (IsShareable(*one.device)) return false;
  if (HasPolicy(*one.device) || HasPolicy(*other.device)) return false;
  return one.device->taints == other.device->taints &&
         one.device->consumes_counters == other.device->consumes_counters;
}

}  // namespace ks::plugins
