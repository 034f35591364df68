// SPDX-License-Identifier: Apache-2.0
#pragma once
// Standard base64 with padding (RFC 4648).

#include <string>
#include <string_view>

#include "base/result.h"

namespace ks::golang {

std::string EncodeBase64(std::string_view bytes);
// As Go's decoder reads it: line breaks are skipped. Errors: `illegal base64 data at input byte
// <n>`.
Result<std::string> DecodeBase64(std::string_view text);

}  // namespace ks::golang
