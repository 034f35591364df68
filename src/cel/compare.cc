// SPDX-License-Identifier: Apache-2.0
// Calls with a constant: comparisons, sets, regular expressions.
#include <algorithm>
#include <string>

#include "cel/call.h"

namespace ks::cel {
namespace {

template <Comparison kComparison>
bool Holds(int order) {
  switch (kComparison) {
    case Comparison::kEqual:
      return order == 0;
    case Comparison::kNotEqual:
      return order != 0;
    case Comparison::kLess:
      return order < 0;
    case Comparison::kLessEqual:
      return order <= 0;
    case Comparison::kGreater:
      return order > 0;
    case Comparison::kGreaterEqual:
      return order >= 0;
  }
  return false;
}

template <Comparison kComparison>
bool HoldsForTexts(std::string_view a, std::string_view b) {
  if constexpr (kComparison == Comparison::kEqual) return a == b;
  if constexpr (kComparison == Comparison::kNotEqual) return a != b;
  return Holds<kComparison>(a.compare(b));
}

template <Comparison kComparison>
std::unique_ptr<Node> Make(Call& call, const Node* left, const Value& right) {
  return std::make_unique<CompareNode<kComparison>>(std::move(call), left, right);
}

}  // namespace

template <Comparison kComparison>
Value CompareNode<kComparison>::Evaluate(Context& context) const {
  const Value left = left_->Evaluate(context);
  if (left.kind == right_.kind) {
    if (left.is(Kind::kInt)) {
      context.Charge(1);
      const int order = left.integer < right_.integer ? -1 : left.integer > right_.integer ? 1 : 0;
      return Value::Bool(Holds<kComparison>(order));
    }
    if (left.is(Kind::kBool)) {
      context.Charge(1);
      return Value::Bool(Holds<kComparison>(int{left.boolean} - int{right_.boolean}));
    }
    if (left.is(Kind::kString)) {
      context.Charge(by_size_ ? Tenth(std::min(left.text->length, right_.text->length)) : 1);
      return Value::Bool(HoldsForTexts<kComparison>(left.view(), right_.view()));
    }
  }
  const std::array<Value, 2> both = {left, right_};
  return call_.Apply(context, both);
}

std::unique_ptr<Node> MakeCompareNode(Call& call, const Node* left, const Value& right) {
  if (!right.is(Kind::kBool) && !right.is(Kind::kInt) && !right.is(Kind::kString)) return nullptr;
  struct Named {
    std::string_view function;
    std::unique_ptr<Node> (*make)(Call&, const Node*, const Value&);
  };
  static constexpr Named kComparisons[] = {
      {"_==_", Make<Comparison::kEqual>},  {"_!=_", Make<Comparison::kNotEqual>},
      {"_<_", Make<Comparison::kLess>},    {"_<=_", Make<Comparison::kLessEqual>},
      {"_>_", Make<Comparison::kGreater>}, {"_>=_", Make<Comparison::kGreaterEqual>},
  };
  for (const Named& each : kComparisons) {
    if (each.function == call.function()) return each.make(call, left, right);
  }
  return nullptr;
}

Value InSetNode::Evaluate(Context& context) const {
  const Value value = operand_->Evaluate(context);
  if (value.is_error()) return value;
  if (const auto type = UnhashableType(value); type && set_->size > 0) {
    return context.Abort("internal error: runtime error: hash of unhashable type " +
                         std::string(*type));
  }
  return Value::Bool(set_->Find(value) != nullptr);
}

Value PatternNode::Evaluate(Context& context) const {
  std::array<Value, Call::kMaxArguments> values;
  for (size_t i = 0; i < arguments_.size(); ++i) values[i] = arguments_[i]->Evaluate(context);
  const Arguments arguments(values.data(), arguments_.size());
  if (arguments[0].is_error()) return arguments[0];  // at no cost
  // Where a pattern is constant, upstream takes an optional for what it holds.
  std::array<Value, Call::kMaxArguments> held;
  std::transform(arguments.begin(), arguments.end(), held.begin(), Unwrapped);
  const bool is_text = held[0].is(Kind::kString) || held[0].is(Kind::kType);
  if (!is_text || (arguments.size() > 2 && !held[2].is(Kind::kInt))) {
    const Value refused = call_.Apply(context, arguments);
    const bool passed_on = std::any_of(arguments.begin(), arguments.end(),
                                       [](const Value& argument) { return argument.is_error(); });
    return passed_on ? refused : NoSuchOverload();
  }
  const Value result = function_(*pattern_, context, Arguments(held.data(), arguments.size()));
  context.Charge(cost_(arguments, result));
  return result;
}

}  // namespace ks::cel
