// SPDX-License-Identifier: Apache-2.0
#pragma once
// The daemon: wires configuration, client, scheduler and server together and runs until a signal.
// No decision is taken here.

#include <csignal>

#include "base/result.h"
#include "config/types.h"
#include "flags.h"

namespace ks::daemon {

struct DaemonOptions {
  Options flags;
  config::Configuration
      configuration;  // clientConnection.kubeconfig empty and no master: in-cluster
};

// SIGTERM and SIGINT, blocked in this thread and all it starts. Call before any thread exists.
sigset_t BlockTerminationSignals();

// Blocks until one of `signals` arrives and everything has ended: no attempt begins any more,
// bindings in flight finish. Error: what could not be set up; nothing is left running then.
Result<void> RunDaemon(const DaemonOptions& options, const sigset_t& signals);

}  // namespace ks::daemon
