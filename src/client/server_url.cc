// SPDX-License-Identifier: Apache-2.0
#include "client/server_url.h"

#include <arpa/inet.h>

#include <charconv>

namespace ks::client {
namespace {

Error Bad(std::string_view text, std::string_view cause) {
  std::string message = "invalid server URL \"";
  message.append(text).append("\": ").append(cause);
  return Error{std::move(message)};
}

bool IsIpv4(const std::string& host) {
  in_addr address;
  return inet_pton(AF_INET, host.c_str(), &address) == 1;
}

bool IsIpv6(const std::string& host) {
  in6_addr address;
  return inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

bool ParsePort(std::string_view text, uint16_t* port) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *port);
  return error == std::errc() && end == text.data() + text.size() && *port != 0;
}

}  // namespace

std::string ServerUrl::Authority() const {
  const std::string name = is_ipv6 ? "[" + host + "]" : host;
  return name + ":" + std::to_string(port);
}

std::string ServerUrl::Text() const {
  return (tls ? "https://" : "http://") + Authority() + prefix;
}

Result<ServerUrl> ParseServerUrl(std::string_view text) {
  ServerUrl url;
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
    url.tls = false;
    url.port = 80;
  } else if (rest.find("://") != rest.npos) {
    return Bad(text, "the scheme must be https or http");
  }
  if (rest.find_first_of("?#@ ") != rest.npos) {
    return Bad(text, "expected scheme, host, port and path only");
  }
  const size_t slash = rest.find('/');
  if (slash != rest.npos) {
    url.prefix = rest.substr(slash);
    while (url.prefix.ends_with('/')) url.prefix.pop_back();
    rest = rest.substr(0, slash);
  }
  std::string_view port;
  if (rest.starts_with('[')) {
    const size_t bracket = rest.find(']');
    if (bracket == rest.npos) return Bad(text, "missing ']' in host");
    url.host = rest.substr(1, bracket - 1);
    url.is_ipv6 = IsIpv6(url.host);
    if (!url.is_ipv6) return Bad(text, "expected an IPv6 address in brackets");
    port = rest.substr(bracket + 1);
  } else {
    const size_t colon = rest.find(':');
    url.host = rest.substr(0, colon);
    if (colon != rest.npos) port = rest.substr(colon);
    if (port.find(':', 1) != port.npos) return Bad(text, "an IPv6 address needs brackets");
  }
  if (url.host.empty()) return Bad(text, "the host is missing");
  if (!port.empty() && (port[0] != ':' || !ParsePort(port.substr(1), &url.port))) {
    return Bad(text, "the port must be a number from 1 to 65535");
  }
  url.is_ip = url.is_ipv6 || IsIpv4(url.host);
  return url;
}

}  // namespace ks::client
