// SPDX-License-Identifier: Apache-2.0
#pragma once
// Extenders over HTTP(S): a transport each, with its own TLS settings and connections that stay
// open.
//
// Upstream: docs/spec/cycle.md 19.1, docs/spec/config.md section 6.

#include <memory>
#include <vector>

#include "base/result.h"
#include "client/http/timer_service.h"
#include "client/http/write_fence.h"
#include "config/types.h"
#include "framework/extender_transport.h"

namespace ks::client {

// Nothing is sent. Error: a URL or TLS setting is unusable, `couldn't build extenders: …`. A pair
// of certificate files is read again when one of them has changed.
// `fence` is asked before each call that is not repeatable (a binding); a shut one makes it fail
// unsent. Null: none.
// Requires: InitializeClientProcess() ran. Lifetime: `timers` outlives the transport; destruction
// not on a client thread.
Result<std::shared_ptr<framework::ExtenderTransport>> NewExtenderClient(
    const std::vector<config::Extender>& extenders, TimerService& timers,
    const std::shared_ptr<const WriteFence>& fence = nullptr);

}  // namespace ks::client
