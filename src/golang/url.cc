// SPDX-License-Identifier: Apache-2.0
#include "golang/url.h"

#include <algorithm>

#include "base/text.h"
#include "golang/base64.h"
#include "golang/quote.h"
#include "golang/url_escape.h"
#include "golang/url_host.h"

namespace ks::golang {
namespace {

bool IsOneOf(char c, std::string_view set) { return set.find(c) != set.npos; }

// The written form if it stands for `value`, else the default one.
std::string Written(const std::string& raw, const std::string& value, UrlPart part) {
  if (!raw.empty() && IsValidUrlWriting(raw, part)) {
    const Result<std::string> meant = UnescapeUrlPart(raw, part);
    if (meant.ok() && *meant == value) return raw;
  }
  return value == "*" && part == UrlPart::kPath ? value : EscapeUrlPart(value, part);
}

Result<void> SetWritten(std::string_view text, UrlPart part, std::string* value, std::string* raw) {
  Result<std::string> decoded = UnescapeUrlPart(text, part);
  if (!decoded.ok()) return decoded.error();
  *value = std::move(*decoded);
  *raw = EscapeUrlPart(*value, part) == text ? std::string() : std::string(text);
  return {};
}

Result<UrlUser> ParseUser(std::string_view text) {
  const bool valid = std::all_of(text.begin(), text.end(), [](char c) {
    return IsUrlLetter(c) || IsUrlDigit(c) || IsOneOf(c, "-._:~!$&'()*+,;=%@");
  });
  if (!valid) return Error{"net/url: invalid userinfo"};
  const size_t colon = text.find(':');
  UrlUser user;
  Result<std::string> name = UnescapeUrlPart(text.substr(0, colon), UrlPart::kUser);
  if (!name.ok()) return name.error();
  user.name = std::move(*name);
  if (colon == text.npos) return user;
  Result<std::string> password = UnescapeUrlPart(text.substr(colon + 1), UrlPart::kUser);
  if (!password.ok()) return password.error();
  user.password = std::move(*password);
  return user;
}

Result<void> ParseAuthority(std::string_view text, Url* url) {
  const size_t at = text.rfind('@');
  Result<std::string> host =
      ParseUrlHost(url->scheme, at == text.npos ? text : text.substr(at + 1));
  if (!host.ok()) return host.error();
  url->host = std::move(*host);
  if (at == text.npos) return {};
  Result<UrlUser> user = ParseUser(text.substr(0, at));
  if (!user.ok()) return user.error();
  url->user = std::move(*user);
  return {};
}

// Takes the scheme off the front of `rest`. Error: there is a colon and nothing before it.
Result<std::string> TakeScheme(std::string_view* rest) {
  for (size_t i = 0; i < rest->size(); ++i) {
    const char c = (*rest)[i];
    if (c == ':') {
      if (i == 0) return Error{"missing protocol scheme"};
      std::string scheme = LowerCase(rest->substr(0, i));
      rest->remove_prefix(i + 1);
      return scheme;
    }
    if (!IsUrlLetter(c) && (i == 0 || !(IsUrlDigit(c) || IsOneOf(c, "+-.")))) break;
  }
  return std::string();
}

void TakeQuery(std::string_view* rest, Url* url) {
  const size_t mark = rest->find('?');
  if (mark == rest->npos) return;
  url->raw_query = rest->substr(mark + 1);
  url->force_query = url->raw_query.empty();
  *rest = rest->substr(0, mark);
}

// Everything but the fragment.
Result<Url> ParseMost(std::string_view rest) {
  Url url;
  const bool control = std::any_of(rest.begin(), rest.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
  });
  if (control) return Error{"net/url: invalid control character in URL"};
  if (rest == "*") {
    url.path = rest;
    return url;
  }
  Result<std::string> scheme = TakeScheme(&rest);
  if (!scheme.ok()) return scheme.error();
  url.scheme = std::move(*scheme);
  TakeQuery(&rest, &url);
  if (!rest.starts_with('/')) {
    if (!url.scheme.empty()) {
      url.opaque = rest;
      return url;
    }
    if (rest.substr(0, rest.find('/')).find(':') != rest.npos) {
      return Error{"first path segment in URL cannot contain colon"};
    }
  }
  if (rest.starts_with("//") && (!url.scheme.empty() || !rest.starts_with("///"))) {
    rest.remove_prefix(2);
    const size_t slash = std::min(rest.find('/'), rest.size());
    const Result<void> parsed = ParseAuthority(rest.substr(0, slash), &url);
    if (!parsed.ok()) return parsed.error();
    rest.remove_prefix(slash);
  } else if (!url.scheme.empty() && rest.starts_with('/')) {
    url.omit_host = true;
  }
  const Result<void> set = SetWritten(rest, UrlPart::kPath, &url.path, &url.raw_path);
  if (!set.ok()) return set.error();
  return url;
}

Error ParseError(std::string_view text, const Error& cause) {
  return Error{"parse " + Quote(text) + ": " + cause.message};
}

std::string UserText(const UrlUser& user) {
  std::string text = EscapeUrlPart(user.name, UrlPart::kUser);
  if (user.password.has_value()) text += ":" + EscapeUrlPart(*user.password, UrlPart::kUser);
  return text;
}

std::string TextOf(const Url& url, const std::string& user) {
  std::string text = url.scheme.empty() ? "" : url.scheme + ":";
  if (!url.opaque.empty()) {
    text += url.opaque;
  } else {
    const bool authority = !url.host.empty() || url.user.has_value();
    if (authority || (!url.scheme.empty() && !url.omit_host && !url.path.empty())) text += "//";
    if (url.user.has_value()) text += user + "@";
    text += EscapeUrlPart(url.host, UrlPart::kHost);
    const std::string path = url.EscapedPath();
    if (!path.empty() && path[0] != '/' && !url.host.empty()) text += '/';
    // Else the first segment would be read as a scheme.
    if (text.empty() && path.substr(0, path.find('/')).find(':') != path.npos) text = "./";
    text += path;
  }
  if (url.force_query || !url.raw_query.empty()) text += "?" + url.raw_query;
  if (!url.fragment.empty()) {
    text += "#" + Written(url.raw_fragment, url.fragment, UrlPart::kFragment);
  }
  return text;
}

}  // namespace

std::string Url::Hostname() const {
  const std::string name = host.substr(0, host.size() - Port().size());
  const std::string_view bare =
      name.ends_with(':') ? std::string_view(name).substr(0, name.size() - 1) : name;
  if (bare.starts_with('[') && bare.ends_with(']')) {
    return std::string(bare.substr(1, bare.size() - 2));
  }
  return std::string(bare);
}

std::string Url::Port() const {
  const size_t colon = host.rfind(':');
  if (colon == host.npos || !IsUrlPortOrNothing(std::string_view(host).substr(colon))) return "";
  return host.substr(colon + 1);
}

std::string Url::EscapedPath() const { return Written(raw_path, path, UrlPart::kPath); }

std::string Url::RequestTarget() const {
  std::string target = opaque.empty() ? EscapedPath() : opaque;
  if (target.empty()) target = "/";
  if (opaque.starts_with("//")) target = scheme + ":" + target;
  if (force_query || !raw_query.empty()) target += "?" + raw_query;
  return target;
}

std::string Url::Text() const {
  return TextOf(*this, user.has_value() ? UserText(*user) : std::string());
}

std::string Url::RedactedText() const {
  if (!user.has_value() || !user->password.has_value()) return Text();
  return TextOf(*this, EscapeUrlPart(user->name, UrlPart::kUser) + ":***");
}

Result<Url> ParseUrlWithoutFragment(std::string_view text) {
  Result<Url> url = ParseMost(text);
  if (!url.ok()) return ParseError(text, url.error());
  return url;
}

Result<Url> ParseUrl(std::string_view text) {
  const size_t hash = text.find('#');
  Result<Url> url = ParseUrlWithoutFragment(text.substr(0, hash));
  if (!url.ok() || hash == text.npos) return url;
  const Result<void> set =
      SetWritten(text.substr(hash + 1), UrlPart::kFragment, &url->fragment, &url->raw_fragment);
  if (!set.ok()) return ParseError(text, set.error());
  return url;
}

std::string BasicAuthorization(const UrlUser& user) {
  return "Basic " + EncodeBase64(user.name + ":" + user.password.value_or(""));
}

}  // namespace ks::golang
