// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where requests go: the address behind a URL, ready to be dialled, and what of the URL each
// request carries.
//
// Upstream: docs/spec/api.md sections 8.2, 8.3 and 8.6.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "golang/url.h"

namespace ks::client {

struct ServerUrl {
  bool tls = true;
  std::string host{};  // without brackets and zone
  std::string zone{};  // "eth0" of "[fe80::1%25eth0]"; mostly empty
  uint16_t port = 443;
  std::string prefix{};  // "" or "/k8s/clusters/c1", without a slash at the end
  bool is_ip = false;
  bool is_ipv6 = false;
  std::string host_field{};     // of requests, as upstream's: "10.0.0.1:6443", "api.example.com"
  std::string authorization{};  // "Basic …", of "user:password@"; empty: none
  // Why no request can be sent there, in upstream's words; empty: one can.
  std::string refusal{};

  // What is dialled: "10.0.0.1:6443", "[::1]:6443".
  std::string Authority() const;
  // For messages: "https://[::1]:6443/prefix", with "***" for a password.
  std::string Text() const;

  std::string shown_origin{};  // of Text
};

// The address in any URL that could be parsed; the prefix is left empty.
ServerUrl AddressOf(const golang::Url& url);

// An API server's, as kubeconfigs and --master give it: a URL with host, else host and port (which
// means http). Its query counts for nothing. Errors are upstream's.
Result<ServerUrl> ParseServerUrl(std::string_view text);

}  // namespace ks::client
