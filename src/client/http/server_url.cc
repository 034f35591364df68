// SPDX-License-Identifier: Apache-2.0
#include "client/http/server_url.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "api/selector.h"
#include "golang/quote.h"
#include "golang/url_escape.h"

namespace ks::client {
namespace {

bool IsIpv4(const std::string& host) {
  in_addr address;
  return inet_pton(AF_INET, host.c_str(), &address) == 1;
}

bool IsIpv6(const std::string& host) {
  in6_addr address;
  return inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

// What upstream's client refuses before it connects to anybody.
std::string RefusalOf(const golang::Url& url) {
  if (url.scheme != "http" && url.scheme != "https") {
    return "unsupported protocol scheme " + golang::Quote(url.scheme);
  }
  return url.host.empty() ? "http: no Host in request URL" : "";
}

// Without "//", "." and "..", and without a slash at the end.
std::string CleanPath(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
  }
  std::string clean;
  for (const std::string_view part : parts) clean.append("/").append(part);
  return clean;
}

}  // namespace

std::string ServerUrl::Authority() const {
  std::string name = zone.empty() ? host : host + "%" + zone;
  if (is_ipv6) name = "[" + name + "]";
  return name + ":" + std::to_string(port);
}

std::string ServerUrl::Text() const { return shown_origin + prefix; }

ServerUrl AddressOf(const golang::Url& url) {
  ServerUrl address;
  address.tls = url.scheme == "https";
  address.port = address.tls ? 443 : 80;
  address.refusal = RefusalOf(url);
  address.host = url.Hostname();
  if (address.host.empty()) address.host = "localhost";  // ":6443" is a port of this machine
  if (const size_t percent = address.host.find('%'); percent != std::string::npos) {
    address.zone = address.host.substr(percent + 1);
    address.host.resize(percent);
  }
  address.is_ipv6 = IsIpv6(address.host);
  address.is_ip = address.is_ipv6 || IsIpv4(address.host);
  const std::string port = url.Port();
  if (!port.empty()) {
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
    if (error != std::errc() && address.refusal.empty()) {
      address.refusal = "dial tcp: address " + port + ": invalid port";
    }
  }
  address.host_field = address.is_ipv6 ? "[" + address.host + "]" : url.Hostname();
  if (!port.empty()) address.host_field += ":" + port;
  if (url.user.has_value()) address.authorization = golang::BasicAuthorization(*url.user);
  golang::Url origin;
  origin.scheme = url.scheme;
  origin.user = url.user;
  origin.host = url.host;
  address.shown_origin = origin.RedactedText();
  return address;
}

Result<ServerUrl> ParseServerUrl(std::string_view text) {
  Result<golang::Url> url = golang::ParseUrl(text);
  if (!url.ok() || url->scheme.empty() || url->host.empty()) {
    url = golang::ParseUrl("http://" + std::string(text));
    if (!url.ok()) return url.error();
    if (!url->path.empty() && url->path != "/") {
      return Error{"host must be a URL or a host:port pair: " + golang::Quote(text)};
    }
  }
  ServerUrl address = AddressOf(*url);
  address.prefix = golang::EscapeUrlPart(CleanPath(url->path), golang::UrlPart::kPath);
  return address;
}

}  // namespace ks::client
