// SPDX-License-Identifier: Apache-2.0
#include "client/http/proxy_tunnel.h"

#include <arpa/inet.h>

#include <algorithm>

#include "api/selector.h"
#include "golang/quote.h"
#include "golang/url.h"

namespace ks::client {
namespace {

using StepKind = ProxyTunnel::Step::Kind;

constexpr size_t kMostAnswer = 256 << 10;
constexpr size_t kMostName = 255;  // what a length of one byte can say

// RFC 1928 and 1929.
constexpr char kSocks = 5;
constexpr char kNoLogin = 0;
constexpr char kUserLogin = 2;
constexpr char kNoMethod = '\xff';
constexpr char kLoginVersion = 1;
constexpr char kConnectCommand = 1;
constexpr char kIpv4 = 1;
constexpr char kName = 3;
constexpr char kIpv6 = 4;

std::string Number(char byte) { return std::to_string(static_cast<unsigned char>(byte)); }

std::string ReplyText(char code) {
  constexpr const char* kTexts[] = {"succeeded",
                                    "general SOCKS server failure",
                                    "connection not allowed by ruleset",
                                    "network unreachable",
                                    "host unreachable",
                                    "connection refused",
                                    "TTL expired",
                                    "command not supported",
                                    "address type not supported"};
  const auto number = static_cast<unsigned char>(code);
  if (number < std::size(kTexts)) return kTexts[number];
  return "unknown code: " + std::to_string(number);
}

std::string AddressOfTarget(const ServerUrl& target) {
  if (!target.is_ip) {
    return std::string{kName, static_cast<char>(target.host.size())} + target.host;
  }
  char bytes[16] = {};
  inet_pton(target.is_ipv6 ? AF_INET6 : AF_INET, target.host.c_str(), bytes);
  return std::string(1, target.is_ipv6 ? kIpv6 : kIpv4) +
         std::string(bytes, target.is_ipv6 ? 16 : 4);
}

}  // namespace

std::string ProxyTunnel::Said(std::string_view cause) const {
  if (!proxy_.socks) return std::string(cause);
  return "socks connect tcp " + proxy_.address.Authority() + "->" + target_.Authority() + ": " +
         std::string(cause);
}

std::string ProxyTunnel::Begin() {
  received_.clear();
  if (proxy_.socks) {
    wait_ = Wait::kMethod;
    if (!proxy_.user.has_value()) return {kSocks, 1, kNoLogin};
    return {kSocks, 2, kNoLogin, kUserLogin};
  }
  wait_ = Wait::kConnect;
  std::string text = "CONNECT " + target_.Authority() + " HTTP/1.1\r\nHost: ";
  text.append(target_.Authority()).append("\r\n");
  if (proxy_.user.has_value()) {
    text.append("Proxy-Authorization: ")
        .append(golang::BasicAuthorization(*proxy_.user))
        .append("\r\n");
  }
  return text.append("\r\n");
}

ProxyTunnel::Step ProxyTunnel::OnReceived(std::string_view piece) {
  received_.append(piece);
  switch (wait_) {
    case Wait::kConnect:
      return OnConnectAnswer();
    case Wait::kMethod:
      return OnMethod();
    case Wait::kLogin:
      return OnLogin();
    case Wait::kReply:
      return OnReply();
  }
  return {};
}

ProxyTunnel::Step ProxyTunnel::OnConnectAnswer() const {
  const size_t line_end = received_.find('\n');
  std::string_view line = std::string_view(received_).substr(0, line_end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line_end != received_.npos && !line.starts_with("HTTP/")) {
    return Failed("malformed HTTP response " + golang::Quote(line));
  }
  if (received_.find("\r\n\r\n") == received_.npos && received_.find("\n\n") == received_.npos) {
    if (received_.size() > kMostAnswer) return Failed("malformed HTTP response: too long");
    return {};
  }
  // "HTTP/1.1 407 Proxy Authentication Required".
  line.remove_prefix(std::min(line.find(' '), line.size() - 1) + 1);
  const std::string_view code = line.substr(0, line.find(' '));
  if (code == "200") return {StepKind::kDone};
  return Failed(code.size() == line.size() ? "unknown status code" : line.substr(code.size() + 1));
}

ProxyTunnel::Step ProxyTunnel::OnMethod() {
  if (received_.size() < 2) return {};
  if (received_[0] != kSocks) return Failed("unexpected protocol version " + Number(received_[0]));
  const char method = received_[1];
  received_.erase(0, 2);
  if (method == kNoMethod) return Failed("no acceptable authentication methods");
  if (method != kUserLogin || !proxy_.user.has_value()) return Request();
  const std::string& name = proxy_.user->name;
  const std::string password = proxy_.user->password.value_or("");
  if (name.empty() || name.size() > kMostName || password.size() > kMostName) {
    return Failed("invalid username/password");
  }
  wait_ = Wait::kLogin;
  std::string text{kLoginVersion, static_cast<char>(name.size())};
  text += name;
  text += static_cast<char>(password.size());
  return {StepKind::kSend, text + password};
}

ProxyTunnel::Step ProxyTunnel::OnLogin() {
  if (received_.size() < 2) return {};
  if (received_[0] != kLoginVersion) return Failed("invalid username/password version");
  if (received_[1] != 0) return Failed("username/password authentication failed");
  received_.erase(0, 2);
  return Request();
}

ProxyTunnel::Step ProxyTunnel::Request() {
  if (target_.host.size() > kMostName) return Failed("FQDN too long");
  wait_ = Wait::kReply;
  std::string text{kSocks, kConnectCommand, 0};
  text += AddressOfTarget(target_);
  text += static_cast<char>(target_.port >> 8);
  text += static_cast<char>(target_.port & 0xff);
  return {StepKind::kSend, text};
}

ProxyTunnel::Step ProxyTunnel::OnReply() const {
  if (received_.size() < 4) return {};
  if (received_[0] != kSocks) return Failed("unexpected protocol version " + Number(received_[0]));
  if (received_[1] != 0) return Failed("unknown error " + ReplyText(received_[1]));
  // The address that the proxy uses: of no interest, but its bytes are not the server's.
  size_t size = 0;
  if (received_[3] == kIpv4) {
    size = 4;
  } else if (received_[3] == kIpv6) {
    size = 16;
  } else if (received_[3] == kName) {
    if (received_.size() < 5) return {};
    size = 1 + static_cast<unsigned char>(received_[4]);
  } else {
    return Failed("unknown address type " + Number(received_[3]));
  }
  return {received_.size() < 4 + size + 2 ? StepKind::kReceive : StepKind::kDone};
}

}  // namespace ks::client
