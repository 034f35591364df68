// SPDX-License-Identifier: Apache-2.0
#pragma once
// Calls of library functions: choosing among the overloads by the kinds of the arguments, charging,
// and special forms for what selectors do most.
//
// Upstream: docs/spec/cel.md sections 6.2 and 8.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cel/library.h"
#include "cel/node.h"
#include "cel/regex.h"

namespace ks::cel {

// One function as one call sees it. Immutable. Threads: any.
class Call {
 public:
  static constexpr size_t kMaxArguments = 4;

  // `types`: of the arguments as the checker sees them. Requires: the function is declared.
  Call(std::string_view function, bool member, const std::vector<const Type*>& types);

  // Charges, passes on the left-most error, runs the overload that fits.
  Value Apply(Context& context, Arguments arguments) const;

  // The only overload that may be meant, else kCount.
  OverloadId unique() const { return cost_.size() == 1 ? cost_[0] : OverloadId::kCount; }
  std::string_view function() const { return function_; }
  // Whether an error among the arguments keeps those behind it from being evaluated.
  bool stops_early() const { return stops_early_; }

 private:
  static constexpr Kind kAnyKind = Kind::kError;
  struct Parameter {
    Kind kind = kAnyKind;
    Kind element = kAnyKind;  // of a list's first element
  };
  struct Candidate {
    std::array<Parameter, kMaxArguments> parameters{};
    const Binding* binding = nullptr;
  };

  static Parameter ParameterOf(const Type& type);
  static bool Fits(const Parameter& parameter, const Value& value);
  Value Refuse(Context& context, Arguments arguments) const;
  std::optional<std::string> Panic(Arguments arguments) const;
  uint64_t CostOf(Arguments arguments, const Value& result) const;

  const std::string_view function_;
  std::vector<Candidate> candidates_;
  std::vector<OverloadId> cost_;       // one for each signature that the static types allow
  ks::cel::CostOf cost_of_ = nullptr;  // null: 1
  bool may_panic_ = false;
  bool stops_early_ = false;
};

class CallNode final : public Node {
 public:
  CallNode(Call call, std::vector<const Node*> arguments)
      : call_(std::move(call)), arguments_(std::move(arguments)) {}
  Value Evaluate(Context& context) const override;

 private:
  const Call call_;
  const std::vector<const Node*> arguments_;
};

enum class Comparison : uint8_t { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

// A call of constants that costs as often as it is asked, but whose value is computed once.
class ComputedNode final : public Node {
 public:
  ComputedNode(Value value, uint64_t cost) : value_(value), cost_(cost) {}
  Value Evaluate(Context& context) const override {
    context.Charge(cost_);
    return value_;
  }

 private:
  const Value value_;
  const uint64_t cost_;
};

// `e == constant` and the like: booleans, integers and strings are compared on the spot.
template <Comparison kComparison>
class CompareNode final : public Node {
 public:
  CompareNode(Call call, const Node* left, Value right)
      : call_(std::move(call)),
        left_(left),
        right_(right),
        by_size_(call_.unique() != OverloadId::kCount) {}
  Value Evaluate(Context& context) const override;

 private:
  const Call call_;
  const Node* const left_;
  const Value right_;
  const bool by_size_;  // what strings cost
};

// `x in [constants]`: a set.
class InSetNode final : public Node {
 public:
  InSetNode(const Node* operand, const Map* set) : operand_(operand), set_(set) {}
  Value Evaluate(Context& context) const override;

 private:
  const Node* const operand_;
  const Map* const set_;
};

// A function of regular expressions whose pattern is constant.
class PatternNode final : public Node {
 public:
  PatternNode(Call call, OverloadId id, Pattern pattern, std::vector<const Node*> arguments)
      : call_(std::move(call)),
        function_(PatternFunctionOf(id)),
        cost_(BindingOf(id).cost),
        pattern_(std::move(pattern)),
        arguments_(std::move(arguments)) {}
  Value Evaluate(Context& context) const override;

 private:
  const Call call_;
  const PatternFunction function_;
  const ks::cel::CostOf cost_;
  const Pattern pattern_;
  const std::vector<const Node*> arguments_;
};

// Null: not a comparison, or the constant is of a kind without special treatment.
// Otherwise it takes the call.
std::unique_ptr<Node> MakeCompareNode(Call& call, const Node* left, const Value& right);

}  // namespace ks::cel
