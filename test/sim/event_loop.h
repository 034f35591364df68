// SPDX-License-Identifier: Apache-2.0
#pragma once
// Virtual time: a queue of events, the clocks of simulated processes, and the timers that the
// client code of a process runs on. Everything happens on one thread, in the order of due times and
// then of posting.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "client/http/timer_service.h"

namespace ks::sim {

using Action = std::function<void()>;

// Threads: one. Its own time is the true one, which the API server lives by.
class EventLoop final : public Clock {
 public:
  explicit EventLoop(TimePoint start) : start_(start), now_(start) {}

  TimePoint Now() const override { return now_; }
  TimePoint WallNow() const override { return now_; }
  TimePoint start() const { return start_; }
  uint64_t executed() const { return executed_; }

  // A time in the past means now.
  void At(TimePoint when, Action action);
  void After(Duration delay, Action action) { At(now_ + delay, std::move(action)); }

  // Moves the time to the next event that is due until `limit` and runs it. False: there is none,
  // and the time is `limit`.
  bool RunNext(TimePoint limit);

 private:
  struct Event {
    TimePoint when;
    uint64_t number = 0;
    Action action;
  };
  static bool RunsLater(const Event& a, const Event& b) {
    return a.when != b.when ? a.when > b.when : a.number > b.number;
  }

  const TimePoint start_;
  TimePoint now_;
  uint64_t posted_ = 0;
  uint64_t executed_ = 0;
  std::vector<Event> heap_;
};

// What a process takes for the time: off by a constant and too fast or too slow.
class ProcessClock final : public Clock {
 public:
  ProcessClock(const EventLoop& loop, Duration offset, double rate)
      : loop_(loop), offset_(offset), rate_(rate) {}

  TimePoint Now() const override;
  TimePoint WallNow() const override { return Now(); }

  // The true time at which this clock will show `local`.
  TimePoint TrueTime(TimePoint local) const;
  // Lets go of the loop's time: from now on only Advance moves the clock (a process that is being
  // taken down).
  void Detach() { detached_ = Now(); }
  void Advance(TimePoint to) { detached_ = std::max(*detached_, to); }

 private:
  const EventLoop& loop_;
  const Duration offset_;
  const double rate_;
  std::optional<TimePoint> detached_;
};

// The timers of one process. `wake` is asked to call RunOne at a true time.
class VirtualTimers final : public client::TimerService {
 public:
  VirtualTimers(ProcessClock& clock, std::function<void(TimePoint when)> wake)
      : clock_(clock), wake_(std::move(wake)) {}

  const Clock& clock() const override { return clock_; }
  client::TimerId Schedule(Duration delay, std::function<void()> task) override;
  bool Cancel(client::TimerId id) override;

  // Runs the first task that is due, and asks for the next wake. False: none was due.
  bool RunOne();
  // When the next task is due by the process's clock.
  std::optional<TimePoint> NextDue() const;

 private:
  using Key = std::pair<TimePoint, client::TimerId>;
  void AskWake();

  ProcessClock& clock_;
  const std::function<void(TimePoint)> wake_;
  std::map<Key, std::function<void()>> queue_;
  std::unordered_map<client::TimerId, TimePoint> due_;
  client::TimerId last_ = 0;
  std::optional<TimePoint> asked_;  // the wake that is under way
};

}  // namespace ks::sim
