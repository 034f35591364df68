// SPDX-License-Identifier: Apache-2.0
#pragma once
// The slices of the cluster, each with what is computed of it once: numbers of its devices, their
// content as selectors see it, and selectors' verdicts. Not for what a node sees (pools.h).
//
// Upstream: docs/spec/plugins-dra.md sections 3.1 and 3.2.

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/devices.h"
#include "api/node.h"
#include "base/mutex.h"
#include "base/thread_annotations.h"
#include "cel/engine.h"
#include "plugins/dynamic_resources/allocated_state.h"
#include "plugins/dynamic_resources/pools.h"
#include "plugins/dynamic_resources/verdict_table.h"

namespace ks::plugins {

// Threads: Set, Remove, Row the owner's alone, while nobody calls PoolsOf; PoolsOf any.
// Lifetime: engine and numbers must outlive it; pools that it gave stay whole on their own.
class SliceInventory {
 public:
  SliceInventory(cel::Engine& engine, DeviceNumbers& numbers, AllocatorFeatures features)
      : engine_(engine), numbers_(numbers), features_(features) {}

  // Adds a slice, or replaces the one of this name. Taint rules are merged already.
  void Set(const api::ResourceSlicePtr& slice);
  void Remove(std::string_view name);

  // What the node sees; made once, until a slice that concerns the node changes, or its labels.
  std::shared_ptr<const NodePools> PoolsOf(const api::Node& node) const;

  // All slices, the same row until one of them changes.
  const DeviceRowPtr& Row();
  size_t devices() const { return devices_; }

  size_t size() const { return by_name_.size(); }

 private:
  using PoolKey = std::pair<Symbol, Symbol>;  // driver, pool
  struct Kept {
    std::shared_ptr<const NodePools> pools;
    uint64_t general = 0;
    uint64_t own = 0;
    api::LabelMap labels;
  };
  struct NodeSlices {
    SliceList slices;
    uint64_t version = 0;
  };

  SliceEntryPtr MakeEntry(const api::ResourceSlicePtr& slice);
  void Changed(const SliceEntry& entry);

  cel::Engine& engine_;
  DeviceNumbers& numbers_;
  const AllocatorFeatures features_;
  std::map<std::string, SliceEntryPtr, std::less<>> by_name_;
  std::map<PoolKey, SliceList> by_pool_;
  std::map<Symbol, NodeSlices> by_node_;  // those with a node name
  SliceList general_;                     // those without
  uint64_t general_version_ = 1;
  size_t devices_ = 0;  // of all slices
  DeviceRowPtr row_;    // null: not made yet

  mutable Mutex mutex_;
  mutable std::map<Symbol, Kept> kept_ KS_GUARDED_BY(mutex_);
};

}  // namespace ks::plugins
