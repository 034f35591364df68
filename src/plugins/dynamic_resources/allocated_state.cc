// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/allocated_state.h"

#include <algorithm>

#include "base/check.h"

namespace ks::plugins {

uint32_t DeviceNumbers::Number(const Symbol& driver, const Symbol& pool, const Symbol& device) {
  const auto next = static_cast<uint32_t>(numbers_.size());
  return numbers_.try_emplace(Key{driver, pool, device}, next).first->second;
}

uint32_t DeviceNumbers::PoolNumber(const Symbol& driver, const Symbol& pool) {
  const auto next = static_cast<uint32_t>(pools_.size());
  return pools_.try_emplace({driver, pool}, next).first->second;
}

void AllocatedState::Add(const api::ClaimAllocation& allocation) {
  for (const api::DeviceResult& result : allocation.results) {
    if (result.admin_access) continue;
    CountChange(result);
    const uint32_t device = numbers_.Number(result.driver, result.pool, result.device);
    if (IsShare(result)) {
      AddShare(device, result);
    } else {
      if (device >= dedicated_.size()) dedicated_.resize(device + 1);
      ++dedicated_[device];
    }
  }
}

void AllocatedState::Remove(const api::ClaimAllocation& allocation) {
  for (const api::DeviceResult& result : allocation.results) {
    if (result.admin_access) continue;
    CountChange(result);
    const uint32_t device = numbers_.Number(result.driver, result.pool, result.device);
    if (IsShare(result)) {
      RemoveShare(device, result);
    } else {
      KS_CHECK(Dedicated(device), "what was never taken is not given back");
      --dedicated_[device];
    }
  }
}

void AllocatedState::CountChange(const api::DeviceResult& result) {
  const uint32_t pool = numbers_.PoolNumber(result.driver, result.pool);
  if (pool >= pool_changes_.size()) pool_changes_.resize(pool + 1);
  ++pool_changes_[pool];
}

void AllocatedState::AddShare(uint32_t device, const api::DeviceResult& result) {
  std::vector<std::string>& shares = shares_[device];
  if (std::find(shares.begin(), shares.end(), result.share_id) == shares.end()) {
    shares.push_back(result.share_id);
  }
  if (result.consumed_capacity.empty()) return;
  api::SymbolMap<api::Quantity>& consumed = consumed_[device];
  for (const api::NamedQuantity& amount : result.consumed_capacity) {
    consumed[amount.name] += amount.value;
  }
}

void AllocatedState::RemoveShare(uint32_t device, const api::DeviceResult& result) {
  const auto shares = shares_.find(device);
  if (shares != shares_.end()) {
    std::erase(shares->second, result.share_id);
    if (shares->second.empty()) shares_.erase(shares);
  }
  const auto consumed = consumed_.find(device);
  if (consumed == consumed_.end()) return;
  bool all_zero = true;
  for (const api::NamedQuantity& amount : result.consumed_capacity) {
    if (consumed->second.Contains(amount.name)) consumed->second[amount.name] -= amount.value;
  }
  for (const auto& [name, amount] : consumed->second) all_zero = all_zero && amount.IsZero();
  if (all_zero) consumed_.erase(consumed);
}

}  // namespace ks::plugins
