// SPDX-License-Identifier: Apache-2.0
// Kubernetes' named formats of strings.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "cel/library.h"
#include "cel/regex.h"
#include "cel/request_uri.h"
#include "golang/base64.h"

namespace ks::cel {

using Problems = std::vector<std::string>;

struct Format {
  std::string_view name;      // of format.named
  uint64_t pattern_size = 0;  // what a check costs, as if it were a pattern of that size
  Problems (*check)(std::string_view);
};

namespace {

constexpr size_t kMaxLabel = 63;
constexpr size_t kMaxSubdomain = 253;

// Words like "must be no more than 63 characters" and a complaint about a pattern.
constexpr std::string_view kLabelComplaint =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kSubdomainComplaint =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kDns1035Complaint =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kNameComplaint =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kValueComplaint =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsLowerOrDigit(char c) { return IsLower(c) || IsDigit(c); }
bool IsLetterOrDigit(char c) { return IsLowerOrDigit(c) || (c >= 'A' && c <= 'Z'); }

// Not empty, `ends` at both ends and `ends` or one of `inner` between.
bool IsWord(std::string_view text, bool (*ends)(char), std::string_view inner) {
  return !text.empty() && ends(text.front()) && ends(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return ends(c) || inner.find(c) != std::string_view::npos; });
}

std::string TooLong(size_t most, std::string_view unit) {
  return "must be no more than " + std::to_string(most) + " " + std::string(unit);
}

Problems CheckLabel(std::string_view text) {
  Problems problems;
  if (text.size() > kMaxLabel) problems.push_back(TooLong(kMaxLabel, "characters"));
  if (IsWord(text, IsLowerOrDigit, "-")) return problems;
  // What would be a subdomain only has dots too many.
  const bool dots = IsWord(text, IsLowerOrDigit, "-.") && text.find("..") == text.npos &&
                    text.find(".-") == text.npos && text.find("-.") == text.npos;
  problems.emplace_back(dots ? "must not contain dots" : kLabelComplaint);
  return problems;
}

bool IsSubdomain(std::string_view text) {
  while (true) {
    const size_t dot = std::min(text.find('.'), text.size());
    if (!IsWord(text.substr(0, dot), IsLowerOrDigit, "-")) return false;
    if (dot == text.size()) return true;
    text.remove_prefix(dot + 1);
  }
}

Problems CheckSubdomain(std::string_view text) {
  Problems problems;
  if (text.size() > kMaxSubdomain) problems.push_back(TooLong(kMaxSubdomain, "characters"));
  if (!IsSubdomain(text)) problems.emplace_back(kSubdomainComplaint);
  return problems;
}

Problems CheckDns1035(std::string_view text) {
  Problems problems;
  if (text.size() > kMaxLabel) problems.push_back(TooLong(kMaxLabel, "characters"));
  if (!IsWord(text, IsLowerOrDigit, "-") || !IsLower(text.front())) {
    problems.emplace_back(kDns1035Complaint);
  }
  return problems;
}

// A prefix of names may end in a dash.
template <Problems (*kCheck)(std::string_view)>
Problems CheckPrefix(std::string_view text) {
  if (text.size() < 2 || text.back() != '-') return kCheck(text);
  return kCheck(std::string(text.substr(0, text.size() - 2)) + "a");
}

Problems CheckQualifiedName(std::string_view text) {
  Problems problems;
  const size_t slash = text.find('/');
  std::string_view name = text;
  if (slash != std::string_view::npos) {
    if (text.find('/', slash + 1) != std::string_view::npos) {
      return {"a valid label key " + std::string(kNameComplaint) +
              " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
    }
    name = text.substr(slash + 1);
    if (slash == 0) problems.emplace_back("prefix part must be non-empty");
    if (slash != 0) {
      for (const std::string& problem : CheckSubdomain(text.substr(0, slash))) {
        problems.push_back("prefix part " + problem);
      }
    }
  }
  if (name.empty()) problems.emplace_back("name part must be non-empty");
  if (name.size() > kMaxLabel) problems.push_back("name part " + TooLong(kMaxLabel, "bytes"));
  if (!IsWord(name, IsLetterOrDigit, "-_.")) {
    problems.push_back("name part " + std::string(kNameComplaint));
  }
  return problems;
}

Problems CheckLabelValue(std::string_view text) {
  Problems problems;
  if (text.size() > kMaxLabel) problems.push_back(TooLong(kMaxLabel, "bytes"));
  if (!text.empty() && !IsWord(text, IsLetterOrDigit, "-_.")) {
    problems.emplace_back(kValueComplaint);
  }
  return problems;
}

Problems CheckUri(std::string_view text) {
  const Result<golang::Url> url = ParseRequestUri(text);
  return url.ok() ? Problems{} : Problems{url.error().message};
}

Problems Unless(bool good, std::string_view complaint) {
  return good ? Problems{} : Problems{std::string(complaint)};
}

Problems CheckUuid(std::string_view text) {
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = text[i] == '-' && (digits.size() == 8 || digits.size() == 12 ||
                                         digits.size() == 16 || digits.size() == 20);
    if (dash && text[i - 1] != '-') continue;
    digits += text[i];
  }
  const bool good = digits.size() == 32 &&
                    digits.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
  return Unless(good, "does not match the UUID format");
}

Problems CheckByte(std::string_view text) {
  const bool good = !text.empty() && text.find_first_of("\r\n") == std::string_view::npos &&
                    golang::DecodeBase64(text).ok();
  return Unless(good, "invalid base64");
}

// Digits where `pattern` has a 0, else the pattern's own character or its upper case.
bool HasShape(std::string_view text, std::string_view pattern) {
  if (text.size() != pattern.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool letter = IsLower(pattern[i]) && text[i] == pattern[i] - 'a' + 'A';
    if (pattern[i] == '0' ? !IsDigit(text[i]) : text[i] != pattern[i] && !letter) return false;
  }
  return true;
}

int Number(std::string_view digits) {
  int number = 0;
  for (const char c : digits) number = number * 10 + (c - '0');
  return number;
}

bool IsDate(std::string_view text) {
  if (!HasShape(text, "0000-00-00")) return false;
  return std::chrono::year_month_day(
             std::chrono::year(Number(text.substr(0, 4))),
             std::chrono::month(static_cast<unsigned>(Number(text.substr(5, 2)))),
             std::chrono::day(static_cast<unsigned>(Number(text.substr(8, 2)))))
      .ok();
}

Problems CheckDate(std::string_view text) { return Unless(IsDate(text), "invalid date"); }

bool IsDatetime(std::string_view text) {
  constexpr size_t kWhole = 19;
  if (text.size() <= kWhole || !IsDate(text.substr(0, 10))) return false;
  const std::string_view time = text.substr(10, kWhole - 10);
  if (!HasShape(time, "t00:00:00") || Number(time.substr(1, 2)) > 23 ||
      Number(time.substr(4, 2)) > 59 || Number(time.substr(7, 2)) > 59) {
    return false;
  }
  std::string_view rest = text.substr(kWhole);
  if (rest.starts_with('.') || rest.starts_with(',')) {
    const size_t end = rest.find_first_not_of("0123456789", 1);
    if (end == 1 || end == std::string_view::npos) return false;
    rest.remove_prefix(end);
  }
  return HasShape(rest, "z") || HasShape(rest, "+00:00") || HasShape(rest, "-00:00");
}

Problems CheckDatetime(std::string_view text) {
  return Unless(IsDatetime(text), "invalid datetime");
}

constexpr Format kFormats[] = {
    {"dns1123Label", 30, CheckLabel},
    {"dns1123Subdomain", 60, CheckSubdomain},
    {"dns1035Label", 30, CheckDns1035},
    {"qualifiedName", 60, CheckQualifiedName},
    {"dns1123LabelPrefix", 30, CheckPrefix<CheckLabel>},
    {"dns1123SubdomainPrefix", 60, CheckPrefix<CheckSubdomain>},
    {"dns1035LabelPrefix", 30, CheckPrefix<CheckDns1035>},
    {"labelValue", 40, CheckLabelValue},
    {"uri", 1104, CheckUri},
    {"uuid", 72, CheckUuid},
    {"byte", 84, CheckByte},
    {"date", 72, CheckDate},
    {"datetime", 72, CheckDatetime},
};

template <size_t kIndex>
Value Get(Context& /*context*/, Arguments /*args*/) {
  return Value::Of(&kFormats[kIndex]);
}

Value Named(Context& context, Arguments args) {
  for (const Format& format : kFormats) {
    if (format.name == args[0].view()) return MakeSome(context.arena(), Value::Of(&format));
  }
  return None();
}

Value Validate(Context& context, Arguments args) {
  const Problems problems = args[0].format->check(args[1].view());
  if (problems.empty()) return None();
  List* list = List::Make(context.arena(), problems.size());
  for (const std::string& problem : problems) {
    list->Append(context.arena(), MakeString(context.arena(), problem));
  }
  return MakeSome(context.arena(), Value::Of(list));
}

uint64_t CostOfValidate(Arguments args, const Value& /*result*/) {
  if (!args[0].is(Kind::kFormat)) return 1;
  return Tenth(1 + OwnSizeOf(args[1])) * ((args[0].format->pattern_size + 3) / 4);
}

constexpr Binding kNamedFormatTable[] = {
    {OverloadId::kFormatDns1123Label, Get<0>},
    {OverloadId::kFormatDns1123Subdomain, Get<1>},
    {OverloadId::kFormatDns1035Label, Get<2>},
    {OverloadId::kFormatQualifiedName, Get<3>},
    {OverloadId::kFormatDns1123LabelPrefix, Get<4>},
    {OverloadId::kFormatDns1123SubdomainPrefix, Get<5>},
    {OverloadId::kFormatDns1035LabelPrefix, Get<6>},
    {OverloadId::kFormatLabelValue, Get<7>},
    {OverloadId::kFormatUri, Get<8>},
    {OverloadId::kFormatUuid, Get<9>},
    {OverloadId::kFormatByte, Get<10>},
    {OverloadId::kFormatDate, Get<11>},
    {OverloadId::kFormatDatetime, Get<12>},
    {OverloadId::kFormatNamed, Named},
    {OverloadId::kFormatValidate, Validate, CostOfValidate},
};

}  // namespace

std::span<const Binding> NamedFormatBindings() { return kNamedFormatTable; }

}  // namespace ks::cel
