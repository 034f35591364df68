// SPDX-License-Identifier: Apache-2.0
#pragma once
// The percent signs of URLs: which characters each part may hold as they are, and both directions.
// Internal to url.h.
//
// Upstream: docs/spec/api.md section 8.6.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ks::golang {

enum class UrlPart : uint8_t { kHost, kZone, kUser, kPath, kFragment };

std::string EscapeUrlPart(std::string_view text, UrlPart part);

// Errors: `invalid URL escape "%zz"`, `invalid character " " in host name`.
Result<std::string> UnescapeUrlPart(std::string_view text, UrlPart part);

// Whether a path or fragment may be written this way.
bool IsValidUrlWriting(std::string_view raw, UrlPart part);

}  // namespace ks::golang
