// SPDX-License-Identifier: Apache-2.0
#pragma once
// The values of literals.
//
// Upstream: docs/spec/cel.md section 3.

#include "base/result.h"
#include "cel/ast.h"
#include "cel/lexer.h"
#include "cel/source.h"

namespace ks::cel {

// Requires: a token of a number, text, bytes, true, false or null. `negative`: a minus stands
// before it, of int and double only. Errors: upstream's, such as "invalid int literal".
Result<Constant> ReadLiteral(const Source& source, const Token& token, bool negative);

}  // namespace ks::cel
