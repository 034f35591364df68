// SPDX-License-Identifier: Apache-2.0
#pragma once
// The lowest pod priority of each node in one small array, so that the nodes on which preemption
// finds nobody to evict cost next to nothing.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "framework/change_reader.h"
#include "framework/snapshot.h"

namespace ks::plugins {

// By slot (framework::Snapshot::slots()). Threads: the scheduling thread.
class LowestPriorities {
 public:
  // Brings it in step with the snapshot. Lifetime: `snapshot` is the same every time.
  void Refresh(const framework::Snapshot& snapshot);

  // Requires: Refresh was called in this attempt; the slot is that of a listed node.
  bool HasBelow(uint32_t slot, int32_t priority) const { return lowest_[slot] < priority; }

 private:
  friend framework::ChangeReader;
  static constexpr int32_t kNoPods = std::numeric_limits<int32_t>::max();

  void Restart(size_t slots) { lowest_.assign(slots, kNoPods); }
  void OnNode(uint32_t slot, const framework::NodeInfo* node) {
    lowest_[slot] = node == nullptr ? kNoPods : node->lowest_priority();
  }
  void OnPod(uint32_t slot, const framework::PodInfo& pod, int sign);

  const framework::Snapshot* snapshot_ = nullptr;
  framework::ChangeReader reader_;
  std::vector<int32_t> lowest_;
};

}  // namespace ks::plugins
