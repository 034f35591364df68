// SPDX-License-Identifier: Apache-2.0
#pragma once
// Calls of format whose format string and list of arguments are literals.
//
// Upstream: docs/spec/cel.md section 4.

#include "cel/checker.h"
#include "cel/source.h"

namespace ks::cel {

// Adds the first problem. Requires: `call` is a call of format with one argument.
void CheckFormat(const Expr& call, const Checked& checked, Issues& issues);

}  // namespace ks::cel
