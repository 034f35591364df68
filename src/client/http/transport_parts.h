// SPDX-License-Identifier: Apache-2.0
#pragma once
// What both transports do alike. Internal to them.

#include <string>

#include "client/http/server_url.h"
#include "client/http/transport.h"

namespace ks::client {

// Sets the options of a socket that is open and not connected yet: keep-alive probes, the time for
// acknowledgements, no waiting for more to send, not for child processes.
void SetSocketOptions(int socket, const TransportOptions& options);

// Why an exchange ended that was not let go on: kTimedOut, kLost (new credentials took over) or
// kCanceled.
TransportError CancelError(TransportError::Kind reason);

// "Post \"https://10.0.0.1:6443/x\": " and the message, as upstream's client words it.
std::string WithRequest(const ServerUrl& url, const HttpRequest& request,
                        const std::string& message);

}  // namespace ks::client
