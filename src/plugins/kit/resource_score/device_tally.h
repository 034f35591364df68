// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many devices of a class a node has, and how many of them are in use: what stands for capacity
// and use of an extended resource that devices serve, where the resource is scored by.
//
// Upstream: docs/spec/plugins-node.md 4.8 ("DRA-backed resource in the scoring list"). There
// selectors' verdicts are kept for ever (trap 32); here they follow the devices.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "api/node.h"
#include "cel/engine.h"
#include "framework/handle.h"
#include "plugins/kit/resource_score/scored_resource.h"

namespace ks::plugins {

struct DeviceCount {
  int64_t devices = 0;
  int64_t in_use = 0;
};

// Costs nothing unless an extended resource is scored by.
// Threads: CatchUp the scheduling thread, while no worker counts; Count any. Lifetime: `handle`
// outlives it.
class DeviceTally {
 public:
  DeviceTally(const framework::Handle& handle, std::span<const ScoredResource> resources);

  // Takes over what has changed. To be called before Count, once an attempt.
  void CatchUp();
  // None when no class serves the resource, or a selector of it fails.
  DeviceCount Count(const Symbol& resource, const api::Node& node) const;
  // Changes when an answer may have changed; 0: nothing is ever counted.
  uint64_t Version() const;
  // What Count reads; none: nothing is ever counted.
  framework::OptionalKinds NeededKinds() const;

 private:
  using DeviceKey = std::tuple<Symbol, Symbol, Symbol>;  // driver, pool, name
  struct Slice {
    api::ResourceSlicePtr slice;
    std::vector<std::shared_ptr<const cel::Device>> content;  // of its devices
  };
  using Programs = std::vector<std::shared_ptr<const cel::Program>>;

  void TakeSlices();
  void TakeAllocations();
  void CountAllocation(const api::ClaimAllocation& allocation, int by);
  std::optional<Programs> SelectorsOf(const api::DeviceClass& device_class) const;
  // False: a selector fails.
  bool Add(const Slice& slice, const Programs& selectors, const api::Node& node,
           DeviceCount& count) const;

  const framework::Handle& handle_;
  const bool counts_;  // some extended resource is scored by
  mutable cel::Engine engine_;
  std::map<Symbol, std::vector<Slice>> by_node_;  // those with a node name
  std::vector<Slice> others_;
  std::map<DeviceKey, int> in_use_;  // claims by device
  std::optional<uint64_t> slices_position_;
  std::optional<uint64_t> allocations_position_;
};

}  // namespace ks::plugins
