// SPDX-License-Identifier: Apache-2.0
#pragma once
// What SIGUSR2 writes into the log: whether the cache agrees with the informers, then cache and
// queue.
//
// Upstream: docs/spec/operations.md 1.4. Pending pods of other schedulers are no mismatch here.

#include "daemon/current_scheduler.h"

namespace ks::daemon {

// Works on leader and standby; without a scheduler one line says so. Blocks until the scheduling
// thread has copied what is needed; the texts are made on the caller's thread. Requires: not called
// on the scheduling thread.
void DumpState(CurrentScheduler& current);

}  // namespace ks::daemon
