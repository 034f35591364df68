// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/compatibility.h"

#include <algorithm>

#include <fmt/format.h>

namespace ks::plugins {
namespace {

void KeepCommon(const std::vector<Symbol>& groups, std::vector<Symbol>& common) {
  std::erase_if(common, [&groups](const Symbol& group) {
    return std::find(groups.begin(), groups.end(), group) == groups.end();
  });
}

}  // namespace

// Devices that do not go together, as can be found where the gate was off, are in place all the
// same: the first one says whether groups count.
void CompatibilityLedger::Allocate(const api::Device& device, BySet& sets) {
  for (const api::CounterSet& use : device.consumes_counters) {
    const std::vector<Symbol>& groups = use.compatibility_groups;
    const auto [place, first] =
        sets.try_emplace(use.name, Groups{.common = groups, .none = groups.empty()});
    if (first || place->second.none || groups.empty()) continue;
    KeepCommon(groups, place->second.common);
  }
}

bool CompatibilityLedger::Fits(const api::CounterSet& use, BySet& sets) {
  const std::vector<Symbol>& groups = use.compatibility_groups;
  const auto [place, first] =
      sets.try_emplace(use.name, Groups{.common = groups, .none = groups.empty()});
  if (first) return true;
  if (place->second.none) return groups.empty();
  KeepCommon(groups, place->second.common);
  return !place->second.common.empty();
}

CompatibilityLedger::BySet& CompatibilityLedger::Now(uint32_t pool) {
  std::optional<BySet>& now = now_[pool];
  if (now) return *now;
  now.emplace();
  for (const Pool::Consumer& consumer : pools_.pools[pool].consumers) {
    if (!allocated_.Dedicated(consumer.number) && !allocated_.Shared(consumer.number)) continue;
    Allocate(*consumer.device, *now);
  }
  return *now;
}

bool CompatibilityLedger::Take(const PoolDevice& device) {
  BySet& now = Now(device.pool);
  earlier_.emplace_back(device.pool, now);
  for (const api::CounterSet& use : device.device->consumes_counters) {
    if (Fits(use, now)) continue;
    GiveBack();
    return false;
  }
  return true;
}

void CompatibilityLedger::GiveBack() {
  now_[earlier_.back().first] = std::move(earlier_.back().second);
  earlier_.pop_back();
}

std::string CompatibilityLedger::StateOf(uint32_t pool) {
  std::string text;
  for (const auto& [set, groups] : Now(pool)) {
    text += fmt::format("{}{}", set.id(), groups.none ? '!' : ':');
    for (const Symbol& group : groups.common) text += fmt::format("{},", group.id());
  }
  return text;
}

}  // namespace ks::plugins
