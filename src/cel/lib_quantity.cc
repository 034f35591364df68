// SPDX-License-Identifier: Apache-2.0
// Kubernetes quantities.
#include "cel/library.h"

namespace ks::cel {
namespace {

constexpr Text kNoInteger = Literal("cannot convert value to integer");

Value Make(Context& context, api::Quantity quantity) {
  return Value::Of(context.arena().New<api::Quantity>(std::move(quantity)));
}

Value MakeComputed(Context& context, api::Quantity quantity) {
  Value value = Make(context, std::move(quantity));
  value.offset = 1;
  return value;
}

Value ParseQuantity(Context& context, Arguments args) {
  Result<api::Quantity> quantity = api::Quantity::Parse(args[0].view());
  if (!quantity.ok()) return MakeError(context.arena(), quantity.error().message);
  return Make(context, std::move(*quantity));
}

Value IsQuantity(Context& /*context*/, Arguments args) {
  return Value::Bool(api::Quantity::Parse(args[0].view()).ok());
}

int Sign(std::strong_ordering order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }
int OrderOf(Arguments args) { return Sign(*args[0].quantity <=> *args[1].quantity); }

Value SignOf(Context& /*context*/, Arguments args) {
  return Value::Int(Sign(*args[0].quantity <=> api::Quantity()));
}

// An int operand counts as that many units. Its format shows where it is added to zero.
api::Quantity Operand(const Value& value) {
  if (!value.is(Kind::kInt)) return *value.quantity;
  return api::Quantity::FromUnits(value.integer, api::Quantity::Format::kDecimalExponent);
}

Value Add(Context& context, Arguments args) {
  api::Quantity sum = *args[0].quantity;
  sum += Operand(args[1]);
  return MakeComputed(context, std::move(sum));
}

// Upstream adds the opposite number, and the opposite of the least one is itself. A sum that is too
// small it computes exactly.
bool WrapsAround(const api::Quantity& from, const api::Quantity& operand) {
  return operand.WholeUnits() == INT64_MIN && from.WholeUnits().value_or(-1) >= 0;
}

Value Subtract(Context& context, Arguments args) {
  api::Quantity difference = *args[0].quantity;
  const api::Quantity operand = Operand(args[1]);
  if (WrapsAround(difference, operand)) {
    difference += operand;
  } else {
    difference -= operand;
  }
  return MakeComputed(context, std::move(difference));
}

Value CompareQuantities(Context& /*context*/, Arguments args) { return Value::Int(OrderOf(args)); }
Value IsGreaterQuantity(Context& /*context*/, Arguments args) {
  return Value::Bool(OrderOf(args) > 0);
}
Value IsLessQuantity(Context& /*context*/, Arguments args) {
  return Value::Bool(OrderOf(args) < 0);
}

Value IsInteger(Context& /*context*/, Arguments args) {
  return Value::Bool(args[0].quantity->WholeUnits().has_value());
}

Value AsInteger(Context& /*context*/, Arguments args) {
  const std::optional<int64_t> units = args[0].quantity->WholeUnits();
  return units ? Value::Int(*units) : Value::Error(&kNoInteger);
}

Value AsDouble(Context& /*context*/, Arguments args) {
  return Value::Double(args[0].quantity->Approximate());
}

constexpr Binding kQuantityTable[] = {
    {OverloadId::kQuantity, ParseQuantity, TenthOfFirst},
    {OverloadId::kIsQuantity, IsQuantity, TenthOfFirst},
    {OverloadId::kQuantitySign, SignOf},
    {OverloadId::kQuantityAdd, Add},
    {OverloadId::kQuantitySub, Subtract},
    {OverloadId::kQuantityCompareTo, CompareQuantities},
    {OverloadId::kQuantityIsGreaterThan, IsGreaterQuantity},
    {OverloadId::kQuantityIsLessThan, IsLessQuantity},
    {OverloadId::kQuantityIsInteger, IsInteger},
    {OverloadId::kQuantityAsInteger, AsInteger},
    {OverloadId::kQuantityAsDouble, AsDouble},
};

}  // namespace

std::span<const Binding> QuantityBindings() { return kQuantityTable; }

}  // namespace ks::cel
