// SPDX-License-Identifier: Apache-2.0
#include "client/election/callback_runner.h"

#include <utility>

namespace ks::client {

void CallbackRunner::RunSoon(std::function<void()> callback) {
  if (!callback) return;
  timers_.Schedule(Duration::zero(), [weak = weak_from_this(), callback = std::move(callback)] {
    if (const auto self = weak.lock()) self->Run(callback);
  });
}

void CallbackRunner::Run(const std::function<void()>& callback) {
  {
    MutexLock lock(mutex_);
    if (closed_) return;
    ++running_;
  }
  callback();
  MutexLock lock(mutex_);
  --running_;
  quiet_.NotifyAll();
}

void CallbackRunner::Close() {
  MutexLock lock(mutex_);
  closed_ = true;
}

void CallbackRunner::WaitUntilQuiet() {
  MutexLock lock(mutex_);
  while (running_ != 0) quiet_.Wait(mutex_);
}

}  // namespace ks::client
