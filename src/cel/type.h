// SPDX-License-Identifier: Apache-2.0
#pragma once
// Static types of CEL expressions and their names. Unification is the checker's.
//
// Upstream: docs/spec/cel.md section 4.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ks::cel {

enum class TypeKind : uint8_t {
  kDyn,
  kError,  // of an expression that has been complained about; fits everywhere
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kNull,
  kTimestamp,
  kDuration,
  kAny,       // google.protobuf.Any
  kWrapper,   // params[0] or null: google.protobuf.Int64Value …
  kList,      // params[0]
  kMap,       // params[0], params[1]
  kOptional,  // params[0]
  kType,      // params[0]: the type whose name the expression is; none: any type
  kOpaque,    // name, no fields: kubernetes.Quantity, net.IP …
  kObject,    // name, with fields: kubernetes.DRADevice, messages
  kParam,     // name: a type parameter of an overload, or an open type while checking
};

struct Type;
// Immutable, shared.
using TypePtr = std::shared_ptr<const Type>;

struct Type {
  TypeKind kind = TypeKind::kDyn;
  std::string name{};  // kOpaque, kObject, kParam
  std::vector<TypePtr> params{};
  // Of the tree of parameters, each node counted as often as it is reached.
  uint32_t node_count = 1;
  uint32_t depth = 1;
};

// No expression that means something comes near: a type that is larger is dyn, so that walks over
// types, which may share parts, are short.
inline constexpr uint32_t kMostTypeNodes = 1'000;
inline constexpr uint32_t kMostTypeDepth = 300;

// Kinds without parameters and name: one object per kind.
const TypePtr& SimpleType(TypeKind kind);
TypePtr ListType(TypePtr element);
TypePtr MapType(TypePtr key, TypePtr value);
TypePtr OptionalType(TypePtr value);
TypePtr TypeType(TypePtr named);
TypePtr WrapperType(TypePtr wrapped);
TypePtr OpaqueType(std::string_view name);
TypePtr ObjectType(std::string_view name);
TypePtr ParamType(std::string_view name);
// The same type with other parameters, as many.
TypePtr WithParams(const Type& type, std::vector<TypePtr> params);

bool SameType(const Type& a, const Type& b);

// The name in the checker's messages: "map(string, dyn)", "timestamp", "null".
std::string CheckedTypeName(const Type& type);
// The name at run time and in the complaint about the result: "google.protobuf.Timestamp",
// "null_type".
std::string RuntimeTypeName(const Type& type);

}  // namespace ks::cel
