// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the text of an expression to its tree with types and resolved names: the door of the front
// end. Not the limits of the result's type, which are the selector's, nor folding of constants.
//
// Upstream: docs/spec/cel.md sections 1, 3 to 5.

#include <string_view>
#include <vector>

#include "base/result.h"
#include "cel/ast.h"
#include "cel/environment.h"
#include "cel/functions.h"
#include "cel/type.h"

namespace ks::cel {

// What a name means.
struct Reference {
  // Calls: what may be meant, in the table's order; one if the types decide. Empty: no call.
  std::vector<OverloadId> overloads{};
  // Identifiers: it names a type (then types[id] is type(T)), not a variable.
  bool is_type = false;
};

// A checked expression. Identifiers and calls are resolved in the tree: "net.IP" is one kIdent,
// optional.of(1) a call without receiver of the function "optional.of".
struct Checked {
  ExprPtr root{};
  std::vector<TypePtr> types{};         // by id
  std::vector<Reference> references{};  // by id

  const Type& type_of(const Expr& expr) const { return *types[expr.id]; }
  const Reference& reference_of(const Expr& expr) const { return references[expr.id]; }
};

// Errors: every problem, in upstream's words, one after the other. Threads: any.
Result<Checked> Check(std::string_view text, const Environment& environment);

}  // namespace ks::cel
