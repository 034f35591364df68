// SPDX-License-Identifier: Apache-2.0
#pragma once
// When a pod that failed may be tried again.
//
// Upstream: docs/spec/queue.md section 5.

#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "framework/queued_pod.h"

namespace ks::queue {

struct BackoffOptions {
  Duration initial = std::chrono::seconds(1);
  // 0 switches backoff off.
  Duration max = std::chrono::seconds(10);
  // Ends are cut to whole seconds (gate SchedulerPopFromBackoffQ).
  bool one_second_windows = true;
};

// min(initial * 2^(count - 1), max), where `max` grows with the square root of `pods`. 0 for
// count 0.
Duration BackoffDuration(const BackoffOptions& options, int64_t count, size_t pods);

// The end of the entity's backoff; `entity.timestamp` when it has none. Remembered in the entity
// until its next failure.
TimePoint BackoffExpiration(const BackoffOptions& options, framework::QueuedEntity& entity);

// Whether the entity still waits at `now`: the whole second in which the backoff ends counts.
bool IsBackingOff(const BackoffOptions& options, framework::QueuedEntity& entity, TimePoint now);

}  // namespace ks::queue
