// SPDX-License-Identifier: Apache-2.0
#pragma once
// Calls that are written like functions and stand for loops, bindings and tests of presence.
//
// Upstream: docs/spec/cel.md section 5 (macros).

#include "cel/ast.h"
#include "cel/node_maker.h"
#include "cel/source.h"

namespace ks::cel {

// What a call stands for, or `call` itself if it is no macro: name, receiver and number of
// arguments decide. Arguments that no macro takes are added to `issues`. Requires: a kCall whose
// arguments are expanded.
ExprPtr ExpandMacro(ExprPtr call, NodeMaker& nodes, Issues& issues);

}  // namespace ks::cel
