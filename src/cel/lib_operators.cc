// SPDX-License-Identifier: Apache-2.0
// Arithmetic, order, equality and membership.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "cel/library.h"
#include "cel/node.h"
#include "cel/time_value.h"

namespace ks::cel {
namespace {

constexpr Text kIntegerOverflow = Literal("integer overflow");
constexpr Text kUnsignedOverflow = Literal("unsigned integer overflow");
constexpr Text kDivisionByZero = Literal("division by zero");
constexpr Text kModulusByZero = Literal("modulus by zero");
constexpr Text kNan = Literal("NaN values cannot be ordered");

enum class Operation : uint8_t { kAdd, kSubtract, kMultiply, kDivide, kModulo };

template <class T>
bool Overflows(Operation operation, T a, T b, T* result) {
  switch (operation) {
    case Operation::kAdd:
      return __builtin_add_overflow(a, b, result);
    case Operation::kSubtract:
      return __builtin_sub_overflow(a, b, result);
    case Operation::kMultiply:
      return __builtin_mul_overflow(a, b, result);
    case Operation::kDivide:
    case Operation::kModulo:
      if (std::is_signed_v<T> && a == std::numeric_limits<T>::min() && b == static_cast<T>(-1)) {
        return true;
      }
      *result = operation == Operation::kDivide ? a / b : a % b;
      return false;
  }
  return true;
}

template <Operation kOperation>
constexpr bool kDivides = kOperation == Operation::kDivide || kOperation == Operation::kModulo;

template <Operation kOperation>
Value OfInts(Context& /*context*/, Arguments args) {
  if (kDivides<kOperation> && args[1].integer == 0) {
    return Value::Error(kOperation == Operation::kDivide ? &kDivisionByZero : &kModulusByZero);
  }
  int64_t result = 0;
  if (Overflows(kOperation, args[0].integer, args[1].integer, &result)) {
    return Value::Error(&kIntegerOverflow);
  }
  return Value::Int(result);
}

template <Operation kOperation>
Value OfUints(Context& /*context*/, Arguments args) {
  if (kDivides<kOperation> && args[1].natural == 0) {
    return Value::Error(kOperation == Operation::kDivide ? &kDivisionByZero : &kModulusByZero);
  }
  uint64_t result = 0;
  if (Overflows(kOperation, args[0].natural, args[1].natural, &result)) {
    return Value::Error(&kUnsignedOverflow);
  }
  return Value::Uint(result);
}

template <Operation kOperation>
Value OfDoubles(Context& /*context*/, Arguments args) {
  const double a = args[0].real;
  const double b = args[1].real;
  if constexpr (kOperation == Operation::kAdd) return Value::Double(a + b);
  if constexpr (kOperation == Operation::kSubtract) return Value::Double(a - b);
  if constexpr (kOperation == Operation::kMultiply) return Value::Double(a * b);
  return Value::Double(a / b);
}

Value Not(Context& /*context*/, Arguments args) { return Value::Bool(!args[0].boolean); }

Value NegateInt(Context& /*context*/, Arguments args) {
  if (args[0].integer == std::numeric_limits<int64_t>::min()) {
    return Value::Error(&kIntegerOverflow);
  }
  return Value(args[0].kind, -args[0].integer);  // a duration, maybe
}

Value NegateDouble(Context& /*context*/, Arguments args) { return Value::Double(-args[0].real); }

Value AddTexts(Context& context, Arguments args) {
  const std::string_view a = args[0].view();
  const std::string_view b = args[1].view();
  if (!context.Reserve(a.size() + b.size())) return Value();
  char* joined = context.arena().Array<char>(a.size() + b.size() + 1);
  std::copy(a.begin(), a.end(), joined);
  std::copy(b.begin(), b.end(), joined + a.size());
  const Text* text = context.arena().New<Text>(joined, static_cast<uint32_t>(a.size() + b.size()),
                                               args[0].text->length + args[1].text->length);
  return Value(args[0].kind, text);
}

// Whether no list can come to hold itself by taking the items.
bool AreFlat(const List& items) {
  return std::none_of(items.begin(), items.end(), [](const Value& item) {
    return item.is(Kind::kList) || item.is(Kind::kMap) || item.is(Kind::kOptional) ||
           item.is(Kind::kMessage);
  });
}

Value AddLists(Context& context, Arguments args) {
  const List& a = *args[0].list;
  const List& b = *args[1].list;
  if (a.grows_for != 0 && AreFlat(b)) {
    if (!context.Reserve(2 * (a.size + b.size) * sizeof(Value))) return Value();
    const Value* const items = b.items;  // where they stay, even if `b` is `a`
    const size_t count = b.size;
    for (size_t i = 0; i < count; ++i) {
      // Made by the variable's binding, on the arena.
      const_cast<List*>(args[0].list)->Append(context.arena(), items[i]);
    }
    return args[0];
  }
  if (a.size == 0 || b.size == 0) return args[a.size == 0 ? 1 : 0];
  if (!context.Reserve((a.size + b.size) * sizeof(Value))) return Value();
  List* joined = List::Make(context.arena(), a.size + b.size);
  std::uninitialized_copy_n(a.items, a.size, joined->items);
  std::uninitialized_copy_n(b.items, b.size, joined->items + a.size);
  joined->size = a.size + b.size;
  joined->joined = true;
  return Value::Of(joined);
}

bool IsNan(const Value& v) { return v.is(Kind::kDouble) && std::isnan(v.real); }

template <class Test>
Value Ordered(Arguments args, Test test) {
  if (IsNan(args[0]) || IsNan(args[1])) return Value::Error(&kNan);
  const std::optional<int> order = Compare(args[0], args[1]);
  return order ? Value::Bool(test(*order)) : NoSuchOverload();
}

Value Less(Context& /*context*/, Arguments args) {
  return Ordered(args, [](int order) { return order < 0; });
}
Value LessEqual(Context& /*context*/, Arguments args) {
  return Ordered(args, [](int order) { return order <= 0; });
}
Value Greater(Context& /*context*/, Arguments args) {
  return Ordered(args, [](int order) { return order > 0; });
}
Value GreaterEqual(Context& /*context*/, Arguments args) {
  return Ordered(args, [](int order) { return order >= 0; });
}

Value EqualValues(Context& /*context*/, Arguments args) { return Equal(args[0], args[1]); }
Value NotEqualValues(Context& /*context*/, Arguments args) {
  return Value::Bool(!Equal(args[0], args[1]).is_true());
}

Value InList(Context& /*context*/, Arguments args) {
  const List& list = *args[1].list;
  return Value::Bool(std::any_of(list.begin(), list.end(),
                                 [&](const Value& e) { return Equal(args[0], e).is_true(); }));
}

Value InMap(Context& context, Arguments args) {
  const Map& map = *args[1].map;
  const bool hashes = map.size > 0 && !map.of_device;
  if (const auto type = UnhashableType(args[0]); type && hashes) {
    return context.Abort("internal error: runtime error: hash of unhashable type " +
                         std::string(*type));
  }
  return Value::Bool(map.Find(args[0]) != nullptr);
}

Value AddDurationTimestamp(Context& context, Arguments args) {
  const Value turned[] = {args[1], args[0]};
  return AddToTimestamp(context, turned);
}

uint64_t CostOfAddTexts(Arguments args, const Value& /*result*/) {
  return Tenth(SizeOf(args[0]) + SizeOf(args[1]));
}
uint64_t CostOfComparison(Arguments args, const Value& /*result*/) {
  return Tenth(std::min(SizeOf(args[0]), SizeOf(args[1])));
}
// Upstream looks at the left side alone to find what costs the same whatever its size.
uint64_t CostOfEquality(Arguments args, const Value& result) {
  const bool flat = args[0].is(Kind::kIp) || args[0].is(Kind::kCidr);
  return flat ? 1 : CostOfComparison(args, result);
}
uint64_t CostOfInList(Arguments args, const Value& /*result*/) { return SizeOf(args[1]); }

constexpr auto kAdd = Operation::kAdd;
constexpr auto kSubtract = Operation::kSubtract;
constexpr auto kMultiply = Operation::kMultiply;
constexpr auto kDivide = Operation::kDivide;
constexpr auto kModulo = Operation::kModulo;

constexpr Binding kOperatorTable[] = {
    {OverloadId::kNot, Not},
    {OverloadId::kNegateInt, NegateInt},
    {OverloadId::kNegateDouble, NegateDouble},
    {OverloadId::kAddInt, OfInts<kAdd>},
    {OverloadId::kAddUint, OfUints<kAdd>},
    {OverloadId::kAddDouble, OfDoubles<kAdd>},
    {OverloadId::kAddString, AddTexts, CostOfAddTexts},
    {OverloadId::kAddBytes, AddTexts, CostOfAddTexts},
    {OverloadId::kAddList, AddLists},
    {OverloadId::kAddDurationDuration, AddDurations},
    {OverloadId::kAddDurationTimestamp, AddDurationTimestamp},
    {OverloadId::kAddTimestampDuration, AddToTimestamp},
    {OverloadId::kSubtractInt, OfInts<kSubtract>},
    {OverloadId::kSubtractUint, OfUints<kSubtract>},
    {OverloadId::kSubtractDouble, OfDoubles<kSubtract>},
    {OverloadId::kSubtractDurationDuration, SubtractDurations},
    {OverloadId::kSubtractTimestampDuration, SubtractFromTimestamp},
    {OverloadId::kSubtractTimestampTimestamp, SubtractTimestamps},
    {OverloadId::kMultiplyInt, OfInts<kMultiply>},
    {OverloadId::kMultiplyUint, OfUints<kMultiply>},
    {OverloadId::kMultiplyDouble, OfDoubles<kMultiply>},
    {OverloadId::kDivideInt, OfInts<kDivide>},
    {OverloadId::kDivideUint, OfUints<kDivide>},
    {OverloadId::kDivideDouble, OfDoubles<kDivide>},
    {OverloadId::kModuloInt, OfInts<kModulo>},
    {OverloadId::kModuloUint, OfUints<kModulo>},
    {OverloadId::kLess, Less, CostOfComparison},
    {OverloadId::kLessEqual, LessEqual, CostOfComparison},
    {OverloadId::kGreater, Greater, CostOfComparison},
    {OverloadId::kGreaterEqual, GreaterEqual, CostOfComparison},
    {OverloadId::kEqual, EqualValues, CostOfEquality},
    {OverloadId::kNotEqual, NotEqualValues, CostOfComparison},
    {OverloadId::kInList, InList, CostOfInList},
    {OverloadId::kInMap, InMap},
};

}  // namespace

std::span<const Binding> OperatorBindings() { return kOperatorTable; }

}  // namespace ks::cel
