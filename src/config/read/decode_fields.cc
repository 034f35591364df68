// SPDX-License-Identifier: Apache-2.0
#include "config/read/decode_fields.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "api/selector.h"
#include "config/read/decode_hints.h"
#include "golang/base64.h"
#include "golang/durations.h"
#include "golang/quote.h"

namespace ks::config {
namespace {

// A hostile file gets no more of them; the first ones count.
constexpr size_t kMostErrors = 1000;

const Field* FindField(std::span<const Field> fields, std::string_view name) {
  const auto field = std::ranges::find_if(fields, [&](const Field& f) { return f.name == name; });
  return field == fields.end() ? nullptr : &*field;
}

}  // namespace

std::string Decoder::Path() const {
  if (base_.empty() || path_.empty()) return base_ + path_;
  return base_ + "." + path_;
}

void Decoder::Struct(const Value& value, std::string_view name, std::string_view type,
                     std::span<const Field> fields) {
  if (value.IsNull()) return;
  if (!value.IsMapping()) {
    TypeError(value, type);
    return;
  }
  std::set<std::string_view> seen;
  for (const Member* member : VisibleMembers(value, syntax_)) {
    const Field* field = FindField(fields, member->key);
    if (field == nullptr) {
      Unknown(*member, name, fields);
      continue;
    }
    if (!seen.insert(member->key).second) {
      AddStrictError(*member, "duplicate field", "keep one of them");
    }
    DecodeMember(*member, name, *field);
  }
}

void Decoder::DecodeMember(const Member& member, std::string_view name, const Field& field) {
  const size_t path = path_.size();
  const size_t go_path = go_path_.size();
  const std::string_view outer = std::exchange(struct_, name);
  (path_ += path == 0 ? "" : ".") += member.key;
  go_path_ += go_path == 0 ? "" : ".";
  if (!field.embedded_in.empty()) (go_path_ += field.embedded_in) += '.';
  go_path_ += member.key;
  source_.Add(Path(), member.place);
  if (field.decode) field.decode(member.value);
  struct_ = outer;
  path_.resize(path);
  go_path_.resize(go_path);
}

void Decoder::Unknown(const Member& member, std::string_view name, std::span<const Field> fields) {
  if (strict_errors_.size() >= kMostErrors) return;  // a hint costs more than the rest
  std::vector<std::string_view> names;
  for (const Field& field : fields) names.push_back(field.name);
  AddStrictError(member, "unknown field", UnknownFieldHint(name, member.key, names));
}

void Decoder::AddStrictError(const Member& member, std::string_view what, std::string hint) {
  if (strict_errors_.size() >= kMostErrors) return;
  const std::string at = path_ + (path_.empty() ? "" : ".") + member.key;
  std::string text = std::string(what) + " " + golang::Quote(at);
  if (!strict_texts_.insert(text).second) return;
  strict_errors_.push_back({.path = base_ + (base_.empty() ? "" : ".") + at,
                            .message = std::move(text),
                            .place = member.place,
                            .hint = std::move(hint)});
}

void Decoder::AddTypeError(const Value& value, std::string message, std::string hint) {
  if (type_errors_.size() >= kMostErrors) return;
  type_errors_.push_back({.path = Path(),
                          .message = std::move(message),
                          .place = value.place,
                          .hint = std::move(hint)});
}

void Decoder::TypeError(const Value& value, std::string_view type, bool wrong_number,
                        std::string hint) {
  std::string message = "json: cannot unmarshal " + std::string(KindName(value.kind));
  if (wrong_number) message += " " + value.text;
  message += " into Go struct field " + std::string(struct_) + "." + go_path_ + " of type " +
             std::string(type);
  if (hint.empty()) hint = TypeHint(value, type);
  AddTypeError(value, std::move(message), std::move(hint));
}

void Decoder::Bool(const Value& value, bool& target) {
  if (value.IsNull()) return;
  if (value.kind == Value::Kind::kBool) {
    target = value.boolean;
  } else {
    TypeError(value, "bool");
  }
}

template <class T>
bool Decoder::Integer(const Value& value, std::string_view type, T& target) {
  if (value.IsNull()) return false;
  if (value.kind != Value::Kind::kNumber) {
    TypeError(value, type);
    return false;
  }
  const std::string_view text = value.text == "-0" ? "0" : std::string_view(value.text);
  T number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    TypeError(value, type, true);
    return false;
  }
  target = number;
  return true;
}

void Decoder::Int32(const Value& value, int32_t& target) { Integer(value, "int32", target); }

void Decoder::Int64(const Value& value, int64_t& target) { Integer(value, "int64", target); }

void Decoder::Float32(const Value& value, float& target) {
  if (value.IsNull()) return;
  if (value.kind != Value::Kind::kNumber) {
    TypeError(value, "float32");
    return;
  }
  const std::string& text = value.text;
  float number = 0;
  const std::errc error = std::from_chars(text.data(), text.data() + text.size(), number).ec;
  if (error == std::errc::result_out_of_range) {
    // Too small counts as 0.
    if (std::abs(std::strtod(text.c_str(), nullptr)) > 1) {
      TypeError(value, "float32", true);
      return;
    }
    number = 0;
  }
  target = number;
}

void Decoder::String(const Value& value, std::string& target, std::string_view type) {
  if (value.IsNull()) return;
  if (value.IsString()) {
    target = value.text;
  } else {
    TypeError(value, type, false, StringHint(value));
  }
}

// A bad duration ends upstream's decoding, which then reports it and nothing of what it had noted.
void Decoder::PutLastErrorFirst() {
  if (ended_ || type_errors_.empty()) return;
  ended_ = true;
  std::rotate(type_errors_.begin(), type_errors_.end() - 1, type_errors_.end());
}

void Decoder::Time(const Value& value, Duration& target) {
  if (!value.IsNull() && !value.IsString()) {
    TypeError(value, "string", false, DurationHint(value));
    return PutLastErrorFirst();
  }
  const Result<Duration> duration = golang::ParseDuration(value.text);
  if (duration.ok()) {
    target = *duration;
  } else {
    AddTypeError(value, duration.error().message, DurationHint(value));
    PutLastErrorFirst();
  }
}

void Decoder::Bytes(const Value& value, std::string& target) {
  if (value.IsNull()) return;
  if (value.IsString()) {
    Result<std::string> bytes = golang::DecodeBase64(value.text);
    if (bytes.ok()) {
      target = *std::move(bytes);
    } else {
      AddTypeError(value, bytes.error().message, "the value must be the base64 text of the bytes");
    }
    return;
  }
  if (!value.IsList()) {
    TypeError(value, "[]uint8");
    return;
  }
  target.clear();
  for (const Value& item : value.items) {
    uint8_t byte = 0;
    Integer(item, "uint8", byte);
    target += static_cast<char>(byte);
  }
}

void Decoder::Strings(const Value& value, std::vector<std::string>& target) {
  List(value, "string", target,
       [this](const Value& item, std::string& text) { String(item, text); });
}

void Decoder::StringMap(const Value& value) {
  if (value.IsNull()) return;
  if (!value.IsMapping()) {
    TypeError(value, "map[string]string");
    return;
  }
  std::set<std::string_view> seen;
  for (const Member* member : VisibleMembers(value, syntax_)) {
    if (!seen.insert(member->key).second) {
      AddStrictError(*member, "duplicate field", "keep one of them");
    }
    std::string ignored;
    String(member->value, ignored);
  }
}

bool Decoder::BeginList(const Value& value, std::string_view element_type) {
  if (value.IsNull()) return false;
  if (value.IsList()) return true;
  TypeError(value, "[]" + std::string(element_type));
  return false;
}

// The length of the path to return to.
size_t Decoder::EnterElement(size_t index, Place place) {
  const size_t outer = path_.size();
  path_ += '[' + std::to_string(index) + ']';
  source_.Add(Path(), place);
  return outer;
}

}  // namespace ks::config
