// SPDX-License-Identifier: Apache-2.0
#pragma once
// Decisions as JSON: for /debug/kubesched/decisions, explain and the decision log.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inspect/answering_replica.h"
#include "scheduler/decision_ring.h"

namespace ks::inspect {

// One object without line feed: {"number", "time", "pod", "uid", "profile", "attempt", "result",
// "node", "nominatedNode", "nodes", "evaluatedNodes", "feasibleNodes", "message", "reasons":
// [{"count", "reason"}], "rejectedBy", "pendingFor", "best": [{"node", "total", "scores":
// [{"plugin", "weighted"}]}], "decidedMicroseconds", "endedMicroseconds"}; fields that say nothing
// are left out.
std::string DecisionJson(const scheduler::Decision& decision);

// {"standby", "identity", "kept", "made", "decisions": [...]}: how many are kept at most, how many
// were made since the scheduler began.
struct DecisionList {
  size_t kept = 0;
  uint64_t made = 0;
  std::vector<scheduler::Decision> decisions;
};
std::string DecisionsJson(const DecisionList& list, const AnsweringReplica& replica);

// The reasons of "0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had untolerated taint(s).
// preemption: …" with their counts; none for another text.
std::vector<std::pair<size_t, std::string>> CountedReasons(std::string_view message);

}  // namespace ks::inspect
