// SPDX-License-Identifier: Apache-2.0
#pragma once
// The syntax tree of a CEL expression, macros expanded: what the parser builds, the checker
// annotates (by id) and the planner compiles. Not an evaluator's form.
//
// Upstream: docs/spec/cel.md sections 3 and 5 (macros).

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace ks::cel {

struct Expr;
// Shared, because optMap and optFlatMap use their receiver twice: the same node, with the same id,
// has two parents then, and a chain of n would be a tree of 2^n nodes. Walks that cost keep what
// they made of a node by its id.
using ExprPtr = std::shared_ptr<Expr>;

// A literal. Bytes have a type of their own so that they cannot be taken for text.
struct NullConstant {
  friend bool operator==(NullConstant, NullConstant) = default;
};
struct BytesConstant {
  std::string bytes;
  friend bool operator==(const BytesConstant&, const BytesConstant&) = default;
};
using Constant =
    std::variant<NullConstant, bool, int64_t, uint64_t, double, std::string, BytesConstant>;

enum class ExprKind : uint8_t {
  kConstant,       // constant
  kIdent,          // name: a variable, or the full name of a type ("net.IP")
  kSelect,         // target.name; test_only: has(target.name)
  kCall,           // name(args) or target.name(args); operators by their names ("_+_", "_[_]")
  kList,           // entries: value, optional
  kMap,            // entries: key, value, optional
  kStruct,         // name{entries}: field, value, optional
  kComprehension,  // comprehension
};

// An element of a list, map or message literal. `optional`: written with a question mark; the value
// is an optional and the entry is left out if it is none.
struct Entry {
  uint32_t position = 0;  // where an error in the field's name points
  bool optional = false;
  std::string field{};  // of a message
  ExprPtr key{};        // of a map
  ExprPtr value{};
};

// The loop that a macro stands for. With one variable the loop runs over the elements of a list or
// the keys of a map; with two over index and value, or key and value. `step` gives the
// accumulator's next value, `condition` is asked before each element and ends the loop when false;
// `result` is evaluated after the loop and sees only the accumulator.
struct Comprehension {
  std::string iter_var;
  std::string iter_var2;  // empty: one variable
  std::string accu_var;
  ExprPtr range;
  ExprPtr init;
  ExprPtr condition;
  ExprPtr step;
  ExprPtr result;
};

// A node. Only the members that `kind` names are used. Depth is limited by the parser, so recursion
// over a tree is safe. Threads: like a value.
struct Expr {
  ExprKind kind = ExprKind::kConstant;
  bool test_only = false;
  uint32_t id = 0;        // unique in the tree, dense from 1
  uint32_t position = 0;  // in code points from the start of the text: where an error points
  Constant constant{};
  std::string name{};
  ExprPtr target{};  // select: the operand; call: the receiver or null
  std::vector<ExprPtr> args{};
  std::vector<Entry> entries{};
  std::unique_ptr<Comprehension> comprehension{};
};

}  // namespace ks::cel
