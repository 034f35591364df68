// SPDX-License-Identifier: Apache-2.0
// Functions that make lists of lists, and sets.
#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "cel/library.h"

namespace ks::cel {
namespace {

bool IsSeen(const List& seen, const Value& item) {
  return std::any_of(seen.begin(), seen.end(), [&](const Value& other) {
    return other.kind == item.kind && Equal(item, other).is_true();
  });
}

Value Distinct(Context& context, Arguments args) {
  // A map answers quickly what was seen; what is no key by its value is compared one by one.
  const List& list = *args[0].list;
  if (list.size == 0) return args[0];  // the same, should it grow
  List* distinct = List::Make(context.arena(), list.size);
  Map* seen = Map::Make(context.arena(), 8);
  for (const Value& item : list) {
    const bool plain = item.is_number() || item.is(Kind::kString) || item.is(Kind::kBool);
    if (plain ? seen->Find(item) != nullptr : IsSeen(*distinct, item)) continue;
    if (plain) seen->Insert(context.arena(), item, Value());
    distinct->Append(context.arena(), item);
  }
  return Value::Of(distinct);
}

Value First(Context& context, Arguments args) {
  const List& list = *args[0].list;
  return list.size == 0 ? None() : MakeSome(context.arena(), list[0]);
}

Value Last(Context& context, Arguments args) {
  const List& list = *args[0].list;
  return list.size == 0 ? None() : MakeSome(context.arena(), list[list.size - 1]);
}

void Flatten(Context& context, const List& list, int64_t depth, List* flat) {
  for (const Value& item : list) {
    if (item.is(Kind::kList) && depth > 0) {
      Flatten(context, *item.list, depth - 1, flat);
    } else {
      flat->Append(context.arena(), item);
    }
  }
}

Value FlattenList(Context& context, Arguments args) {
  const int64_t depth = args.size() > 1 ? args[1].integer : 1;
  if (depth < 0) return MakeError(context.arena(), "level must be non-negative");
  List* flat = List::Make(context.arena(), args[0].list->size);
  Flatten(context, *args[0].list, depth, flat);
  return Value::Of(flat);
}

Value Reverse(Context& context, Arguments args) {
  const List& list = *args[0].list;
  List* reversed = List::Make(context.arena(), list.size);
  for (size_t i = list.size; i > 0; --i) reversed->Append(context.arena(), list[i - 1]);
  return Value::Of(reversed);
}

Value Slice(Context& context, Arguments args) {
  const List& list = *args[0].list;
  const int64_t begin = args[1].integer;
  const int64_t end = args[2].integer;
  const auto refuse = [&](const std::string& why) {
    return MakeError(context.arena(), "cannot slice(" + std::to_string(begin) + ", " +
                                          std::to_string(end) + "), " + why);
  };
  if (begin < 0 || end < 0) return refuse("negative indexes not supported");
  if (begin > end) return refuse("start index must be less than or equal to end index");
  if (end > static_cast<int64_t>(list.size)) {
    return refuse("list is length " + std::to_string(list.size));
  }
  const auto size = static_cast<size_t>(end - begin);
  return Value::Of(context.arena().New<List>(list.items + begin, size, size));
}

Value Range(Context& context, Arguments args) {
  const int64_t count = args[0].integer;
  if (count < 0) {
    return MakeError(context.arena(),
                     "lists.range: size must be non-negative, got " + std::to_string(count));
  }
  if (count > int64_t{1} << 32 || !context.Reserve(static_cast<size_t>(count) * sizeof(Value))) {
    context.Reserve(~size_t{0});
    return Value();
  }
  List* range = List::Make(context.arena(), static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) range->Append(context.arena(), Value::Int(i));
  return Value::Of(range);
}

// The elements in the order of `keys`, equal ones as they were. An error if the keys have no order.
Value SortedBy(Context& context, const List& list, const List& keys) {
  for (const Value& key : keys) {
    if (key.is_error()) return key;
    if (!Compare(keys[0], keys[0])) {
      return MakeError(context.arena(), "list elements must be comparable");
    }
    if (key.kind != keys[0].kind) {
      return MakeError(context.arena(), "list elements must have the same type");
    }
  }
  std::vector<size_t> order(list.size);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return Compare(keys[a], keys[b]).value_or(0) < 0; });
  List* sorted = List::Make(context.arena(), list.size);
  for (const size_t i : order) sorted->Append(context.arena(), list[i]);
  return Value::Of(sorted);
}

Value Sort(Context& context, Arguments args) {
  if (args[0].list->size == 0) return args[0];  // as in Distinct
  return SortedBy(context, *args[0].list, *args[0].list);
}

Value SortByKeys(Context& context, Arguments args) {
  return SortedBy(context, *args[0].list, *args[1].list);
}

bool Has(const List& list, const Value& value) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Value& e) { return Equal(value, e).is_true(); });
}

bool HasAll(const List& list, const List& values) {
  return std::all_of(values.begin(), values.end(), [&](const Value& v) { return Has(list, v); });
}

Value SetsContains(Context& /*context*/, Arguments args) {
  return Value::Bool(HasAll(*args[0].list, *args[1].list));
}

Value SetsEquivalent(Context& /*context*/, Arguments args) {
  return Value::Bool(HasAll(*args[0].list, *args[1].list) && HasAll(*args[1].list, *args[0].list));
}

Value SetsIntersects(Context& /*context*/, Arguments args) {
  const List& list = *args[0].list;
  return Value::Bool(
      std::any_of(list.begin(), list.end(), [&](const Value& v) { return Has(*args[1].list, v); }));
}

// A new list costs 11; then what is looked at.
constexpr uint64_t kNewList = 11;

uint64_t CostOfReverse(Arguments args, const Value& /*result*/) {
  return kNewList + (args[0].is(Kind::kList) ? args[0].list->size : 1);
}
uint64_t CostOfResult(Arguments /*args*/, const Value& result) { return kNewList + SizeOf(result); }
uint64_t CostOfFlattening(Arguments args, const Value& /*result*/) {
  const bool given = args.size() > 1 && args[1].is(Kind::kInt) && args[1].integer >= 0;
  const uint64_t depth = given ? static_cast<uint64_t>(args[1].integer) : 1;
  uint64_t looked_at = 0;
  constexpr uint64_t kMost = uint64_t{1} << 63;
  if (__builtin_mul_overflow(OwnSizeOf(args[0]), depth, &looked_at)) looked_at = kMost;
  return kNewList + std::min(looked_at, kMost);
}
// Texts cost a little more to compare.
uint64_t CostOfSorting(Arguments args, const Value& /*result*/) {
  const Value& compared = args.back();
  const uint64_t pairs = SizeOf(args[0]) * SizeOf(args[0]);
  const bool texts =
      compared.is(Kind::kList) && compared.list->size > 0 &&
      ((*compared.list)[0].is(Kind::kString) || (*compared.list)[0].is(Kind::kBytes));
  return kNewList + 2 * pairs + (texts ? pairs / 10 : 0);
}
uint64_t CostOfSets(Arguments args, const Value& /*result*/) {
  return 1 + OwnSizeOf(args[0]) * OwnSizeOf(args[1]);
}
uint64_t CostOfEquivalence(Arguments args, const Value& /*result*/) {
  return 1 + 2 * OwnSizeOf(args[0]) * OwnSizeOf(args[1]);
}

constexpr Binding kListTable[] = {
    {OverloadId::kDistinct, Distinct, CostOfSorting},
    {OverloadId::kFirst, First},
    {OverloadId::kLast, Last},
    {OverloadId::kFlatten, FlattenList, CostOfFlattening},
    {OverloadId::kListReverse, Reverse, CostOfReverse},
    {OverloadId::kSlice, Slice, CostOfResult},
    {OverloadId::kSort, Sort, CostOfSorting},
    {OverloadId::kListsRange, Range, CostOfResult},
    {OverloadId::kSortByKeys, SortByKeys, CostOfSorting},
    {OverloadId::kSetsContains, SetsContains, CostOfSets},
    {OverloadId::kSetsEquivalent, SetsEquivalent, CostOfEquivalence},
    {OverloadId::kSetsIntersects, SetsIntersects, CostOfSets},
};

}  // namespace

std::span<const Binding> ListBindings() { return kListTable; }

}  // namespace ks::cel
