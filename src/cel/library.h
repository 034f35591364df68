// SPDX-License-Identifier: Apache-2.0
#pragma once
// The functions of the environment as they run: what each overload does and costs. Logic, indexing
// and what else does not evaluate all its arguments is the planner's.
//
// Upstream: docs/spec/cel.md sections 5, 6.2 and 8.

#include <cstdint>
#include <optional>
#include <span>

#include "cel/context.h"
#include "cel/functions.h"
#include "cel/value.h"

namespace ks::cel {

using Arguments = std::span<const Value>;
// Requires: the kinds of the arguments fit the overload; none is an error.
using Implementation = Value (*)(Context&, Arguments);
// What a call costs whose result is `result`.
using CostOf = uint64_t (*)(Arguments, const Value& result);

struct Binding {
  OverloadId id = OverloadId::kCount;
  Implementation run = nullptr;
  CostOf cost = nullptr;  // null: 1
  // The cost counts even if the checker cannot tell the overloads apart.
  bool by_name = false;
  // What counts then, if it is not `cost`.
  CostOf unsure = nullptr;
};

// Null members: upstream declares the function but no value can reach it. Threads: any.
const Binding& BindingOf(OverloadId id);

// How a complaint about arguments that fit no overload reads: with or without signature.
Value NoSuchOverload(Context& context, std::string_view function, Arguments arguments);

// The kind of a static type's values; nothing for what any value may be.
std::optional<Kind> KindOf(const Type& type);

// The overload of `function` that fits the kinds of the arguments, kCount if none.
OverloadId SelectOverload(const Function& function, bool member, Arguments arguments);

// Each library gives its part of the table.
std::span<const Binding> OperatorBindings();
std::span<const Binding> ConversionBindings();
std::span<const Binding> StringBindings();
std::span<const Binding> RegexBindings();
std::span<const Binding> TimeBindings();
std::span<const Binding> OptionalBindings();
std::span<const Binding> ListBindings();
std::span<const Binding> AggregateBindings();
std::span<const Binding> QuantityBindings();
std::span<const Binding> SemverBindings();
std::span<const Binding> UrlBindings();
std::span<const Binding> NetBindings();
std::span<const Binding> NamedFormatBindings();
std::span<const Binding> PrintfBindings();

// Costs that several libraries share. Sizes are of strings (code points), bytes, lists and maps, of
// addresses (bytes) and networks (bytes that the prefix reaches into), and of optional values what
// they hold; everything else has size 1.
uint64_t SizeOf(const Value& value);
// The same for the functions that take an optional for something without a size.
uint64_t OwnSizeOf(const Value& value);
// ⌈size / 10⌉.
constexpr uint64_t Tenth(uint64_t size) { return (size + 9) / 10; }
uint64_t TenthOfFirst(Arguments arguments, const Value& result);
// Of the first argument, however deep: 1 for each element, ⌊bytes / 10⌋ for a text.
uint64_t CostOfElements(Arguments arguments, const Value& result);

}  // namespace ks::cel
