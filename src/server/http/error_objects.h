// SPDX-License-Identifier: Apache-2.0
#pragma once
// Refusals in the words and the two renderings of upstream's API machinery: one line for programs,
// indented for people and for callers whose Accept header takes no JSON.
//
// Upstream: docs/spec/operations.md section 2.1.

#include <string>
#include <string_view>

#include "server/http/http_message.h"

namespace ks::server {

// Path and query as sent.
std::string Uri(const Request& request);

// Whether objects are indented for this caller: by `?pretty=`, else for what people use.
bool WantsIndented(const Request& request);

// 401.
Response Unauthorized(const Request& request);
// 403; `reason` may be empty.
Response Forbidden(const Request& request, std::string_view user, std::string_view reason = "");
// 406 of the pages of docs/spec/operations.md 2.7.
Response NotAcceptable(const Request& request);
// 500 when nobody could say whether the caller may.
Response InternalError(const Request& request, std::string_view error);

}  // namespace ks::server
