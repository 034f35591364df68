// SPDX-License-Identifier: Apache-2.0
#pragma once
// Time as a parameter: everything that asks for the time or waits takes a Clock, so that tests and
// the simulator run under virtual time (test/testing/fake_clock.h).

#include <chrono>
#include <cstdint>
#include <string>

namespace ks {

using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::sys_time<std::chrono::nanoseconds>;

// Threads: any. Lifetime: outlives its users.
class Clock {
 public:
  virtual ~Clock() = default;

  // Never steps back: wall time at process start plus elapsed monotonic time. For ordering,
  // backoff, timers, durations.
  virtual TimePoint Now() const = 0;

  // The system's wall time. For timestamps written into API objects.
  virtual TimePoint WallNow() const = 0;
};

// The process clock.
const Clock& RealClock();

// Go's duration text: "0s", "250ms", "1.5s", "1m30s", "15m0s", "1h0m2s". Source:
// docs/spec/framework.md section 10.
std::string FormatDuration(Duration duration);

// RFC 3339 in UTC, whole seconds ("2026-01-02T02:04:05Z"); times are cut, not rounded. Source:
// docs/spec/api.md section 4.
std::string FormatTime(TimePoint time);

// RFC 3339 in UTC with exactly six fraction digits.
std::string FormatMicroTime(TimePoint time);

}  // namespace ks
