// SPDX-License-Identifier: Apache-2.0
#include "golang/url_host.h"

#include <algorithm>

#include "golang/quote.h"
#include "golang/url_escape.h"

namespace ks::golang {
namespace {

constexpr int kGroups = 8;  // of an IPv6 address

// Checks an address as Go's netip.ParseAddr does, whose words are shown.
class AddressChecker {
 public:
  explicit AddressChecker(std::string_view text) : text_(text) {}

  // "" for an address.
  std::string Problem() const {
    const size_t first = text_.find_first_of(".:%");
    if (first == text_.npos) return Said("unable to parse IP", "");
    if (text_[first] == '%') return Said("missing IPv6 address", "");
    return text_[first] == '.' ? OfV4(text_) : OfV6();
  }

 private:
  std::string Said(std::string_view cause, std::string_view at) const {
    std::string text = "ParseAddr(" + Quote(text_) + "): ";
    text += cause;
    if (!at.empty()) text += " (at " + Quote(at) + ")";
    return text;
  }

  std::string OfV4(std::string_view address) const {
    int fields = 0;
    int value = 0;
    int digits = 0;
    for (size_t i = 0; i < address.size(); ++i) {
      const char c = address[i];
      if (IsUrlDigit(c)) {
        if (digits == 1 && value == 0) return Said("IPv4 field has octet with leading zero", "");
        value = value * 10 + (c - '0');
        ++digits;
        if (value > 255) return Said("IPv4 field has value >255", "");
      } else if (c != '.') {
        return Said("unexpected character", address.substr(i));
      } else if (digits == 0 || i + 1 == address.size()) {
        return Said("IPv4 field must have at least one digit", address.substr(i));
      } else if (fields == 3) {
        return Said("IPv4 address too long", "");
      } else {
        ++fields;
        value = digits = 0;
      }
    }
    return fields < 3 ? Said("IPv4 address too short", "") : "";
  }

  std::string OfV6() const {
    std::string_view rest = text_.substr(0, text_.find('%'));
    if (rest.size() + 1 == text_.size()) return Said("zone must be a non-empty string", "");
    bool gap = rest.starts_with("::");
    if (gap) rest.remove_prefix(2);
    int groups = 0;
    while (!rest.empty() && groups < kGroups) {
      size_t digits = 0;
      while (digits < rest.size() && UrlHexValue(rest[digits]) >= 0) {
        if (++digits > 4) return Said("each group must have 4 or less digits", rest);
      }
      if (digits == 0) {
        return Said("each colon-separated field must have at least one digit", rest);
      }
      if (digits < rest.size() && rest[digits] == '.') return OfEmbedded(rest, groups, gap);
      ++groups;
      rest.remove_prefix(digits);
      if (rest.empty()) break;
      if (rest[0] != ':') return Said("unexpected character, want colon", rest);
      if (rest.size() == 1) return Said("colon must be followed by more characters", rest);
      rest.remove_prefix(1);
      if (rest[0] != ':') continue;
      if (gap) return Said("multiple :: in address", rest);
      gap = true;
      rest.remove_prefix(1);
    }
    if (!rest.empty()) return Said("trailing garbage after address", rest);
    return OfCount(groups, gap);
  }

  // "::ffff:1.2.3.4": `rest` is the IPv4 address.
  std::string OfEmbedded(std::string_view rest, int groups, bool gap) const {
    if ((!gap && groups != kGroups - 2) || groups + 2 > kGroups) {
      return Said("embedded IPv4 address must replace the final 2 fields of the address", rest);
    }
    const std::string problem = OfV4(rest);
    return problem.empty() ? OfCount(groups + 2, gap) : problem;
  }

  std::string OfCount(int groups, bool gap) const {
    if (groups < kGroups && !gap) return Said("address string too short", "");
    if (groups == kGroups && gap) {
      return Said("the :: must expand to at least one field of zeros", "");
    }
    return "";
  }

  const std::string_view text_;
};

Error BadPort(std::string_view port) {
  return Error{"invalid port " + Quote(port) + " after host"};
}

Result<std::string> ParseBracketed(std::string_view text) {
  const size_t close = text.rfind(']');
  if (close == text.npos) return Error{"missing ']' in host"};
  const std::string_view port = text.substr(close + 1);
  if (!IsUrlPortOrNothing(port)) return BadPort(port);
  const size_t zone = std::min(text.substr(0, close).find("%25"), close);
  Result<std::string> address = UnescapeUrlPart(text.substr(1, zone - 1), UrlPart::kHost);
  if (!address.ok()) return address;
  Result<std::string> scope = UnescapeUrlPart(text.substr(zone, close - zone), UrlPart::kZone);
  if (!scope.ok()) return scope;
  const std::string whole = *address + *scope;
  const std::string problem = AddressChecker(whole).Problem();
  if (!problem.empty()) return Error{"invalid host: " + problem};
  if (whole.find(':') == whole.npos) return Error{"invalid IP-literal"};
  return "[" + whole + std::string(text.substr(close));
}

}  // namespace

bool IsUrlPortOrNothing(std::string_view text) {
  return text.empty() || (text[0] == ':' && std::all_of(text.begin() + 1, text.end(), IsUrlDigit));
}

Result<std::string> ParseUrlHost(std::string_view scheme, std::string_view text) {
  const size_t bracket = text.rfind('[');
  if (bracket == 0) return ParseBracketed(text);
  if (bracket != text.npos) return Error{"invalid IP-literal"};
  const bool web = scheme == "http" || scheme == "https";
  const size_t colon = web ? text.find(':') : text.rfind(':');
  if (colon != text.npos && !IsUrlPortOrNothing(text.substr(colon))) {
    return BadPort(text.substr(colon));
  }
  return UnescapeUrlPart(text, UrlPart::kHost);
}

}  // namespace ks::golang
