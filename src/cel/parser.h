// SPDX-License-Identifier: Apache-2.0
#pragma once
// From text to a syntax tree, macros expanded. Names are not looked up here.
//
// Upstream: docs/spec/cel.md section 3, limits of section 1.

#include <cstdint>

#include "cel/ast.h"
#include "cel/source.h"

namespace ks::cel {

// The root and the highest id.
struct Parsed {
  ExprPtr root{};
  uint32_t last_id = 0;
};

// Problems are added to `issues`; the tree is null only if there are some, and not of use if there
// are. Any text is safe: depth is limited, time is linear. Threads: any.
Parsed Parse(const Source& source, Issues& issues);

}  // namespace ks::cel
