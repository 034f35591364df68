// SPDX-License-Identifier: Apache-2.0
#pragma once
// Carries out a preemption: victims go, lower nominations are cleared, the preemptor waits. Runs as
// steps on the scheduling thread, between attempts; no step waits.
//
// Upstream: docs/spec/preemption.md section 10. Why the mode without SchedulerAsyncPreemption does
// not hold up the attempt: docs/decisions/0031-eviction-never-blocks.md.

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "framework/handle.h"

namespace ks::plugins {

// What was decided.
struct Preemption {
  api::PodPtr preemptor;
  std::string node;
  std::vector<api::PodPtr> victims;  // most important first
};

// Preemptors whose victims are being evicted, by uid. Threads: the scheduling thread.
class OngoingPreemptions {
 public:
  void Begin(const std::string& uid) { last_victims_[uid] = std::nullopt; }
  // The last victim, "namespace/name", is being evicted from now on.
  void SetLastVictim(const std::string& uid, std::string key) {
    last_victims_[uid] = std::move(key);
  }
  void End(const std::string& uid) { last_victims_.erase(uid); }

  // Whether the preemptor would come too early.
  bool Blocks(const std::string& uid, framework::Handle& handle) const;

 private:
  std::unordered_map<std::string, std::optional<std::string>> last_victims_;
};

// Both return at once; what follows depends neither on the attempt nor on the handle's framework.
// Victims that are terminating already are left alone.
//
// With the gate SchedulerAsyncPreemption: `ongoing` has the preemptor until all is done.
void EvictInBackground(framework::Handle& handle, Preemption preemption,
                       const std::shared_ptr<OngoingPreemptions>& ongoing);
// Without it: the victims' calls begin within this call.
void EvictAtOnce(framework::Handle& handle, Preemption preemption);

}  // namespace ks::plugins
