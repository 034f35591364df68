// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a failed attempt of a single pod comes back to: the events that came while it was in flight
// decide.
//
// Upstream: docs/spec/queue.md 8.4.

#include <string>

#include "framework/queued_pod.h"
#include "queue/in_flight_log.h"
#include "queue/requeue_rules.h"

namespace ks::queue {

struct ReturnDecision {
  Answer answer;
  std::string event{};  // the label of the one that decided; empty: none
};

// Without events that help, the pod is parked. Requires: the plugin sets are those of the attempt.
ReturnDecision DecideOnReturn(RequeueRules& rules, const InFlightLog& in_flight,
                              const framework::QueuedPod& pod);

// The rejecting plugins, "[A B]", for logs.
std::string PluginsText(const framework::QueuedPod& pod);

}  // namespace ks::queue
