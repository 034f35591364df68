// SPDX-License-Identifier: Apache-2.0
#include "config/yaml_scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace ks::config {
namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

constexpr std::string_view kNulls[] = {"", "~", "null", "Null", "NULL"};
constexpr std::string_view kTrue[] = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                      "True", "TRUE", "on",  "On",  "ON"};
constexpr std::string_view kFalse[] = {"n",     "N",     "no",  "No",  "NO", "false",
                                       "False", "FALSE", "off", "Off", "OFF"};

template <size_t N>
bool Contains(const std::string_view (&list)[N], std::string_view text) {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}

// 12, +12, -12, 1_000, 0x10, 0b101, 020 and 0o20 (octal). Beyond 64 bits: none.
std::optional<int64_t> ParseInteger(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  std::string_view rest = digits;
  const bool negative = TakePrefix(rest, "-");
  if (!negative) {
    TakePrefix(rest, "+");
  }
  int base = 10;
  if (TakePrefix(rest, "0x")) {
    base = 16;
  } else if (TakePrefix(rest, "0b")) {
    base = 2;
  } else if (TakePrefix(rest, "0o") || (rest.size() > 1 && rest[0] == '0')) {
    base = 8;
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
  if (rest.empty() || error != std::errc() || end != rest.data() + rest.size()) {
    return std::nullopt;
  }
  const uint64_t limit = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (value > limit + (negative ? 1 : 0)) {
    return std::nullopt;
  }
  return static_cast<int64_t>(negative ? 0 - value : value);
}

// from_chars takes "inf", "nan" and no '+': only digits, one point and an exponent are let through.
std::optional<double> ParseFloat(std::string_view text) {
  std::string_view rest = text;
  const bool negative = TakePrefix(rest, "-");
  if (!negative) {
    TakePrefix(rest, "+");
  }
  if (rest == ".inf" || rest == ".Inf" || rest == ".INF") {
    return negative ? -std::numeric_limits<double>::infinity()
                    : std::numeric_limits<double>::infinity();
  }
  if (rest == ".nan" || rest == ".NaN" || rest == ".NAN") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  std::string digits(rest);
  std::erase(digits, '_');
  if (digits.starts_with('-') || digits.starts_with('+') ||
      digits.find_first_not_of("0123456789.eE+-") != std::string::npos ||
      digits.find_first_of("0123456789") == std::string::npos) {
    return std::nullopt;
  }
  double value = 0;
  const char* last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, value);
  if (end != last || error == std::errc::invalid_argument) {
    return std::nullopt;
  }
  if (error == std::errc::result_out_of_range) {
    value = std::numeric_limits<double>::infinity();
  }
  return negative ? -value : value;
}

}  // namespace

Scalar ResolvePlainScalar(std::string_view text, Syntax syntax) {
  Scalar scalar;
  if (Contains(kNulls, text)) {
    scalar.kind = Scalar::Kind::kNull;
    return scalar;
  }
  if (Contains(kTrue, text) || Contains(kFalse, text)) {
    scalar.kind = Scalar::Kind::kBool;
    scalar.boolean = Contains(kTrue, text);
    return scalar;
  }
  if (const std::optional<int64_t> integer = ParseInteger(text)) {
    scalar.kind = Scalar::Kind::kInteger;
    scalar.integer = *integer;
    scalar.number = static_cast<double>(*integer);
    return scalar;
  }
  const std::optional<double> number = ParseFloat(text);
  if (!number) {
    return scalar;
  }
  scalar.kind = Scalar::Kind::kFloat;
  scalar.number = *number;
  const bool integral = std::trunc(*number) == *number && std::fabs(*number) < kTwoTo63;
  if (integral && syntax == Syntax::kYaml) {
    scalar.kind = Scalar::Kind::kInteger;
    scalar.integer = static_cast<int64_t>(*number);
  }
  return scalar;
}

}  // namespace ks::config
