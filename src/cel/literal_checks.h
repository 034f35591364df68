// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is wrong with the literals of an expression whose types are right: durations, timestamps and
// patterns that are none, lists and maps of mixed types, format strings that do not fit.
//
// Upstream: docs/spec/cel.md section 4.

#include "cel/checker.h"
#include "cel/source.h"

namespace ks::cel {

void CheckLiterals(const Checked& checked, Issues& issues);

}  // namespace ks::cel
