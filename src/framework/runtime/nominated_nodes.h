// SPDX-License-Identifier: Apache-2.0
#pragma once
// Nodes with nominated pods: which they are, and what the filters said about them with these pods
// on board. Such a node is asked again when it changed, or its nominated pods did.
//
// Design: docs/decisions/0066-verdicts-beside-nominated-pods.md.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "framework/handle.h"
#include "framework/snapshot.h"
#include "framework/status.h"

namespace ks::framework {

// Which nodes have nominated pods, by slot, so that the others can be answered from memory.
// Threads: Refresh by the scheduling thread; workers may read meanwhile.
class NominatedSlots {
 public:
  // Follows the nominator's log, if that reaches back and the list of nodes is the same.
  void Refresh(const Nominator& nominator, const Snapshot& snapshot);
  // By slot: a number that no other state of the node's nominated pods had or will have; 0: it has
  // none. Null when it does not show the nominator's present state.
  const std::vector<uint64_t>* At(const Nominator& nominator) const {
    return position_ == nominator.changes().end() ? &states_ : nullptr;
  }

 private:
  void BeginAnew(const Nominator& nominator, const Snapshot& snapshot);

  std::optional<uint64_t> position_;  // in the nominator's log
  uint64_t list_version_ = 0;         // of the snapshot's list of nodes
  uint64_t last_state_ = 0;
  std::vector<uint64_t> states_;
};

// What filters that look at one node only said about nodes with their nominated pods, for pods of
// one spec that are not nominated there themselves.
// Threads: as NodeVerdicts.
class NominatedVerdicts {
 public:
  static constexpr size_t kBytesPerSlot = sizeof(uint64_t) + sizeof(Status) + sizeof(uint64_t);

  enum class Kind : uint8_t {
    kNoneCounts,  // no nominated pod is in the way of pods of this spec
    kFits,        // beside those that are
    kRejected,
  };
  struct Verdict {
    uint64_t state = 0;  // NominatedSlots; 0: nothing is known
    Status rejection;
    Kind kind = Kind::kNoneCounts;
    uint8_t position = 0;  // of the filter that rejected
  };

  // There is room for that many slots from now on, until all is forgotten.
  void Resize(size_t slots) { verdicts_.resize(slots); }
  size_t slots() const { return verdicts_.size(); }
  void Forget(uint32_t slot) {
    if (slot < verdicts_.size()) verdicts_[slot].state = 0;
  }
  void ForgetAll() { verdicts_.clear(); }
  // Requires: room for the slot.
  Verdict& At(uint32_t slot) { return verdicts_[slot]; }

 private:
  std::vector<Verdict> verdicts_;  // by slot; empty until pods are nominated
};

}  // namespace ks::framework
