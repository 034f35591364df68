// SPDX-License-Identifier: Apache-2.0
#include "api/decode/json_reader.h"

#include <fmt/format.h>

#include "api/selector.h"
#include "golang/quote.h"

namespace ks::api {

bool internal::ReadKey(simdjson::ondemand::field& field, std::string_view& key,
                       simdjson::error_code& error) {
  const char* const raw = field.key().raw();
  size_t length = 0;
  while (raw[length] != '"' && raw[length] != '\\') ++length;
  if (raw[length] == '"') {
    key = std::string_view(raw, length);
    return true;
  }
  error = field.unescaped_key().get(key);
  return error == simdjson::SUCCESS;
}

namespace {

using simdjson::ondemand::json_type;

std::string_view TypeName(json_type type) {
  switch (type) {
    case json_type::array:
      return "an array";
    case json_type::object:
      return "an object";
    case json_type::number:
      return "a number";
    case json_type::string:
      return "a string";
    case json_type::boolean:
      return "a boolean";
    case json_type::null:
      return "null";
  }
  return "something else";
}

std::string_view Trim(std::string_view text, std::string_view blanks) {
  const size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace

bool JsonReader::Fail(simdjson::error_code code) {
  return Fail(fmt::format("invalid JSON: {}", simdjson::error_message(code)));
}

bool JsonReader::FailType(Value value, std::string_view wanted) {
  json_type type{};
  if (const simdjson::error_code error = value.type().get(type)) return Fail(error);
  return Fail(fmt::format("must be {}, not {}", wanted, TypeName(type)));
}

bool JsonReader::IsNull(Value value, bool& is_null) {
  json_type type{};
  is_null = false;
  if (const simdjson::error_code error = value.type().get(type)) return Fail(error);
  if (type != json_type::null) return true;
  const simdjson::error_code error = value.is_null().get(is_null);
  if (error) return Fail(error);
  return is_null || Fail("invalid JSON: not a value");
}

bool JsonReader::IsObject(Value value) {
  json_type type{};
  return !value.type().get(type) && type == json_type::object;
}

bool JsonReader::ObjectText(Value value, Members& object, std::string_view& text) {
  if (value.get_object().get(object) != simdjson::SUCCESS) return FailType(value, "an object");
  simdjson::error_code error = object.raw_json().get(text);
  if (!error) error = object.reset().error();
  if (error) return Fail(error);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  return true;
}

bool JsonReader::ObjectJson(Value value, std::string& json) {
  Members object;
  std::string_view text;
  const bool ok = ObjectText(value, object, text);
  json = text;
  return ok;
}

bool JsonReader::NonEmpty(Value value, bool& non_empty) {
  const auto found = [&] {
    non_empty = true;
    return true;
  };
  json_type type{};
  if (const simdjson::error_code error = value.type().get(type)) return Fail(error);
  if (type == json_type::array) return Array(value, [&](Value) { return found(); });
  if (type == json_type::object) {
    return Object(value, [&](std::string_view, Value) { return found(); });
  }
  if (type == json_type::boolean) {
    bool flag = false;
    return Bool(value, flag) && (!flag || found());
  }
  std::string_view text;
  return Text(value, text) && (text.empty() || found());
}

bool JsonReader::Text(Value value, std::string_view& out) {
  const simdjson::error_code error = value.get_string().get(out);
  if (!error) return true;
  out = {};
  json_type type{};
  if (!value.type().get(type) && type == json_type::string) return Fail(error);
  bool is_null = false;
  return IsNull(value, is_null) && (is_null || FailType(value, "a string"));
}

bool JsonReader::Bool(Value value, bool& out) {
  if (!value.get_bool().get(out)) return true;
  out = false;
  bool is_null = false;
  return IsNull(value, is_null) && (is_null || FailType(value, "a boolean"));
}

bool JsonReader::Int64(Value value, int64_t& out) {
  if (!value.get_int64().get(out)) return true;
  out = 0;
  json_type type{};
  if (!value.type().get(type) && type == json_type::number) {
    return Fail(kOutOfRange);
  }
  bool is_null = false;
  return IsNull(value, is_null) && (is_null || FailType(value, "an integer"));
}

// The text between the quotes is taken raw (docs/spec/api.md 3.5), hence the token instead of the
// string.
bool JsonReader::ReadQuantity(Value value, Quantity& out) {
  out = Quantity();
  std::string_view token = Trim(value.raw_json_token(), " \t\r\n");
  if (token == "null") return true;
  if (token.size() >= 2 && token.front() == '"') {
    token = Trim(token.substr(1, token.find_last_of('"') - 1), " ");
  }
  Result<Quantity> parsed = Quantity::Parse(token);
  if (!parsed.ok()) return Fail(parsed.error().message);
  out = *std::move(parsed);
  return true;
}

bool JsonReader::TimeOf(Value value, OptionalTime& out, TimePrecision precision) {
  out.reset();
  std::string_view text;
  bool is_null = false;
  if (!IsNull(value, is_null)) return false;
  if (is_null) return true;
  if (!Text(value, text)) return false;
  constexpr std::string_view kUnset = "0001-01-01T00:00:00Z";
  if (text == kUnset) return true;
  out = ParseTime(text, precision);
  if (out) return true;
  return Fail(fmt::format("{} is no time: RFC 3339 is wanted, as in {}", golang::Quote(text),
                          precision == TimePrecision::kMicros ? "2026-01-02T03:04:05.000000Z"
                                                              : "2026-01-02T03:04:05Z"));
}

bool JsonReader::Time(Value value, OptionalTime& out) {
  return TimeOf(value, out, TimePrecision::kAny);
}

bool JsonReader::MicroTime(Value value, OptionalTime& out) {
  return TimeOf(value, out, TimePrecision::kMicros);
}

}  // namespace ks::api
