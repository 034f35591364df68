// SPDX-License-Identifier: Apache-2.0
#pragma once
// One node name inside the cache. Private to src/cache.

#include <cstdint>
#include <string>
#include <vector>

#include "cache/cache.h"

namespace ks::cache {

// The state of a node name, its place in the recency list and what the view remembers about it.
struct Cache::Entry {
  std::string name;
  framework::NodeInfo info;
  std::vector<ReportedImage> images;  // registered in the image table

  // The recency list, most recent first. An entry that is not alive waits in the view for the next
  // refresh; for everybody else it does not exist.
  bool alive = false;
  Entry* newer = nullptr;
  Entry* older = nullptr;

  bool in_snapshot = false;
  bool listed = false;             // info.index() is its place
  bool lost_node = false;          // is in lost_nodes_
  bool had_affinity = false;       // at the last refresh
  bool had_anti_affinity = false;  // at the last refresh
  uint64_t image_version = 0;      // of the image table when the figures were frozen
};

}  // namespace ks::cache
