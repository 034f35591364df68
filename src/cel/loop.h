// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loops that macros stand for, and the variables of cel.bind.
//
// Upstream: docs/spec/cel.md sections 5 (macros), 6.1 and 8.

#include <cstddef>
#include <cstdint>

#include "cel/node.h"

namespace ks::cel {

// What the accumulator starts as. Lists and maps of macros grow in place: nobody else sees them.
enum class Accumulator : uint8_t { kValue, kList, kMap };

struct LoopPlan {
  const Node* range = nullptr;
  const Node* init = nullptr;
  const Node* condition = nullptr;
  const Node* step = nullptr;
  const Node* result = nullptr;
  size_t first_slot = 0;   // element, key or index
  size_t second_slot = 0;  // value, with two variables
  size_t accumulator_slot = 0;
  bool two_variables = false;
  Accumulator accumulator = Accumulator::kValue;
};

class LoopNode final : public Node {
 public:
  explicit LoopNode(const LoopPlan& plan) : plan_(plan) {}
  Value Evaluate(Context& context) const override;

 private:
  // Returns false when the loop ends.
  bool Step(Context& context, const Value& first, const Value& second) const;

  const LoopPlan plan_;
};

// cel.bind: the variable is evaluated when it is first used.
class BindNode final : public Node {
 public:
  BindNode(size_t slot, const Node* body) : slot_(slot), body_(body) {}
  Value Evaluate(Context& context) const override;

 private:
  const size_t slot_;
  const Node* const body_;
};

class BoundVariableNode final : public Node {
 public:
  BoundVariableNode(size_t slot, const Node* init) : slot_(slot), init_(init) {}
  Value Evaluate(Context& context) const override;
  bool attribute() const override { return true; }

 private:
  const size_t slot_;
  const Node* const init_;
};

// `accumulator + [element]`. `element_cost`: of the list literal.
class AppendNode final : public Node {
 public:
  AppendNode(size_t slot, const Node* element, uint64_t list_cost)
      : slot_(slot), element_(element), list_cost_(list_cost) {}
  Value Evaluate(Context& context) const override;

 private:
  const size_t slot_;
  const Node* const element_;
  const uint64_t list_cost_;
};

// `cel.@mapInsert(accumulator, key, value)`, or with `value` null, `(accumulator, map)`.
class InsertNode final : public Node {
 public:
  InsertNode(size_t slot, const Node* key, const Node* value)
      : slot_(slot), key_(key), value_(value) {}
  Value Evaluate(Context& context) const override;

 private:
  const size_t slot_;
  const Node* const key_;
  const Node* const value_;
};

}  // namespace ks::cel
