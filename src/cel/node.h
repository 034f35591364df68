// SPDX-License-Identifier: Apache-2.0
#pragma once
// The compiled form of an expression: a graph of nodes that evaluate themselves and charge what
// they cost. Made by plan.h.
//
// Upstream: docs/spec/cel.md sections 6 and 8.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cel/context.h"
#include "cel/device_shape.h"
#include "cel/library.h"
#include "cel/value.h"

namespace ks::cel {

// Immutable once planned. Threads: any. Lifetime: the program's; nodes point to each other.
class Node {
 public:
  virtual ~Node() = default;
  virtual Value Evaluate(Context& context) const = 0;
  // The same; `wrapped`: whether selecting from the value looks into an optional that it is. It
  // does not if the optional was found on the way from a variable.
  virtual Value EvaluateLink(Context& context, bool* wrapped) const {
    const Value value = Evaluate(context);
    *wrapped = value.is(Kind::kOptional);
    return value;
  }
  // The value if it is the same always and costs nothing; null otherwise.
  virtual const Value* constant() const { return nullptr; }
  // Upstream resolves variables and what is selected from them as one "attribute": nested in
  // another one it costs one less, and selecting from it has no cost of its own.
  virtual bool attribute() const { return false; }
  // Whether the part that is nested costs one less; a condition does not.
  virtual bool refunded() const { return attribute(); }
  // Whether it is the whole device itself, not a variable that holds it.
  virtual bool is_device() const { return false; }
};

class ConstantNode final : public Node {
 public:
  explicit ConstantNode(Value value) : value_(value) {}
  Value Evaluate(Context& /*context*/) const override { return value_; }
  const Value* constant() const override { return &value_; }

 private:
  const Value value_;
};

class DeviceNode final : public Node {
 public:
  Value Evaluate(Context& context) const override {
    context.Charge(1);
    return context.Fetched(context.DeviceMap());
  }
  bool attribute() const override { return true; }
  bool is_device() const override { return true; }
};

// A variable of a loop.
class VariableNode final : public Node {
 public:
  explicit VariableNode(size_t slot) : slot_(slot) {}
  Value Evaluate(Context& context) const override {
    context.Charge(1);
    return context.slot(slot_);
  }
  bool attribute() const override { return true; }

 private:
  const size_t slot_;
};

// What a step of a path finds.
struct Found {
  enum class Outcome : uint8_t { kFound, kMissing, kFailed };
  Outcome outcome = Outcome::kFound;
  Value value{};  // kFound; of the others the error
};
// `key` in `operand`, which is no optional. Errors: docs/spec/cel.md section 6.2.
Found FindIn(Context& context, const Value& operand, const Value& key);
// As Go calls the type of a value in some messages.
std::string_view GoTypeName(const Value& value);
// A value in messages.
std::string ValueText(const Value& value);
// Whether such a value may select something.
bool IsQualifier(const Value& key);
// The error of a map's key that upstream cannot hash; none if it can.
std::optional<std::string_view> UnhashableType(const Value& key);

enum class PathMode : uint8_t { kPlain, kOptional, kTest };

// `device.attributes["d"].x`, `.?x`, has(…), and the same of capacities: one lookup.
class DevicePathNode final : public Node {
 public:
  DevicePathNode(const DeviceName& name, PathMode mode, Value missing)
      : mode_(mode), path_(name), missing_(missing) {}
  Value Evaluate(Context& context) const override;
  bool attribute() const override { return mode_ != PathMode::kTest; }

 private:
  const PathMode mode_;
  const DevicePath path_;
  const Value missing_;  // the error
};

// `device.driver`, `device.allowMultipleAllocations`.
class DeviceFieldNode final : public Node {
 public:
  explicit DeviceFieldNode(bool driver) : driver_(driver) {}
  Value Evaluate(Context& context) const override;
  bool attribute() const override { return true; }

 private:
  const bool driver_;
};

// `e.f`, `e[i]`, `e.?f`, `e[?i]`, has(e.f).
class SelectNode final : public Node {
 public:
  SelectNode(const Node* operand, const Node* key, PathMode mode, bool free)
      : operand_(operand), key_(key), mode_(mode), free_(free) {}
  Value Evaluate(Context& context) const override;
  Value EvaluateLink(Context& context, bool* wrapped) const override;
  bool attribute() const override { return mode_ != PathMode::kTest; }
  bool refunded() const override {
    return attribute() && (!operand_->attribute() || operand_->refunded());
  }

 private:
  static Value Test(Context& context, const Value& operand, const Value& key, bool chained);

  const Node* const operand_;
  const Node* const key_;
  const PathMode mode_;
  const bool free_;  // costs nothing
};

// Made by macros: whether a loop goes on. Errors do not end it.
class NotStrictlyFalseNode final : public Node {
 public:
  explicit NotStrictlyFalseNode(const Node* operand) : operand_(operand) {}
  Value Evaluate(Context& context) const override;

 private:
  const Node* const operand_;
};

// `&&` and `||` with all their operands in a row. `absorbing`: the value that decides.
class LogicNode final : public Node {
 public:
  LogicNode(bool absorbing, std::vector<const Node*> operands)
      : absorbing_(absorbing), operands_(std::move(operands)) {}
  Value Evaluate(Context& context) const override;

 private:
  const bool absorbing_;
  const std::vector<const Node*> operands_;
};

class ConditionalNode final : public Node {
 public:
  ConditionalNode(const Node* condition, const Node* yes, const Node* no)
      : condition_(condition), yes_(yes), no_(no) {}
  Value Evaluate(Context& context) const override;
  Value EvaluateLink(Context& context, bool* wrapped) const override;
  bool attribute() const override { return true; }
  bool refunded() const override { return false; }
  bool is_device() const override { return yes_->is_device() && no_->is_device(); }

 private:
  const Node* const condition_;
  const Node* const yes_;
  const Node* const no_;
};

// `o.or(p)` and `o.orValue(v)`: the argument is evaluated only if it is needed.
class OptionalOrNode final : public Node {
 public:
  OptionalOrNode(const Node* optional, const Node* other, bool unwrap)
      : optional_(optional), other_(other), unwrap_(unwrap) {}
  Value Evaluate(Context& context) const override;

 private:
  const Node* const optional_;
  const Node* const other_;
  const bool unwrap_;
};

// An entry of a list (without key), map or message literal.
struct EntryPlan {
  const Node* key = nullptr;
  const Node* value = nullptr;
  std::string_view field{};
  bool optional = false;
};

class ListNode final : public Node {
 public:
  explicit ListNode(std::vector<EntryPlan> entries) : entries_(std::move(entries)) {}
  Value Evaluate(Context& context) const override;

 private:
  const std::vector<EntryPlan> entries_;
};

class MapNode final : public Node {
 public:
  explicit MapNode(std::vector<EntryPlan> entries) : entries_(std::move(entries)) {}
  Value Evaluate(Context& context) const override;

 private:
  const std::vector<EntryPlan> entries_;
};

// A message literal; `type_name` outlives the node.
class MessageNode final : public Node {
 public:
  MessageNode(std::string_view type_name, std::vector<EntryPlan> entries)
      : type_name_(type_name), entries_(std::move(entries)) {}
  Value Evaluate(Context& context) const override;

 private:
  const std::string_view type_name_;
  const std::vector<EntryPlan> entries_;
};

// Sets an entry of a map that is being made, or replaces it.
void Put(Context& context, Map& map, const Value& key, const Value& value);

}  // namespace ks::cel
