// SPDX-License-Identifier: Apache-2.0
#pragma once
// Timers of the client code: delays between retries, deadlines, periodic flushes. An interface, so
// that tests run in virtual time (test/testing/fake_timers.h). Not for the scheduling thread's own
// waits.

#include <cstdint>
#include <functional>
#include <memory>

#include "base/clock.h"

namespace ks::client {

using TimerId = uint64_t;  // 0: no timer

// Threads: any. Lifetime: outlives everything that schedules on it.
class TimerService {
 public:
  virtual ~TimerService() = default;

  // The clock the delays are measured with.
  virtual const Clock& clock() const = 0;

  // Runs `task` once after `delay` (at once, but never from inside this call, when it is not
  // positive). Tasks of one service run one at a time, in order of their due times, on the
  // service's thread: they must not block.
  virtual TimerId Schedule(Duration delay, std::function<void()> task) = 0;

  // True: the task will never run. False: it ran, is running, or the id is unknown. Does not wait
  // for a running task.
  virtual bool Cancel(TimerId id) = 0;
};

// One thread and a heap. Destruction drops the tasks that are not due yet and waits for a running
// one.
std::unique_ptr<TimerService> NewTimerThread(const Clock& clock = RealClock());

}  // namespace ks::client
