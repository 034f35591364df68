// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the server says about itself: /api, /apis, their aggregated form, resource lists, /version,
// /openapi, health.

#include <optional>

#include "apiserver/service/request_info.h"
#include "apiserver/store/types.h"

namespace ks::apiserver {

// Absent: the path is none of these.
std::optional<ApiResponse> AnswerDiscovery(const ApiRequest& request, const RequestInfo& info);

}  // namespace ks::apiserver
