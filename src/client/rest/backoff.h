// SPDX-License-Identifier: Apache-2.0
#pragma once
// Delays between the rounds of a list/watch stream.
//
// Upstream: docs/spec/api.md section 6.7.

#include <algorithm>

#include "base/clock.h"

namespace ks::client {

// Threads: one at a time.
class Backoff {
 public:
  static constexpr Duration kFirst = std::chrono::milliseconds(800);
  static constexpr Duration kMost = std::chrono::seconds(30);
  static constexpr Duration kReset = std::chrono::minutes(2);

  // The next delay; `u` is uniform in [0, 1).
  Duration Next(TimePoint now, double u) {
    if (asked_ && now - last_ >= kReset) base_ = kFirst;
    asked_ = true;
    last_ = now;
    const Duration base = base_;
    base_ = std::min(2 * base_, kMost);
    return base + Duration(static_cast<int64_t>(static_cast<double>(base.count()) * u));
  }

 private:
  Duration base_ = kFirst;
  TimePoint last_{};
  bool asked_ = false;
};

}  // namespace ks::client
