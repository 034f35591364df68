// SPDX-License-Identifier: Apache-2.0
#include "cel/semver.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "golang/quote.h"

namespace ks::cel {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kAlphanumerics =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789";

bool Only(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

Result<uint64_t> ParseNumber(std::string_view text) {
  uint64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code == std::errc::result_out_of_range) {
    return Error{"strconv.ParseUint: parsing " + golang::Quote(text) + ": value out of range"};
  }
  if (code != std::errc() || end != text.data() + text.size()) {
    return Error{"strconv.ParseUint: parsing " + golang::Quote(text) + ": invalid syntax"};
  }
  return number;
}

// `name`: "major", in the texts "Major" as well.
Result<uint64_t> ParseElement(std::string_view text, std::string_view name) {
  if (!Only(text, kDigits)) {
    return Error{"Invalid character(s) found in " + std::string(name) + " number " +
                 golang::Quote(text)};
  }
  if (text.size() > 1 && text[0] == '0') {
    std::string capital(name);
    capital[0] = static_cast<char>(capital[0] - 'a' + 'A');
    return Error{capital + " number must not contain leading zeroes " + golang::Quote(text)};
  }
  return ParseNumber(text);
}

Result<Semver::Identifier> ParseIdentifier(std::string_view text) {
  if (text.empty()) return Error{"Prerelease is empty"};
  if (Only(text, kDigits)) {
    if (text.size() > 1 && text[0] == '0') {
      return Error{"Numeric PreRelease version must not contain leading zeroes " +
                   golang::Quote(text)};
    }
    Result<uint64_t> number = ParseNumber(text);
    if (!number.ok()) return number.error();
    return Semver::Identifier{.number = *number};
  }
  if (!Only(text, kAlphanumerics)) {
    return Error{"Invalid character(s) found in prerelease " + golang::Quote(text)};
  }
  return Semver::Identifier{.text = std::string(text)};
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// Cuts `text` at the first `mark`; what follows it, or nothing if there is none.
std::optional<std::string_view> CutAfter(std::string_view& text, char mark) {
  const size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(at + 1);
  text = text.substr(0, at);
  return rest;
}

std::optional<Error> CheckBuild(std::string_view build) {
  for (const std::string_view part : Split(build, '.')) {
    if (part.empty()) return Error{"Build meta data is empty"};
    if (!Only(part, kAlphanumerics)) {
      return Error{"Invalid character(s) found in build meta data " + golang::Quote(part)};
    }
  }
  return std::nullopt;
}

std::strong_ordering Compare(const Semver::Identifier& a, const Semver::Identifier& b) {
  if (a.text.empty() != b.text.empty()) {
    return a.text.empty() ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  if (a.text.empty()) return a.number <=> b.number;
  return a.text.compare(b.text) <=> 0;
}

}  // namespace

Result<Semver> Semver::Parse(std::string_view text) {
  if (text.empty()) return Error{"Version string empty"};
  constexpr std::string_view kNames[] = {"major", "minor", "patch"};
  const size_t first = text.find('.');
  const size_t second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos) return Error{"No Major.Minor.Patch elements found"};
  std::string_view patch = text.substr(second + 1);
  const std::optional<std::string_view> build = CutAfter(patch, '+');
  const std::optional<std::string_view> prerelease = CutAfter(patch, '-');

  Semver version;
  const std::string_view elements[] = {text.substr(0, first),
                                       text.substr(first + 1, second - first - 1), patch};
  uint64_t* const numbers[] = {&version.major, &version.minor, &version.patch};
  for (size_t i = 0; i < 3; ++i) {
    Result<uint64_t> number = ParseElement(elements[i], kNames[i]);
    if (!number.ok()) return number.error();
    *numbers[i] = *number;
  }
  if (prerelease) {
    for (const std::string_view part : Split(*prerelease, '.')) {
      Result<Identifier> identifier = ParseIdentifier(part);
      if (!identifier.ok()) return identifier.error();
      version.prerelease.push_back(std::move(*identifier));
    }
  }
  if (build) {
    if (std::optional<Error> error = CheckBuild(*build)) return *std::move(error);
    version.build = *build;
  }
  return version;
}

Result<Semver> Semver::ParseLenient(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  // Three elements at most: what follows the second dot is the patch with all its appendages.
  std::vector<std::string> parts;
  while (parts.size() < 2 && text.find('.') != std::string_view::npos) {
    const size_t at = text.find('.');
    parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  parts.emplace_back(text);
  for (std::string& part : parts) {
    if (part.size() < 2) continue;
    const size_t start = part.find_first_not_of('0');
    part.erase(0, start == std::string::npos ? part.size() : start);
    if (part.empty() || kDigits.find(part[0]) == std::string_view::npos) part.insert(0, "0");
  }
  if (parts.size() < 3) {
    if (parts.back().find_first_of("+-") != std::string::npos) {
      return Error{"short version cannot contain PreRelease/Build meta data"};
    }
    while (parts.size() < 3) parts.emplace_back("0");
  }
  return Parse(parts[0] + "." + parts[1] + "." + parts[2]);
}

std::string Semver::ToString() const {
  std::string text =
      std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  char separator = '-';
  for (const Identifier& part : prerelease) {
    text += separator + (part.text.empty() ? std::to_string(part.number) : part.text);
    separator = '.';
  }
  return build.empty() ? text : text + "+" + build;
}

std::strong_ordering operator<=>(const Semver& a, const Semver& b) {
  if (const auto order = a.major <=> b.major; order != 0) return order;
  if (const auto order = a.minor <=> b.minor; order != 0) return order;
  if (const auto order = a.patch <=> b.patch; order != 0) return order;
  if (a.prerelease.empty() || b.prerelease.empty()) {
    return a.prerelease.empty() <=> b.prerelease.empty();
  }
  const size_t common = std::min(a.prerelease.size(), b.prerelease.size());
  for (size_t i = 0; i < common; ++i) {
    const auto order = Compare(a.prerelease[i], b.prerelease[i]);
    if (order != 0) return order;
  }
  return a.prerelease.size() <=> b.prerelease.size();
}

}  // namespace ks::cel
