// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which devices are in use by allocated claims, kept by changes: never recomputed from all claims.
// Not for devices that are picked in an attempt (search.h), nor for where claims come from.
//
// Upstream: docs/spec/plugins-dra.md section 2.4.

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/devices.h"
#include "api/labels.h"
#include "base/symbol.h"
#include "plugins/dynamic_resources/features.h"

namespace ks::plugins {

// Dense numbers of devices and of pools, from 0; both keep theirs while slices come and go.
// Threads: the owner's alone for Number(), any others may not run meanwhile.
class DeviceNumbers {
 public:
  uint32_t Number(const Symbol& driver, const Symbol& pool, const Symbol& device);
  uint32_t PoolNumber(const Symbol& driver, const Symbol& pool);
  size_t size() const { return numbers_.size(); }

 private:
  struct Key {
    Symbol driver;
    Symbol pool;
    Symbol device;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  std::map<Key, uint32_t> numbers_;
  std::map<std::pair<Symbol, Symbol>, uint32_t> pools_;  // by driver and name
};

// A dedicated device is taken until the last claim that names it goes: two do for a while where a
// watch still shows what a claim had before another one got it. Shares are sets, as their ids
// differ; consumed capacities are sums.
//
// Threads: like a value. Lifetime: the numbers must outlive it.
class AllocatedState {
 public:
  AllocatedState(DeviceNumbers& numbers, AllocatorFeatures features)
      : numbers_(numbers), features_(features) {}

  void Add(const api::ClaimAllocation& allocation);
  // Requires: it was added.
  void Remove(const api::ClaimAllocation& allocation);

  // Grows with each change of what is in use of the pool, a number of PoolNumber.
  uint64_t ChangesOf(uint32_t pool) const {
    return pool < pool_changes_.size() ? pool_changes_[pool] : 0;
  }

  // `device` is a number; one that was never named is free.
  bool Dedicated(uint32_t device) const {
    return device < dedicated_.size() && dedicated_[device] > 0;
  }
  bool Shared(uint32_t device) const { return shares_.contains(device); }
  // By capacity name; null: nothing is consumed.
  const api::SymbolMap<api::Quantity>* Consumed(uint32_t device) const {
    const auto found = consumed_.find(device);
    return found == consumed_.end() ? nullptr : &found->second;
  }

 private:
  void CountChange(const api::DeviceResult& result);
  void AddShare(uint32_t device, const api::DeviceResult& result);
  void RemoveShare(uint32_t device, const api::DeviceResult& result);

  bool IsShare(const api::DeviceResult& result) const {
    return features_.consumable_capacity && !result.share_id.empty();
  }

  DeviceNumbers& numbers_;
  AllocatorFeatures features_;
  std::vector<uint64_t> pool_changes_;  // by pool
  std::vector<uint32_t> dedicated_;     // by device: how many claims name it
  std::map<uint32_t, std::vector<std::string>> shares_;
  std::map<uint32_t, api::SymbolMap<api::Quantity>> consumed_;
};

}  // namespace ks::plugins
