// SPDX-License-Identifier: Apache-2.0
#pragma once
// ChangeReader: keeps somebody's per-node data in step with the snapshot, by what changed since
// the last time, or from the whole snapshot where the log does not reach back far enough.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "framework/snapshot.h"

namespace ks::framework {

// Threads: the scheduling thread.
class ChangeReader {
 public:
  // `follower` has
  //   void Restart(size_t slots): forget everything; OnNode for every listed node follows.
  //   void OnNode(uint32_t slot, const NodeInfo* node): the node is new, changed, or
  //     gone (null). What it holds is to be read from `node`.
  //   void OnPod(uint32_t slot, const PodInfo& pod, int sign): +1 joined, -1 left. Also
  //     called for slots of nodes that are not listed: those are to be ignored.
  // After Follow the follower's data agree with the snapshot. True when it was restarted.
  template <class Follower>
  bool Follow(const Snapshot& snapshot, Follower& follower) {
    if (!Reaches(snapshot)) {
      Restart(snapshot, follower);
      return true;
    }
    if (*position_ != snapshot.changes().end()) CatchUp(snapshot, follower);
    return false;
  }

  // The same for a follower that only certain pods concern: `nodes` and `pods` are the positions,
  // ascending, of all changes of nodes and of at least those pods' that the log holds.
  template <class Follower>
  bool Follow(const Snapshot& snapshot, Follower& follower, std::span<const uint64_t> nodes,
              std::span<const uint64_t> pods) {
    const ChangeLog& log = snapshot.changes();
    if (!Reaches(snapshot)) {
      Restart(snapshot, follower);
      return true;
    }
    const auto from = [this](std::span<const uint64_t> positions) {
      return positions.subspan(static_cast<size_t>(
          std::lower_bound(positions.begin(), positions.end(), *position_) - positions.begin()));
    };
    changed_nodes_.clear();
    for (const uint64_t at : from(nodes)) changed_nodes_.push_back(log.At(at).slot);
    SortChangedNodes();
    for (const uint64_t at : from(pods)) TellPod(log.At(at), follower);
    TellNodes(snapshot, follower);
    return false;
  }

  // Whether Follow would not restart.
  bool Reaches(const Snapshot& snapshot) const {
    return position_ && snapshot.changes().Holds(*position_);
  }
  // The next Follow restarts.
  void Forget() { position_.reset(); }

 private:
  template <class Follower>
  void Restart(const Snapshot& snapshot, Follower& follower) {
    follower.Restart(snapshot.slots());
    const std::span<const uint32_t> slots = snapshot.node_slots();
    for (size_t i = 0; i < slots.size(); ++i) follower.OnNode(slots[i], snapshot.nodes()[i]);
    position_ = snapshot.changes().end();
  }

  // A node that changed is read as it is now, so that changes of its pods say nothing more.
  template <class Follower>
  void CatchUp(const Snapshot& snapshot, Follower& follower) {
    using Kind = Change::Kind;
    const ChangeLog& log = snapshot.changes();
    changed_nodes_.clear();
    for (uint64_t i = *position_; i < log.end(); ++i) {
      if (log.At(i).kind == Kind::kNode) changed_nodes_.push_back(log.At(i).slot);
    }
    SortChangedNodes();
    for (uint64_t i = *position_; i < log.end(); ++i) {
      if (log.At(i).kind != Kind::kNode) TellPod(log.At(i), follower);
    }
    TellNodes(snapshot, follower);
  }

  void SortChangedNodes() {
    std::sort(changed_nodes_.begin(), changed_nodes_.end());
    changed_nodes_.erase(std::unique(changed_nodes_.begin(), changed_nodes_.end()),
                         changed_nodes_.end());
  }
  template <class Follower>
  void TellPod(const Change& change, Follower& follower) {
    if (IsChanged(change.slot)) return;
    follower.OnPod(change.slot, *change.pod, change.kind == Change::Kind::kPodAdded ? 1 : -1);
  }
  template <class Follower>
  void TellNodes(const Snapshot& snapshot, Follower& follower) {
    for (const uint32_t slot : changed_nodes_) follower.OnNode(slot, snapshot.AtSlot(slot));
    position_ = snapshot.changes().end();
  }

  bool IsChanged(uint32_t slot) const {
    return !changed_nodes_.empty() &&
           std::binary_search(changed_nodes_.begin(), changed_nodes_.end(), slot);
  }

  std::optional<uint64_t> position_;
  std::vector<uint32_t> changed_nodes_;  // ascending; scratch space
};

}  // namespace ks::framework
