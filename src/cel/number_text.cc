// SPDX-License-Identifier: Apache-2.0
#include "cel/number_text.h"

#include <cctype>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "golang/print_number.h"

namespace ks::cel {
namespace {

// Go allows underscores between digits, and before the first one behind a prefix. None: one is
// elsewhere.
std::optional<std::string> WithoutUnderscores(std::string_view text, bool hex) {
  std::string plain;
  char before = 'x';
  const auto is_digit = [hex](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (hex ? std::isxdigit(byte) : std::isdigit(byte)) != 0;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '_') {
      const bool after = i + 1 < text.size() && is_digit(text[i + 1]);
      if (!after || !(is_digit(before) || (hex && i == 0))) return std::nullopt;
    } else {
      plain += text[i];
    }
    before = text[i];
  }
  return plain;
}

// Requires: no sign, no prefix.
std::optional<double> ReadDigits(std::string_view text, std::chars_format format) {
  // "inf" and "nan" were read before; here they would be letters too many.
  if (text.empty() || !(std::isxdigit(static_cast<unsigned char>(text[0])) || text[0] == '.')) {
    return std::nullopt;
  }
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data(), end, value, format);
  if (at != end || code == std::errc::invalid_argument) return std::nullopt;
  if (code != std::errc::result_out_of_range) return value;
  // Too large or too small: the library does not say.
  const size_t mark = text.find_first_of(format == std::chars_format::hex ? "pP" : "eE");
  const bool small =
      mark != std::string_view::npos && mark + 1 < text.size() && text[mark + 1] == '-';
  return small || text.starts_with("0.") ? std::optional<double>(0) : std::nullopt;
}

}  // namespace

std::string DoubleText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Inf" : "+Inf";
  return golang::YamlFloatText(value);
}

std::optional<double> ReadDouble(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const std::string lower = LowerCase(text);
  std::optional<double> value;
  if (lower == "inf" || lower == "infinity") {
    value = HUGE_VAL;
  } else if (lower == "nan") {
    value = std::nan("");
  } else if (lower.starts_with("0x")) {
    const std::optional<std::string> digits = WithoutUnderscores(text.substr(2), true);
    const bool exponent = lower.find('p') != std::string::npos;  // Go demands it
    if (digits && exponent) value = ReadDigits(*digits, std::chars_format::hex);
  } else {
    const std::optional<std::string> digits = WithoutUnderscores(text, false);
    if (digits) value = ReadDigits(*digits, std::chars_format::general);
  }
  if (value && negative) value = -*value;
  return value;
}

}  // namespace ks::cel
