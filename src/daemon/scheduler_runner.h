// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who runs a scheduler's rounds: a thread in the daemon, the event loop in the simulation.

#include <thread>

#include "base/clock.h"
#include "client/http/transport.h"
#include "scheduler/scheduler.h"

namespace ks::daemon {

// Threads: one. Lifetime: the scheduler outlives it.
class SchedulerRunner {
 public:
  virtual ~SchedulerRunner() = default;
  // From here on the rounds are run. At most once.
  virtual void Start(scheduler::Scheduler& scheduler) = 0;
  // Has no attempt begun any more, and returns when the bindings under way are answered or `grace`
  // has passed; nothing of the scheduler runs afterwards. Without Start: returns at once.
  virtual void Stop(Duration grace) = 0;
};

// scheduler::Scheduler::Run on a thread of its own, and RunBeside on that of the transport, which
// outlives it: where pods come one by one, no thread has to wake another (decision 0055).
class ThreadRunner final : public SchedulerRunner {
 public:
  explicit ThreadRunner(client::Transport& transport) : transport_(transport) {}
  ~ThreadRunner() override { Stop(Duration::zero()); }
  void Start(scheduler::Scheduler& scheduler) override;
  void Stop(Duration grace) override;

 private:
  client::Transport& transport_;
  scheduler::Scheduler* scheduler_ = nullptr;
  std::thread thread_;
};

}  // namespace ks::daemon
