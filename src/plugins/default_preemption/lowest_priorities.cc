// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/lowest_priorities.h"

#include <algorithm>

namespace ks::plugins {

void LowestPriorities::Refresh(const framework::Snapshot& snapshot) {
  snapshot_ = &snapshot;
  lowest_.resize(std::max(lowest_.size(), snapshot.slots()), kNoPods);
  reader_.Follow(snapshot, *this);
}

void LowestPriorities::OnPod(uint32_t slot, const framework::PodInfo& pod, int sign) {
  if (slot >= lowest_.size()) return;
  const int32_t priority = pod.pod().Priority();
  if (sign > 0) {
    lowest_[slot] = std::min(lowest_[slot], priority);
  } else if (priority == lowest_[slot] && slot < snapshot_->slots()) {
    OnNode(slot, snapshot_->AtSlot(slot));
  }
}

}  // namespace ks::plugins
