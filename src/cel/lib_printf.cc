// SPDX-License-Identifier: Apache-2.0
// `format`: upstream's old version, which prints as English readers expect it.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "cel/format_clause.h"
#include "cel/library.h"
#include "cel/number_text.h"
#include "cel/time_value.h"
#include "golang/quote.h"
#include "golang/utf8.h"

namespace ks::cel {
namespace {

constexpr int kDefaultPrecision = 6;
constexpr std::string_view kInfinity = "∞";

Error Misused(std::string_view rule, const Value& value) {
  return Error{.message = "error during formatting: " + std::string(rule) + ", was given " +
                          std::string(RuntimeTypeName(value))};
}

// "1234567.5" with commas between thousands.
std::string Grouped(const std::string& plain) {
  const size_t start = plain.starts_with('-') ? 1 : 0;
  const size_t point = std::min(plain.find('.'), plain.size());
  std::string text = plain.substr(0, start);
  for (size_t i = start; i < point; ++i) {
    if (i > start && (point - i) % 3 == 0) text += ',';
    text += plain[i];
  }
  return text + plain.substr(point);
}

std::string Superscript(int exponent) {
  constexpr std::string_view kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "⁻" : "";
  for (const char c : fmt::format("{:02}", std::abs(exponent))) {
    text += kDigits[static_cast<size_t>(c - '0')];
  }
  return text;
}

std::string FixedText(double value, int precision) {
  constexpr int kMaxPrecision = 1'000'000;
  if (precision > kMaxPrecision) return "%!(NOVERB)";
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return (value < 0 ? "-" : "") + std::string(kInfinity);
  return Grouped(fmt::format("{:.{}f}", value == 0 ? 0.0 : value, precision));
}

std::string ScientificText(double value) {
  if (std::isnan(value)) return "   NaN";
  if (std::isinf(value)) return (value < 0 ? "    -" : "     ") + std::string(kInfinity);
  const std::string text = fmt::format("{:.6e}", value == 0 ? 0.0 : value);
  const size_t e = text.find('e');
  int exponent = 0;
  const size_t digits = e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(text.data() + digits, text.data() + text.size(), exponent);
  return text.substr(0, e) + "×10" + Superscript(exponent);
}

Result<std::string> DoubleClause(const Value& value, const FormatClause& clause) {
  const bool fixed = clause.verb == 'f';
  std::optional<double> number;
  if (value.is(Kind::kDouble)) number = value.real;
  if (value.is(Kind::kString)) {
    for (const std::string_view name : {"NaN", "Infinity", "-Infinity"}) {
      if (value.view() == name) number = ReadDouble(name);
    }
  }
  if (!number) {
    return Misused(
        std::string(fixed ? "fixed-point" : "scientific") + " clause can only be used on doubles",
        value);
  }
  return fixed ? FixedText(*number, clause.precision.value_or(kDefaultPrecision))
               : ScientificText(*number);
}

std::string InBase(const Value& value, int base) {
  char digits[80];
  const auto end = value.is(Kind::kInt)
                       ? std::to_chars(digits, digits + sizeof digits, value.integer, base).ptr
                       : std::to_chars(digits, digits + sizeof digits, value.natural, base).ptr;
  return std::string(digits, end);
}

Result<std::string> WholeClause(const Value& value, char verb) {
  const bool whole = value.is(Kind::kInt) || value.is(Kind::kUint);
  switch (verb) {
    case 'd':
      if (whole) return InBase(value, 10);
      return Misused("decimal clause can only be used on integers", value);
    case 'o':
      if (whole) return InBase(value, 8);
      return Misused("octal clause can only be used on integers", value);
    case 'b':
      if (value.is(Kind::kBool)) return std::string(value.boolean ? "1" : "0");
      if (whole) return InBase(value, 2);
      return Misused("only integers and bools can be formatted as binary", value);
    default:
      break;
  }
  std::string text;
  if (whole) {
    text = InBase(value, 16);
  } else if (value.is(Kind::kString) || value.is(Kind::kBytes)) {
    for (const char c : value.view()) text += fmt::format("{:02x}", static_cast<uint8_t>(c));
  } else {
    return Misused("only integers, byte buffers, and strings can be formatted as hex", value);
  }
  if (verb == 'X') {
    for (char& c : text) c = c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return text;
}

Result<std::string> ElementText(const Value& value);

Result<std::string> KeyElementText(const Value& key) {
  if (key.is(Kind::kString) || key.is(Kind::kBool) || key.is(Kind::kInt) || key.is(Kind::kUint)) {
    return ElementText(key);
  }
  return Error{.message = "error during formatting: no formatting function for map key of type " +
                          std::string(RuntimeTypeName(key))};
}

Result<std::string> BytesText(const Value& value) {
  if (golang::IsUtf8(value.view())) return std::string(value.view());
  return Error{.message =
                   "error during formatting: could not convert argument \"invalid UTF-8 in bytes, "
                   "cannot convert to string\" to string"};
}

Result<std::string> ContainerText(const Value& value) {
  std::vector<std::string> parts;
  if (value.is(Kind::kList)) {
    for (const Value& item : *value.list) {
      Result<std::string> text = ElementText(item);
      if (!text.ok()) return text;
      parts.push_back(*text);
    }
    return fmt::format("[{}]", fmt::join(parts, ", "));
  }
  std::map<std::string, std::string> entries;
  for (const Map::Entry& entry : *value.map) {
    Result<std::string> key = KeyElementText(entry.key);
    if (!key.ok()) return key;
    Result<std::string> text = ElementText(entry.value);
    if (!text.ok()) return text;
    entries[*key] = *text;
  }
  for (const auto& [key, text] : entries) parts.push_back(key + ":" + text);
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

// As inside of a list or map.
Result<std::string> ElementText(const Value& value) {
  switch (value.kind) {
    case Kind::kNull:
      return std::string("null");
    case Kind::kBool:
      return std::string(value.boolean ? "true" : "false");
    case Kind::kInt:
    case Kind::kUint:
      return InBase(value, 10);
    case Kind::kDouble:
      if (std::isnan(value.real)) return std::string("\"NaN\"");
      if (std::isinf(value.real)) {
        return std::string(value.real < 0 ? "\"-Inf\"" : "\"+Inf\"");
      }
      return fmt::format("{:.6f}", value.real);
    case Kind::kString:
      return golang::Quote(value.view());
    case Kind::kBytes: {
      const Result<std::string> text = BytesText(value);
      return text.ok() ? Result<std::string>("b\"" + *text + "\"") : text;
    }
    case Kind::kDuration:
      return "duration(\"" + DurationText(value) + "\")";
    case Kind::kTimestamp:
      return "timestamp(\"" + TimestampText(value) + "\")";
    case Kind::kType:
      return std::string(value.view());
    case Kind::kList:
    case Kind::kMap:
      return ContainerText(value);
    default:
      return Error{.message = "error during formatting: no formatting function for " +
                              std::string(RuntimeTypeName(value))};
  }
}

Result<std::string> StringClause(const Value& value) {
  switch (value.kind) {
    case Kind::kBytes:
      return BytesText(value);
    case Kind::kString:
    case Kind::kType:
      return std::string(value.view());
    case Kind::kDouble:
      return DoubleText(value.real);
    case Kind::kDuration:
      return DurationText(value);
    case Kind::kTimestamp:
      return TimestampText(value);
    case Kind::kNull:
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kList:
    case Kind::kMap:
      return ElementText(value);
    default:
      return Misused(
          "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, "
          "types, durations, and timestamps",
          value);
  }
}

Result<std::string> Apply(const FormatClause& clause, const Value& value) {
  if (clause.verb == 's') return StringClause(value);
  if (clause.verb == 'f' || clause.verb == 'e') return DoubleClause(value, clause);
  return WholeClause(value, clause.verb);
}

Result<std::string> Printed(std::string_view pattern, const List& values) {
  std::string text;
  for (size_t next = 0; !pattern.empty(); ++next) {
    const Result<FormatClause> clause = TakeFormatClause(pattern, next, values.size);
    if (!clause.ok()) return clause.error();
    text += clause->text;
    if (clause->verb == '\0') break;
    Result<std::string> part = Apply(*clause, values[next]);
    if (!part.ok()) return part;
    text += *part;
  }
  return text;
}

Value FormatText(Context& context, Arguments args) {
  const Result<std::string> text = Printed(args[0].view(), *args[1].list);
  return text.ok() ? MakeString(context.arena(), *text)
                   : MakeError(context.arena(), text.error().message);
}

uint64_t CostOfFormat(Arguments args, const Value& /*result*/) {
  return args[0].is_error() ? 0 : Tenth(SizeOf(args[0]));
}

constexpr Binding kPrintfTable[] = {{OverloadId::kFormat, FormatText, CostOfFormat}};

}  // namespace

std::span<const Binding> PrintfBindings() { return kPrintfTable; }

}  // namespace ks::cel
