// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether those are woken who wait for room, when somebody of at least their priority gives up the
// room that a nomination kept. Not whether they fit then.
//
// Upstream: docs/spec/cache.md section 11.

#include <string>
#include <vector>

#include "api/delta.h"
#include "api/pod.h"
#include "base/clock.h"

namespace ks::sim {

class SchedulerProcess;

// Lifetime: the process outlives it.
class NominationWatch {
 public:
  explicit NominationWatch(SchedulerProcess& process) : process_(process) {}

  // What the scheduler is about to be told, while the process's view is still the former one.
  void Heard(const std::vector<api::Delta<api::Pod>>& deltas);
  // Empty: everybody was woken. Requires: the scheduler has handled what it was told.
  std::string AfterStep();

 private:
  struct Sleeper {
    std::string uid;
    TimePoint since;
    api::PodPtr nominated;  // who gave the room up
  };
  void Freed(const api::PodPtr& nominated);

  SchedulerProcess& process_;
  std::vector<Sleeper> sleepers_;
};

}  // namespace ks::sim
