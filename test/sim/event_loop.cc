// SPDX-License-Identifier: Apache-2.0
#include "sim/event_loop.h"

#include <algorithm>
#include <cmath>

namespace ks::sim {

void EventLoop::At(TimePoint when, Action action) {
  heap_.push_back({std::max(when, now_), posted_++, std::move(action)});
  std::push_heap(heap_.begin(), heap_.end(), RunsLater);
}

bool EventLoop::RunNext(TimePoint limit) {
  if (heap_.empty() || heap_.front().when > limit) {
    now_ = std::max(now_, limit);
    return false;
  }
  std::pop_heap(heap_.begin(), heap_.end(), RunsLater);
  Event event = std::move(heap_.back());
  heap_.pop_back();
  now_ = event.when;
  ++executed_;
  event.action();
  return true;
}

TimePoint ProcessClock::Now() const {
  if (detached_.has_value()) return *detached_;
  const auto elapsed = static_cast<double>((loop_.Now() - loop_.start()).count());
  return loop_.start() + offset_ + Duration(static_cast<int64_t>(std::floor(elapsed * rate_)));
}

TimePoint ProcessClock::TrueTime(TimePoint local) const {
  const auto elapsed = static_cast<double>((local - offset_ - loop_.start()).count());
  // Rounded up, so that the clock shows at least `local` then.
  return loop_.start() + Duration(static_cast<int64_t>(std::ceil(elapsed / rate_)) + 1);
}

client::TimerId VirtualTimers::Schedule(Duration delay, std::function<void()> task) {
  const client::TimerId id = ++last_;
  const TimePoint due = clock_.Now() + std::max(delay, Duration::zero());
  queue_.emplace(Key(due, id), std::move(task));
  due_.emplace(id, due);
  if (queue_.begin()->first.second == id) AskWake();
  return id;
}

bool VirtualTimers::Cancel(client::TimerId id) {
  const auto it = due_.find(id);
  if (it == due_.end()) return false;
  const auto entry = queue_.find(Key(it->second, id));
  const std::function<void()> dropped = std::move(entry->second);  // destroyed last
  queue_.erase(entry);
  due_.erase(it);
  return true;
}

bool VirtualTimers::RunOne() {
  constexpr Duration kRounding = std::chrono::microseconds(1);
  if (asked_.has_value() && *asked_ <= clock_.Now() + kRounding) asked_.reset();
  if (queue_.empty()) return false;
  if (queue_.begin()->first.first > clock_.Now()) {
    AskWake();
    return false;
  }
  const auto first = queue_.begin();
  const std::function<void()> task = std::move(first->second);
  due_.erase(first->first.second);
  queue_.erase(first);
  task();
  if (!queue_.empty()) AskWake();
  return true;
}

std::optional<TimePoint> VirtualTimers::NextDue() const {
  if (queue_.empty()) return std::nullopt;
  return queue_.begin()->first.first;
}

void VirtualTimers::AskWake() {
  const TimePoint due = queue_.begin()->first.first;
  if (asked_.has_value() && *asked_ <= due) return;
  asked_ = due;
  wake_(clock_.TrueTime(due));
}

}  // namespace ks::sim
