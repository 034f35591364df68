// SPDX-License-Identifier: Apache-2.0
#pragma once
// The functions of the environment with their overloads: the table of overloads.inc as the checker
// reads it (signatures) and as the planner dispatches on it (OverloadId). Not their
// implementations.
//
// Upstream: docs/spec/cel.md section 5.

#include <cstdint>
#include <string_view>
#include <vector>

#include "cel/type.h"

namespace ks::cel {

// What a call does. Several signatures share an id where they do the same for values that tell
// themselves apart (size, min, …).
enum class OverloadId : uint16_t {
#define KS_CEL_OVERLOAD(id, function, signatures) id,
#include "cel/overloads.inc"
#undef KS_CEL_OVERLOAD
  kCount,
};

// One signature. With `member`, params[0] is the receiver.
struct Overload {
  OverloadId id = OverloadId::kCount;
  bool member = false;
  std::vector<TypePtr> params{};
  TypePtr result{};
};

// Overloads in the order of the table.
struct Function {
  std::string_view name{};
  std::vector<Overload> overloads{};
};

// Null: not declared. Threads: any.
const Function* FindFunction(std::string_view name);

// The function to which an overload belongs. Requires: id is not kCount.
std::string_view FunctionName(OverloadId id);

}  // namespace ks::cel
