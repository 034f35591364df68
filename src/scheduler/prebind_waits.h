// SPDX-License-Identifier: Apache-2.0
#pragma once
// PreBindWaits: which of the pods in PreBind are to be asked again. With thousands of them a look
// at each, several times for each change and each deadline, costs more than all else that the
// scheduling thread does: those that nothing concerns cost nothing.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/runtime/prebind_runner.h"
#include "framework/storage_state.h"

namespace ks::scheduler {

// Threads: the scheduling thread.
class PreBindWaits {
 public:
  // In place of what was said of the pod before.
  void Set(const std::string& uid, framework::PreBindWait wait);
  void Remove(std::string_view uid);
  bool Contains(std::string_view uid) const { return waits_.find(uid) != waits_.end(); }

  // Pods that wait for any change, for an object that changed since the last call, or whose
  // deadline is not after `now`; in the order of uids. All, when the log does not reach back.
  // O(changes + result).
  std::vector<std::string> Due(TimePoint now, const framework::StorageLog& log);
  // The earliest.
  std::optional<TimePoint> NextDeadline() const;

 private:
  using Waits = std::map<std::string, framework::PreBindWait, std::less<>>;

  void Forget(Waits::const_iterator wait);

  Waits waits_;
  // What follows from waits_, by uid.
  std::set<std::string> for_any_change_;
  std::set<std::pair<TimePoint, std::string>> deadlines_;
  std::map<framework::StorageChange, std::set<std::string>> by_object_;
  std::optional<uint64_t> read_;  // position in the log; absent: nobody waited
};

}  // namespace ks::scheduler
