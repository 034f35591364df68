// SPDX-License-Identifier: Apache-2.0
#include "golang/print_number.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace ks::golang {
namespace {

// value = 0.d1d2d3… times ten to the `point`; digits has no trailing zeros but at least one digit.
struct Shortest {
  bool negative = false;
  std::string digits;
  int point = 0;
};

template <class Float>
Shortest Digits(Float value) {
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<size_t>(end - buffer));
  Shortest shortest;
  shortest.negative = text.front() == '-';
  if (shortest.negative) text.remove_prefix(1);
  const size_t e = text.find('e');
  for (const char c : text.substr(0, e)) {
    if (c != '.') shortest.digits += c;
  }
  std::string_view exponent = text.substr(e + 1);
  if (exponent.front() == '+') exponent.remove_prefix(1);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), shortest.point);
  shortest.point += 1;
  return shortest;
}

std::string WithExponent(const Shortest& shortest, bool two_digits) {
  std::string text = shortest.negative ? "-" : "";
  text += shortest.digits[0];
  if (shortest.digits.size() > 1) text += "." + shortest.digits.substr(1);
  const int exponent = shortest.point - 1;
  const std::string digits = std::to_string(std::abs(exponent));
  text += exponent < 0 ? "e-" : "e+";
  if (two_digits && digits.size() < 2) text += '0';
  return text + digits;
}

std::string Plain(const Shortest& shortest) {
  std::string text = shortest.negative ? "-" : "";
  const int count = static_cast<int>(shortest.digits.size());
  if (shortest.point <= 0) {
    text += "0." + std::string(static_cast<size_t>(-shortest.point), '0') + shortest.digits;
  } else if (shortest.point >= count) {
    text += shortest.digits + std::string(static_cast<size_t>(shortest.point - count), '0');
  } else {
    const auto point = static_cast<size_t>(shortest.point);
    text += shortest.digits.substr(0, point) + "." + shortest.digits.substr(point);
  }
  return text;
}

template <class Float>
std::string JsonText(Float value) {
  if (!std::isfinite(value)) return "null";
  if (value == 0) return std::signbit(value) ? "-0" : "0";
  const Shortest shortest = Digits(value);
  // The limits are those of the number's own precision: 1e21f is above 1e21.
  const Float size = std::abs(value);
  const bool exponent = size < static_cast<Float>(1e-6) || size >= static_cast<Float>(1e21);
  // e-09 becomes e-9; positive exponents have two digits anyway.
  return exponent ? WithExponent(shortest, false) : Plain(shortest);
}

template <class Float>
std::string YamlText(Float value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value < 0 ? "-.inf" : ".inf";
  if (value == 0) return std::signbit(value) ? "-0" : "0";
  const Shortest shortest = Digits(value);
  const int exponent = shortest.point - 1;
  return exponent < -4 || exponent >= 6 ? WithExponent(shortest, true) : Plain(shortest);
}

}  // namespace

std::string YamlFloatText(double value) { return YamlText(value); }
std::string YamlFloatText(float value) { return YamlText(value); }
std::string JsonFloatText(double value) { return JsonText(value); }
std::string JsonFloatText(float value) { return JsonText(value); }

}  // namespace ks::golang
