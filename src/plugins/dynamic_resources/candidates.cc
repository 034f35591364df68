// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/candidates.h"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "plugins/kit/device_content.h"

namespace ks::plugins {
namespace {

using Verdict = SelectorSet::Verdict;

}  // namespace

DeviceCandidates::DeviceCandidates(const AllocationPlan& plan, const NodePools& pools)
    : plan_(plan), pools_(pools), of_(plan.alternatives()) {}

std::string DeviceCandidates::Name(const PoolDevice& device) const {
  const Pool& pool = pools_.pools[device.pool];
  return fmt::format("{}/{}/{}", pool.driver.view(), pool.name.view(), device.device->name.view());
}

Result<bool> DeviceCandidates::ForNode(const PoolDevice& device) {
  if (device.broken_selection == nullptr) return device.for_node;
  return Error{.message = ParseError(*device.broken_selection), .path = "", .hint = ""};
}

// What the selectors are known to say. Requires: there are some.
VerdictTable::Kept& DeviceCandidates::VerdictOf(const AlternativePlan& alternative,
                                                const PoolDevice& device) {
  Asked& asked = of_[alternative.index];
  if (asked.verdicts.empty()) asked.verdicts.resize(pools_.slices.size());
  std::shared_ptr<VerdictTable::Kept[]>& verdicts = asked.verdicts[device.slice];
  if (verdicts == nullptr) {
    const SliceEntry& slice = *pools_.slices[device.slice];
    const std::shared_ptr<VerdictTable>& table = alternative.verdicts;
    if (VerdictTable::Kept* made = table == nullptr ? nullptr : table->Of(slice)) {
      verdicts = {table, made};
    } else {
      const auto own = slice.verdicts.Of(*alternative.selectors, slice.numbers.size());
      verdicts = {own, own->data()};
    }
  }
  return verdicts[device.position];
}

Result<bool> DeviceCandidates::Selects(const ClaimPlan& claim, const AlternativePlan& alternative,
                                       uint32_t device) {
  const PoolDevice& one = pools_.devices[device];
  if (!plan_.features().binding_conditions && !one.device->binding_conditions.empty()) return false;
  const SelectorSet& set = *alternative.selectors;
  if (set.empty()) return ForNode(one);
  VerdictTable::Kept& kept = VerdictOf(alternative, one);
  auto verdict = static_cast<Verdict>(kept.load(std::memory_order_relaxed));
  const cel::Device& content = *pools_.slices[one.slice]->content[one.position];
  if (verdict == Verdict::kNotAsked) {
    verdict = set.Ask(content);
    kept.store(static_cast<uint8_t>(verdict), std::memory_order_relaxed);
  }
  if (verdict == Verdict::kNo) return false;
  if (verdict == Verdict::kYes) return ForNode(one);
  const SelectorSet::Failure failure = set.Explain(content, Name(one));
  const std::string prefix = failure.of_class
                                 ? fmt::format("class {}: ", alternative.device_class->meta.name)
                                 : claim.error_prefix;
  return Error{.message = prefix + failure.text, .path = "", .hint = ""};
}

const std::shared_ptr<const Result<CapacityAmounts>>& DeviceCandidates::Amounts(
    const AlternativePlan& alternative, uint32_t device) {
  Asked& asked = of_[alternative.index];
  if (asked.amounts.empty()) asked.amounts.resize(pools_.devices.size());
  auto& kept = asked.amounts[device];
  if (kept == nullptr) {
    kept = std::make_shared<const Result<CapacityAmounts>>(
        RequestedAmounts(*pools_.devices[device].device, alternative.spec->capacity,
                         plan_.features().fractional_ranges));
  }
  return kept;
}

Result<api::DeviceAttributeValue> DeviceCandidates::Derive(const DerivedPlan& derived,
                                                           const PoolDevice& device) const {
  const Expression::ProgramPtr program = derived.expression.program();
  if (program == nullptr) {
    return Error{fmt::format("compile derived attribute {} failed: {}", derived.name.view(),
                             derived.expression.error())};
  }
  const cel::Device& content = *pools_.slices[device.slice]->content[device.position];
  const auto value = program->Derive(content);
  if (value.ok()) return AttributeOf(*value);
  return Error{fmt::format("evaluate derived attribute {} on device {} failed: {}",
                           derived.name.view(), Name(device), value.error().message)};
}

Result<const api::DeviceAttributeValue*> DeviceCandidates::ValueOf(
    const AttributeConstraint& constraint, const AlternativePlan& alternative, uint32_t device) {
  const PoolDevice& one = pools_.devices[device];
  const auto derived =
      std::find_if(alternative.derived.rbegin(), alternative.derived.rend(),
                   [&](const DerivedPlan& plan) { return plan.name == constraint.name(); });
  if (derived == alternative.derived.rend()) {
    return constraint.ValueOf(*one.device, pools_.pools[one.pool].driver);
  }
  const std::pair<const DerivedPlan*, uint32_t> key(&*derived, device);
  auto known = derived_.find(key);
  if (known == derived_.end()) known = derived_.emplace(key, Derive(*derived, one)).first;
  if (!known->second.ok()) return known->second.error();
  return &*known->second;
}

Result<void> DeviceCandidates::PrepareAll(const ClaimPlan& claim,
                                          const AlternativePlan& alternative) {
  size_t device = 0;
  std::vector<uint32_t>& all = of_[alternative.index].all;
  for (uint32_t p = 0; p < pools_.pools.size(); ++p) {
    const Pool& pool = pools_.pools[p];
    if (pool.state != Pool::State::kValid) {
      const bool invalid = pool.state == Pool::State::kInvalid;
      return Error{
          .message = fmt::format("{}asks for all devices, but resource pool {}/{} is currently {}",
                                 alternative.error_prefix, pool.driver.view(), pool.name.view(),
                                 invalid ? "invalid" : "being updated"),
          .path = "",
          .hint = ""};
    }
    for (; device < pools_.devices.size() && pools_.devices[device].pool == p; ++device) {
      const auto index = static_cast<uint32_t>(device);
      const auto selects = Selects(claim, alternative, index);
      if (!selects.ok()) return selects.error();
      if (!*selects) continue;
      if (!plan_.features().consumable_capacity) {
        all.push_back(index);
        continue;
      }
      const Result<CapacityAmounts>& amounts = *Amounts(alternative, index);
      if (!amounts.ok()) {
        return Error{.message = fmt::format(
                         "{}checking capacity for device {}: {}", alternative.error_prefix,
                         pools_.devices[index].device->name.view(), amounts.error().message),
                     .path = "",
                     .hint = ""};
      }
      if (amounts->fits_total) all.push_back(index);
    }
  }
  of_[alternative.index].needed = static_cast<int64_t>(all.size());
  return {};
}

Result<void> DeviceCandidates::PrepareAlternative(const ClaimPlan& claim,
                                                  const AlternativePlan& alternative) {
  if (!alternative.error.empty()) {
    return Error{.message = alternative.error, .path = "", .hint = ""};
  }
  if (alternative.all) return PrepareAll(claim, alternative);
  const std::string& mode = alternative.spec->allocation_mode;
  if (mode != api::kExactCountMode) {
    return Error{
        .message = fmt::format("{}unsupported count mode {}", alternative.error_prefix, mode),
        .path = "",
        .hint = ""};
  }
  of_[alternative.index].needed = alternative.spec->count;
  return {};
}

Result<void> DeviceCandidates::PrepareRequest(const ClaimPlan& claim, const RequestPlan& request,
                                              int64_t& at_least) {
  int64_t least = 0;
  for (size_t i = 0; i < request.alternatives.size(); ++i) {
    const AlternativePlan& alternative = request.alternatives[i];
    auto prepared = PrepareAlternative(claim, alternative);
    if (!prepared.ok()) return prepared;
    const int64_t needed = Needed(alternative);
    least = i == 0 ? needed : std::min(least, needed);
  }
  if (at_least + least > kMaxDeviceResults) {
    return Error{.message = fmt::format("{}adding {} devices exceeds the claim limit of {}, with "
                                        "{} already accounted for",
                                        request.error_prefix, least, kMaxDeviceResults, at_least),
                 .path = "",
                 .hint = ""};
  }
  at_least += least;
  return {};
}

Result<void> DeviceCandidates::Prepare() {
  for (const ClaimPlan& claim : plan_.claims()) {
    int64_t at_least = 0;
    for (const RequestPlan& request : claim.requests) {
      auto prepared = PrepareRequest(claim, request, at_least);
      if (!prepared.ok()) return prepared;
    }
    if (!claim.constraint_error.empty()) {
      return Error{.message = claim.constraint_error, .path = "", .hint = ""};
    }
  }
  return {};
}

}  // namespace ks::plugins
