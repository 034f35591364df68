// SPDX-License-Identifier: Apache-2.0
#pragma once
// JSON strings as Go's encoder writes them.

#include <string>
#include <string_view>

namespace ks::golang {

// `text` with quotes. <, >, &, U+2028 and U+2029 are escaped, damaged UTF-8 becomes U+FFFD.
std::string JsonString(std::string_view text);

}  // namespace ks::golang
