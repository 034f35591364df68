// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "api/quantity.h"
#include "api/time_text.h"
#include "apiserver/schema/schema.h"
#include "base/clock.h"

namespace ks::apiserver {
namespace {

using Kind = SchemaField::Kind;
using Shape = SchemaField::Shape;

class Fitter {
 public:
  explicit Fitter(std::vector<std::string>* unknown) : unknown_(unknown) {}

  bool FitStruct(const SchemaType& type, Json& object);
  const std::string& error() const { return error_; }

 private:
  // The name of what is looked at, for messages; popped at the end of its scope.
  class Step {
   public:
    Step(std::vector<std::string>& path, std::string name) : path_(path) {
      path_.push_back(std::move(name));
    }
    ~Step() { path_.pop_back(); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    std::vector<std::string>& path_;
  };

  bool FitMember(const SchemaType& type, const std::string& name, Json& value, bool* keep);
  void NoteUnknown(const std::string& name);
  bool FitField(const SchemaType& owner, const SchemaField& field, Json& value);
  bool FitOne(const SchemaField& field, Json& value);
  bool FitInteger(const SchemaField& field, const Json& value);
  bool FitQuantity(Json& value);
  bool FitTime(const SchemaField& field, Json& value);
  bool FitText(const SchemaField& field, const Json& value);
  bool WrongType(const Json& value, std::string_view go_type);
  std::string Path() const;

  std::vector<std::string>* unknown_;
  std::vector<std::string> path_;   // with list indices, for unknown fields
  std::vector<std::string> plain_;  // as Go names it: without indices
  std::string owner_;               // the struct whose field is looked at
  std::string error_;
};

std::string_view JsonTypeName(const Json& value) {
  if (value.is_null()) return "null";
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  return value.is_boolean() ? "bool" : "number";
}

std::string GoTypeOf(const SchemaField& field) {
  std::string element = field.go_type;
  if (field.kind == Kind::kTime) element = "v1.Time";
  if (field.kind == Kind::kMicroTime) element = "v1.MicroTime";
  if (field.shape == Shape::kList) return "[]" + element;
  if (field.shape != Shape::kMap) return element;
  const bool resources = field.kind == Kind::kQuantity;
  return resources ? "v1.ResourceList" : "map[string]" + element;
}

Json ZeroOf(const SchemaField& field) {
  if (field.shape != Shape::kOne || field.pointer) return nullptr;
  switch (field.kind) {
    case Kind::kString:
      return "";
    case Kind::kInt32:
    case Kind::kInt64:
    case Kind::kFloat:
    case Kind::kIntOrString:
      return 0;
    case Kind::kBool:
      return false;
    case Kind::kQuantity:
      return "0";
    case Kind::kStruct:
      return Json::object();
    default:
      return nullptr;
  }
}

void AddZeros(const SchemaType& type, Json& object) {
  for (const SchemaField& field : type.fields) {
    if (field.inlined) {
      AddZeros(*field.type, object);
      continue;
    }
    if (!field.always || object.contains(field.name)) continue;
    Json zero = ZeroOf(field);
    if (field.kind == Kind::kStruct && zero.is_object()) AddZeros(*field.type, zero);
    object[field.name] = std::move(zero);
  }
}

Json ZeroStruct(const SchemaType& type) {
  Json zero = Json::object();
  AddZeros(type, zero);
  return zero;
}

bool IsZero(const SchemaField& field, const Json& value) {
  if (value.is_null()) return true;
  if (field.pointer) return false;
  if (field.shape != Shape::kOne) return value.empty();
  switch (field.kind) {
    case Kind::kString:
    case Kind::kBytes:
      return value == "";
    case Kind::kInt32:
    case Kind::kInt64:
    case Kind::kFloat:
      return value == 0;
    case Kind::kBool:
      return value == false;
    case Kind::kStruct:
      return value == ZeroStruct(*field.type);
    default:
      return false;
  }
}

std::string Fitter::Path() const {
  std::string text;
  for (const std::string& step : plain_) text += (text.empty() ? "" : ".") + step;
  return text;
}

bool Fitter::WrongType(const Json& value, std::string_view go_type) {
  std::string what(JsonTypeName(value));
  const bool integer_wanted = go_type == "int32" || go_type == "int64";
  if (value.is_number() && integer_wanted) what += " " + value.dump();
  error_ = "json: cannot unmarshal " + what + " into Go struct field " + owner_ + "." + Path() +
           " of type " + std::string(go_type);
  return false;
}

bool Fitter::FitText(const SchemaField& field, const Json& value) {
  if (!value.is_string()) return WrongType(value, field.go_type);
  if (field.kind != Kind::kBytes) return true;
  const std::string& text = value.get_ref<const std::string&>();
  size_t length = text.size();
  while (length > 0 && text.size() - length < 2 && text[length - 1] == '=') --length;
  const size_t bad = text.find_first_not_of(
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/\r\n");
  if (bad >= length && text.size() % 4 == 0) return true;
  error_ = "illegal base64 data at input byte " + std::to_string(std::min(bad, text.size()));
  return false;
}

bool Fitter::FitInteger(const SchemaField& field, const Json& value) {
  const bool small = field.kind != Kind::kInt64;
  const std::string_view go_type = small ? "int32" : "int64";
  if (!value.is_number_integer()) return WrongType(value, go_type);
  const int64_t low =
      small ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int64_t>::min();
  const uint64_t high =
      small ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int64_t>::max();
  const bool fits =
      value.is_number_unsigned() ? value.get<uint64_t>() <= high : value.get<int64_t>() >= low;
  return fits || WrongType(value, go_type);
}

bool Fitter::FitQuantity(Json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  const Result<api::Quantity> quantity = api::Quantity::Parse(text);
  if (!quantity.ok()) {
    error_ = quantity.error().message;
    return false;
  }
  value = quantity->ToString();
  return true;
}

bool Fitter::FitTime(const SchemaField& field, Json& value) {
  if (!value.is_string()) return WrongType(value, "string");
  const bool micro = field.kind == Kind::kMicroTime;
  const std::string& text = value.get_ref<const std::string&>();
  const auto time =
      api::ParseTime(text, micro ? api::TimePrecision::kMicros : api::TimePrecision::kAny);
  if (time) {
    // Times that the clock cannot represent stay as they were written.
    if (text.size() < 5 || text.substr(0, 4) < "1679" || text.substr(0, 4) > "2260") return true;
    value = micro ? FormatMicroTime(*time) : FormatTime(*time);
    return true;
  }
  const std::string_view layout =
      micro ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00";
  error_ = "parsing time \"" + text + "\" as \"" + std::string(layout) + "\": cannot parse \"" +
           text + "\" as \"2006\"";
  return false;
}

bool Fitter::FitOne(const SchemaField& field, Json& value) {
  switch (field.kind) {
    case Kind::kString:
    case Kind::kBytes:
      return FitText(field, value);
    case Kind::kInt32:
    case Kind::kInt64:
      return FitInteger(field, value);
    case Kind::kFloat:
      return value.is_number() || WrongType(value, field.go_type);
    case Kind::kBool:
      return value.is_boolean() || WrongType(value, field.go_type);
    case Kind::kQuantity:
      return FitQuantity(value);
    case Kind::kIntOrString:
      return value.is_string() || FitInteger(field, value);
    case Kind::kTime:
    case Kind::kMicroTime:
      return FitTime(field, value);
    case Kind::kRaw:
    case Kind::kFields:
      return true;
    case Kind::kStrings:
      if (!value.is_array()) return WrongType(value, field.go_type);
      return std::all_of(value.begin(), value.end(), [this](const Json& text) {
        return text.is_string() || WrongType(text, "string");
      });
    case Kind::kStruct:
      if (!value.is_object()) return WrongType(value, field.go_type);
      return FitStruct(*field.type, value);
  }
  return true;
}

bool Fitter::FitField(const SchemaType& owner, const SchemaField& field, Json& value) {
  owner_ = owner.name;
  if (field.shape == Shape::kOne) return FitOne(field, value);
  const bool list = field.shape == Shape::kList;
  if (list ? !value.is_array() : !value.is_object()) return WrongType(value, GoTypeOf(field));
  size_t index = 0;
  for (auto it = value.begin(); it != value.end(); ++it, ++index) {
    const Step step(path_, list ? "[" + std::to_string(index) + "]" : it.key());
    owner_ = owner.name;
    if (it->is_null()) *it = ZeroOf({.kind = field.kind});
    if (!it->is_null() && !FitOne(field, *it)) return false;
  }
  return true;
}

// The name of the inlined struct that has the member, as Go's errors show it: "ProbeHandler.".
std::string InlinedPrefix(const SchemaType& type, const std::string& name) {
  for (const SchemaField& field : type.fields) {
    if (field.inlined && field.type->Find(name) != nullptr) return field.type->name + ".";
  }
  return "";
}

void Fitter::NoteUnknown(const std::string& name) {
  if (unknown_ == nullptr) return;
  std::string path;
  for (const std::string& step : path_) {
    path += (path.empty() || step.starts_with('[') ? "" : ".") + step;
  }
  unknown_->push_back(path + (path.empty() ? "" : ".") + name);
}

// `keep`: the member stays. False: error().
bool Fitter::FitMember(const SchemaType& type, const std::string& name, Json& value, bool* keep) {
  *keep = type.has_type_meta && (name == "kind" || name == "apiVersion");
  if (*keep) return true;
  const SchemaField* field = type.Find(name);
  if (field == nullptr) {
    NoteUnknown(name);
    return true;
  }
  const Step step(path_, name);
  const Step plain(plain_, InlinedPrefix(type, name) + name);
  if (!value.is_null() && !FitField(type, *field, value)) return false;
  *keep = !value.is_null() && (field->always || !IsZero(*field, value));
  return true;
}

bool Fitter::FitStruct(const SchemaType& type, Json& object) {
  for (auto it = object.begin(); it != object.end();) {
    bool keep = true;
    if (!FitMember(type, it.key(), *it, &keep)) return false;
    it = keep ? std::next(it) : object.erase(it);
  }
  AddZeros(type, object);
  return true;
}

}  // namespace

std::optional<std::string> Fit(const SchemaType& type, Json& object,
                               std::vector<std::string>* unknown) {
  if (!object.is_object()) return "not a JSON object";
  Fitter fitter(unknown);
  if (fitter.FitStruct(type, object)) return std::nullopt;
  return fitter.error();
}

}  // namespace ks::apiserver
