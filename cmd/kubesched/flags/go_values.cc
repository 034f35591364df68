// SPDX-License-Identifier: Apache-2.0
#include "kubesched/flags/go_values.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <system_error>

namespace ks::flags {
namespace {

Error NumberError(const char* function, const std::string& text, bool range) {
  return Error{std::string("strconv.") + function + ": parsing " + Quote(text) + ": " +
               (range ? "value out of range" : "invalid syntax")};
}

int DigitValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

// Takes a prefix of base 0 off `digits`.
int TakeBase(std::string_view& digits) {
  if (digits.size() < 2 || digits[0] != '0') return 10;
  const char letter = static_cast<char>(digits[1] | 0x20);
  const int base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
  if (base == 0) {
    digits.remove_prefix(1);
    return 8;
  }
  digits.remove_prefix(2);
  return base;
}

enum class Outcome { kOk, kSyntax, kRange };

// Digits without a sign. Underscores only in base 0 and only between digits or behind the prefix.
Outcome ReadDigits(std::string_view digits, int base, uint64_t& value) {
  const bool any_base = base == 0;
  bool separable = false;  // may an underscore follow here
  if (any_base) {
    const size_t before = digits.size();
    base = TakeBase(digits);
    separable = digits.size() != before;
  }
  if (digits.empty()) return Outcome::kSyntax;
  bool overflow = false;
  value = 0;
  for (const char c : digits) {
    if (c == '_' && any_base && separable) {
      separable = false;
      continue;
    }
    const int digit = DigitValue(c);
    if (digit >= base) return Outcome::kSyntax;
    separable = true;
    overflow = overflow || __builtin_mul_overflow(value, static_cast<uint64_t>(base), &value) ||
               __builtin_add_overflow(value, static_cast<uint64_t>(digit), &value);
  }
  if (digits.back() == '_') return Outcome::kSyntax;
  return overflow ? Outcome::kRange : Outcome::kOk;
}

struct Unit {
  std::string_view name;
  double nanoseconds;
};
constexpr std::array<Unit, 8> kUnits = {{{"ns", 1},
                                         {"us", 1e3},
                                         {"\u00b5s", 1e3},
                                         {"\u03bcs", 1e3},
                                         {"ms", 1e6},
                                         {"s", 1e9},
                                         {"m", 60e9},
                                         {"h", 3600e9}}};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

size_t CountDigits(std::string_view text) {
  size_t count = 0;
  while (count < text.size() && IsDigit(text[count])) ++count;
  return count;
}

// A whole number of a duration; false beyond what fits.
bool ReadWhole(std::string_view digits, uint64_t& value) {
  value = 0;
  if (digits.empty()) return true;
  return std::from_chars(digits.data(), digits.data() + digits.size(), value).ec == std::errc();
}

// "1.5h" at the start of `rest`, added to `total`. Returns what is wrong, if anything.
std::optional<Error> TakeTerm(std::string_view& rest, uint64_t& total, const std::string& all) {
  const Error invalid{"time: invalid duration " + Quote(all)};
  const size_t whole_size = CountDigits(rest);
  uint64_t whole = 0;
  if (!ReadWhole(rest.substr(0, whole_size), whole)) return invalid;
  rest.remove_prefix(whole_size);
  std::string_view fraction;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    fraction = rest.substr(0, CountDigits(rest));
    rest.remove_prefix(fraction.size());
  }
  if (whole_size == 0 && fraction.empty()) return invalid;
  size_t unit_size = 0;
  while (unit_size < rest.size() && rest[unit_size] != '.' && !IsDigit(rest[unit_size])) {
    ++unit_size;
  }
  if (unit_size == 0) return Error{"time: missing unit in duration " + Quote(all)};
  const std::string_view name = rest.substr(0, unit_size);
  rest.remove_prefix(unit_size);
  for (const Unit& unit : kUnits) {
    if (unit.name != name) continue;
    uint64_t term = 0;
    if (__builtin_mul_overflow(whole, static_cast<uint64_t>(unit.nanoseconds), &term)) {
      return invalid;
    }
    double part = 0;
    double scale = unit.nanoseconds;
    for (const char c : fraction) part += (c - '0') * (scale /= 10);
    if (__builtin_add_overflow(term, static_cast<uint64_t>(part + 1e-6), &term) ||
        __builtin_add_overflow(total, term, &total) || total > uint64_t{1} << 63) {
      return invalid;
    }
    return std::nullopt;
  }
  return Error{"time: unknown unit " + Quote(name) + " in duration " + Quote(all)};
}

// Reads one field of a CSV record from `rest`; `more`: a comma follows. Columns count bytes from 1.
std::optional<Error> TakeField(std::string_view line, size_t& at, std::string& field, bool& more) {
  const auto wrong = [](size_t column, const char* what) {
    return Error{"parse error on line 1, column " + std::to_string(column + 1) + ": " + what};
  };
  if (at >= line.size() || line[at] != '"') {
    const size_t end = std::min(line.find(',', at), line.size());
    field = std::string(line.substr(at, end - at));
    if (const size_t quote = field.find('"'); quote != std::string::npos) {
      return wrong(at + quote, "bare \" in non-quoted-field");
    }
    more = end < line.size();
    at = end + 1;
    return std::nullopt;
  }
  ++at;
  while (true) {
    const size_t quote = line.find('"', at);
    if (quote == std::string_view::npos) {
      return wrong(line.size(), "extraneous or missing \" in quoted-field");
    }
    field += line.substr(at, quote - at);
    at = quote + 1;
    if (at < line.size() && line[at] == '"') {
      field += '"';
      ++at;
    } else if (at >= line.size() || line[at] == ',') {
      more = at < line.size();
      ++at;
      return std::nullopt;
    } else {
      return wrong(quote, "extraneous or missing \" in quoted-field");
    }
  }
}

}  // namespace

std::string Quote(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  static constexpr std::string_view kPlain = "\a\b\f\n\r\t\v\"\\";
  static constexpr std::string_view kLetters = "abfnrtv\"\\";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (const size_t known = kPlain.find(c); known != std::string_view::npos) {
      quoted += '\\';
      quoted += kLetters[known];
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += "\\x";
      quoted += kHex[byte >> 4];
      quoted += kHex[byte & 15];
    } else {
      quoted += c;
    }
  }
  return quoted += '"';
}

Result<bool> ParseBool(const std::string& text) {
  for (const std::string_view word : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == word) return true;
  }
  for (const std::string_view word : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == word) return false;
  }
  return NumberError("ParseBool", text, false);
}

Result<int64_t> ParseInt(const std::string& text, int base, int bits) {
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  uint64_t value = 0;
  const Outcome outcome = ReadDigits(digits, base, value);
  if (outcome == Outcome::kSyntax) return NumberError("ParseInt", text, false);
  const uint64_t limit = uint64_t{1} << (bits - 1);
  if (outcome == Outcome::kRange || value > (negative ? limit : limit - 1)) {
    return NumberError("ParseInt", text, true);
  }
  return static_cast<int64_t>(negative ? ~value + 1 : value);
}

Result<uint64_t> ParseUint(const std::string& text, int base, int bits) {
  uint64_t value = 0;
  const Outcome outcome = ReadDigits(text, base, value);
  if (outcome == Outcome::kSyntax) return NumberError("ParseUint", text, false);
  if (outcome == Outcome::kRange || (bits < 64 && value >> bits != 0)) {
    return NumberError("ParseUint", text, true);
  }
  return value;
}

Result<float> ParseFloat32(const std::string& text) {
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  float value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || digits.starts_with('+') ||
      (digits.size() < text.size() && digits.starts_with('-')) ||
      end != digits.data() + digits.size() || error == std::errc::invalid_argument) {
    return NumberError("ParseFloat", text, false);
  }
  if (error == std::errc::result_out_of_range && digits.find("e-") == std::string_view::npos) {
    return NumberError("ParseFloat", text, true);
  }
  return value;
}

Result<Duration> ParseDuration(const std::string& text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest == "0") return Duration(0);
  if (rest.empty()) return Error{"time: invalid duration " + Quote(text)};
  uint64_t total = 0;
  while (!rest.empty()) {
    if (auto error = TakeTerm(rest, total, text)) return *error;
  }
  if (!negative && total > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return Error{"time: invalid duration " + Quote(text)};
  }
  return Duration(static_cast<int64_t>(negative ? ~total + 1 : total));
}

Result<std::vector<std::string>> ParseCsv(const std::string& text) {
  std::vector<std::string> values;
  if (text.empty()) return values;
  const std::string_view line = std::string_view(text).substr(0, text.find('\n'));
  if (line.empty()) return Error{"EOF"};
  size_t at = 0;
  bool more = true;
  while (more) {
    std::string field;
    if (auto error = TakeField(line, at, field, more)) return *error;
    values.push_back(std::move(field));
  }
  return values;
}

std::string JoinCsv(const std::vector<std::string>& values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string& value = values[i];
    if (i > 0) text += ',';
    const bool quote = value.find_first_of(",\"\r\n") != std::string::npos || value == "\\." ||
                       value.starts_with(' ') || value.starts_with('\t');
    if (!quote) {
      text += value;
      continue;
    }
    text += '"';
    for (const char c : value) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    text += '"';
  }
  return text;
}

std::string FormatFloat32(float value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 64> buffer;
  const float size = std::fabs(value);
  const bool exponent = size != 0 && (size < 1e-4F || size >= 1e21F);
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                    exponent ? std::chars_format::scientific : std::chars_format::fixed)
          .ptr;
  return {buffer.data(), end};
}

}  // namespace ks::flags
