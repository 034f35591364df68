// SPDX-License-Identifier: Apache-2.0
#include "scheduler/inbox.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace ks::scheduler {
namespace {

// Objects and tasks.
template <class Content>
size_t SizeOf(const Content& content) {
  if constexpr (std::is_same_v<Content, Task>) {
    return 1;
  } else if constexpr (requires { content.size(); }) {
    size_t size = 0;
    for (const auto& delta : content) size += 1 + delta.items.size();
    return size;
  } else {
    return std::visit([](const auto& part) { return SizeOf(part); }, content);
  }
}

}  // namespace

void Inbox::PushTo(std::vector<Message> Inbox::*lane, Message message) {
  const size_t size = std::max<size_t>(1, SizeOf(message));
  bool wakes = false;
  {
    MutexLock lock(mutex_);
    (this->*lane).push_back(std::move(message));
    waiting_.fetch_add(size, std::memory_order_release);
    wakes = !woken_ && !IsAttendedBy(std::this_thread::get_id());
    woken_ = woken_ || wakes;
  }
  if (wakes) posted_.NotifyOne();
}

void Inbox::Post(Message message) { PushTo(&Inbox::messages_, std::move(message)); }

void Inbox::PostTask(Task task) {
  KS_CHECK(task != nullptr, "an empty task is posted");
  PushTo(&Inbox::own_, std::move(task));
}

void Inbox::Drain(std::vector<Message>* out) {
  out->clear();
  if (Waiting() == 0) return;
  MutexLock lock(mutex_);
  std::swap(*out, own_);
  if (out->empty()) {
    std::swap(*out, messages_);
  } else {
    out->insert(out->end(), std::make_move_iterator(messages_.begin()),
                std::make_move_iterator(messages_.end()));
    messages_.clear();
  }
  waiting_.store(0, std::memory_order_relaxed);
  KS_CHECK(own_.empty() && messages_.empty(), "a message stays in the inbox");
}

void Inbox::Wait(std::optional<Duration> timeout) {
  MutexLock lock(mutex_);
  while (!woken_) {
    if (!own_.empty() || !messages_.empty()) break;
    if (!timeout) {
      posted_.Wait(mutex_);
    } else if (timeout->count() <= 0 || !posted_.WaitFor(mutex_, *timeout)) {
      break;
    }
  }
  woken_ = false;
}

void Inbox::Wake() {
  {
    MutexLock lock(mutex_);
    woken_ = true;
  }
  posted_.NotifyOne();
}

}  // namespace ks::scheduler
