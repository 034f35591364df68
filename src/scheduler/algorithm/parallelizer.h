// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a loop over pieces on several threads. The pieces of one call are independent; the caller
// merges their results in order, so that the number of workers changes the time and nothing else.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace ks::scheduler {

// Threads: Run by one thread at a time; the workers belong to this object. Lifetime: destruction
// joins them.
class Parallelizer {
 public:
  // At most `parallelism` threads work at once, the caller included; never more than the machine
  // has. Requires: parallelism > 0. Below `min_pieces` a loop runs on the caller alone: waking a
  // thread costs more than it saves.
  explicit Parallelizer(int parallelism, size_t min_pieces = 4096);
  ~Parallelizer();
  Parallelizer(const Parallelizer&) = delete;
  Parallelizer& operator=(const Parallelizer&) = delete;

  // Calls body(begin, end) for ranges that together cover [0, pieces). Returns when all are done.
  void Run(size_t pieces, const std::function<void(size_t, size_t)>& body) KS_EXCLUDES(mutex_);

  // Another upper bound; workers end and are started anew when needed. Not while Run runs.
  void SetParallelism(int parallelism) KS_EXCLUDES(mutex_);

  int threads() const { return threads_; }

 private:
  void StartWorkers();
  void JoinWorkers() KS_EXCLUDES(mutex_);
  void Work() KS_EXCLUDES(mutex_);
  void TakeChunks(const std::function<void(size_t, size_t)>& body, size_t pieces, size_t chunk);

  int threads_;
  const size_t min_pieces_;
  std::vector<std::thread> workers_;  // started by the first Run that needs them
  std::atomic<size_t> next_{0};

  Mutex mutex_;
  CondVar wake_;
  CondVar done_;
  const std::function<void(size_t, size_t)>* body_ KS_GUARDED_BY(mutex_) = nullptr;
  size_t pieces_ KS_GUARDED_BY(mutex_) = 0;
  size_t chunk_ KS_GUARDED_BY(mutex_) = 1;
  uint64_t round_ KS_GUARDED_BY(mutex_) = 0;
  size_t busy_ KS_GUARDED_BY(mutex_) = 0;
  bool stop_ KS_GUARDED_BY(mutex_) = false;
};

}  // namespace ks::scheduler
