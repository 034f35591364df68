// SPDX-License-Identifier: Apache-2.0
#pragma once
// ChangeLog: what happened to the snapshot's nodes and pods, in order. Whoever keeps counts over
// pods reads on from where it stopped, instead of looking at all pods again.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "framework/node_info.h"

namespace ks::framework {

struct Change {
  enum class Kind : uint8_t {
    kPodAdded,
    kPodRemoved,
    kNode,  // joined the list, left it, or has another node object
  };
  Kind kind = Kind::kNode;
  uint32_t slot = 0;  // of the node
  PodInfoPtr pod;     // null for kNode
};

// Keeps the newest changes only; a reader that is too far behind begins anew from the snapshot.
// Changes of pods also concern nodes that are not listed: such slots are told with kNode when they
// become listed, and then the node's pods are to be counted from its NodeInfo, whatever the log
// said before.
// Threads: the scheduling thread.
class ChangeLog {
 public:
  static constexpr size_t kDefaultCapacity = size_t{1} << 14;

  // `capacity` is a power of two. Positions begin at `start`.
  explicit ChangeLog(size_t capacity = kDefaultCapacity, uint64_t start = 0)
      : begin_(start), end_(start), ring_(capacity) {}

  // Position of the next change.
  uint64_t end() const { return end_; }
  // Whether all changes from `position` on are still here.
  bool Holds(uint64_t position) const { return begin_ <= position && position <= end_; }
  // Requires: Holds(position), position < end().
  const Change& At(uint64_t position) const { return ring_[position & (ring_.size() - 1)]; }

  void Append(Change::Kind kind, uint32_t slot, PodInfoPtr pod = nullptr) {
    Change& change = ring_[end_ & (ring_.size() - 1)];
    change.kind = kind;
    change.slot = slot;
    change.pod = std::move(pod);
    ++end_;
    if (end_ - begin_ > ring_.size()) begin_ = end_ - ring_.size();
  }
  // All readers begin anew.
  void Forget() { begin_ = end_ = end_ + 1; }

 private:
  uint64_t begin_;
  uint64_t end_;
  std::vector<Change> ring_;
};

}  // namespace ks::framework
