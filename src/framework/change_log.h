// SPDX-License-Identifier: Apache-2.0
#pragma once
// ChangeLog: what happened to the snapshot's nodes and pods, in order. Whoever keeps counts over
// pods reads on from where it stopped, instead of looking at all pods again.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "framework/node_info.h"
#include "framework/ring_log.h"

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
  size_t bytes = 0;   // of the pod
};

// Keeps the newest changes only, and of large pods fewer: those that are gone live on here. A
// reader that is too far behind begins anew from the snapshot. Changes of pods also concern nodes
// that are not listed: such slots are told with kNode when they become listed, and then the node's
// pods are to be counted from its NodeInfo, whatever the log said before. Threads: the scheduling
// thread.
class ChangeLog : public RingLog<Change> {
 public:
  static constexpr size_t kMaxBytes = size_t{128} << 20;  // of the pods

  using RingLog::RingLog;

  void Append(Change::Kind kind, uint32_t slot, PodInfoPtr pod = nullptr) {
    const size_t bytes = pod == nullptr ? 0 : pod->RoughBytes();
    while (size() > 0 && (size() == capacity() || bytes_ + bytes > kMaxBytes)) {
      bytes_ -= TakeOldest().bytes;
    }
    bytes_ += bytes;
    RingLog::Append({kind, slot, std::move(pod), bytes});
  }

  // All readers begin anew.
  void Forget() {
    while (size() > 0) bytes_ -= TakeOldest().bytes;
    SkipOne();
  }

  // Another number whenever another node stands at some index of the list than before.
  uint64_t list_version() const { return list_version_; }
  void NoteNewList() { ++list_version_; }

 private:
  size_t bytes_ = 0;
  uint64_t list_version_ = 0;
};

}  // namespace ks::framework
