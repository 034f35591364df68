// SPDX-License-Identifier: Apache-2.0
// Optional values. `or` and `orValue` are the planner's: they do not evaluate what they need not.
#include "cel/library.h"
#include "cel/node.h"

namespace ks::cel {
namespace {

constexpr Text kDereference = Literal("optional.none() dereference");

constexpr int64_t kFirstSecond = -62135596800;  // of the year 1: the zero time

bool IsZero(const Value& v) {
  switch (v.kind) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
      return !v.boolean;
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDuration:
      return v.integer == 0;
    case Kind::kDouble:
      return v.real == 0;
    case Kind::kTimestamp:
      return v.integer == kFirstSecond && v.nanos == 0;
    case Kind::kString:
    case Kind::kBytes:
      return v.text->size == 0;
    case Kind::kList:
      return v.list->size == 0;
    case Kind::kMap:
      return v.map->size == 0 && !v.map->complete;
    default:
      return false;
  }
}

Value OfAny(Context& context, Arguments args) { return MakeSome(context.arena(), args[0]); }

Value OfNonZero(Context& context, Arguments args) {
  return IsZero(args[0]) ? None() : MakeSome(context.arena(), args[0]);
}

Value NoneValue(Context& /*context*/, Arguments /*args*/) { return None(); }

Value Unwrap(Context& context, Arguments args) {
  List* values = List::Make(context.arena(), args[0].list->size);
  for (const Value& item : *args[0].list) {
    if (!item.is(Kind::kOptional)) {
      return MakeError(context.arena(), "value " + ValueText(item) + " is not optional");
    }
    if (item.optional->present) values->Append(context.arena(), item.optional->value);
  }
  return Value::Of(values);
}

Value HasValue(Context& /*context*/, Arguments args) {
  return Value::Bool(args[0].optional->present);
}

Value ValueOf(Context& /*context*/, Arguments args) {
  return args[0].optional->present ? args[0].optional->value : Value::Error(&kDereference);
}

constexpr Binding kOptionalTable[] = {
    {OverloadId::kOptionalOf, OfAny},         {OverloadId::kOptionalOfNonZero, OfNonZero},
    {OverloadId::kOptionalNone, NoneValue},   {OverloadId::kOptionalUnwrap, Unwrap},
    {OverloadId::kOptionalUnwrapOpt, Unwrap}, {OverloadId::kHasValue, HasValue},
    {OverloadId::kOptionalValue, ValueOf},
};

}  // namespace

std::span<const Binding> OptionalBindings() { return kOptionalTable; }

}  // namespace ks::cel
