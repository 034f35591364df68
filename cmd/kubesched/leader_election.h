// SPDX-License-Identifier: Apache-2.0
#pragma once
// What this version does about leader election, which it does not have: one place to change when it
// has.
//
// Upstream: docs/spec/config.md sections 8.3 and 10.2.

#include "base/result.h"
#include "config/types.h"

namespace ks::daemon {

// With election on: the texts about lock kinds that were removed.
Result<void> CheckResourceLock(const config::LeaderElection& election);

// Before running: election that was asked for is an error; election that is on by default only is
// left out, with a warning.
Result<void> CheckLeaderElection(const config::LeaderElection& election, bool asked);

}  // namespace ks::daemon
