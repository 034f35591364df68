// SPDX-License-Identifier: Apache-2.0
#include "scheduler/prebind_waits.h"

#include "base/check.h"

namespace ks::scheduler {

void PreBindWaits::Set(const std::string& uid, framework::PreBindWait wait) {
  Remove(uid);
  if (wait.for_any_change) for_any_change_.insert(uid);
  if (wait.deadline) deadlines_.emplace(*wait.deadline, uid);
  for (const framework::ObjectChange& object : wait.objects) by_object_[object].insert(uid);
  const bool added = waits_.emplace(uid, std::move(wait)).second;
  KS_CHECK(added, "a pod waits once");
  KS_DCHECK(for_any_change_.size() <= waits_.size() && deadlines_.size() <= waits_.size(),
            "what follows from the waits has more pods than there are");
}

void PreBindWaits::Remove(std::string_view uid) {
  const auto found = waits_.find(uid);
  if (found != waits_.end()) Forget(found);
}

void PreBindWaits::Forget(Waits::const_iterator wait) {
  const auto& [uid, what] = *wait;
  for_any_change_.erase(uid);
  if (what.deadline) deadlines_.erase({*what.deadline, uid});
  for (const framework::ObjectChange& object : what.objects) {
    const auto users = by_object_.find(object);
    if (users == by_object_.end()) continue;  // the pod named the object twice
    users->second.erase(uid);
    if (users->second.empty()) by_object_.erase(users);
  }
  waits_.erase(wait);
  KS_CHECK(!waits_.empty() || (for_any_change_.empty() && deadlines_.empty() && by_object_.empty()),
           "something is awaited by nobody");
}

std::vector<std::string> PreBindWaits::Due(TimePoint now, const Logs& logs) {
  if (waits_.empty()) {
    read_.reset();
    return {};
  }
  bool all = !read_;
  Read ends;
  for (size_t i = 0; i < logs.size(); ++i) {
    ends[i] = logs[i]->end();
    all = all || !logs[i]->Holds((*read_)[i]);
  }
  const std::optional<Read> read = std::exchange(read_, ends);
  std::set<std::string> due;
  if (all) {
    for (const auto& [uid, wait] : waits_) due.insert(uid);
    return {due.begin(), due.end()};
  }
  due = for_any_change_;
  for (size_t i = 0; i < logs.size(); ++i) AddConcerned(*logs[i], (*read)[i], due);
  for (auto it = deadlines_.begin(); it != deadlines_.end() && it->first <= now; ++it) {
    due.insert(it->second);
  }
  return {due.begin(), due.end()};
}

void PreBindWaits::AddConcerned(const framework::ObjectLog& log, uint64_t from,
                                std::set<std::string>& due) const {
  for (uint64_t i = from; i < log.end(); ++i) {
    const auto users = by_object_.find(log.At(i));
    if (users != by_object_.end()) due.insert(users->second.begin(), users->second.end());
  }
}

std::optional<TimePoint> PreBindWaits::NextDeadline() const {
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.begin()->first;
}

}  // namespace ks::scheduler
