// SPDX-License-Identifier: Apache-2.0
#include "client/http/proxy.h"

#include <arpa/inet.h>

#include <array>
#include <charconv>
#include <cstdlib>

#include "base/text.h"

namespace ks::client {
namespace {

constexpr uint16_t kSocksPort = 1080;

// An address of either family, IPv4 as IPv6 maps it.
using AddressBytes = std::array<unsigned char, 16>;

std::optional<AddressBytes> ParseAddress(const std::string& text) {
  AddressBytes bytes{};
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return bytes;
  bytes[10] = bytes[11] = 0xff;
  if (inet_pton(AF_INET, text.c_str(), bytes.data() + 12) == 1) return bytes;
  return std::nullopt;
}

struct Network {
  AddressBytes address{};
  size_t bits = 0;

  bool Contains(const AddressBytes& other) const {
    for (size_t bit = 0; bit < bits; ++bit) {
      const int mask = 0x80 >> (bit % 8);
      if ((address[bit / 8] & mask) != (other[bit / 8] & mask)) return false;
    }
    return true;
  }
};

// "10.0.0.0/8".
std::optional<Network> ParseNetwork(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == text.npos) return std::nullopt;
  const std::string base(text.substr(0, slash));
  const auto address = ParseAddress(base);
  if (!address.has_value()) return std::nullopt;
  const bool v6 = base.find(':') != base.npos;
  const std::string_view digits = text.substr(slash + 1);
  Network network{.address = *address};
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), network.bits);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (network.bits > (v6 ? 128U : 32U)) return std::nullopt;
  if (!v6) network.bits += 96;
  return network;
}

// One entry of NO_PROXY, in lower case.
class Exception {
 public:
  explicit Exception(std::string_view text) : name_(text) {
    // A colon begins a port, unless there are more and no brackets.
    const size_t colon = text.rfind(':');
    const bool bracketed = text.starts_with('[') && text.find(']') + 1 == colon;
    if (colon != text.npos && (bracketed || text.find(':') == colon)) {
      port_ = text.substr(colon + 1);
      name_ = text.substr(0, colon);
    }
    if (name_.starts_with('[') && name_.ends_with(']')) name_ = name_.substr(1, name_.size() - 2);
    address_ = ParseAddress(name_);
    if (name_.starts_with("*.")) name_.erase(0, 1);
  }

  bool Covers(const std::string& host, const std::optional<AddressBytes>& address,
              const std::string& port) const {
    if (name_.empty() || !(port_.empty() || port_ == port)) return false;
    if (address_.has_value()) return address == address_;
    if (name_.starts_with('.')) return host.ends_with(name_);
    return host == name_ || host.ends_with("." + name_);
  }

 private:
  std::string name_;
  std::string port_;  // empty: any
  std::optional<AddressBytes> address_;
};

bool IsExcepted(std::string_view no_proxy, const ServerUrl& target) {
  const std::string host = LowerCase(target.host);
  const std::optional<AddressBytes> address = ParseAddress(host);
  const std::string port = std::to_string(target.port);
  for (const std::string_view entry : SplitTrimmed(no_proxy, ',')) {
    const std::string text = LowerCase(entry);
    if (text == "*") return true;
    if (const auto network = ParseNetwork(text)) {
      if (address.has_value() && network->Contains(*address)) return true;
    } else if (Exception(text).Covers(host, address, port)) {
      return true;
    }
  }
  return false;
}

bool IsThisMachine(const ServerUrl& target) {
  if (target.host == "localhost") return true;
  const std::optional<AddressBytes> address = ParseAddress(target.host);
  const auto loopback = [](std::string_view text) { return *ParseNetwork(text); };
  return address.has_value() &&
         (loopback("127.0.0.0/8").Contains(*address) || loopback("::1/128").Contains(*address));
}

std::string Variable(const char* upper, const char* lower) {
  for (const char* name : {upper, lower}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return "";
}

}  // namespace

Proxy ProxyOf(const golang::Url& url) {
  Proxy proxy;
  proxy.socks = url.scheme == "socks5" || url.scheme == "socks5h";
  proxy.user = url.user;
  golang::Url web = url;
  web.scheme = url.scheme == "https" ? "https" : "http";
  if (web.host.empty()) web.host = "localhost";
  proxy.address = AddressOf(web);
  if (url.Port().empty() && proxy.socks) proxy.address.port = kSocksPort;
  return proxy;
}

ProxyVariables ProxyVariables::FromEnvironment() {
  return {.https_proxy = Variable("HTTPS_PROXY", "https_proxy"),
          .http_proxy = Variable("HTTP_PROXY", "http_proxy"),
          .no_proxy = Variable("NO_PROXY", "no_proxy")};
}

std::shared_ptr<const Proxy> ProxyVariables::For(const ServerUrl& target) const {
  const std::string& text = target.tls ? https_proxy : http_proxy;
  if (text.empty() || IsThisMachine(target) || IsExcepted(no_proxy, target)) return nullptr;
  Result<golang::Url> url = golang::ParseUrl(text);
  // "proxy.example:3128".
  if (!url.ok() || url->scheme.empty() || url->host.empty()) {
    url = golang::ParseUrl("http://" + text);
  }
  return url.ok() ? std::make_shared<const Proxy>(ProxyOf(*url)) : nullptr;
}

std::shared_ptr<const Proxy> ChooseProxy(const std::string& proxy_url, const ServerUrl& target,
                                         const ProxyVariables& variables) {
  if (proxy_url.empty()) return variables.For(target);
  const Result<golang::Url> url = golang::ParseUrl(proxy_url);
  return url.ok() ? std::make_shared<const Proxy>(ProxyOf(*url)) : nullptr;
}

}  // namespace ks::client
