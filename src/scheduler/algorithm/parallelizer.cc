// SPDX-License-Identifier: Apache-2.0
#include "scheduler/algorithm/parallelizer.h"

#include <algorithm>

#include "base/check.h"

namespace ks::scheduler {
namespace {

int ThreadCount(int parallelism) {
  KS_CHECK(parallelism > 0, "parallelism must be positive");
  const int machine = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return std::min(parallelism, machine);
}

}  // namespace

Parallelizer::Parallelizer(int parallelism, size_t min_pieces)
    : threads_(ThreadCount(parallelism)), min_pieces_(min_pieces) {}

Parallelizer::~Parallelizer() { JoinWorkers(); }

void Parallelizer::JoinWorkers() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  wake_.NotifyAll();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
}

void Parallelizer::SetParallelism(int parallelism) {
  JoinWorkers();
  threads_ = ThreadCount(parallelism);
  MutexLock lock(mutex_);
  stop_ = false;
  round_ = 0;  // new workers have seen none
}

void Parallelizer::Run(size_t pieces, const std::function<void(size_t, size_t)>& body) {
  if (pieces == 0) return;
  if (threads_ == 1 || pieces < min_pieces_) {
    body(0, pieces);
    return;
  }
  if (workers_.empty()) StartWorkers();
  const size_t chunk = std::max<size_t>(1, pieces / (static_cast<size_t>(threads_) * 4));
  {
    MutexLock lock(mutex_);
    KS_CHECK(body_ == nullptr, "a parallel loop within another");
    next_.store(0, std::memory_order_relaxed);
    body_ = &body;
    pieces_ = pieces;
    chunk_ = chunk;
    busy_ = workers_.size();
    ++round_;
  }
  wake_.NotifyAll();
  TakeChunks(body, pieces, chunk);
  MutexLock lock(mutex_);
  while (busy_ > 0) done_.Wait(mutex_);
  body_ = nullptr;
}

void Parallelizer::StartWorkers() {
  for (int i = 1; i < threads_; ++i) workers_.emplace_back([this] { Work(); });
}

void Parallelizer::TakeChunks(const std::function<void(size_t, size_t)>& body, size_t pieces,
                              size_t chunk) {
  while (true) {
    const size_t begin = next_.fetch_add(chunk, std::memory_order_relaxed);
    if (begin >= pieces) return;
    body(begin, std::min(pieces, begin + chunk));
  }
}

void Parallelizer::Work() {
  uint64_t seen = 0;
  while (true) {
    const std::function<void(size_t, size_t)>* body = nullptr;
    size_t pieces = 0;
    size_t chunk = 1;
    {
      MutexLock lock(mutex_);
      while (!stop_ && round_ == seen) wake_.Wait(mutex_);
      if (stop_) return;
      seen = round_;
      body = body_;
      pieces = pieces_;
      chunk = chunk_;
    }
    TakeChunks(*body, pieces, chunk);
    MutexLock lock(mutex_);
    if (--busy_ == 0) done_.NotifyOne();
  }
}

}  // namespace ks::scheduler
