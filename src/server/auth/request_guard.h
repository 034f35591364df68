// SPDX-License-Identifier: Apache-2.0
#pragma once
// The guard of the daemon's server: authentication, then authorization, and what callers get who do
// not pass.
//
// Upstream: docs/spec/operations.md sections 2.1, 4 and 5.

#include "server/auth/authentication.h"
#include "server/auth/authorization.h"
#include "server/http/https_server.h"

namespace ks::server {

// Lifetime: both outlive the server's Stop and what they still wait for then.
Guard MakeGuard(const Authenticator& authenticator, const Authorizer& authorizer);

}  // namespace ks::server
