// SPDX-License-Identifier: Apache-2.0
#pragma once
// /debug/pprof/ and /debug/flags/: a CPU profile, and the log verbosity of the running process.
//
// Upstream: docs/spec/operations.md sections 2.5 and 2.6.

#include <memory>

#include "client/http/timer_service.h"
#include "server/http/https_server.h"

namespace ks::daemon {

// Lifetime: the timers outlive the server's Stop.
void InstallProfiling(server::HttpsServer& https, client::TimerService& timers);

// The answer of /debug/flags/v; sets the verbosity.
server::Response AnswerVerbosity(const server::Request& request);

}  // namespace ks::daemon
