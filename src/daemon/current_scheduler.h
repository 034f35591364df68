// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which scheduler runs now. A process has one at a time, but not the same one for ever: a leader
// that loses its lease throws its scheduler away and builds a new one. Whoever asks a scheduler
// something, or changes its configuration, goes through here.

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/mutex.h"
#include "scheduler/scheduler.h"

namespace ks::daemon {

// Threads: any. Lifetime: outlives the schedulers.
class CurrentScheduler {
 public:
  using Query = std::function<void(scheduler::Scheduler&)>;

  // Has the scheduling thread run `query`, between two attempts; a standby's thread runs it too.
  // True: it will run, exactly once. False: there is no scheduler at this moment (start, end, or
  // between two terms); the query is dropped.
  bool Post(Query query) KS_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (scheduler_ == nullptr) return false;
    scheduler_->Post(
        scheduler::Task([scheduler = scheduler_, query = std::move(query)] { query(*scheduler); }));
    return true;
  }

  // The same, and waits for what `query` returns. Absent: there is no scheduler. Requires: not
  // called on the scheduling thread.
  template <class F, class T = std::invoke_result_t<F, scheduler::Scheduler&>>
  std::optional<T> Ask(F query) KS_EXCLUDES(mutex_) {
    const auto answer = std::make_shared<std::promise<T>>();
    std::future<T> future = answer->get_future();
    if (!Post([answer, query = std::move(query)](scheduler::Scheduler& scheduler) {
          answer->set_value(query(scheduler));
        })) {
      return std::nullopt;
    }
    return future.get();
  }

  // From here on `scheduler` is asked. Requires: its thread runs, or will run.
  void Set(scheduler::Scheduler& scheduler) KS_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    scheduler_ = &scheduler;
  }
  // Nobody is asked from here on. To be called before Scheduler::Stop, which lets the thread run
  // what was posted until then.
  void Clear() KS_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    scheduler_ = nullptr;
  }

 private:
  Mutex mutex_;
  scheduler::Scheduler* scheduler_ KS_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace ks::daemon
