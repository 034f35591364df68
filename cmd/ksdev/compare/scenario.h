// SPDX-License-Identifier: Apache-2.0
#pragma once
// The scenarios of ksdev compare in which the scheduler runs already when the pods
// come: those where schedulers stumble.

#include "ksdev/compare/compare.h"
#include "kubeschedctl/cluster/scheduler_run.h"

namespace ks::ctl::dev {

// Runs and prints. Requires: paths of both programs are filled in; the scenario is not kBacklog.
int RunScenario(const CompareOptions& options, TemporaryFolder& folder);

}  // namespace ks::ctl::dev
