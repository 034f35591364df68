// SPDX-License-Identifier: Apache-2.0
#pragma once
// The API server's URL taken apart. Not a general URL type.
//
// Upstream: docs/spec/api.md sections 8.2 and 8.3.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ks::client {

struct ServerUrl {
  bool tls = true;
  std::string host;  // without brackets
  uint16_t port = 443;
  std::string prefix;  // "" or "/k8s/clusters/c1", without a slash at the end
  bool is_ip = false;
  bool is_ipv6 = false;

  // "10.0.0.1:6443", "[::1]:6443".
  std::string Authority() const;
  // "https://[::1]:6443/prefix".
  std::string Text() const;
};

// Without a scheme, https is assumed. Errors name the URL and what is wrong with it.
Result<ServerUrl> ParseServerUrl(std::string_view text);

}  // namespace ks::client
