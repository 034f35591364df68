// SPDX-License-Identifier: Apache-2.0
#pragma once
// The clauses of format strings: "%.2f".
//
// Upstream: docs/spec/cel.md section 6.2 (format).

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ks::cel {

struct FormatClause {
  std::string text{};  // what stands before the clause, "%%" replaced
  // One of s d f e x X b o; 0: the text ends here.
  char verb = '\0';
  std::optional<int> precision{};
};

// Takes the clause for argument `index` of `count` off the beginning of `format`. Errors:
// upstream's. Requires: `format` is not empty.
Result<FormatClause> TakeFormatClause(std::string_view& format, size_t index, size_t count);

}  // namespace ks::cel
