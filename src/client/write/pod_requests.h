// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requests about one pod.
//
// Upstream: docs/spec/api.md sections 9.1 and 9.2.

#include <string>

#include "api/pod.h"
#include "client/rest/rest_client.h"

namespace ks::client {

// GET of the pod, or of its subresource: "/status".
RestRequest PodRequest(const api::Pod& pod, const char* subresource = "");

// PATCH of the pod's status. `body`: a strategic merge patch.
RestRequest StatusPatchRequest(const api::Pod& pod, std::string body);

}  // namespace ks::client
