// SPDX-License-Identifier: Apache-2.0
#include "golang/url_escape.h"

#include <algorithm>

#include "golang/quote.h"
#include "golang/url_host.h"

namespace ks::golang {
namespace {

bool IsOneOf(char c, std::string_view set) { return set.find(c) != set.npos; }
bool IsAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }

bool MustEscape(char c, UrlPart part) {
  if (IsUrlLetter(c) || IsUrlDigit(c) || IsOneOf(c, "-_.~")) return false;
  switch (part) {
    case UrlPart::kHost:
    case UrlPart::kZone:
      return !IsOneOf(c, "!$&'()*+,;=:[]<>\"");
    case UrlPart::kUser:
      return !IsOneOf(c, "$&+,;=");
    case UrlPart::kPath:
      return !IsOneOf(c, "$&+,/:;=@");
    case UrlPart::kFragment:
      return !IsOneOf(c, "$&+,/:;=?@!()*");
  }
  return true;
}

Error BadEscape(std::string_view sequence) {
  return Error{"invalid URL escape " + Quote(sequence)};
}

// What "%41" at the front of `text` stands for.
Result<char> DecodeOne(std::string_view text, UrlPart part) {
  const std::string_view sequence = text.substr(0, 3);
  if (sequence.size() < 3 || UrlHexValue(text[1]) < 0 || UrlHexValue(text[2]) < 0) {
    return BadEscape(sequence);
  }
  const char value = static_cast<char>(UrlHexValue(text[1]) * 16 + UrlHexValue(text[2]));
  if (sequence == "%25") return value;
  // A host's ASCII stands for itself; only the percent sign before a zone is written this way.
  if (part == UrlPart::kHost && IsAscii(value)) return BadEscape(sequence);
  if (part == UrlPart::kZone && value != ' ' && MustEscape(value, UrlPart::kHost)) {
    return BadEscape(sequence);
  }
  return value;
}

}  // namespace

std::string EscapeUrlPart(std::string_view text, UrlPart part) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (MustEscape(c, part)) {
      const auto byte = static_cast<unsigned char>(c);
      out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
    } else {
      out += c;
    }
  }
  return out;
}

Result<std::string> UnescapeUrlPart(std::string_view text, UrlPart part) {
  const bool host = part == UrlPart::kHost || part == UrlPart::kZone;
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      const Result<char> decoded = DecodeOne(text.substr(i), part);
      if (!decoded.ok()) return decoded.error();
      out += *decoded;
      i += 2;
    } else if (host && IsAscii(c) && MustEscape(c, part)) {
      return Error{"invalid character " + Quote(text.substr(i, 1)) + " in host name"};
    } else {
      out += c;
    }
  }
  return out;
}

bool IsValidUrlWriting(std::string_view raw, UrlPart part) {
  return std::all_of(raw.begin(), raw.end(), [part](char c) {
    return IsOneOf(c, "!$&'()*+,;=:@[]%") || !MustEscape(c, part);
  });
}

}  // namespace ks::golang
