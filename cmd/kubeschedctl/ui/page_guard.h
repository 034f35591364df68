// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who may ask the page's server. It listens on loopback, where every program and every web page of
// the machine's users can reach it, and it asks the cluster with the user's credentials: so only
// who knows the token that was printed gets an answer, and no other origin does.
//
// Upstream: none; it has no such thing.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/http/http_message.h"

namespace ks::ctl {

// 128 random bits of the system, as hexadecimal digits.
std::string MakePageToken();

// Judges requests by what they say of themselves:
// - Host is a name of loopback with our port: a name of somebody else's that resolves to loopback
//   (DNS rebinding) is none.
// - What the browser says of the page that asks (Origin, Sec-Fetch-Site) is this server.
// - The token: in the query of `/`, as printed, which gives a cookie; then in the cookie.
// Threads: any.
class PageGuard {
 public:
  PageGuard(uint16_t port, std::string token);

  // Absent: the request may be answered.
  std::optional<server::Response> Refuse(const server::Request& request) const;
  // The cookie for a request that was let in by the token in its address; empty for others.
  std::string CookieFor(const server::Request& request) const;
  // What the user opens.
  std::string url() const;

 private:
  bool IsOwnHost(std::string_view host) const;
  bool IsOwnOrigin(const server::Request& request) const;
  bool HasCookie(const server::Request& request) const;
  bool HasToken(const server::Request& request) const;

  const std::string port_;
  const std::string token_;
  const std::string cookie_name_;  // of the port: cookies do not tell ports apart
};

}  // namespace ks::ctl
