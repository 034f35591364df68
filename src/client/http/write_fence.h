// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether this process may write to the cluster now. A leader may until the renew deadline has
// passed since it began the last renewal that succeeded; others wait longer before they take its
// lease, so two processes never write at a time. A fence belongs to one term: whoever writes asks
// it immediately before each sending, so that a process that was stopped and goes on later sends
// nothing.
//
// Upstream: docs/spec/operations.md sections 6.3 and 6.4 (with their "→").

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace ks::client {

// Shut when made. Threads: any. Lifetime: the clock outlives it.
class WriteFence {
 public:
  explicit WriteFence(const Clock& clock) : clock_(clock) {}
  WriteFence(const WriteFence&) = delete;
  WriteFence& operator=(const WriteFence&) = delete;

  // Writing is allowed now.
  bool IsOpen() const {
    return clock_.Now().time_since_epoch().count() < until_.load(std::memory_order_acquire);
  }

  // Writing is allowed until that time. Never takes time away; without effect after Close.
  void OpenUntil(TimePoint until) {
    int64_t now = until_.load(std::memory_order_relaxed);
    const int64_t wanted = until.time_since_epoch().count();
    while (now != kClosed && now < wanted && !until_.compare_exchange_weak(now, wanted)) {
    }
  }
  // For ever: the term is over.
  void Close() { until_.store(kClosed, std::memory_order_release); }
  bool IsClosed() const { return until_.load(std::memory_order_acquire) == kClosed; }

  // What the error of a write says that was not sent.
  static constexpr const char* kRefusal = "not sent: this process does not hold the lease";

 private:
  static constexpr int64_t kClosed = INT64_MIN;
  static constexpr int64_t kShut = INT64_MIN + 1;

  const Clock& clock_;
  std::atomic<int64_t> until_{kShut};
};

}  // namespace ks::client
