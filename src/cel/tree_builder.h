// SPDX-License-Identifier: Apache-2.0
#pragma once
// Puts the nodes of a syntax tree together for the parser: expands macros, balances long runs of
// logical operators and limits the height of the tree.
//
// Upstream: docs/spec/cel.md section 1 (limits).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cel/ast.h"
#include "cel/node_maker.h"
#include "cel/source.h"

namespace ks::cel {

// The limit counts, on the way from the root down, what upstream counts: selections, indices, calls
// with a receiver, `?:`, arithmetic and relations, as written, before macros are expanded. It
// exists beside the parser's limit of nesting, because a chain such as a.b.c nests nothing but is
// deep. Threads: like a value. Lifetime: holds a reference to `issues`.
class TreeBuilder {
 public:
  explicit TreeBuilder(Issues& issues) : issues_(issues) {}

  ExprPtr Literal(uint32_t position, Constant value) {
    return nodes_.Literal(position, std::move(value));
  }
  ExprPtr Ident(uint32_t position, std::string name) {
    return nodes_.Ident(position, std::move(name));
  }
  ExprPtr Select(uint32_t position, ExprPtr operand, std::string field);
  // Arithmetic, relations, `?:`, indices and optional selections.
  ExprPtr Operator(uint32_t position, std::string_view function, std::vector<ExprPtr> args);
  // `!` and unary minus.
  ExprPtr Unary(uint32_t position, std::string_view function, ExprPtr operand);
  // terms[0] function terms[1] function …, with the operators at `positions`: a balanced tree.
  ExprPtr Logical(std::string_view function, std::vector<ExprPtr> terms,
                  const std::vector<uint32_t>& positions);
  // A function, method or macro. `target` may be null.
  ExprPtr Call(uint32_t position, std::string function, ExprPtr target, std::vector<ExprPtr> args);
  // A list, map or message with these entries.
  ExprPtr Literals(ExprKind kind, uint32_t position, std::string name, std::vector<Entry> entries);

  uint32_t last_id() const { return nodes_.last_id(); }

 private:
  // Operators [begin, end) with the terms around them.
  ExprPtr Balance(std::string_view function, std::vector<ExprPtr>& terms,
                  const std::vector<uint32_t>& positions, size_t begin, size_t end);
  // Records the height of a node whose children are complete; `own` is 1 if its kind counts.
  ExprPtr Measured(ExprPtr node, uint32_t own);
  uint32_t HeightOf(const ExprPtr& node) const;
  void SetHeight(const Expr& node, uint32_t height);

  Issues& issues_;
  NodeMaker nodes_;
  std::vector<uint32_t> heights_;  // by id; those that are 0 may be absent
};

}  // namespace ks::cel
