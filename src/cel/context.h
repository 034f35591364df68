// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one evaluation carries: memory, cost so far, the device, the variables of loops.
//
// Upstream: docs/spec/cel.md section 8.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "cel/arena.h"
#include "cel/value.h"

namespace ks::cel {

class Device;

// Costs only grow, so a limit that was passed is reported at the end; loops look at `stopped()` to
// end early.
//
// Threads: one. Lifetime: one evaluation.
class Context {
 public:
  struct Limits {
    uint64_t cost = std::numeric_limits<uint64_t>::max();
    // Set by others: the evaluation shall end. Null: never.
    const std::atomic<bool>* cancelled = nullptr;
  };

  Context(const Device* device, Limits limits) : device_(device), limits_(limits) {}

  Arena& arena() { return arena_; }
  const Device* device() const { return device_; }
  // The device as a map, made when it is first asked for. Null if there is no device.
  Value DeviceMap();

  void Charge(uint64_t cost) { cost_ += cost; }
  // Takes back a part of what was charged: upstream counts some steps less when they are nested.
  // Requires: it was charged before.
  void Refund(uint64_t cost) { cost_ -= cost; }
  uint64_t cost() const { return aborted_ ? cost_at_abort_ : cost_; }
  bool over_limit() const { return cost_ > limits_.cost; }
  bool interrupted() const { return interrupted_; }

  // Where upstream panics: the error is the result whatever follows, no operator absorbs it. It
  // does not get so far if the limit was passed before.
  Value Abort(std::string_view message);
  // None: there was no abort.
  const std::optional<Value>& aborted() const { return aborted_; }

  // Whether the result will be an error whatever follows.
  bool stopped() const { return over_limit() || interrupted_ || aborted_.has_value(); }

  // For each step of a loop. Returns false when the loop must end.
  bool Step() {
    constexpr uint64_t kStepsBetweenLooks = 100;
    if (++steps_ % kStepsBetweenLooks == 0 && limits_.cancelled != nullptr &&
        limits_.cancelled->load(std::memory_order_relaxed)) {
      interrupted_ = true;
    }
    return !stopped();
  }

  // Before a piece of work that needs `bytes` of memory: what is absurd counts as passing the limit
  // of costs. Returns false then.
  bool Reserve(size_t bytes) {
    constexpr size_t kMaxBytes = size_t{256} << 20;
    if (bytes <= kMaxBytes && arena_.bytes() + bytes <= kMaxBytes) return true;
    limits_.cost = 0;
    cost_ = std::max<uint64_t>(cost_, 1);
    return false;
  }

  // Variables of loops, by the depth that the planner gave them. Requires: slots were given.
  void set_slots(Value* slots) { slots_ = slots; }
  Value& slot(size_t index) { return slots_[index]; }

  // The device's map or a value of a field in it. Upstream wraps a list or map anew each time, but
  // not the outer maps, and as a key of a map a list or map is the same as itself only.
  Value Fetched(Value value) {
    if (value.is(Kind::kList) || (value.is(Kind::kMap) && !value.map->complete)) {
      value.nanos = ++fetched_;
    }
    return value;
  }

 private:
  const Device* const device_;
  Limits limits_;
  uint64_t cost_ = 0;
  uint64_t steps_ = 0;
  uint32_t fetched_ = 0;
  bool interrupted_ = false;
  std::optional<Value> aborted_;
  uint64_t cost_at_abort_ = 0;
  Value device_map_{};
  Value* slots_ = nullptr;
  LocalArena arena_;
};

}  // namespace ks::cel
