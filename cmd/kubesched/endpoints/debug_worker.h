// SPDX-License-Identifier: Apache-2.0
#pragma once
// The threads behind /debug/kubesched: they turn what was collected on the scheduling thread into
// text, ask the API server, and simulate, so that neither the scheduling thread nor the server's
// thread does. Two, so that a quick question need not wait for a slow one.

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"

namespace ks::daemon {

// Threads: any. Lifetime: the destructor lets the jobs that run end, drops the others and waits.
class DebugWorker {
 public:
  using Job = std::function<void()>;
  // More are refused.
  static constexpr size_t kMostWaiting = 32;

  // Jobs that wait for a thread. Outlives the worker if need be: jobs that come after its end are
  // dropped.
  class JobQueue {
   public:
    // False: too many jobs wait, or the worker is gone; the job is dropped.
    bool Enqueue(Job job) KS_EXCLUDES(mutex_);
    // For a job that waits for something to settle. False: the worker is to end, at once.
    bool WaitFor(Duration duration) KS_EXCLUDES(mutex_);

   private:
    friend class DebugWorker;
    // Blocks; empty: the end.
    Job Dequeue() KS_EXCLUDES(mutex_);
    void Close() KS_EXCLUDES(mutex_);

    Mutex mutex_;
    CondVar changed_;
    std::deque<Job> jobs_ KS_GUARDED_BY(mutex_);
    bool closed_ KS_GUARDED_BY(mutex_) = false;
  };

  DebugWorker();
  ~DebugWorker();
  DebugWorker(const DebugWorker&) = delete;
  DebugWorker& operator=(const DebugWorker&) = delete;

  const std::shared_ptr<JobQueue>& queue() const { return queue_; }

 private:
  const std::shared_ptr<JobQueue> queue_ = std::make_shared<JobQueue>();
  std::array<std::thread, 2> threads_;
};

}  // namespace ks::daemon
