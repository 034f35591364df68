// SPDX-License-Identifier: Apache-2.0
#pragma once
// URLs as CEL's `url` and the format `uri` accept them: what may stand in the first line of an HTTP
// request.
//
// Upstream: docs/spec/cel.md section 5.

#include <string_view>

#include "base/result.h"
#include "golang/url.h"

namespace ks::cel {

// Errors: `parse "abc": invalid URI for request`.
Result<golang::Url> ParseRequestUri(std::string_view text);

}  // namespace ks::cel
