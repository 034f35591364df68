// SPDX-License-Identifier: Apache-2.0
#pragma once
// Timers in virtual time. Due tasks run on a thread of their own, as they do in the program, but
// only when the test moves the clock (or when they are due at once).

#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "client/http/timer_service.h"
#include "testing/fake_clock.h"

namespace ks::testing {

class FakeTimers final : public client::TimerService {
 public:
  FakeTimers() : thread_([this] { Run(); }) {}
  ~FakeTimers() override {
    {
      MutexLock lock(mutex_);
      stopping_ = true;
      changed_.NotifyAll();
    }
    thread_.join();
  }

  const Clock& clock() const override { return clock_; }

  client::TimerId Schedule(Duration delay, std::function<void()> task) override {
    MutexLock lock(mutex_);
    const client::TimerId id = ++last_id_;
    queue_.emplace(std::pair(clock_.Now() + std::max(delay, Duration::zero()), id),
                   std::move(task));
    changed_.NotifyAll();
    return id;
  }

  bool Cancel(client::TimerId id) override {
    std::function<void()> dropped;
    MutexLock lock(mutex_);
    for (auto it = queue_.begin(); it != queue_.end(); ++it) {
      if (it->first.second != id) continue;
      dropped = std::move(it->second);
      queue_.erase(it);
      return true;
    }
    return false;
  }

  // Moves the clock from due time to due time; returns when everything due has run.
  void Advance(Duration by) {
    const TimePoint target = clock_.Now() + by;
    MutexLock lock(mutex_);
    while (true) {
      WaitIdle();
      if (queue_.empty() || queue_.begin()->first.first > target) break;
      clock_.Advance(queue_.begin()->first.first - clock_.Now());
      changed_.NotifyAll();
    }
    clock_.Advance(target - clock_.Now());
  }

  // Runs what is due now.
  void Settle() { Advance(Duration::zero()); }

  // Time until the next task; negative: none is scheduled.
  Duration UntilNext() {
    MutexLock lock(mutex_);
    WaitIdle();
    return queue_.empty() ? Duration(-1) : queue_.begin()->first.first - clock_.Now();
  }

 private:
  bool DueNow() KS_REQUIRES(mutex_) {
    return !queue_.empty() && queue_.begin()->first.first <= clock_.Now();
  }
  void WaitIdle() KS_REQUIRES(mutex_) {
    while (running_ || DueNow()) changed_.Wait(mutex_);
  }

  void Run() {
    MutexLock lock(mutex_);
    while (!stopping_) {
      if (!DueNow()) {
        changed_.Wait(mutex_);
        continue;
      }
      std::function<void()> task = std::move(queue_.begin()->second);
      queue_.erase(queue_.begin());
      running_ = true;
      mutex_.Unlock();
      task();
      task = nullptr;
      mutex_.Lock();
      running_ = false;
      changed_.NotifyAll();
    }
  }

  FakeClock clock_;
  Mutex mutex_;
  CondVar changed_;
  std::map<std::pair<TimePoint, client::TimerId>, std::function<void()>> queue_
      KS_GUARDED_BY(mutex_);
  client::TimerId last_id_ KS_GUARDED_BY(mutex_) = 0;
  bool running_ KS_GUARDED_BY(mutex_) = false;
  bool stopping_ KS_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace ks::testing
