// SPDX-License-Identifier: Apache-2.0
#pragma once
// Proxies between us and a server: which one there is, by the kubeconfig's proxy-url or by the
// environment. Speaking with it is the business of proxy_tunnel.h and http_connection.h.
//
// Upstream: docs/spec/api.md section 8.7.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "client/http/server_url.h"
#include "golang/url.h"

namespace ks::client {

struct Proxy {
  ServerUrl address{};  // tls: it is spoken to over TLS
  bool socks = false;   // SOCKS5, else HTTP
  std::optional<golang::UrlUser> user{};

  // Whether it passes bytes on, once asked to. Else it is sent the requests themselves.
  bool Tunnels(const ServerUrl& target) const { return socks || target.tls; }
};

// The proxy that any URL that could be parsed means, as upstream's client takes it: a scheme that
// it does not know stands for an HTTP proxy.
Proxy ProxyOf(const golang::Url& url);

// HTTPS_PROXY, HTTP_PROXY and NO_PROXY, or the same in lower case.
struct ProxyVariables {
  std::string https_proxy{};
  std::string http_proxy{};
  std::string no_proxy{};

  static ProxyVariables FromEnvironment();

  // Null: none. This machine's own addresses are never reached through one.
  std::shared_ptr<const Proxy> For(const ServerUrl& target) const;
};

// The proxy that `proxy_url` names, or without one the environment. Null: none.
std::shared_ptr<const Proxy> ChooseProxy(
    const std::string& proxy_url, const ServerUrl& target,
    const ProxyVariables& variables = ProxyVariables::FromEnvironment());

}  // namespace ks::client
