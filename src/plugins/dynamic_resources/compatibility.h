// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compatibility groups of partitioned devices on one node: which devices may share a counter set
// with those that claims have, and with those that were picked in the attempt.
//
// Upstream: docs/spec/plugins-dra.md section 6.5.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/devices.h"
#include "plugins/dynamic_resources/allocated_state.h"
#include "plugins/dynamic_resources/pools.h"

namespace ks::plugins {

// Threads: one. Lifetime: pools and state must outlive it.
class CompatibilityLedger {
 public:
  CompatibilityLedger(const NodePools& pools, const AllocatedState& allocated)
      : pools_(pools), allocated_(allocated), now_(pools.pools.size()) {}

  // Puts the device beside the others, if it goes with them; else nothing.
  bool Take(const PoolDevice& device);
  // The device that was taken last and is not given back yet.
  void GiveBack();
  // Which devices go with those in place of the pool: equal texts, the same ones.
  std::string StateOf(uint32_t pool);

 private:
  // By counter set: the groups that all devices in place have in common; empty from the first on:
  // those without groups were there first.
  struct Groups {
    std::vector<Symbol> common;
    bool none = false;
  };
  using BySet = std::map<Symbol, Groups>;

  BySet& Now(uint32_t pool);
  static void Allocate(const api::Device& device, BySet& sets);
  static bool Fits(const api::CounterSet& use, BySet& sets);

  const NodePools& pools_;
  const AllocatedState& allocated_;
  std::vector<std::optional<BySet>> now_;            // by pool; made when first asked for
  std::vector<std::pair<uint32_t, BySet>> earlier_;  // pools as they were before each Take
};

}  // namespace ks::plugins
