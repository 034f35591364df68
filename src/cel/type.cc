// SPDX-License-Identifier: Apache-2.0
#include "cel/type.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/check.h"

namespace ks::cel {
namespace {

TypePtr MakeType(TypeKind kind, std::string_view name, std::vector<TypePtr> params) {
  uint32_t node_count = 1;
  uint32_t depth = 0;
  for (const TypePtr& param : params) {
    node_count += param->node_count;
    depth = std::max(depth, param->depth);
  }
  ++depth;
  if (node_count > kMostTypeNodes || depth > kMostTypeDepth) return SimpleType(TypeKind::kDyn);
  return std::make_shared<const Type>(
      Type{kind, std::string(name), std::move(params), node_count, depth});
}

struct Names {
  std::string_view checked;
  std::string_view runtime;
};

// Of the kinds that need neither parameters nor a name of their own.
Names NamesOf(TypeKind kind) {
  switch (kind) {
    case TypeKind::kDyn:
      return {"dyn", "dyn"};
    case TypeKind::kError:
      return {"!error!", "*error*"};
    case TypeKind::kBool:
      return {"bool", "bool"};
    case TypeKind::kInt:
      return {"int", "int"};
    case TypeKind::kUint:
      return {"uint", "uint"};
    case TypeKind::kDouble:
      return {"double", "double"};
    case TypeKind::kString:
      return {"string", "string"};
    case TypeKind::kBytes:
      return {"bytes", "bytes"};
    case TypeKind::kNull:
      return {"null", "null_type"};
    case TypeKind::kTimestamp:
      return {"timestamp", "google.protobuf.Timestamp"};
    case TypeKind::kDuration:
      return {"duration", "google.protobuf.Duration"};
    case TypeKind::kAny:
      return {"any", "google.protobuf.Any"};
    case TypeKind::kWrapper:
      return {"wrapper", "wrapper"};
    case TypeKind::kList:
      return {"list", "list"};
    case TypeKind::kMap:
      return {"map", "map"};
    case TypeKind::kOptional:
      return {"optional_type", "optional_type"};
    case TypeKind::kType:
      return {"type", "type"};
    case TypeKind::kOpaque:
    case TypeKind::kObject:
    case TypeKind::kParam:
      break;
  }
  return {};
}

using NameOfLeaf = std::string_view (*)(const Type&);

std::string NameOf(const Type& type, NameOfLeaf leaf) {
  std::string name(type.name.empty() ? leaf(type) : std::string_view(type.name));
  if (type.params.empty()) return name;
  name += '(';
  for (size_t i = 0; i < type.params.size(); ++i) {
    if (i > 0) name += ", ";
    name += NameOf(*type.params[i], leaf);
  }
  return name += ')';
}

}  // namespace

const TypePtr& SimpleType(TypeKind kind) {
  static const auto simple_types = [] {
    std::array<TypePtr, static_cast<size_t>(TypeKind::kParam)> types;
    for (size_t i = 0; i < types.size(); ++i) {
      types[i] = MakeType(static_cast<TypeKind>(i), {}, {});
    }
    return types;
  }();
  const auto index = static_cast<size_t>(kind);
  KS_CHECK(index < simple_types.size(), "a type parameter is no simple type");
  return simple_types[index];
}

TypePtr ListType(TypePtr element) { return MakeType(TypeKind::kList, {}, {std::move(element)}); }

TypePtr MapType(TypePtr key, TypePtr value) {
  return MakeType(TypeKind::kMap, {}, {std::move(key), std::move(value)});
}

TypePtr OptionalType(TypePtr value) {
  return MakeType(TypeKind::kOptional, {}, {std::move(value)});
}

TypePtr TypeType(TypePtr named) { return MakeType(TypeKind::kType, {}, {std::move(named)}); }

TypePtr WrapperType(TypePtr wrapped) {
  return MakeType(TypeKind::kWrapper, {}, {std::move(wrapped)});
}

TypePtr OpaqueType(std::string_view name) { return MakeType(TypeKind::kOpaque, name, {}); }

TypePtr ObjectType(std::string_view name) { return MakeType(TypeKind::kObject, name, {}); }

TypePtr ParamType(std::string_view name) { return MakeType(TypeKind::kParam, name, {}); }

TypePtr WithParams(const Type& type, std::vector<TypePtr> params) {
  return MakeType(type.kind, type.name, std::move(params));
}

bool SameType(const Type& a, const Type& b) {
  if (&a == &b) return true;
  return a.kind == b.kind && a.name == b.name &&
         std::equal(a.params.begin(), a.params.end(), b.params.begin(), b.params.end(),
                    [](const TypePtr& x, const TypePtr& y) { return SameType(*x, *y); });
}

std::string CheckedTypeName(const Type& type) {
  return NameOf(type, [](const Type& leaf) { return NamesOf(leaf.kind).checked; });
}

std::string RuntimeTypeName(const Type& type) {
  return NameOf(type, [](const Type& leaf) { return NamesOf(leaf.kind).runtime; });
}

}  // namespace ks::cel
