// SPDX-License-Identifier: Apache-2.0
#pragma once
// A device as selectors see it: driver, shareability, attributes and capacities, converted once
// into one block of memory in which a constant path is one read.
//
// Upstream: docs/spec/cel.md section 2.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "cel/arena.h"
#include "cel/device_content.h"
#include "cel/device_shape.h"
#include "cel/value.h"

namespace ks::cel {

// The block, in lines of the processor's cache: verdicts, the fields here, the values (in the order
// of the shape's names), what values point to and other devices do not share.
//
// Threads: any. Lifetime: shared; values that point into it die with it.
class Device {
 public:
  static std::shared_ptr<const Device> Make(const DeviceContent& content);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Null: there is none.
  const Value* Find(const DevicePath& path) const {
    const uint32_t place = path.PlaceIn(*shape_, shape_number_);
    return place == DeviceShape::kNowhere ? nullptr : values() + place;
  }
  const Value& driver() const { return shape_->driver(); }
  Value allow_multiple_allocations() const { return Value::Bool(shareable_); }

  // A failed conversion (a bad version) is the result of every selector. Empty: none.
  std::string_view error() const { return error_ == nullptr ? std::string_view() : error_->view(); }

  // The device as the map that it is at run time, in `arena`: real domains only, by name.
  Value AsMap(Arena& arena) const;

  // Verdicts of the programs that were last asked about this content. Each has two places.
  class Memo {
   public:
    // None: not known.
    std::optional<bool> Find(uint32_t program) const {
      const size_t home = program % kSlots;
      for (const size_t place : {home, home ^ 1}) {
        const uint32_t entry = slots_[place].load(std::memory_order_relaxed);
        if (entry >> 2 == program) return (entry & 1) != 0;
      }
      return std::nullopt;
    }
    void Store(uint32_t program, bool verdict) {
      if (program >= kMaxPrograms) return;
      const size_t home = program % kSlots;
      const uint32_t before = slots_[home].load(std::memory_order_relaxed);
      if (before != 0) slots_[home ^ 1].store(before, std::memory_order_relaxed);
      slots_[home].store(program << 2 | 2 | (verdict ? 1 : 0), std::memory_order_relaxed);
    }

   private:
    static constexpr size_t kSlots = 16;  // a line
    static constexpr uint32_t kMaxPrograms = uint32_t{1} << 30;

    std::array<std::atomic<uint32_t>, kSlots> slots_{};
  };
  Memo& memo() const { return memo_; }

 private:
  struct Deleter {
    void operator()(const Device* device) const;
  };

  struct Draft;

  // `rest`: memory for what values point to.
  Device(const Draft& draft, const DeviceContent& content, void* rest);

  static constexpr size_t ValuesAt() { return Arena::Rounded(sizeof(Device)); }
  const Value* values() const {
    return reinterpret_cast<const Value*>(reinterpret_cast<const char*>(this) + ValuesAt());
  }
  Value TableAsMap(Arena& arena, bool capacity) const;

  mutable Memo memo_;
  const uint64_t shape_number_;
  const std::shared_ptr<const DeviceShape> shape_;
  const bool shareable_;
  const Text* error_ = nullptr;
  Arena arena_;
};

}  // namespace ks::cel
