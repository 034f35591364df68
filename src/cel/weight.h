// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much an evaluation can cost, told from the expression alone: for those who want to know
// before they begin. What it did cost is Verdict::cost.
//
// Upstream: none; it has no such thing.

#include <cstddef>
#include <limits>

#include "cel/ast.h"

namespace ks::cel {

// Nothing but the limit of costs bounds it: it has a loop, a long text, or a function whose work or
// result can be out of proportion to what it is given.
inline constexpr size_t kUnbounded = std::numeric_limits<size_t>::max();

// The number of nodes, each of which is evaluated once at most, or kUnbounded.
size_t WeightOf(const ExprPtr& root);

// kUnbounded if one of them is.
inline size_t AddWeights(size_t a, size_t b) { return a > kUnbounded - b ? kUnbounded : a + b; }

}  // namespace ks::cel
