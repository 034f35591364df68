// SPDX-License-Identifier: Apache-2.0
#pragma once
// Standard base64 with padding (RFC 4648), as Go's decoder reads it: line breaks are skipped.

#include <string>
#include <string_view>

#include "base/result.h"

namespace ks::config {

// Errors: `illegal base64 data at input byte <n>`.
Result<std::string> DecodeBase64(std::string_view text);

}  // namespace ks::config
