// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which overloads of a function take arguments of given types.
//
// Upstream: docs/spec/cel.md section 4.

#include <vector>

#include "cel/functions.h"
#include "cel/type.h"
#include "cel/unifier.h"

namespace ks::cel {

struct Resolution {
  std::vector<OverloadId> overloads{};  // empty: none; in the table's order, each once
  TypePtr result{};                     // what all of them give, or dyn; null: none
};

// `member`: args[0] is a receiver. Open types among `args` are bound to what the first fitting
// overload takes, so that the order of overloads counts.
Resolution ResolveOverload(const Function& function, bool member, const std::vector<TypePtr>& args,
                           Unifier& unifier);

}  // namespace ks::cel
