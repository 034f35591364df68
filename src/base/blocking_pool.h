// SPDX-License-Identifier: Apache-2.0
#pragma once
// Threads for work that blocks or takes long: few, started when first needed, so that it can hold
// neither the scheduling thread nor the client's.

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace ks {

// Threads: any. Lifetime: destruction runs what is queued and joins.
class BlockingPool {
 public:
  explicit BlockingPool(size_t max_threads = 16) : max_threads_(max_threads) {}
  ~BlockingPool();
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;

  // Runs the task on one of the threads; tasks beyond their number wait in order.
  void Run(std::function<void()> task) KS_EXCLUDES(mutex_);

 private:
  void Work() KS_EXCLUDES(mutex_);

  const size_t max_threads_;
  Mutex mutex_;
  CondVar wake_;
  std::deque<std::function<void()>> tasks_ KS_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ KS_GUARDED_BY(mutex_);
  size_t idle_ KS_GUARDED_BY(mutex_) = 0;
  bool stop_ KS_GUARDED_BY(mutex_) = false;
};

}  // namespace ks
