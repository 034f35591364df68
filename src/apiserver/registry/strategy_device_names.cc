// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "apiserver/registry/strategy_devices.h"

namespace ks::apiserver {
namespace {

constexpr size_t kLongestDomain = 63;
constexpr size_t kLongestId = 32;

constexpr std::string_view kIdentifier =
    "a valid C identifier must start with alphabetic character or '_', followed by a string of "
    "alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for "
    "validation is '[A-Za-z_][A-Za-z0-9_]*')";
constexpr std::string_view kAnySubdomain =
    "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'Example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool IsIdentifier(std::string_view text) {
  return !text.empty() && IsLetter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsLetter(c) || (c >= '0' && c <= '9'); });
}

std::string TextOf(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  });
  return text;
}

void CheckDomain(const std::string& field, const std::string& domain, std::string_view prefix,
                 Causes& causes) {
  if (domain.empty()) return causes.Invalid(field, "", "the domain must not be empty");
  if (domain.size() > kLongestDomain) return causes.TooLong(field, kLongestDomain);
  for (const std::string& error : SubdomainErrors(domain)) {
    causes.Invalid(field, domain, std::string(prefix) + error);
  }
}

void CheckId(const std::string& field, const std::string& id, Causes& causes) {
  if (id.size() > kLongestId) return causes.TooLong(field, kLongestId);
  if (!IsIdentifier(id)) causes.Invalid(field, id, kIdentifier);
}

}  // namespace

void CheckDriver(const std::string& field, const Json& name, Spelling spelling, Causes& causes) {
  const std::string text = TextOf(name);
  if (text.empty()) return causes.Required(field);
  if (text.size() > kLongestDriver) return causes.TooLong(field, kLongestDriver);
  if (spelling == Spelling::kLower) return causes.All(field, text, SubdomainErrors(text));
  if (!SubdomainErrors(Lower(text)).empty()) causes.Invalid(field, text, kAnySubdomain);
}

void CheckPool(const std::string& field, const Json& name, bool numbered, Causes& causes) {
  const std::string text = TextOf(name);
  if (text.empty()) return causes.Required(field);
  if (text.size() > kLongestPool) causes.TooLong(field, kLongestPool);
  size_t begin = 0;
  for (size_t part = 0; begin <= text.size(); ++part) {
    const size_t end = std::min(text.find('/', begin), text.size());
    const std::string segment = text.substr(begin, end - begin);
    for (const std::string& error : SubdomainErrors(segment)) {
      causes.Invalid(field, segment,
                     (numbered ? "segment " + std::to_string(part) + ": " : "") + error);
    }
    begin = end + 1;
  }
}

void CheckDnsLabel(const std::string& field, const Json& name, Causes& causes) {
  const std::string text = TextOf(name);
  causes.All(field, text, LabelErrors(text));
}

void CheckKey(const std::string& field, const std::string& name, Causes& causes) {
  const size_t slash = name.find('/');
  if (slash == std::string::npos) return CheckId(field, name, causes);
  CheckDomain(field, name.substr(0, slash), "", causes);
  const std::string id = name.substr(slash + 1);
  if (id.empty()) return causes.Invalid(field, "", "the name must not be empty");
  CheckId(field, id, causes);
}

void CheckFullName(const std::string& field, const Json& name, Causes& causes) {
  const std::string text = TextOf(name);
  const auto slashes = std::count(text.begin(), text.end(), '/');
  if (slashes > 1) return;  // upstream looks at none of the parts
  if (slashes == 0) {
    CheckId(field, text, causes);
    if (text.empty() || IsIdentifier(text)) {
      causes.Invalid(field, text,
                     "a fully qualified name must be a domain and a name separated by a slash");
    }
    return;
  }
  const size_t slash = text.find('/');
  CheckDomain(field, text.substr(0, slash), "prefix: ", causes);
  const std::string id = text.substr(slash + 1);
  if (id.empty()) return causes.Invalid(field, "", "the name must not be empty");
  CheckId(field, id, causes);
}

bool IsUuid(std::string_view text) {
  constexpr size_t kLength = 36;
  if (text.size() != kLength) return false;
  for (size_t i = 0; i < kLength; ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const char c = text[i];
    const bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    if (dash ? c != '-' : !digit) return false;
  }
  return true;
}

}  // namespace ks::apiserver
