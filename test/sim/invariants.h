// SPDX-License-Identifier: Apache-2.0
#pragma once
// What must hold of a scheduler between any two of its steps (docs/architecture.md, "Invariants").

#include <string>

namespace ks::sim {

class SchedulerProcess;

// Empty: everything holds. Requires: nothing was posted since the scheduler's last Step.
std::string CheckScheduler(SchedulerProcess& process);

// What must hold besides once nothing is under way: nobody is assumed, in flight or reserved.
std::string CheckQuiet(SchedulerProcess& process);

}  // namespace ks::sim
