// SPDX-License-Identifier: Apache-2.0
#pragma once
// Quoting as in upstream's messages.

#include <string>
#include <string_view>

namespace ks::golang {

// `text` as %q prints it: in double quotes, with escapes for quotes, backslashes, what does not
// show, and damaged UTF-8.
std::string Quote(std::string_view text);

}  // namespace ks::golang
