// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/schema.h"

#include <algorithm>
#include <memory>

#include "apiserver/schema/schema_data.h"
#include "base/check.h"

// A line per type: its name, `&` if it has apiVersion and kind, then its fields in protobuf order
// of declaration. A field is <protobuf number><JSON name>:<type><flags>, or
// <protobuf number>^@<struct> for an inlined struct. Lines that begin with a space continue.
//   types   s string, i int32, l int64, f float, b bool, y bytes, Q quantity, I int or string,
//           T time, M micro time, R raw, F fields, @Name struct; *x list of x, %x map to x;
//           <v1.Name> behind it: the Go type it has
//   flags   ! always written, ? pointer, (key) merged by key, () merged as a set, = retain keys,
//           $ replaced as a whole

namespace ks::apiserver {
namespace {

using Kind = SchemaField::Kind;
using Shape = SchemaField::Shape;

struct Tables {
  std::vector<std::unique_ptr<SchemaType>> types;
  std::map<std::string, SchemaType*, std::less<>> by_name;
};

struct Scalar {
  char letter;
  Kind kind;
  std::string_view go_type;
};
constexpr Scalar kScalars[] = {
    {'s', Kind::kString, "string"},
    {'i', Kind::kInt32, "int32"},
    {'l', Kind::kInt64, "int64"},
    {'f', Kind::kFloat, "float64"},
    {'b', Kind::kBool, "bool"},
    {'y', Kind::kBytes, "[]uint8"},
    {'Q', Kind::kQuantity, "resource.Quantity"},
    {'I', Kind::kIntOrString, "intstr.IntOrString"},
    {'T', Kind::kTime, "string"},
    {'M', Kind::kMicroTime, "string"},
    {'R', Kind::kRaw, "runtime.RawExtension"},
    {'F', Kind::kFields, "v1.FieldsV1"},
};

SchemaType* TypeNamed(Tables& tables, std::string_view name) {
  const auto it = tables.by_name.find(name);
  if (it != tables.by_name.end()) return it->second;
  tables.types.push_back(std::make_unique<SchemaType>());
  SchemaType* type = tables.types.back().get();
  type->name = name;
  tables.by_name[type->name] = type;
  return type;
}

// Takes the characters of `text` up to one of `ends`.
std::string_view TakeUntil(std::string_view& text, std::string_view ends) {
  const size_t end = std::min(text.find_first_of(ends), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end);
  return taken;
}

void TakeType(Tables& tables, std::string_view& text, SchemaField& field) {
  if (text.starts_with('*') || text.starts_with('%')) {
    field.shape = text.front() == '*' ? Shape::kList : Shape::kMap;
    text.remove_prefix(1);
  }
  if (text.starts_with("*s")) {  // a map to lists of strings: `extra` of a user
    text.remove_prefix(2);
    field.kind = Kind::kStrings;
    field.go_type = "v1.ExtraValue";
    return;
  }
  const char letter = text.front();
  text.remove_prefix(1);
  if (letter == '@') {
    field.kind = Kind::kStruct;
    field.type = TypeNamed(tables, TakeUntil(text, "!?(=$"));
    field.go_type = "v1." + field.type->name;
    return;
  }
  const auto* scalar = std::find_if(std::begin(kScalars), std::end(kScalars),
                                    [letter](const Scalar& row) { return row.letter == letter; });
  KS_CHECK(scalar != std::end(kScalars), "the schema text is damaged");
  field.kind = scalar->kind;
  field.go_type = scalar->go_type;
  if (!text.starts_with('<')) return;
  text.remove_prefix(1);
  field.go_type = TakeUntil(text, ">");
  text.remove_prefix(1);
}

void TakeFlags(std::string_view flags, SchemaField& field) {
  while (!flags.empty()) {
    const char flag = flags.front();
    flags.remove_prefix(1);
    if (flag == '!') field.always = true;
    if (flag == '?') field.pointer = true;
    if (flag == '=') field.retain_keys = true;
    if (flag == '$') field.replaced = true;
    if (flag != '(') continue;
    field.merged = true;
    field.merge_key = TakeUntil(flags, ")");
    flags.remove_prefix(1);
  }
}

SchemaField ParseField(Tables& tables, std::string_view text) {
  SchemaField field;
  while (text.front() >= '0' && text.front() <= '9') {
    field.number = field.number * 10 + static_cast<uint32_t>(text.front() - '0');
    text.remove_prefix(1);
  }
  field.inlined = text.front() == '^';
  if (!field.inlined) field.name = TakeUntil(text, ":");
  text.remove_prefix(1);
  TakeType(tables, text, field);
  TakeFlags(text, field);
  return field;
}

void ParseText(Tables& tables, std::string_view text) {
  SchemaType* type = nullptr;
  bool line_begins = true;
  while (!text.empty()) {
    const std::string_view word = TakeUntil(text, " \n");
    if (word == "&") {
      type->has_type_meta = true;
    } else if (!word.empty() && line_begins) {
      type = TypeNamed(tables, word);
    } else if (!word.empty()) {
      type->fields.push_back(ParseField(tables, word));
    }
    line_begins = !text.empty() && text.front() == '\n';
    if (!text.empty()) text.remove_prefix(1);
  }
}

void AddNames(SchemaType& type, const SchemaType& from) {
  for (const SchemaField& field : from.fields) {
    if (field.inlined) {
      AddNames(type, *field.type);
    } else {
      type.by_name[field.name] = &field;
    }
  }
}

const Tables& AllTypes() {
  static const Tables* tables = [] {
    auto* made = new Tables;
    ParseText(*made, SchemaTextAToO());
    ParseText(*made, SchemaTextPToZ());
    for (const auto& type : made->types) AddNames(*type, *type);
    return made;
  }();
  return *tables;
}

}  // namespace

const SchemaType* FindSchema(std::string_view api_version, std::string_view kind) {
  const Tables& tables = AllTypes();
  const bool other_events = kind == "Event" && api_version == "events.k8s.io/v1";
  const auto it = tables.by_name.find(other_events ? "events.v1.Event" : kind);
  return it == tables.by_name.end() || !it->second->has_type_meta ? nullptr : it->second;
}

const SchemaType& SchemaOf(const KindInfo& kind) {
  const SchemaType* type = FindSchema(kind.api_version(), kind.kind);
  KS_CHECK(type != nullptr, "a kind without a schema");
  return *type;
}

}  // namespace ks::apiserver
