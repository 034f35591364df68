// SPDX-License-Identifier: Apache-2.0
#include "base/blocking_pool.h"

#include <utility>

namespace ks {

BlockingPool::~BlockingPool() {
  std::vector<std::thread> threads;
  {
    MutexLock lock(mutex_);
    stop_ = true;
    threads.swap(threads_);
  }
  wake_.NotifyAll();
  for (std::thread& thread : threads) thread.join();
}

void BlockingPool::Run(std::function<void()> task) {
  {
    MutexLock lock(mutex_);
    tasks_.push_back(std::move(task));
    if (tasks_.size() > idle_ && threads_.size() < max_threads_) {
      threads_.emplace_back([this] { Work(); });
    }
  }
  wake_.NotifyOne();
}

void BlockingPool::Work() {
  while (true) {
    std::function<void()> task;
    {
      MutexLock lock(mutex_);
      ++idle_;
      while (tasks_.empty() && !stop_) wake_.Wait(mutex_);
      --idle_;
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace ks
