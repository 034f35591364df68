// SPDX-License-Identifier: Apache-2.0
// URLs.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cel/library.h"
#include "cel/request_uri.h"
#include "golang/quote.h"
#include "golang/url_host.h"

namespace ks::cel {
namespace {

using golang::Url;

bool BeginsWithScheme(std::string_view text) {
  if (!golang::IsUrlLetter(text[0])) return false;
  const size_t end =
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");
  return end != std::string_view::npos && text[end] == ':';
}

// A name or value of a query. None: a percent sign without two hexadecimal digits.
std::optional<std::string> Unescaped(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = golang::UrlHexValue(text[i + 1]);
    const int low = golang::UrlHexValue(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    plain += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return plain;
}

// Pairs that are damaged are left out.
std::map<std::string, std::vector<std::string>> ParseQuery(std::string_view query) {
  std::map<std::string, std::vector<std::string>> values;
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty() || pair.find(';') != std::string_view::npos) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    const std::optional<std::string> name = Unescaped(pair.substr(0, equals));
    const std::optional<std::string> value =
        Unescaped(pair.substr(std::min(equals + 1, pair.size())));
    if (name && value) values[*name].push_back(*value);
  }
  return values;
}

Value ParseUrlValue(Context& context, Arguments args) {
  Result<Url> url = ParseRequestUri(args[0].view());
  if (url.ok()) return Value::Of(context.arena().New<Url>(std::move(*url)));
  return MakeError(context.arena(),
                   "URL parse error during conversion from string: " + url.error().message);
}

Value IsUrl(Context& /*context*/, Arguments args) {
  return Value::Bool(ParseRequestUri(args[0].view()).ok());
}

template <std::string (*kPart)(const Url&)>
Value PartOf(Context& context, Arguments args) {
  return MakeString(context.arena(), kPart(*args[0].url));
}

std::string Scheme(const Url& url) { return url.scheme; }
std::string Host(const Url& url) { return url.host; }
std::string Hostname(const Url& url) { return url.Hostname(); }
std::string Port(const Url& url) { return url.Port(); }
std::string EscapedPath(const Url& url) { return url.EscapedPath(); }

Value Query(Context& context, Arguments args) {
  Arena& arena = context.arena();
  Map* map = Map::Make(arena, 4);
  for (const auto& [name, values] : ParseQuery(args[0].url->raw_query)) {
    List* list = List::Make(arena, values.size());
    for (const std::string& value : values) list->Append(arena, MakeString(arena, value));
    map->Insert(arena, MakeString(arena, name), Value::Of(list));
  }
  return Value::Of(map);
}

constexpr Binding kUrlTable[] = {
    {OverloadId::kUrl, ParseUrlValue, TenthOfFirst},    {OverloadId::kIsUrl, IsUrl},
    {OverloadId::kUrlScheme, PartOf<Scheme>},           {OverloadId::kUrlHost, PartOf<Host>},
    {OverloadId::kUrlHostname, PartOf<Hostname>},       {OverloadId::kUrlPort, PartOf<Port>},
    {OverloadId::kUrlEscapedPath, PartOf<EscapedPath>}, {OverloadId::kUrlQuery, Query},
};

}  // namespace

Result<Url> ParseRequestUri(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return Error{.message = "parse " + golang::Quote(text) + ": " + std::string(why)};
  };
  if (text.empty()) return refuse("empty url");
  const bool control = std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
  if (control) return refuse("net/url: invalid control character in URL");
  if (!BeginsWithScheme(text) && text[0] != '/' && text[0] != ':' && text != "*") {
    return refuse("invalid URI for request");
  }
  Result<Url> request = golang::ParseUrlWithoutFragment(text);
  if (!request.ok() || text.find('#') == std::string_view::npos) return request;
  return golang::ParseUrl(text);
}

std::span<const Binding> UrlBindings() { return kUrlTable; }

}  // namespace ks::cel
