// SPDX-License-Identifier: Apache-2.0
#pragma once
// The daemon's HTTPS server: paths to functions, on one thread. Boost.Beast sits behind this
// header. An answer may be given later and from any thread (HandleAsync); a handler that answers at
// once runs on the server's thread and delays every other one.
//
// Who may ask for what is judged by HttpsOptions::guard before a handler is looked for; a path
// without a handler is 404.
//
// Limits: 1 MiB of headers, a body of 4 KB unless the handler's options say otherwise, HTTP/1.1
// only (upstream also speaks HTTP/2). A body is read once the guard has admitted its request.
//
// Upstream: docs/spec/operations.md sections 2 and 2.1, 3.2.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "server/http/http_message.h"
#include "server/tls/certificate.h"
#include "server/tls/tls_context.h"
#include "server/tls/tls_settings.h"

namespace ks::server {

// Runs on the server's thread for every method; the body is left out of the answer to HEAD. Must
// not block.
using Handler = std::function<Response(const Request&)>;
// The same, but the answer may come later. The request lives for the call only.
using AsyncHandler = std::function<void(const Request&, Reply)>;

// What the guard says of a request.
struct Admission {
  std::optional<Response> refusal{};  // absent: admitted
  Identity caller{};                  // of an admitted request
};
// Callable once, from any thread. Destroyed uncalled: 500.
using Admit = std::function<void(Admission)>;

// Runs before the handler is looked for and before the body is read, on the server's thread. Must
// not block; the verdict may come later. The request lives for the call only.
using Guard = std::function<void(const Request&, Admit)>;

struct RouteOptions {
  size_t body_limit = 4 << 10;  // bytes; beyond it 413
};

struct HttpsOptions {
  std::string bind_address = "0.0.0.0";  // empty, 0.0.0.0 and ::: all addresses of both families
  uint16_t port = 10259;                 // 0: any free port, see HttpsServer::port()
  bool share_port = false;               // SO_REUSEPORT
  ServingCertificate certificate;
  TlsSettings tls;
  Guard guard;                           // empty: everybody may ask for everything
  size_t max_sessions = 256;             // beyond it the session that waited longest is closed
  size_t max_buffered_bytes = 32 << 20;  // of half-read headers of all sessions; beyond it 431
  Duration handshake_timeout = std::chrono::seconds(10);
  Duration header_timeout = std::chrono::seconds(32);  // from a request's first byte to its end
  Duration idle_timeout = std::chrono::seconds(90);    // between two requests
  Duration write_timeout = std::chrono::seconds(30);
  Duration close_timeout = std::chrono::seconds(2);        // for the peer's part of a TLS close
  Duration stop_timeout = std::chrono::seconds(5);         // for open answers when the server stops
  Duration accept_pause = std::chrono::milliseconds(200);  // after an accept error
};

// Threads: Handle… before Serve; the rest any. Lifetime: handlers outlive the server's Stop.
class HttpsServer {
 public:
  // Binds the socket and no more. Error: `failed to create listener: …`.
  static Result<std::unique_ptr<HttpsServer>> Bind(HttpsOptions options);
  // Bind, then Secure with the options' certificate and settings; nothing is served yet.
  static Result<std::unique_ptr<HttpsServer>> Listen(HttpsOptions options);
  ~HttpsServer();  // stops

  // What new connections get from here on; open ones keep what they have. Error: a certificate or
  // settings that cannot be used; nothing has changed.
  Result<void> Secure(const TlsSetup& setup);
  // Replaces that of the options. Requires: not yet serving.
  void SetGuard(Guard guard);

  // Requires: not yet serving, path not yet taken.
  void Handle(const std::string& path, Handler handler, RouteOptions options = {});
  void HandleAsync(const std::string& path, AsyncHandler handler, RouteOptions options = {});
  // Every path that begins with `prefix` and has no handler of its own; the longest prefix wins.
  void HandlePrefix(const std::string& prefix, AsyncHandler handler, RouteOptions options = {});

  // Keeps what handlers use as long as the server.
  void Keep(std::shared_ptr<void> owned);

  // Starts the thread. Requires: called once.
  void Serve();

  // Closes the listener and idle connections, lets open answers finish for stop_timeout, then ends
  // the thread. Blocks for it. Idempotent. Requires: not called by a handler.
  void Stop();

  uint16_t port() const;
  std::string address() const;  // "[::]:10259"
  size_t sessions() const;      // open connections

 private:
  struct State;
  explicit HttpsServer(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace ks::server
