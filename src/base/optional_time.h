// SPDX-License-Identifier: Apache-2.0
#pragma once
// A time that may be absent, in the memory of a time: objects have several.

#include <chrono>
#include <compare>
#include <optional>

#include "base/clock.h"

namespace ks {

// Reads like a std::optional<TimePoint>. Threads: like a value.
class OptionalTime {
 public:
  OptionalTime() = default;
  // NOLINTBEGIN(google-explicit-constructor): as with std::optional
  OptionalTime(std::nullopt_t) {}
  OptionalTime(TimePoint time) : time_(time) {}
  OptionalTime(const std::optional<TimePoint>& time) : time_(time.value_or(kAbsent)) {}
  operator std::optional<TimePoint>() const {
    return has_value() ? std::optional(time_) : std::nullopt;
  }
  // NOLINTEND(google-explicit-constructor)

  bool has_value() const { return time_ != kAbsent; }
  explicit operator bool() const { return has_value(); }
  // Requires: has_value().
  const TimePoint& operator*() const { return time_; }
  TimePoint value_or(TimePoint otherwise) const { return has_value() ? time_ : otherwise; }
  void reset() { time_ = kAbsent; }

  friend bool operator==(OptionalTime a, OptionalTime b) { return a.time_ == b.time_; }
  // An absent one is before all others.
  friend auto operator<=>(OptionalTime a, OptionalTime b) {
    return std::optional<TimePoint>(a) <=> std::optional<TimePoint>(b);
  }

 private:
  // In the year 1677; no time that is read is there but TimePoint::min().
  static constexpr TimePoint kAbsent = TimePoint::min() + Duration(1);

  TimePoint time_ = kAbsent;
};

}  // namespace ks
