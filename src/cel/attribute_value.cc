// SPDX-License-Identifier: Apache-2.0
#include "cel/attribute_value.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "cel/semver.h"

namespace ks::cel {
namespace {

using Scalar = std::variant<int64_t, bool, std::string, VersionText>;

bool CanBeScalar(const Type& type) {
  switch (type.kind) {
    case TypeKind::kDyn:
    case TypeKind::kBool:
    case TypeKind::kInt:
    case TypeKind::kString:
      return true;
    case TypeKind::kWrapper:
      return !type.params.empty() && CanBeScalar(*type.params.front());
    case TypeKind::kOpaque:
      return type.name == "kubernetes.Semver";
    default:
      return false;
  }
}

// The name of the type that upstream converts such values to.
std::string_view NativeTypeName(const Value& value) {
  switch (value.kind) {
    case Kind::kNull:
      return "structpb.NullValue";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int64";
    case Kind::kUint:
      return "uint64";
    case Kind::kDouble:
      return "float64";
    case Kind::kString:
    case Kind::kType:
      return "string";
    case Kind::kBytes:
      return "[]uint8";
    case Kind::kDuration:
      return "time.Duration";
    case Kind::kTimestamp:
      return "time.Time";
    case Kind::kList:
      return "[]ref.Val";
    case Kind::kMap:
      return value.map->of_device ? "map[string]interface {}" : "map[ref.Val]ref.Val";
    case Kind::kDevice:
      return "map[string]interface {}";
    case Kind::kQuantity:
      return "*resource.Quantity";
    case Kind::kSemver:
      return "semver.Version";
    case Kind::kUrl:
      return "*url.URL";
    case Kind::kIp:
      return "netip.Addr";
    case Kind::kCidr:
      return "netip.Prefix";
    case Kind::kFormat:
      return "cel.Format";
    case Kind::kOptional:
      return "<nil>";
    default:
      return "*dynamicpb.Message";
  }
}

std::optional<Scalar> ScalarOf(const Value& value) {
  switch (value.kind) {
    case Kind::kBool:
      return Scalar(value.boolean);
    case Kind::kInt:
      return Scalar(value.integer);
    case Kind::kString:
    case Kind::kType:
      return Scalar(std::string(value.view()));
    case Kind::kSemver:
      return Scalar(VersionText{value.semver->ToString()});
    default:
      return std::nullopt;
  }
}

std::string_view NameOf(const Scalar& scalar) {
  constexpr std::string_view kNames[] = {"int", "bool", "string", "semver"};
  return kNames[scalar.index()];
}

template <class T>
std::vector<T> ListOf(const std::vector<Scalar>& scalars) {
  std::vector<T> list;
  for (const Scalar& scalar : scalars) list.push_back(std::get<T>(scalar));
  return list;
}

Result<DeviceContent::AttributeValue> AsList(const List& list) {
  std::vector<Scalar> scalars;
  for (size_t i = 0; i < list.size; ++i) {
    const Value element = Unwrapped(list[i]);
    std::optional<Scalar> scalar = ScalarOf(element);
    const std::string type(NativeTypeName(element));
    if (i == 0 && !scalar) return Error{"unsupported list element type: " + type};
    if (i > 0 && (!scalar || scalar->index() != scalars.front().index())) {
      return Error{"expected list element at index " + std::to_string(i) + " to be " +
                   std::string(NameOf(scalars.front())) + ", got " + type};
    }
    scalars.push_back(std::move(*scalar));
  }
  if (scalars.empty()) return DeviceContent::AttributeValue(std::vector<int64_t>());
  return std::visit(
      [&scalars](const auto& first) -> DeviceContent::AttributeValue {
        return ListOf<std::decay_t<decltype(first)>>(scalars);
      },
      scalars.front());
}

}  // namespace

bool CanBeAttribute(const Type& type) {
  if (type.kind != TypeKind::kList) return CanBeScalar(type);
  return CanBeScalar(*type.params.front());
}

Result<DeviceContent::AttributeValue> AsAttribute(const Value& value) {
  if (value.is(Kind::kList)) return AsList(*value.list);
  const Value held = Unwrapped(value);
  const std::optional<Scalar> scalar = ScalarOf(held);
  if (!scalar) return Error{"unsupported CEL return type: " + std::string(NativeTypeName(held))};
  return std::visit([](const auto& one) { return DeviceContent::AttributeValue(one); }, *scalar);
}

}  // namespace ks::cel
