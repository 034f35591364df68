// SPDX-License-Identifier: Apache-2.0
#include "api/json/json_reader.h"

#include <functional>
#include <limits>

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

void JsonReader::Reset() {
  path_.clear();
  cause_.clear();
}

Error JsonReader::TakeError() {
  return Error{path_.empty() ? std::move(cause_) : fmt::format("{}: {}", path_, cause_)};
}

bool JsonReader::Fail(std::string_view cause) {
  path_.clear();
  cause_ = cause;
  return false;
}

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

bool JsonReader::Text(Value value, std::string_view& out) {
  const simdjson::error_code error = value.get_string().get(out);
  if (!error) return true;
  out = {};
  json_type type{};
  if (!value.type().get(type) && type == json_type::string) return Fail(error);
  bool is_null = false;
  return IsNull(value, is_null) && (is_null || FailType(value, "a string"));
}

bool JsonReader::String(Value value, std::string& out) {
  std::string_view text;
  if (!Text(value, text)) return false;
  out = text;
  return true;
}

bool JsonReader::Sym(Value value, Symbol& out) {
  std::string_view text;
  if (!Text(value, text)) return false;
  out = Intern(text);
  return true;
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
    return Fail("must be an integer within the range of its type");
  }
  bool is_null = false;
  return IsNull(value, is_null) && (is_null || FailType(value, "an integer"));
}

bool JsonReader::Int32(Value value, int32_t& out) {
  int64_t wide = 0;
  out = 0;
  if (!Int64(value, wide)) return false;
  if (wide < std::numeric_limits<int32_t>::min() || wide > std::numeric_limits<int32_t>::max()) {
    return Fail("must be an integer within the range of its type");
  }
  out = static_cast<int32_t>(wide);
  return true;
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

bool JsonReader::TimeOf(Value value, std::optional<TimePoint>& out, TimePrecision precision) {
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

bool JsonReader::Time(Value value, std::optional<TimePoint>& out) {
  return TimeOf(value, out, TimePrecision::kAny);
}

bool JsonReader::MicroTime(Value value, std::optional<TimePoint>& out) {
  return TimeOf(value, out, TimePrecision::kMicros);
}

bool JsonReader::Strings(Value value, std::vector<std::string>& out) {
  return List(value, out, [&](Value element, std::string& text) { return String(element, text); });
}

bool JsonReader::Syms(Value value, std::vector<Symbol>& out) {
  return List(value, out, [&](Value element, Symbol& symbol) { return Sym(element, symbol); });
}

template <class V, class Read>
bool JsonReader::Map(Value value, SymbolMap<V>& out, std::vector<std::pair<Symbol, V>>& scratch,
                     Read&& read) {
  scratch.clear();
  const bool ok = Object(value, [&](std::string_view key, Value item) {
    return read(item, scratch.emplace_back(Intern(key), V()).second);
  });
  out.Assign(scratch);
  return ok;
}

bool JsonReader::SymMap(Value value, LabelMap& out) {
  return Map(value, out, label_scratch_,
             [&](Value item, Symbol& symbol) { return Sym(item, symbol); });
}

bool JsonReader::StringMap(Value value, SymbolMap<std::string>& out) {
  return Map(value, out, string_scratch_,
             [&](Value item, std::string& text) { return String(item, text); });
}

bool JsonReader::Resources(Value value, ResourceList& out) {
  return Map(value, out, resource_scratch_,
             [&](Value item, Quantity& quantity) { return ReadQuantity(item, quantity); });
}

Symbol JsonReader::Intern(std::string_view text) {
  if (text.empty()) return Symbol();
  Symbol& cached = symbols_[std::hash<std::string_view>()(text) % symbols_.size()];
  if (cached.view() != text) cached = Symbol(text);
  return cached;
}

void JsonReader::AddKeyToPath(std::string_view key) {
  std::string path(key);
  if (!path_.empty() && path_.front() != '[') path += '.';
  path_.insert(0, path);
}

void JsonReader::AddIndexToPath(size_t index) {
  path_.insert(0, fmt::format("[{}]{}", index, path_.empty() || path_.front() == '[' ? "" : "."));
}

}  // namespace ks::api
