// SPDX-License-Identifier: Apache-2.0
#pragma once
// The client-side rate limit: `burst` requests at once, then `qps` per second, in order of arrival.
//
// Upstream: docs/spec/api.md section 7.4.

#include <algorithm>

#include "base/clock.h"

namespace ks::client {

// Hands out start times instead of blocking: the caller waits. Threads: one at a time.
class TokenBucket {
 public:
  // Negative qps: no limit.
  TokenBucket(float qps, int burst) : qps_(qps), burst_(burst), tokens_(burst) {}

  // Takes one token; the answer is how long to wait until it is there. Later callers wait longer:
  // the order of arrival is kept.
  Duration Take(TimePoint now) {
    if (qps_ < 0) return Duration::zero();
    Refill(now);
    tokens_ -= 1;
    if (tokens_ >= 0) return Duration::zero();
    constexpr double kForeverSeconds = 1e9;
    const double seconds = qps_ > 0 ? std::min(-tokens_ / qps_, kForeverSeconds) : kForeverSeconds;
    return Duration(static_cast<int64_t>(seconds * 1e9));
  }

 private:
  void Refill(TimePoint now) {
    if (!started_) {
      started_ = true;
    } else if (now > last_) {
      const double seconds = static_cast<double>((now - last_).count()) / 1e9;
      tokens_ = std::min<double>(burst_, tokens_ + seconds * qps_);
    }
    last_ = std::max(last_, now);
  }

  const float qps_;
  const int burst_;
  double tokens_;  // negative: promised to waiting callers
  TimePoint last_{};
  bool started_ = false;
};

}  // namespace ks::client
