// SPDX-License-Identifier: Apache-2.0
// Functions that make one value of a list (Kubernetes' list library).
#include <algorithm>
#include <array>
#include <string>

#include "cel/library.h"

namespace ks::cel {
namespace {

// Values of kinds that do not fit together are in order.
Value IsSorted(Context& /*context*/, Arguments args) {
  const List& list = *args[0].list;
  for (size_t i = 1; i < list.size; ++i) {
    if (!Compare(list[i], list[i])) return NoSuchOverload();
    if (Compare(list[i - 1], list[i]).value_or(0) > 0) return Value::Bool(false);
  }
  return Value::Bool(true);
}

// Adds to a zero of the kind by the overload of `+` that fits.
template <Kind kKind>
Value Sum(Context& context, Arguments args) {
  static const Function& plus = *FindFunction("_+_");
  Value sum(kKind, int64_t{0});  // a double's zero has the same bits
  for (const Value& item : *args[0].list) {
    const std::array<Value, 2> both = {sum, item};
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
    if (!Compare(list[i], list[i])) return NoSuchOverload();
    if (Compare(list[i], extreme).value_or(0) * kSign > 0) extreme = list[i];
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
    {OverloadId::kSumInt, Sum<Kind::kInt>, CostOfElements, true},
    {OverloadId::kSumUint, Sum<Kind::kUint>, CostOfElements, true},
    {OverloadId::kSumDouble, Sum<Kind::kDouble>, CostOfElements, true},
    {OverloadId::kSumDuration, Sum<Kind::kDuration>, CostOfElements, true},
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
