// SPDX-License-Identifier: Apache-2.0
#pragma once
// Signals as events.
//
// Upstream: docs/spec/operations.md sections 1.2 and 1.3.

#include <csignal>

#include "daemon/life_events.h"

namespace ks::daemon {

// SIGTERM, SIGINT, SIGHUP and SIGUSR2, blocked in this thread and all it starts. Call before any
// thread exists.
sigset_t BlockTerminationSignals();

// Posts an event for each of these signals, from a thread of its own, for the rest of the process's
// life. The second one that ends the process ends it at once, with exit code 1. Lifetime: `events`
// lives as long as the process waits for signals.
void WatchSignals(const sigset_t& signals, LifeEvents& events);

}  // namespace ks::daemon
