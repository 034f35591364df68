// SPDX-License-Identifier: Apache-2.0
#pragma once
// What devices of one make have in common: driver, names, and the values that many of them share.
// There are few shapes, so they stay in the processor's caches, which a cluster's devices do not.
//
// Upstream: docs/spec/cel.md section 2.

#include <array>
#include <atomic>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/symbol.h"
#include "base/thread_annotations.h"
#include "cel/arena.h"
#include "cel/device_content.h"
#include "cel/value.h"

namespace ks::cel {

// A name of an attribute or a capacity; the order is that of the symbols' numbers.
struct DeviceName {
  bool capacity = false;
  Symbol domain{};
  Symbol id{};

  friend auto operator<=>(const DeviceName&, const DeviceName&) = default;
};

// The value of an attribute, in `arena`; an error if there is none.
Value ConvertAttribute(Arena& arena, const DeviceContent::AttributeValue& value);
// What ConvertAttribute takes of an arena, at most.
size_t BytesToConvert(const DeviceContent::AttributeValue& value);

// Threads: any. Lifetime: shared by its devices; values that it gave die with it.
class DeviceShape {
 public:
  static constexpr uint32_t kNowhere = 0xffffff;

  // The shape of devices with these names, the same one while a device keeps it. Requires: `names`
  // are sorted, none is there twice.
  static std::shared_ptr<const DeviceShape> Of(const Symbol& driver, std::vector<DeviceName> names);
  DeviceShape(const Symbol& driver, std::vector<DeviceName> names, uint64_t number);

  // Never given twice in a process; 40 bits, not 0.
  uint64_t number() const { return number_; }
  const Value& driver() const { return driver_value_; }
  const std::vector<DeviceName>& names() const { return names_; }
  // The position of a name in names(), or kNowhere.
  uint32_t Find(const DeviceName& name) const;

  // The value of the name at `place`, if many devices can use one. Each name has a few such values,
  // those that came first, so that serial numbers do not fill the memory.
  std::optional<Value> Shared(uint32_t place, const DeviceContent::AttributeValue& value) const;
  std::optional<Value> Shared(uint32_t place, const api::Quantity& value) const;

 private:
  static constexpr size_t kMaxShared = 4;
  struct Kept {
    DeviceContent::AttributeValue attribute{};
    Value value{};
  };

  const Symbol driver_;
  const std::vector<DeviceName> names_;
  const uint64_t number_;
  Value driver_value_{};  // points into driver_text_
  Text driver_text_;

  mutable Mutex mutex_;
  mutable Arena arena_ KS_GUARDED_BY(mutex_);
  mutable std::vector<std::vector<Kept>> kept_ KS_GUARDED_BY(mutex_);  // by place
};

// A constant name in a program, with its place in the shapes that were seen last: looking there
// needs nothing of the shape, so that the processor can fetch the value without waiting for it.
// Threads: any.
class DevicePath {
 public:
  explicit DevicePath(const DeviceName& name) : name_(name) {}

  // Requires: `number` is the number of `shape`.
  uint32_t PlaceIn(const DeviceShape& shape, uint64_t number) const {
    for (const std::atomic<uint64_t>& each : known_) {
      const uint64_t known = each.load(std::memory_order_relaxed);
      if (known >> kPlaceBits == number) return known & DeviceShape::kNowhere;
    }
    const uint32_t place = shape.Find(name_);
    known_[number % kKnown].store(number << kPlaceBits | place, std::memory_order_relaxed);
    return place;
  }

 private:
  static constexpr size_t kKnown = 4;
  static constexpr size_t kPlaceBits = 24;

  const DeviceName name_;
  mutable std::array<std::atomic<uint64_t>, kKnown> known_{};
};

}  // namespace ks::cel
