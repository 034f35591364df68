// SPDX-License-Identifier: Apache-2.0
#include "cel/format_clause.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include "cel/source.h"
#include "golang/quote.h"

namespace ks::cel {
namespace {

constexpr std::string_view kVerbs = "sdfexXbo";
constexpr std::string_view kUnparsed = "could not parse formatting clause: ";
constexpr std::string_view kPrecision = "error while parsing precision: ";

// Behind the dot.
Result<int> TakePrecision(std::string_view& format) {
  const std::string reason = std::string(kUnparsed) + std::string(kPrecision);
  const size_t end = format.find_first_not_of("0123456789");
  if (end == std::string_view::npos) {
    return Error{reason + "could not find end of precision specifier"};
  }
  const std::string_view digits = format.substr(0, end);
  int precision = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), precision);
  if (read.ec != std::errc()) {
    const char* why = digits.empty() ? "invalid syntax" : "value out of range";
    return Error{reason + "error while converting precision to integer: strconv.Atoi: parsing " +
                 golang::Quote(digits) + ": " + why};
  }
  format.remove_prefix(end);
  return precision;
}

}  // namespace

Result<FormatClause> TakeFormatClause(std::string_view& format, size_t index, size_t count) {
  FormatClause clause;
  while (!format.empty()) {
    const size_t percent = format.find('%');
    clause.text += format.substr(0, percent);
    if (percent == std::string_view::npos) {
      format = {};
      break;
    }
    format.remove_prefix(percent + 1);
    if (format.empty()) return Error{"unexpected end of string"};
    if (format[0] != '%') break;
    clause.text += '%';
    format.remove_prefix(1);
  }
  if (format.empty()) return clause;
  if (index >= count) return Error{"index " + std::to_string(index) + " out of range"};
  if (format[0] == '.') {
    format.remove_prefix(1);
    const Result<int> precision = TakePrecision(format);
    if (!precision.ok()) return precision.error();
    clause.precision = precision.value();
  }
  if (kVerbs.find(format[0]) == std::string_view::npos) {
    // Upstream takes the byte for a character.
    std::string verb;
    AppendUtf8(static_cast<uint8_t>(format[0]), verb);
    return Error{std::string(kUnparsed) + "unrecognized formatting clause \"" + verb + '"'};
  }
  clause.verb = format[0];
  format.remove_prefix(1);
  return clause;
}

}  // namespace ks::cel
