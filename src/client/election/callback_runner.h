// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs the callbacks of an elector on the timers' thread, one at a time, in order, outside of all
// locks, until it is closed.

#include <functional>
#include <memory>

#include "base/mutex.h"
#include "client/http/timer_service.h"

namespace ks::client {

// Threads: any. Lifetime: held by a shared_ptr; the timers outlive it.
class CallbackRunner final : public std::enable_shared_from_this<CallbackRunner> {
 public:
  explicit CallbackRunner(TimerService& timers) : timers_(timers) {}

  // Runs it soon, never from inside the call. Null: nothing.
  void RunSoon(std::function<void()> callback);
  // No callback begins any more. Does not wait for one that runs.
  void Close();
  // Waits for a callback that runs. Requires: closed; not called in a callback.
  void WaitUntilQuiet();

 private:
  void Run(const std::function<void()>& callback) KS_EXCLUDES(mutex_);

  TimerService& timers_;
  Mutex mutex_;
  CondVar quiet_;
  int running_ KS_GUARDED_BY(mutex_) = 0;
  bool closed_ KS_GUARDED_BY(mutex_) = false;
};

}  // namespace ks::client
