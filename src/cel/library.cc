// SPDX-License-Identifier: Apache-2.0
#include "cel/library.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/check.h"
#include "cel/net.h"

namespace ks::cel {
namespace {

constexpr size_t kOverloads = static_cast<size_t>(OverloadId::kCount);
using Table = std::array<Binding, kOverloads>;

Table MakeTable() {
  Table table{};
  for (size_t i = 0; i < kOverloads; ++i) table[i].id = static_cast<OverloadId>(i);
  for (const auto bindings :
       {OperatorBindings(), ConversionBindings(), StringBindings(), RegexBindings(), TimeBindings(),
        OptionalBindings(), ListBindings(), AggregateBindings(), QuantityBindings(),
        SemverBindings(), UrlBindings(), NetBindings(), NamedFormatBindings(), PrintfBindings()}) {
    for (const Binding& binding : bindings) {
      Binding& place = table[static_cast<size_t>(binding.id)];
      KS_CHECK(place.run == nullptr, "two implementations of one overload");
      place = binding;
    }
  }
  return table;
}

// Whether a value may stand where `type` is declared. Elements are not looked at.
bool Fits(const Type& type, const Value& value) {
  return value.kind == KindOf(type).value_or(value.kind);
}

}  // namespace

std::optional<Kind> KindOf(const Type& type) {
  struct Named {
    std::string_view name;
    Kind kind;
  };
  static constexpr Named kOpaque[] = {
      {"kubernetes.Quantity", Kind::kQuantity},
      {"kubernetes.Semver", Kind::kSemver},
      {"kubernetes.URL", Kind::kUrl},
      {"kubernetes.NamedFormat", Kind::kFormat},
      {"net.IP", Kind::kIp},
      {"net.CIDR", Kind::kCidr},
  };
  switch (type.kind) {
    case TypeKind::kDyn:
    case TypeKind::kError:
    case TypeKind::kAny:
    case TypeKind::kParam:
    case TypeKind::kWrapper:
      return std::nullopt;
    case TypeKind::kBool:
      return Kind::kBool;
    case TypeKind::kInt:
      return Kind::kInt;
    case TypeKind::kUint:
      return Kind::kUint;
    case TypeKind::kDouble:
      return Kind::kDouble;
    case TypeKind::kString:
      return Kind::kString;
    case TypeKind::kBytes:
      return Kind::kBytes;
    case TypeKind::kNull:
      return Kind::kNull;
    case TypeKind::kTimestamp:
      return Kind::kTimestamp;
    case TypeKind::kDuration:
      return Kind::kDuration;
    case TypeKind::kList:
      return Kind::kList;
    case TypeKind::kMap:
      return Kind::kMap;
    case TypeKind::kOptional:
      return Kind::kOptional;
    case TypeKind::kType:
      return Kind::kType;
    case TypeKind::kOpaque:
    case TypeKind::kObject:
      for (const Named& each : kOpaque) {
        if (each.name == type.name) return each.kind;
      }
      return Kind::kMessage;
  }
  return std::nullopt;
}

const Binding& BindingOf(OverloadId id) {
  static const Table* const table = new Table(MakeTable());
  KS_CHECK(id != OverloadId::kCount, "no overload");
  return (*table)[static_cast<size_t>(id)];
}

Value NoSuchOverload(Context& context, std::string_view function, Arguments arguments) {
  std::string text = "no such overload: " + std::string(function) + "(";
  for (const Value& argument : arguments) {
    if (text.back() != '(') text += ", ";
    text += RuntimeTypeName(argument);
  }
  return MakeError(context.arena(), text + ")");
}

OverloadId SelectOverload(const Function& function, bool member, Arguments arguments) {
  for (const Overload& overload : function.overloads) {
    if (overload.member != member || overload.params.size() != arguments.size()) continue;
    if (std::equal(arguments.begin(), arguments.end(), overload.params.begin(),
                   [](const Value& value, const TypePtr& type) { return Fits(*type, value); })) {
      return overload.id;
    }
  }
  return OverloadId::kCount;
}

uint64_t SizeOf(const Value& value) {
  switch (value.kind) {
    case Kind::kString:
      return value.text->length;
    case Kind::kBytes:
      return value.text->size;
    case Kind::kList:
      return value.list->size;
    case Kind::kMap:
      return value.map->size;
    case Kind::kOptional:
      return value.optional->present ? SizeOf(value.optional->value) : 1;
    case Kind::kIp:
      return static_cast<uint64_t>(value.ip->bits()) / 8;
    case Kind::kCidr:
      return (static_cast<uint64_t>(value.cidr->prefix) + 7) / 8;
    default:
      return 1;
  }
}

uint64_t OwnSizeOf(const Value& value) { return value.is(Kind::kOptional) ? 1 : SizeOf(value); }

namespace {

uint64_t CostOfElement(const Value& value) {
  uint64_t cost = 0;
  switch (value.kind) {
    case Kind::kString:
    case Kind::kBytes:
      return value.text->size / 10;
    case Kind::kList:
      for (const Value& item : *value.list) cost += CostOfElement(item);
      return cost;
    case Kind::kMap:
      for (const Map::Entry& entry : *value.map) {
        cost += CostOfElement(entry.key) + CostOfElement(entry.value);
      }
      return cost;
    default:
      return 1;
  }
}

}  // namespace

uint64_t CostOfElements(Arguments arguments, const Value& /*result*/) {
  return CostOfElement(arguments[0]);
}

uint64_t TenthOfFirst(Arguments arguments, const Value& /*result*/) {
  return Tenth(OwnSizeOf(arguments[0]));
}

}  // namespace ks::cel
