// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state of the cluster that one scheduling attempt reads. One thread owns the state and runs
// the attempt, so this is a view, not a copy: it changes only in the cache's refresh at the start
// of an attempt.
//
// Upstream: docs/spec/cache.md section 9.

#include <span>
#include <string_view>

#include "framework/change_log.h"
#include "framework/node_info.h"

namespace ks::framework {

// Threads: the scheduling thread; workers while a cycle runs. Lifetime: views are valid until the
// next refresh.
class Snapshot {
 public:
  virtual ~Snapshot() = default;

  // All nodes in zone-interleaved order; nodes()[i]->index() == i.
  virtual std::span<const NodeInfo* const> nodes() const = 0;
  // The listed nodes that hold at least one pod with (anti-)affinity / with a required
  // anti-affinity term, in list order.
  virtual std::span<const NodeInfo* const> nodes_with_affinity() const = 0;
  virtual std::span<const NodeInfo* const> nodes_with_required_anti_affinity() const = 0;
  // Null when absent: `nodeinfo not found for node name "<name>"` is the upstream text.
  virtual const NodeInfo* Find(std::string_view name) const = 0;

  // Listed nodes have a slot each, which stays theirs while they are listed although their index
  // changes; for arrays indexed by slot, size = slots(). A free slot is given to another node
  // later.
  virtual size_t slots() const = 0;
  // The slot of each nodes()[i], so that a search need not touch the nodes.
  virtual std::span<const uint32_t> node_slots() const = 0;
  // Null when no listed node has that slot. Requires: slot < slots().
  virtual const NodeInfo* AtSlot(uint32_t slot) const = 0;
  // What changed; complete as of the last refresh.
  virtual const ChangeLog& changes() const = 0;
};

}  // namespace ks::framework
