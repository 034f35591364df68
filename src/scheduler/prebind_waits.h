// SPDX-License-Identifier: Apache-2.0
#pragma once
// PreBindWaits: which of the pods in PreBind are to be asked again. With thousands of them a look
// at each, several times for each change and each deadline, costs more than all else that the
// scheduling thread does: those that nothing concerns cost nothing.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/object_change.h"
#include "framework/runtime/prebind_runner.h"

namespace ks::scheduler {

// Threads: the scheduling thread.
class PreBindWaits {
 public:
  // In place of what was said of the pod before.
  void Set(const std::string& uid, framework::PreBindWait wait);
  void Remove(std::string_view uid);
  bool Contains(std::string_view uid) const { return waits_.find(uid) != waits_.end(); }

  // The logs that tell what changed: always the same ones.
  using Logs = std::array<const framework::ObjectLog*, 2>;
  // Pods that wait for any change, for an object that changed since the last call, or whose
  // deadline is not after `now`; in the order of uids. All, when a log does not reach back.
  // O(changes + result).
  std::vector<std::string> Due(TimePoint now, const Logs& logs);
  // The earliest.
  std::optional<TimePoint> NextDeadline() const;

 private:
  using Waits = std::map<std::string, framework::PreBindWait, std::less<>>;

  // Positions in the logs.
  using Read = std::array<uint64_t, std::tuple_size_v<Logs>>;

  void Forget(Waits::const_iterator wait);
  void AddConcerned(const framework::ObjectLog& log, uint64_t from,
                    std::set<std::string>& due) const;

  Waits waits_;
  // What follows from waits_, by uid.
  std::set<std::string> for_any_change_;
  std::set<std::pair<TimePoint, std::string>> deadlines_;
  std::map<framework::ObjectChange, std::set<std::string>> by_object_;
  std::optional<Read> read_;  // absent: nobody waited
};

}  // namespace ks::scheduler
