// SPDX-License-Identifier: Apache-2.0
#pragma once
// Threads of a workload: many requests at a time, and what goes on in the background.

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"

namespace ks::ctl::dev::perf {

// As upstream: so many objects of one operation are created at a time.
inline constexpr size_t kWorkers = 30;

// Calls work(0) … work(count - 1) on up to `workers` threads and waits for them. The first error
// ends it.
Result<void> InParallel(size_t count, size_t workers,
                        const std::function<Result<void>(size_t)>& work);

// Threads: any.
class Background {
 public:
  Background() = default;
  ~Background() { (void)Stop(); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Calls `step` (with 0, 1 …) after each interval, on a thread of its own, until it returns false
  // or an error, or this stops.
  void Every(std::chrono::nanoseconds interval, std::function<Result<bool>(size_t)> step);
  // Ends and waits. The first error of a step. Idempotent.
  Result<void> Stop();

 private:
  // Whether time has passed without a call of Stop.
  bool Pause(std::chrono::steady_clock::time_point until);
  void Run(std::chrono::nanoseconds interval, const std::function<Result<bool>(size_t)>& step);

  Mutex mutex_;
  CondVar stopped_;
  bool stop_ KS_GUARDED_BY(mutex_) = false;
  std::optional<Error> failure_ KS_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ KS_GUARDED_BY(mutex_);
};

}  // namespace ks::ctl::dev::perf
