// SPDX-License-Identifier: Apache-2.0
#include "scheduler/inbox.h"

#include <iterator>
#include <utility>

#include "base/check.h"

namespace ks::scheduler {

void Inbox::PushTo(std::vector<Message> Inbox::*lane, Message message) {
  bool first = false;
  {
    MutexLock lock(mutex_);
    first = own_.empty() && messages_.empty();
    (this->*lane).push_back(std::move(message));
    pending_.store(true, std::memory_order_release);
  }
  if (first) posted_.NotifyOne();
}

void Inbox::Post(Message message) { PushTo(&Inbox::messages_, std::move(message)); }

void Inbox::PostTask(Task task) {
  KS_CHECK(task != nullptr, "an empty task is posted");
  PushTo(&Inbox::own_, std::move(task));
}

void Inbox::Drain(std::vector<Message>* out) {
  out->clear();
  if (!pending_.load(std::memory_order_acquire)) return;
  MutexLock lock(mutex_);
  std::swap(*out, own_);
  if (out->empty()) {
    std::swap(*out, messages_);
  } else {
    out->insert(out->end(), std::make_move_iterator(messages_.begin()),
                std::make_move_iterator(messages_.end()));
    messages_.clear();
  }
  pending_.store(false, std::memory_order_relaxed);
  KS_CHECK(own_.empty() && messages_.empty(), "a message stays in the inbox");
}

void Inbox::Wait(std::optional<Duration> timeout) {
  MutexLock lock(mutex_);
  while (own_.empty() && messages_.empty()) {
    if (!timeout) {
      posted_.Wait(mutex_);
    } else if (timeout->count() <= 0 || !posted_.WaitFor(mutex_, *timeout)) {
      return;
    }
  }
}

}  // namespace ks::scheduler
