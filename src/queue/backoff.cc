// SPDX-License-Identifier: Apache-2.0
#include "queue/backoff.h"

#include <cmath>

namespace ks::queue {
namespace {

// What the next wait is counted by: an error streak hides the rejections before it.
int64_t FailureCount(const framework::QueuedEntity& entity) {
  return entity.consecutive_errors_count > 0 ? entity.consecutive_errors_count
                                             : entity.unschedulable_count;
}

TimePoint CutToWindow(const BackoffOptions& options, TimePoint time) {
  if (!options.one_second_windows) return time;
  return std::chrono::floor<std::chrono::seconds>(time);
}

}  // namespace

Duration BackoffDuration(const BackoffOptions& options, int64_t count, size_t pods) {
  if (count <= 0) return Duration(0);
  int64_t max = options.max.count();
  if (pods > 1) {
    max = static_cast<int64_t>(static_cast<double>(max) * std::sqrt(static_cast<double>(pods)));
  }
  const int64_t initial = options.initial.count();
  const int64_t shift = count - 1;
  // Shifting the maximum down cannot overflow; from 63 bits on nothing is left of it.
  const int64_t limit = shift >= 63 ? 0 : max >> shift;
  return Duration(initial > limit ? max : initial << shift);
}

TimePoint BackoffExpiration(const BackoffOptions& options, framework::QueuedEntity& entity) {
  if (options.max == Duration(0)) return entity.timestamp;
  const int64_t count = FailureCount(entity);
  if (count == 0) return entity.timestamp;
  if (!entity.backoff_expiration.has_value()) {
    entity.backoff_expiration =
        CutToWindow(options, entity.timestamp + BackoffDuration(options, count, entity.PodCount()));
  }
  return *entity.backoff_expiration;
}

bool IsBackingOff(const BackoffOptions& options, framework::QueuedEntity& entity, TimePoint now) {
  if (options.max == Duration(0) || FailureCount(entity) == 0) return false;
  return BackoffExpiration(options, entity) >= CutToWindow(options, now);
}

}  // namespace ks::queue
