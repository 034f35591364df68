// SPDX-License-Identifier: Apache-2.0
// The real timers: nothing is lost however the thread sleeps.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"
#include "client/http/timer_service.h"

namespace ks::client {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;

// Counts what ran, and waits for it.
class Ran {
 public:
  std::function<void()> Task() {
    return [this] {
      MutexLock lock(mutex_);
      ++count_;
      changed_.NotifyAll();
    };
  }
  void Wait(int count) {
    MutexLock lock(mutex_);
    while (count_ < count) changed_.Wait(mutex_);
  }
  int count() {
    MutexLock lock(mutex_);
    return count_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int count_ KS_GUARDED_BY(mutex_) = 0;
};

TEST(TimerThreadTest, AnEarlierTimerWakesTheThread) {
  Ran ran;
  const std::unique_ptr<TimerService> timers = NewTimerThread();
  const TimerId far = timers->Schedule(hours(1), ran.Task());
  timers->Schedule(microseconds(100), ran.Task());
  ran.Wait(1);
  // The thread sleeps for the far one again.
  timers->Schedule(Duration::zero(), ran.Task());
  ran.Wait(2);
  EXPECT_TRUE(timers->Cancel(far));
  EXPECT_FALSE(timers->Cancel(far));
}

// The thread may still sleep for the canceled one.
TEST(TimerThreadTest, AfterACanceledTimer) {
  Ran ran;
  const std::unique_ptr<TimerService> timers = NewTimerThread();
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE(timers->Cancel(timers->Schedule(hours(2), ran.Task())));
    const TimerId later = timers->Schedule(hours(3), ran.Task());
    timers->Schedule(microseconds(i % 3), ran.Task());
    ran.Wait(i + 1);
    EXPECT_TRUE(timers->Cancel(later));
  }
}

TEST(TimerThreadTest, NothingIsLostAmongManyThreads) {
  constexpr int kThreads = 4;
  constexpr int kEach = 500;
  Ran ran;
  const std::unique_ptr<TimerService> timers = NewTimerThread();
  std::atomic<int> wanted{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Random random(static_cast<uint64_t>(t) + 1);
      for (int i = 0; i < kEach; ++i) {
        const auto delay = microseconds(random.Below(2000));
        const TimerId id = timers->Schedule(delay, ran.Task());
        if (random.Below(3) != 0 || !timers->Cancel(id)) ++wanted;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ran.Wait(wanted);
  // A canceled one among them would come last.
  timers->Schedule(microseconds(2500), ran.Task());
  ran.Wait(wanted + 1);
  EXPECT_EQ(ran.count(), wanted + 1);
}

// Stands still until it is told to jump.
class JumpingClock final : public Clock {
 public:
  TimePoint Now() const override { return TimePoint(std::chrono::seconds(seconds_)); }
  TimePoint WallNow() const override { return Now(); }
  void Jump() { seconds_ = 10; }

 private:
  std::atomic<int> seconds_{0};
};

TEST(TimerThreadTest, InOrderOfTheirTimes) {
  JumpingClock clock;
  const std::unique_ptr<TimerService> timers = NewTimerThread(clock);
  Ran ran;
  Mutex mutex;
  std::vector<int> order;  // guarded by mutex
  // Held back by a task that runs until all are queued.
  Ran queued;
  timers->Schedule(Duration::zero(), [&] { queued.Wait(1); });
  for (const int millisecond : {3, 1, 2, 0}) {
    timers->Schedule(std::chrono::milliseconds(millisecond), [&, millisecond] {
      MutexLock lock(mutex);
      order.push_back(millisecond);
    });
  }
  timers->Schedule(std::chrono::milliseconds(4), ran.Task());
  clock.Jump();
  queued.Task()();
  ran.Wait(1);
  MutexLock lock(mutex);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace ks::client
