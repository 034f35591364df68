// SPDX-License-Identifier: Apache-2.0
#include "kubesched/endpoints/debug_worker.h"

#include <chrono>
#include <utility>

namespace ks::daemon {

bool DebugWorker::JobQueue::Enqueue(Job job) {
  MutexLock lock(mutex_);
  if (closed_ || jobs_.size() >= kMostWaiting) return false;
  jobs_.push_back(std::move(job));
  changed_.NotifyAll();  // one that waits may be a job's pause
  return true;
}

bool DebugWorker::JobQueue::WaitFor(Duration duration) {
  const auto end = std::chrono::steady_clock::now() + duration;
  MutexLock lock(mutex_);
  while (!closed_) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= Duration::zero()) return true;
    changed_.WaitFor(mutex_, left);
  }
  return false;
}

DebugWorker::Job DebugWorker::JobQueue::Dequeue() {
  MutexLock lock(mutex_);
  while (jobs_.empty() && !closed_) changed_.Wait(mutex_);
  if (closed_) return {};
  Job job = std::move(jobs_.front());
  jobs_.pop_front();
  return job;
}

void DebugWorker::JobQueue::Close() {
  std::deque<Job> dropped;
  MutexLock lock(mutex_);
  closed_ = true;
  dropped.swap(jobs_);
  changed_.NotifyAll();
}

DebugWorker::DebugWorker() {
  for (std::thread& thread : threads_) {
    thread = std::thread([queue = queue_] {
      while (const Job job = queue->Dequeue()) job();
    });
  }
}

DebugWorker::~DebugWorker() {
  queue_->Close();
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace ks::daemon
