// SPDX-License-Identifier: Apache-2.0
#include "inspect/device_judge.h"

#include <algorithm>
#include <utility>

#include "inspect/device_text.h"
#include "plugins/dynamic_resources/capacity.h"
#include "plugins/dynamic_resources/device_taints.h"

namespace ks::inspect {
namespace {

using plugins::AlternativePlan;
using plugins::CapacityAmounts;
using plugins::PoolDevice;
using Kind = DeviceFault::Kind;
using SelectorVerdict = plugins::SelectorSet::Verdict;

DeviceFault Same(Kind kind, const std::string& text) {
  return {.kind = kind, .one = text, .many = text};
}

// "selector #1 of the class "…"".
std::string SelectorName(size_t index, size_t count, bool of_class, std::string_view expression) {
  std::string name = "selector ";
  if (count > 1) name += "#" + std::to_string(index) + ' ';
  if (of_class) name += "of the class ";
  return name + QuotedExpression(expression);
}

// The first capacity asked for that the device lacks; empty: none.
std::string MissingCapacity(const AlternativePlan& alternative, const api::Device& device) {
  for (const api::NamedQuantity& asked : alternative.spec->capacity) {
    const bool offered = std::any_of(device.capacity.begin(), device.capacity.end(),
                                     [&](const auto& one) { return one.name == asked.name; });
    if (!offered) return asked.name.str();
  }
  return "";
}

// Whoever else uses the device.
std::optional<DeviceFault> ByTotal(const AlternativePlan& alternative, const api::Device& device,
                                   const Result<CapacityAmounts>& amounts) {
  if (!amounts.ok()) {
    DeviceFault fault = Same(Kind::kNotAskedFor, "whose capacity cannot be compared");
    fault.amounts = amounts.error().message;
    return fault;
  }
  if (amounts->fits_total) return std::nullopt;
  if (const std::string missing = MissingCapacity(alternative, device); !missing.empty()) {
    return Same(Kind::kNotAskedFor, "without capacity " + missing);
  }
  if (!amounts->satisfiable) {
    return Same(Kind::kNotAskedFor, "whose policy does not allow the capacity that is asked");
  }
  for (size_t i = 0; i < device.capacity.size(); ++i) {
    const api::DeviceCapacity& capacity = device.capacity[i];
    if (amounts->amounts[i] <= capacity.value) continue;
    DeviceFault fault = Same(Kind::kNotAskedFor, "with too little " + capacity.name.str());
    fault.amounts =
        amounts->amounts[i].ToString() + " asked, " + capacity.value.ToString() + " in all";
    fault.left = capacity.value;
    return fault;
  }
  return std::nullopt;
}

// What other shares left of it. Requires: the total suffices.
std::optional<DeviceFault> ByLeft(const api::Device& device, const CapacityAmounts& amounts,
                                  const api::SymbolMap<api::Quantity>* consumed) {
  if (!device.allow_multiple_allocations || consumed == nullptr) return std::nullopt;
  for (size_t i = 0; i < device.capacity.size(); ++i) {
    const api::DeviceCapacity& capacity = device.capacity[i];
    const api::Quantity* used = consumed->Find(capacity.name);
    if (used == nullptr) continue;
    api::Quantity left = capacity.value;
    left -= *used;
    if (amounts.amounts[i] <= left) continue;
    DeviceFault fault = Same(Kind::kNotNow, "with too little " + capacity.name.str() + " left");
    fault.amounts = amounts.amounts[i].ToString() + " asked, " + left.ToString() + " left of " +
                    capacity.value.ToString();
    fault.left = std::move(left);
    return fault;
  }
  return std::nullopt;
}

}  // namespace

DeviceUsers::DeviceUsers(const cache::DeviceStores& devices) {
  for (const auto& [claim, pending] : devices.AllocatedClaims()) {
    const std::string key = claim->meta.Key();
    for (const api::DeviceResult& result : claim->allocation->results) {
      if (result.admin_access || !result.share_id.empty()) continue;
      const auto [user, is_new] = users_.try_emplace(Key{result.driver, result.pool, result.device},
                                                     User{.claim = key, .pending = pending});
      if (!is_new && key < user->second.claim) user->second = {.claim = key, .pending = pending};
    }
  }
}

const DeviceUsers::User* DeviceUsers::Find(const Symbol& driver, const Symbol& pool,
                                           const Symbol& device) const {
  const auto found = users_.find(Key{driver, pool, device});
  return found == users_.end() ? nullptr : &found->second;
}

std::optional<DeviceFault> DeviceJudge::Judge(const AlternativePlan& alternative, uint32_t device) {
  const PoolDevice& one = world_.pools.devices[device];
  auto fault = ByContent(alternative, one);
  if (fault) return fault;
  const bool with_capacity = world_.features.consumable_capacity &&
                             (!one.device->capacity.empty() || !alternative.spec->capacity.empty());
  const auto amounts = plugins::RequestedAmounts(*one.device, alternative.spec->capacity,
                                                 world_.features.fractional_ranges);
  if (with_capacity) fault = ByTotal(alternative, *one.device, amounts);
  if (!fault) fault = ByUse(alternative, one);
  if (!fault && with_capacity) {
    fault = ByLeft(*one.device, *amounts, world_.allocated.Consumed(one.number));
  }
  return fault ? fault : ByCounters(one);
}

std::optional<DeviceFault> DeviceJudge::ByContent(const AlternativePlan& alternative,
                                                  const PoolDevice& device) {
  if (!world_.features.binding_conditions && !device.device->binding_conditions.empty()) {
    return Same(Kind::kNotAskedFor, "with binding conditions, which are switched off");
  }
  auto fault = BySelectors(alternative.device_class->selectors, true, device);
  if (!fault) fault = BySelectors(alternative.spec->selectors, false, device);
  if (fault) return fault;
  if (device.broken_selection != nullptr) {
    return Same(Kind::kNotAskedFor, "whose own node selection cannot be read");
  }
  if (!device.for_node) {
    return DeviceFault{
        .kind = Kind::kNotAskedFor, .one = "is for other nodes", .many = "are for other nodes"};
  }
  const api::ResourceSlice& slice = *world_.pools.slices[device.slice]->slice;
  if (slice.skip_node_operations.empty() || world_.pools.operations_optional) return std::nullopt;
  return Same(Kind::kNotNow, world_.features.optional_node_operations
                                 ? "for nodes that declare DRAOptionalNodeOperations"
                                 : "that need DRAOptionalNodeOperations, which is switched off");
}

std::optional<DeviceFault> DeviceJudge::BySelectors(const Selectors& selectors, bool of_class,
                                                    const PoolDevice& device) {
  const cel::Device& content = *world_.pools.slices[device.slice]->content[device.position];
  for (size_t i = 0; i < selectors.size(); ++i) {
    const SelectorVerdict verdict = world_.selectors.Get({}, {selectors[i]})->Ask(content);
    if (verdict == SelectorVerdict::kYes) continue;
    const std::string& expression = *selectors[i];
    const std::string name = SelectorName(i, selectors.size(), of_class, expression);
    const Symbol driver = world_.pools.pools[device.pool].driver;
    DeviceFault fault{.kind = of_class ? Kind::kNotOfClass : Kind::kNotAskedFor,
                      .one = "does not match " + name,
                      .many = "do not match " + name,
                      .amounts = NamedValues(expression, *device.device, driver)};
    if (verdict == SelectorVerdict::kFails) fault.one = fault.many = "on which fails " + name;
    return fault;
  }
  return std::nullopt;
}

std::optional<DeviceFault> DeviceJudge::ByUse(const AlternativePlan& alternative,
                                              const PoolDevice& device) const {
  const api::DeviceTaint* taint =
      plugins::UntoleratedTaint(alternative.spec->tolerations, *device.device);
  if (taint != nullptr && world_.features.taints) {
    return Same(Kind::kNotNow, "tainted " + TaintText(*taint));
  }
  if (alternative.admin || !world_.allocated.Dedicated(device.number)) return std::nullopt;
  const plugins::Pool& pool = world_.pools.pools[device.pool];
  const DeviceUsers::User* user = world_.users.Find(pool.driver, pool.name, device.device->name);
  DeviceFault fault =
      Same(Kind::kNotNow, user != nullptr && user->pending ? "being bound" : "in use");
  if (user != nullptr) fault.claim = user->claim;
  return fault;
}

std::optional<DeviceFault> DeviceJudge::ByCounters(const PoolDevice& device) {
  if (device.device->consumes_counters.empty()) return std::nullopt;
  if (!world_.features.partitions) {
    return Same(Kind::kNotNow, "that is part of another, which is switched off");
  }
  const bool charged = world_.features.consumable_capacity &&
                       device.device->allow_multiple_allocations &&
                       world_.allocated.Shared(device.number);
  if (charged) return std::nullopt;
  if (world_.features.compatibility_groups) {
    if (!compatibility_.Take(device)) {
      return Same(Kind::kNotNow, "not compatible with devices in use");
    }
    compatibility_.GiveBack();
  }
  const plugins::Pool& pool = world_.pools.pools[device.pool];
  const std::vector<api::Quantity>& left = counters_.Left(device.pool);
  std::vector<api::Quantity> asked(left.size());
  for (uint32_t i = device.uses_begin; i < device.uses_end; ++i) {
    asked[pool.uses[i].counter] += pool.uses[i].amount;
  }
  for (size_t i = 0; i < left.size(); ++i) {
    if (asked[i] <= left[i]) continue;
    DeviceFault fault = Same(Kind::kNotNow, "short of counter " + pool.counters[i].name.str() +
                                                " of set " + pool.counters[i].set.str());
    fault.amounts = asked[i].ToString() + " asked, " + left[i].ToString() + " left";
    fault.left = left[i];
    return fault;
  }
  return std::nullopt;
}

}  // namespace ks::inspect
