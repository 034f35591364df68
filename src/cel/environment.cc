// SPDX-License-Identifier: Apache-2.0
#include "cel/environment.h"

#include <algorithm>
#include <utility>

namespace ks::cel {
namespace {

using Variable = Environment::Variable;

TypePtr Simple(TypeKind kind) { return SimpleType(kind); }
TypePtr Dyn() { return Simple(TypeKind::kDyn); }

std::vector<Variable> SecondsAndNanos() {
  return {{"seconds", Simple(TypeKind::kInt)}, {"nanos", Simple(TypeKind::kInt)}};
}

struct NamedType {
  std::string_view name;
  TypePtr type;
};

const std::vector<NamedType>& LanguageTypes() {
  static const std::vector<NamedType> types = {
      {"bool", Simple(TypeKind::kBool)},     {"bytes", Simple(TypeKind::kBytes)},
      {"double", Simple(TypeKind::kDouble)}, {"int", Simple(TypeKind::kInt)},
      {"map", MapType(Dyn(), Dyn())},        {"optional_type", OptionalType(Dyn())},
      {"string", Simple(TypeKind::kString)}, {"type", Simple(TypeKind::kType)},
      {"uint", Simple(TypeKind::kUint)},     {"net.CIDR", OpaqueType("net.CIDR")},
      {"net.IP", OpaqueType("net.IP")},
  };
  return types;
}

Environment::Message WrapperMessage(TypeKind wrapped) {
  return {WrapperType(Simple(wrapped)), {{"value", Simple(wrapped)}}};
}

struct NamedMessage {
  std::string_view name;
  Environment::Message message;
};

const std::vector<NamedMessage>& LanguageMessages() {
  static const TypePtr object = MapType(Simple(TypeKind::kString), Dyn());
  static const std::vector<NamedMessage> messages = {
      // Literals of these four type-check; there are none at run time.
      {"duration", {Simple(TypeKind::kDuration), SecondsAndNanos()}},
      {"list", {ListType(Dyn()), {{"values", ListType(Dyn())}}}},
      {"null_type", {Simple(TypeKind::kNull), {}}},
      {"timestamp", {Simple(TypeKind::kTimestamp), SecondsAndNanos()}},
      {"google.protobuf.Any",
       {Simple(TypeKind::kAny),
        {{"type_url", Simple(TypeKind::kString)}, {"value", Simple(TypeKind::kBytes)}}}},
      {"google.protobuf.BoolValue", WrapperMessage(TypeKind::kBool)},
      {"google.protobuf.BytesValue", WrapperMessage(TypeKind::kBytes)},
      {"google.protobuf.DoubleValue", WrapperMessage(TypeKind::kDouble)},
      {"google.protobuf.Duration", {Simple(TypeKind::kDuration), SecondsAndNanos()}},
      {"google.protobuf.Empty", {ObjectType("google.protobuf.Empty"), {}}},
      {"google.protobuf.FloatValue", WrapperMessage(TypeKind::kDouble)},
      {"google.protobuf.Int32Value", WrapperMessage(TypeKind::kInt)},
      {"google.protobuf.Int64Value", WrapperMessage(TypeKind::kInt)},
      {"google.protobuf.ListValue", {ListType(Dyn()), {{"values", ListType(Dyn())}}}},
      {"google.protobuf.StringValue", WrapperMessage(TypeKind::kString)},
      {"google.protobuf.Struct", {object, {{"fields", object}}}},
      {"google.protobuf.Timestamp", {Simple(TypeKind::kTimestamp), SecondsAndNanos()}},
      {"google.protobuf.UInt32Value", WrapperMessage(TypeKind::kUint)},
      {"google.protobuf.UInt64Value", WrapperMessage(TypeKind::kUint)},
      {"google.protobuf.Value",
       {Dyn(),
        {{"null_value", Simple(TypeKind::kInt)},
         {"number_value", Simple(TypeKind::kDouble)},
         {"string_value", Simple(TypeKind::kString)},
         {"bool_value", Simple(TypeKind::kBool)},
         {"struct_value", object},
         {"list_value", ListType(Dyn())}}}},
  };
  return messages;
}

// Null: nothing in `range` has this name.
template <class Range>
auto* FindNamed(const Range& range, std::string_view name) {
  const auto found = std::find_if(range.begin(), range.end(),
                                  [&](const auto& candidate) { return candidate.name == name; });
  return found == range.end() ? nullptr : &*found;
}

}  // namespace

const Variable* Environment::FindVariable(std::string_view name) const {
  return FindNamed(variables, name);
}

TypePtr Environment::FindType(std::string_view name) const {
  if (const NamedType* named = FindNamed(LanguageTypes(), name)) return named->type;
  return FindMessage(name).type;
}

Environment::Message Environment::FindMessage(std::string_view name) const {
  if (const NamedMessage* named = FindNamed(LanguageMessages(), name)) return named->message;
  const Object* object = FindNamed(objects, name);
  if (object == nullptr) return {};
  return {ObjectType(name), object->fields};
}

TypePtr Environment::Message::FindField(std::string_view name) const {
  const Variable* field = FindNamed(fields, name);
  return field == nullptr ? nullptr : field->type;
}

}  // namespace ks::cel
