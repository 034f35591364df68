// SPDX-License-Identifier: Apache-2.0
#include "config/text/yaml_plain.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

namespace ks::config {
namespace {

constexpr std::string_view kWords[] = {
    "",     "~",     "null",  "Null",  "NULL",  "y",     "Y",     "yes",   "Yes",  "YES",
    "true", "True",  "TRUE",  "on",    "On",    "ON",    "n",     "N",     "no",   "No",
    "NO",   "false", "False", "FALSE", "off",   "Off",   "OFF",   ".nan",  ".NaN", ".NAN",
    ".inf", ".Inf",  ".INF",  "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Takes text apart from the left.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool Done() const { return rest_.empty(); }
  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool TakeAny(std::string_view chars) {
    if (rest_.empty() || chars.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // The number of characters out of `chars` taken.
  size_t TakeAll(std::string_view chars) {
    const size_t count = std::min(rest_.find_first_not_of(chars), rest_.size());
    rest_.remove_prefix(count);
    return count;
  }
  // A number of `min` to `max` digits, taking as many as there are.
  std::optional<int> Number(size_t min, size_t max) {
    size_t count = 0;
    int value = 0;
    while (count < max && count < rest_.size() && IsDigit(rest_[count])) {
      value = value * 10 + (rest_[count++] - '0');
    }
    if (count < min) return std::nullopt;
    rest_.remove_prefix(count);
    return value;
  }

 private:
  std::string_view rest_;
};

constexpr std::string_view kDigits = "0123456789";

std::string WithoutUnderscores(std::string_view text) {
  std::string plain(text);
  std::erase(plain, '_');
  return plain;
}

// Decimal, 0x, 0b, 0o and 0 (octal), as far as 64 bits go, with or without sign.
bool IsInteger(std::string_view text) {
  const bool negative = text.starts_with('-');
  const bool positive = text.starts_with('+');
  if (negative || positive) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text.front() == '0') {
    const char letter = text[1] | 0x20;
    base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
    text.remove_prefix(base == 8 && letter != 'o' ? 1 : 2);
  }
  uint64_t value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value, base);
  if (text.empty() || error != std::errc() || end != last) return false;
  // Signed texts are read as 64-bit numbers with sign, others without, too.
  constexpr uint64_t kMin = uint64_t{1} << 63;
  return negative ? value <= kMin : !positive || value < kMin;
}

// Digits with a point and an exponent, finite.
bool IsFloat(const std::string& text) {
  Scanner scanner(text);
  scanner.TakeAny("+-");
  const size_t before = scanner.TakeAll(kDigits);
  const size_t after = scanner.Take('.') ? scanner.TakeAll(kDigits) : 0;
  if (before + after == 0) return false;
  if (scanner.TakeAny("eE")) {
    scanner.TakeAny("+-");
    if (scanner.TakeAll(kDigits) == 0) return false;
  }
  if (!scanner.Done()) return false;
  double value = 0;
  const char* first = text.data() + (text.front() == '+' ? 1 : 0);
  const auto error = std::from_chars(first, text.data() + text.size(), value).ec;
  // Out of range towards zero is a number.
  return error == std::errc() ||
         (error == std::errc::result_out_of_range && std::abs(std::strtod(first, nullptr)) < 1);
}

bool IsBase60(std::string_view text) {
  Scanner scanner(text);
  scanner.TakeAny("+-");
  if (scanner.TakeAll(kDigits) == 0) return false;
  scanner.TakeAll("0123456789_");
  bool colon = false;
  while (scanner.Take(':')) {
    colon = true;
    const std::optional<int> part = scanner.Number(1, 2);
    if (!part || *part > 59) return false;
  }
  if (scanner.Take('.')) scanner.TakeAll("0123456789_");
  return colon && scanner.Done();
}

bool TakeClock(Scanner& scanner) {
  const std::optional<int> hour = scanner.Number(1, 2);
  if (!hour || *hour > 23 || !scanner.Take(':')) return false;
  const std::optional<int> minute = scanner.Number(1, 2);
  if (!minute || *minute > 59 || !scanner.Take(':')) return false;
  const std::optional<int> second = scanner.Number(1, 2);
  if (!second || *second > 59) return false;
  return !scanner.TakeAny(".,") || scanner.TakeAll(kDigits) > 0;
}

bool TakeZone(Scanner& scanner) {
  if (scanner.Take('Z')) return true;
  if (!scanner.TakeAny("+-")) return false;
  const std::optional<int> hour = scanner.Number(2, 2);
  if (!hour || *hour > 24 || !scanner.Take(':')) return false;
  const std::optional<int> minute = scanner.Number(2, 2);
  return minute && *minute <= 60;
}

// 2006-1-2, "2006-1-2 15:4:5.9", 2006-1-2T15:4:5.9Z and with a lower-case t or an offset.
bool IsTimestamp(std::string_view text) {
  Scanner scanner(text);
  const std::optional<int> year = scanner.Number(4, 4);
  if (!year || !scanner.Take('-')) return false;
  const std::optional<int> month = scanner.Number(1, 2);
  if (!month || !scanner.Take('-')) return false;
  const std::optional<int> day = scanner.Number(1, 2);
  if (!day || !std::chrono::year_month_day(std::chrono::year(*year),
                                           std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day)))
                   .ok()) {
    return false;
  }
  if (scanner.Done()) return true;
  if (scanner.TakeAny("Tt")) return TakeClock(scanner) && TakeZone(scanner) && scanner.Done();
  return scanner.TakeAll(" ") > 0 && TakeClock(scanner) && scanner.Done();
}

}  // namespace

bool PlainIsString(std::string_view text) {
  if (std::find(std::begin(kWords), std::end(kWords), text) != std::end(kWords)) return false;
  const char first = text.front();
  if (first == '.') return !IsFloat(std::string(text));
  if (!IsDigit(first) && first != '+' && first != '-') return true;
  const std::string plain = WithoutUnderscores(text);
  return !IsTimestamp(text) && !IsInteger(plain) && !IsFloat(plain) && !IsBase60(text);
}

}  // namespace ks::config
