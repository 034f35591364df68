// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a profile keeps of the cluster's devices between attempts: slices ready to be asked, which
// devices are in use, compiled selectors. It follows changes instead of looking at all claims and
// slices anew.
//
// Upstream: docs/spec/plugins-dra.md sections 2.4 and 3.

#include <cstdint>
#include <memory>
#include <optional>

#include "cel/engine.h"
#include "framework/device_state.h"
#include "plugins/dynamic_resources/allocated_state.h"
#include "plugins/dynamic_resources/answers.h"
#include "plugins/dynamic_resources/selectors.h"
#include "plugins/dynamic_resources/slices.h"
#include "plugins/dynamic_resources/verdict_table.h"

namespace ks::plugins {

// Threads: CatchUp the scheduling thread, while no worker reads; everything else any.
// Lifetime: `devices` outlives it.
class DeviceMemory {
 public:
  DeviceMemory(const framework::DeviceState& devices, AllocatorFeatures features)
      : devices_(devices), features_(features) {}
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Takes over what has changed. O(changes).
  void CatchUp();

  // Valid after CatchUp.
  const SliceInventory& slices() const { return *slices_; }
  // Threads: the scheduling thread.
  const DeviceRowPtr& row() { return slices_->Row(); }
  const AllocatedState& allocated() const { return *allocated_; }
  const AllocatorFeatures& features() const { return features_; }
  SelectorSets& selectors() { return selectors_; }
  VerdictTables& tables() { return tables_; }
  // Threads: one at a time.
  AnswerMemory& answers() { return answers_; }

 private:
  void CatchUpWithSlices();
  void CatchUpWithAllocations();

  const framework::DeviceState& devices_;
  const AllocatorFeatures features_;
  cel::Engine engine_;
  SelectorSets selectors_{engine_};
  VerdictTables tables_;
  AnswerMemory answers_;
  DeviceNumbers numbers_;
  std::optional<SliceInventory> slices_;
  std::optional<AllocatedState> allocated_;
  uint64_t slices_position_ = 0;
  uint64_t allocations_position_ = 0;
};

}  // namespace ks::plugins
