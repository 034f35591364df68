// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether parked pods are woken by what upstream wakes nobody for: the loss of the node that a pod
// is nominated to, and a namespace whose labels a pod's terms select by. Compares what a process
// knew before a step with what it knows after it.

#include <cstdint>
#include <map>
#include <string>

#include "api/node.h"
#include "api/pod.h"
#include "queue/scheduling_queue.h"

namespace ks::sim {

// What the streams told, after the step at hand, and the queue then. Lifetime: of one call.
struct WakeView {
  const std::map<std::string, api::NodePtr>& nodes;            // by name
  const std::map<std::string, api::NamespacePtr>& namespaces;  // by name
  const queue::SchedulingQueue& queue;
};

// Threads: one.
class WakeWatch {
 public:
  // Empty: everybody was woken who had to be. Else what is wrong. Requires: nothing was posted
  // since the scheduler's last Step.
  std::string AfterStep(const WakeView& view);

 private:
  // A pod that was parked, and not gated, after the last step.
  struct Parked {
    api::PodPtr pod;
    int64_t attempts = 0;
    api::NodePtr nominated;  // null: to none, or to one that would not have taken it then
    bool by_affinity = false;
  };

  std::string WhyToWake(const Parked& parked, const WakeView& view) const;

  std::map<std::string, Parked> parked_;  // by uid
  std::map<std::string, api::NamespacePtr> namespaces_;
};

}  // namespace ks::sim
