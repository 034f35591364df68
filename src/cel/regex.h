// SPDX-License-Identifier: Apache-2.0
#pragma once
// Regular expressions of Go's syntax, run by RE2.
//
// Upstream: docs/spec/cel.md section 6.2.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "cel/library.h"

namespace re2 {
class RE2;
}

namespace ks::cel {

using Pattern = std::shared_ptr<const re2::RE2>;

// Errors: Go's texts (`error parsing regexp: missing closing ]: ...`). Threads: any.
Result<Pattern> CompilePattern(std::string_view text);

// The functions with the pattern compiled before; the arguments are those of the call.
Value Matches(const re2::RE2& pattern, Context& context, Arguments args);
Value Find(const re2::RE2& pattern, Context& context, Arguments args);
Value FindAll(const re2::RE2& pattern, Context& context, Arguments args);
using PatternFunction = Value (*)(const re2::RE2&, Context&, Arguments);

// Null: the overload takes no pattern.
PatternFunction PatternFunctionOf(OverloadId id);

}  // namespace ks::cel
