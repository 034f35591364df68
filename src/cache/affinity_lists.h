// SPDX-License-Identifier: Apache-2.0
#pragma once
// The listed nodes that hold pods with (anti-)affinity. Private to src/cache.
//
// Upstream: docs/spec/cache.md section 9.

#include <cstdint>
#include <vector>

#include "cache/node_entries.h"
#include "framework/node_info.h"

namespace ks::cache {

// Both lists are in the order of the node list, that is ascending by index.
// Threads: the scheduling thread.
class AffinityLists {
 public:
  using List = std::vector<const framework::NodeInfo*>;

  const List& with_affinity() const { return with_affinity_; }
  const List& with_required_anti_affinity() const { return with_anti_affinity_; }

  // The entry's pods changed: it becomes a member or ceases to be one, if it is listed.
  void Update(NodeEntry& entry);
  // The node is shown as that from now on.
  void Replace(const framework::NodeInfo* info);
  // For a new node list: from the beginning, then each entry in its order, as it was at its last
  // Update.
  void Clear();
  void Append(const NodeEntry& entry);

 private:
  List with_affinity_;
  List with_anti_affinity_;
};

}  // namespace ks::cache
