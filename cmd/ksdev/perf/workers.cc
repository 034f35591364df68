// SPDX-License-Identifier: Apache-2.0
#include "ksdev/perf/workers.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace ks::ctl::dev::perf {

using std::chrono::steady_clock;

Result<void> InParallel(size_t count, size_t workers,
                        const std::function<Result<void>(size_t)>& work) {
  std::atomic<size_t> next{0};
  Mutex mutex;
  std::optional<Error> failure;
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) {
      const Result<void> done = work(i);
      if (done.ok()) continue;
      next = count;
      const MutexLock lock(mutex);
      if (!failure) failure = done.error();
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min(count, workers); ++i) threads.emplace_back(run);
  run();
  for (std::thread& thread : threads) thread.join();
  return failure ? Result<void>(*failure) : Result<void>();
}

void Background::Every(std::chrono::nanoseconds interval,
                       std::function<Result<bool>(size_t)> step) {
  const MutexLock lock(mutex_);
  if (stop_) return;
  threads_.emplace_back([this, interval, step = std::move(step)] { Run(interval, step); });
}

bool Background::Pause(steady_clock::time_point until) {
  const MutexLock lock(mutex_);
  while (!stop_) {
    const auto left = until - steady_clock::now();
    if (left <= left.zero()) return true;
    stopped_.WaitFor(mutex_, left);
  }
  return false;
}

void Background::Run(std::chrono::nanoseconds interval,
                     const std::function<Result<bool>(size_t)>& step) {
  auto next = steady_clock::now() + interval;
  for (size_t i = 0; Pause(next); ++i, next = std::max(next + interval, steady_clock::now())) {
    const Result<bool> more = step(i);
    if (more.ok() && *more) continue;
    if (!more.ok()) {
      const MutexLock lock(mutex_);
      if (!failure_) failure_ = more.error();
    }
    return;
  }
}

Result<void> Background::Stop() {
  std::vector<std::thread> threads;
  {
    const MutexLock lock(mutex_);
    stop_ = true;
    stopped_.NotifyAll();
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
  const MutexLock lock(mutex_);
  return failure_ ? Result<void>(*failure_) : Result<void>();
}

}  // namespace ks::ctl::dev::perf
