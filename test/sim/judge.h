// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether a cluster is where it should be once nothing happens any more. A scheduler that has just
// started, with no past, says what is possible; whoever went through the faults must have come to
// the same.

#include <string>
#include <vector>

#include "sim/process.h"

namespace ks::sim {

// Empty: every pod that fits somewhere is bound, and the conditions of the others are right. Else
// what is missing. `processes`: those that live. Requires: no write is under way.
std::string JudgeServer(World& world, const std::vector<SchedulerProcess*>& processes);

// Upstream has no hint for the end of the last pod that an affinity term matches, which frees a pod
// that matches its own term, nor for a new node when pods elsewhere repel the pod
// (docs/spec/plugins-crosspod.md 3.10); nor for a volume that is free again because the binding of
// another pod failed before it was written, nor for fewer volumes on a node because a claim is gone
// (docs/spec/plugins-volume.md 2.13, 5.4); nor for devices that are free again because they were
// not written, nor for a claim that waits for nobody any more; and its hints about other pods do
// not know the labels of their namespaces (docs/spec/plugins-crosspod.md, T25): the flush finds
// such a pod. `message`: of its condition.
bool MayOversleep(const api::Pod& pod, const std::string& message);

// Empty: no pod among the unschedulable ones of the process fits anywhere, for all it knows. Else
// which one does.
std::string FindParkedPodThatFits(World& world, SchedulerProcess& process);

// Empty: the process's caches hold what the server has.
std::string JudgeProcess(World& world, SchedulerProcess& process);

}  // namespace ks::sim
