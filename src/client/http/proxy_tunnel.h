// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words with which a proxy is asked to pass bytes on to a server: HTTP CONNECT, or SOCKS5 with
// or without a user. Knows no socket: whoever has the connection sends what this says and hands
// over what comes back.
//
// Upstream: docs/spec/api.md section 8.7.

#include <cstdint>
#include <string>
#include <string_view>

#include "client/http/proxy.h"
#include "client/http/server_url.h"

namespace ks::client {

class ProxyTunnel {
 public:
  struct Step {
    enum class Kind : uint8_t { kSend, kReceive, kDone, kFailed };
    Kind kind = Kind::kReceive;
    std::string text{};  // kSend: the bytes; kFailed: why, in upstream's words
  };

  // Lifetime: `proxy` and `target` outlive the tunnel.
  ProxyTunnel(const Proxy& proxy, const ServerUrl& target) : proxy_(proxy), target_(target) {}

  // What to send first.
  std::string Begin();
  // After each piece that was received, of any cut. kSend: then receive again.
  Step OnReceived(std::string_view piece);
  // The proxy closed the connection: why that is a failure.
  std::string OnEnd() const { return Said("unexpected EOF"); }

 private:
  enum class Wait : uint8_t { kConnect, kMethod, kLogin, kReply };

  std::string Said(std::string_view cause) const;
  Step Failed(std::string_view cause) const { return {Step::Kind::kFailed, Said(cause)}; }
  Step OnConnectAnswer() const;
  Step OnMethod();
  Step OnLogin();
  Step OnReply() const;
  Step Request();

  const Proxy& proxy_;
  const ServerUrl& target_;
  Wait wait_ = Wait::kConnect;
  std::string received_;  // of the answer that is waited for
};

}  // namespace ks::client
