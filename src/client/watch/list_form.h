// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a reflector asks for a list, and the error that makes it ask in another form.
//
// Upstream: docs/spec/api.md sections 6.2 and 6.3.

#include <optional>
#include <string>
#include <string_view>

#include "api/status.h"

namespace ks::client {

struct ListForm {
  bool limit = false;
  std::optional<std::string> resource_version{};
  std::string continue_token{};
};

inline bool IsTooLargeResourceVersion(const api::ApiError& error) {
  constexpr std::string_view kText = "Too large resource version";
  for (const api::StatusCause& cause : error.causes) {
    if (cause.reason == "ResourceVersionTooLarge") return true;
    if (error.reason == "Timeout" && cause.message.find(kText) != std::string::npos) return true;
  }
  return error.reason == "Timeout" && error.message.find(kText) != std::string::npos;
}

}  // namespace ks::client
