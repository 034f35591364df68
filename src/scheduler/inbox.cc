// SPDX-License-Identifier: Apache-2.0
#include "scheduler/inbox.h"

#include <utility>

namespace ks::scheduler {

void Inbox::Post(Message message) {
  bool first = false;
  {
    MutexLock lock(mutex_);
    first = messages_.empty();
    messages_.push_back(std::move(message));
    pending_.store(true, std::memory_order_release);
  }
  if (first) posted_.NotifyOne();
}

void Inbox::Drain(std::vector<Message>* out) {
  out->clear();
  if (!pending_.load(std::memory_order_acquire)) return;
  MutexLock lock(mutex_);
  std::swap(*out, messages_);
  pending_.store(false, std::memory_order_relaxed);
}

void Inbox::Wait(std::optional<Duration> timeout) {
  MutexLock lock(mutex_);
  while (messages_.empty()) {
    if (!timeout) {
      posted_.Wait(mutex_);
    } else if (timeout->count() <= 0 || !posted_.WaitFor(mutex_, *timeout)) {
      return;
    }
  }
}

}  // namespace ks::scheduler
