// SPDX-License-Identifier: Apache-2.0
// Syntax of label keys and values, and Go's quoting, which the messages about them use. Upstream:
// docs/spec/config.md 4.9.

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "api/selector.h"
#include "base/text_hash.h"
#include "golang/utf8.h"

namespace ks::api {

namespace {

constexpr size_t kMaxNameLength = 63;
constexpr size_t kMaxPrefixLength = 253;

#define KS_NAME_RULE                                                                           \
  " must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " \
  "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "       \
  "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
constexpr std::string_view kNameRule = "name part" KS_NAME_RULE;
constexpr std::string_view kSlashRule =
    "a valid label key" KS_NAME_RULE
    " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
#undef KS_NAME_RULE
constexpr std::string_view kPrefixRule =
    "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
    "characters, '-' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation "
    "is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end "
    "with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
    "validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

bool IsLowerAlnum(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsAlnum(char c) { return IsLowerAlnum(c) || (c >= 'A' && c <= 'Z'); }

// ([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]
bool IsName(std::string_view text) {
  return !text.empty() && IsAlnum(text.front()) && IsAlnum(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlnum(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace

bool IsDnsSubdomain(std::string_view text) {
  while (true) {
    const size_t dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    if (part.empty() || !IsLowerAlnum(part.front()) || !IsLowerAlnum(part.back())) return false;
    if (!std::all_of(part.begin(), part.end(),
                     [](char c) { return IsLowerAlnum(c) || c == '-'; })) {
      return false;
    }
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

std::vector<std::string> LabelKeyProblems(std::string_view key) {
  std::vector<std::string> problems;
  std::string_view name = key;
  if (const size_t slash = key.find('/'); slash != std::string_view::npos) {
    const std::string_view prefix = key.substr(0, slash);
    name = key.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      problems.emplace_back(kSlashRule);
      return problems;
    }
    if (prefix.empty()) {
      problems.emplace_back("prefix part must be non-empty");
    } else {
      if (prefix.size() > kMaxPrefixLength) {
        problems.emplace_back("prefix part must be no more than 253 bytes");
      }
      if (!IsDnsSubdomain(prefix)) problems.emplace_back(kPrefixRule);
    }
  }
  if (name.empty()) {
    problems.emplace_back("name part must be non-empty");
  } else if (name.size() > kMaxNameLength) {
    problems.emplace_back("name part must be no more than 63 bytes");
  }
  if (!IsName(name)) problems.emplace_back(kNameRule);
  return problems;
}

std::vector<std::string> LabelValueProblems(std::string_view value) {
  std::vector<std::string> problems;
  if (value.size() > kMaxNameLength) problems.emplace_back("must be no more than 63 bytes");
  if (!value.empty() && !IsName(value)) problems.emplace_back(kValueRule);
  return problems;
}

std::string CheckLabelKey(std::string_view key) {
  std::vector<std::string> problems = LabelKeyProblems(key);
  return problems.empty() ? std::string() : std::move(problems.front());
}

std::string CheckLabelValue(std::string_view value) {
  std::vector<std::string> problems = LabelValueProblems(value);
  return problems.empty() ? std::string() : std::move(problems.front());
}

std::string JoinProblems(const std::vector<std::string>& problems) {
  std::unordered_set<std::string_view, TextHash> seen;
  std::vector<std::string_view> distinct;
  for (const std::string& problem : problems) {
    if (seen.insert(problem).second) distinct.push_back(problem);
  }
  if (distinct.empty()) return "";
  if (distinct.size() == 1) return std::string(distinct.front());
  return fmt::format("[{}]", fmt::join(distinct, ", "));
}

}  // namespace ks::api
