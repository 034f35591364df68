// SPDX-License-Identifier: Apache-2.0
#pragma once
// JSON as Go's encoder writes it.

#include <string>
#include <string_view>

namespace ks::golang {

// `text` with quotes. <, >, &, U+2028 and U+2029 are escaped, damaged UTF-8 becomes U+FFFD.
std::string JsonString(std::string_view text);

// JSON that is kept as text, as it stands inside a larger object: without white space, with the
// characters above escaped, else as it was. Requires: well-formed.
std::string CompactJson(std::string_view json);

}  // namespace ks::golang
