// SPDX-License-Identifier: Apache-2.0
#pragma once
// A clock that moves only when told. Threads: any.

#include <atomic>

#include "base/clock.h"

namespace ks::testing {

class FakeClock final : public Clock {
 public:
  // 2026-01-02T03:04:05Z, a whole second.
  FakeClock() = default;

  TimePoint Now() const override { return TimePoint(Duration(nanos_.load())); }
  TimePoint WallNow() const override { return Now(); }
  void Advance(Duration by) { nanos_ += by.count(); }

 private:
  std::atomic<int64_t> nanos_{1767323045LL * 1'000'000'000};
};

}  // namespace ks::testing
