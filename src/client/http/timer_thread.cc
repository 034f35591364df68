// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"
#include "client/http/timer_service.h"

namespace ks::client {
namespace {

class TimerThread final : public TimerService {
 public:
  explicit TimerThread(const Clock& clock) : clock_(clock), thread_([this] { Run(); }) {}

  ~TimerThread() override {
    {
      MutexLock lock(mutex_);
      stopping_ = true;
    }
    wake_.NotifyAll();
    thread_.join();
  }

  const Clock& clock() const override { return clock_; }

  TimerId Schedule(Duration delay, std::function<void()> task) override {
    const TimePoint due = clock_.Now() + std::max(delay, Duration::zero());
    bool sleeps_too_long = false;
    TimerId id = 0;
    {
      MutexLock lock(mutex_);
      id = ++last_id_;
      queue_.emplace(std::pair(due, id), std::move(task));
      due_by_id_.emplace(id, due);
      sleeps_too_long = due < sleeps_until_;
    }
    if (sleeps_too_long) wake_.NotifyAll();
    return id;
  }

  bool Cancel(TimerId id) override {
    std::function<void()> dropped;  // destroyed after the lock: it may own anything
    MutexLock lock(mutex_);
    const auto it = due_by_id_.find(id);
    if (it == due_by_id_.end()) return false;
    const auto entry = queue_.find(std::pair(it->second, id));
    dropped = std::move(entry->second);
    queue_.erase(entry);
    due_by_id_.erase(it);
    return true;
  }

 private:
  using Queue = std::map<std::pair<TimePoint, TimerId>, std::function<void()>>;

  void Run() {
    while (std::function<void()> task = NextDue()) task();
  }

  // Waits for the next due task; empty when stopping. Deadlines are set and canceled again with
  // each request: they wake the thread only if nothing else would wake it in time, and it sleeps on
  // until the time of one that was canceled.
  std::function<void()> NextDue() {
    MutexLock lock(mutex_);
    while (!stopping_) {
      if (queue_.empty()) {
        sleeps_until_ = TimePoint::max();
        wake_.Wait(mutex_);
        continue;
      }
      const auto first = queue_.begin();
      const Duration wait = first->first.first - clock_.Now();
      if (wait > Duration::zero()) {
        sleeps_until_ = first->first.first;
        wake_.WaitFor(mutex_, wait);
        continue;
      }
      sleeps_until_ = TimePoint::min();  // looks at the queue again before it sleeps
      std::function<void()> task = std::move(first->second);
      due_by_id_.erase(first->first.second);
      queue_.erase(first);
      return task;
    }
    return {};
  }

  const Clock& clock_;

  Mutex mutex_;
  CondVar wake_;
  Queue queue_ KS_GUARDED_BY(mutex_);
  std::unordered_map<TimerId, TimePoint> due_by_id_ KS_GUARDED_BY(mutex_);
  TimerId last_id_ KS_GUARDED_BY(mutex_) = 0;
  TimePoint sleeps_until_ KS_GUARDED_BY(mutex_) = TimePoint::min();
  bool stopping_ KS_GUARDED_BY(mutex_) = false;

  std::thread thread_;  // last: it uses everything above
};

}  // namespace

std::unique_ptr<TimerService> NewTimerThread(const Clock& clock) {
  return std::make_unique<TimerThread>(clock);
}

}  // namespace ks::client
