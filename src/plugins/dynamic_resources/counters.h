// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counters of partitioned devices on one node: what claims left of them, less what was picked in
// the attempt.
//
// Upstream: docs/spec/plugins-dra.md section 6.5.

#include <vector>

#include "api/quantity.h"
#include "plugins/dynamic_resources/allocated_state.h"
#include "plugins/dynamic_resources/pools.h"

namespace ks::plugins {

// Threads: one. Lifetime: pools and state must outlive it.
class CounterLedger {
 public:
  CounterLedger(const NodePools& pools, const AllocatedState& allocated)
      : pools_(pools), allocated_(allocated), left_(pools.pools.size()) {}

  // Takes what the device consumes, if every counter of its pool is at least 0 then; else nothing.
  bool Take(const PoolDevice& device);
  void GiveBack(const PoolDevice& device);
  // By counter of the pool; made when first asked for.
  std::vector<api::Quantity>& Left(uint32_t pool);

 private:
  const NodePools& pools_;
  const AllocatedState& allocated_;
  std::vector<std::vector<api::Quantity>> left_;
};

}  // namespace ks::plugins
