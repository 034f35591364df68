// SPDX-License-Identifier: Apache-2.0
#include "config/text/yaml_resolve.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "api/selector.h"
#include "golang/base64.h"
#include "golang/print_number.h"
#include "golang/quote.h"

namespace ks::config {
namespace {

constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";

constexpr std::string_view kNulls[] = {"", "~", "null", "Null", "NULL"};
constexpr std::string_view kTrue[] = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                      "True", "TRUE", "on",  "On",  "ON"};
constexpr std::string_view kFalse[] = {"n",     "N",     "no",  "No",  "NO", "false",
                                       "False", "FALSE", "off", "Off", "OFF"};
constexpr std::string_view kInfinities[] = {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"};
constexpr std::string_view kNegativeInfinities[] = {"-.inf", "-.Inf", "-.INF"};
constexpr std::string_view kNotANumbers[] = {".nan", ".NaN", ".NAN"};

template <size_t N>
bool Contains(const std::string_view (&list)[N], std::string_view text) {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

YamlScalar Float(double number) { return {.kind = YamlScalar::Kind::kFloat, .number = number}; }

YamlScalar Integer(std::string text) {
  return {.kind = YamlScalar::Kind::kInteger, .text = std::move(text)};
}

// The base that a prefix announces; takes the prefix off.
int TakeBase(std::string_view& digits) {
  if (digits.size() < 2 || digits[0] != '0') return 10;
  const char letter = static_cast<char>(digits[1] | 0x20);
  const int base = letter == 'x' ? 16 : letter == 'b' ? 2 : letter == 'o' ? 8 : 0;
  if (base == 0 || digits.size() < 3) {
    digits.remove_prefix(1);
    return 8;
  }
  digits.remove_prefix(2);
  return base;
}

// 12, +12, -12, 0x10, 0b101, 020 and 0o20 (octal); underscores are gone already. Unsigned numbers
// may use all 64 bits.
std::optional<YamlScalar> ParseInteger(std::string_view text) {
  const bool negative = text.starts_with('-');
  const bool sign = negative || text.starts_with('+');
  std::string_view digits = text.substr(sign ? 1 : 0);
  const int base = TakeBase(digits);
  uint64_t value = 0;
  const char* last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, value, base);
  if (digits.empty() || error != std::errc() || end != last) return std::nullopt;
  const uint64_t most = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (sign && value > most + (negative ? 1 : 0)) return std::nullopt;
  return Integer((negative && value != 0 ? "-" : "") + std::to_string(value));
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool LooksLikeFloat(std::string_view text) {
  size_t at = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const auto digits = [&] {
    const size_t start = at;
    while (at < text.size() && IsDigit(text[at])) ++at;
    return at - start;
  };
  const size_t whole = digits();
  size_t fraction = 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    fraction = digits();
  }
  if (whole == 0 && fraction == 0) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

// Numbers beyond double's range are none.
std::optional<YamlScalar> ParseFloat(std::string_view text) {
  if (!LooksLikeFloat(text)) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    // Too small counts as 0, too large does not count.
    if (std::isinf(std::strtod(std::string(text).c_str(), nullptr))) return std::nullopt;
    value = text.starts_with('-') ? -0.0 : 0.0;
  }
  return Float(value);
}

std::optional<YamlScalar> ParseNumber(std::string_view text) {
  const char first = text.front();
  if (first == '.') return ParseFloat(text);
  if (first != '-' && first != '+' && !IsDigit(first)) return std::nullopt;
  std::string digits(text);
  std::erase(digits, '_');
  if (std::optional<YamlScalar> integer = ParseInteger(digits)) return integer;
  return ParseFloat(digits);
}

YamlScalar ResolvePlain(std::string_view text) {
  if (Contains(kNulls, text)) return {.kind = YamlScalar::Kind::kNull};
  if (Contains(kTrue, text)) return {.kind = YamlScalar::Kind::kBool, .boolean = true};
  if (Contains(kFalse, text)) return {.kind = YamlScalar::Kind::kBool, .boolean = false};
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (Contains(kInfinities, text)) return Float(kInfinity);
  if (Contains(kNegativeInfinities, text)) return Float(-kInfinity);
  if (Contains(kNotANumbers, text)) return Float(std::numeric_limits<double>::quiet_NaN());
  if (std::optional<YamlScalar> number = ParseNumber(text)) return *std::move(number);
  return {.text = std::string(text)};
}

std::string_view TagOf(YamlScalar::Kind kind) {
  switch (kind) {
    case YamlScalar::Kind::kNull:
      return "null";
    case YamlScalar::Kind::kBool:
      return "bool";
    case YamlScalar::Kind::kInteger:
      return "int";
    case YamlScalar::Kind::kFloat:
      return "float";
    case YamlScalar::Kind::kString:
      break;
  }
  return "str";
}

// YYYY-M-D, alone or before a time.
bool StartsWithDate(std::string_view text) {
  constexpr size_t kMost[] = {4, 2, 2};
  size_t at = 0;
  for (size_t part = 0; part < 3; ++part) {
    const size_t start = at;
    while (at < text.size() && at - start < kMost[part] && IsDigit(text[at])) ++at;
    if (at == start || (part == 0 && at != 4)) return false;
    if (part < 2 && (at == text.size() || text[at++] != '-')) return false;
  }
  return at == text.size() || text[at] == 'T' || text[at] == 't' || text[at] == ' ';
}

}  // namespace

Result<YamlScalar> ResolveScalar(std::string_view tag, std::string_view text) {
  if (tag.empty()) return ResolvePlain(text);
  const bool core = tag.starts_with(kTagPrefix);
  const std::string_view name = core ? tag.substr(kTagPrefix.size()) : tag;
  if (core && name == "binary") {
    Result<std::string> bytes = golang::DecodeBase64(text);
    if (!bytes.ok()) return Error{"!!binary value contains invalid base64 data"};
    return YamlScalar{.text = *std::move(bytes)};
  }
  constexpr std::string_view kChecked[] = {"null", "bool", "int", "float", "timestamp"};
  if (!core || !Contains(kChecked, name)) return YamlScalar{.text = std::string(text)};

  YamlScalar scalar = ResolvePlain(text);
  if (name == "timestamp") {
    if (StartsWithDate(text)) return YamlScalar{.text = std::string(text)};
  } else if (name == TagOf(scalar.kind)) {
    return scalar;
  } else if (name == "float" && scalar.kind == YamlScalar::Kind::kInteger) {
    return Float(std::strtod(scalar.text.c_str(), nullptr));
  }
  return Error{"cannot decode !!" + std::string(TagOf(scalar.kind)) + " `" + std::string(text) +
               "` as a !!" + std::string(name)};
}

std::string KeyText(const YamlScalar& scalar) {
  switch (scalar.kind) {
    case YamlScalar::Kind::kNull:
      break;
    case YamlScalar::Kind::kBool:
      return scalar.boolean ? "true" : "false";
    case YamlScalar::Kind::kInteger:
    case YamlScalar::Kind::kString:
      return scalar.text;
    case YamlScalar::Kind::kFloat:
      return golang::YamlFloatText(static_cast<float>(scalar.number));
  }
  return "";
}

std::string GoSyntax(const YamlScalar& scalar) {
  switch (scalar.kind) {
    case YamlScalar::Kind::kNull:
      return "<nil>";
    case YamlScalar::Kind::kBool:
      return scalar.boolean ? "true" : "false";
    case YamlScalar::Kind::kInteger:
      return scalar.text;
    case YamlScalar::Kind::kFloat:
      return golang::YamlFloatText(scalar.number);
    case YamlScalar::Kind::kString:
      break;
  }
  return golang::Quote(scalar.text);
}

}  // namespace ks::config
