// SPDX-License-Identifier: Apache-2.0
// Functions that make one value of a list (Kubernetes' list library).
#include <algorithm>
#include <array>
#include <string>

#include "cel/library.h"

namespace ks::cel {
namespace {

// A value, or the error of two that have no order.
Value IsSorted(Context& /*context*/, Arguments args) {
  const List& list = *args[0].list;
  for (size_t i = 1; i < list.size; ++i) {
    const std::optional<int> order = Compare(list[i - 1], list[i]);
    if (!order) return NoSuchOverload();
    if (*order > 0) return Value::Bool(false);
  }
  return Value::Bool(true);
}

// Adds by the overload of `+` that fits.
Value Sum(Context& context, Arguments args) {
  static const Function& plus = *FindFunction("_+_");
  const List& list = *args[0].list;
  if (list.size == 0) return Value::Int(0);
  Value sum = list[0];
  for (size_t i = 1; i < list.size; ++i) {
    const std::array<Value, 2> both = {sum, list[i]};
    const OverloadId id = SelectOverload(plus, false, both);
    if (id == OverloadId::kCount) return NoSuchOverload();
    sum = BindingOf(id).run(context, both);
    if (sum.is_error()) return sum;
  }
  return sum;
}

template <int kSign>
Value Extreme(Context& context, Arguments args) {
  const List& list = *args[0].list;
  if (list.size == 0) {
    return MakeError(context.arena(),
                     std::string(kSign < 0 ? "min" : "max") + " called on empty list");
  }
  Value extreme = list[0];
  for (size_t i = 1; i < list.size; ++i) {
    const std::optional<int> order = Compare(list[i], extreme);
    if (!order) return NoSuchOverload();
    if (*order * kSign > 0) extreme = list[i];
  }
  return extreme;
}

Value ListIndexOf(Context& /*context*/, Arguments args) {
  const List& list = *args[0].list;
  for (size_t i = 0; i < list.size; ++i) {
    if (Equal(list[i], args[1]).is_true()) return Value::Int(static_cast<int64_t>(i));
  }
  return Value::Int(-1);
}

Value ListLastIndexOf(Context& /*context*/, Arguments args) {
  const List& list = *args[0].list;
  for (size_t i = list.size; i > 0; --i) {
    if (Equal(list[i - 1], args[1]).is_true()) return Value::Int(static_cast<int64_t>(i - 1));
  }
  return Value::Int(-1);
}

Value Includes(Context& /*context*/, Arguments args) {
  if (!args[0].is(Kind::kList)) return Value::Bool(Equal(args[0], args[1]).is_true());
  const List& list = *args[0].list;
  return Value::Bool(std::any_of(list.begin(), list.end(),
                                 [&](const Value& e) { return Equal(e, args[1]).is_true(); }));
}

constexpr Binding kAggregateTable[] = {
    {OverloadId::kSum, Sum, CostOfElements, true},
    {OverloadId::kMin, Extreme<-1>, CostOfElements, true},
    {OverloadId::kMax, Extreme<1>, CostOfElements, true},
    {OverloadId::kIsSorted, IsSorted, CostOfElements, true},
    {OverloadId::kListIndexOf, ListIndexOf, CostOfElements, true},
    {OverloadId::kListLastIndexOf, ListLastIndexOf, CostOfElements, true},
    {OverloadId::kIncludes, Includes, CostOfElements, true},
};

}  // namespace

std::span<const Binding> AggregateBindings() { return kAggregateTable; }

}  // namespace ks::cel
