// SPDX-License-Identifier: Apache-2.0
#pragma once
// The daemon's HTTPS server: exact paths to functions, on one thread. Boost.Beast sits behind this
// header. Not for slow answers: a handler runs on the server's thread and delays every other one.
//
// Who may ask for what is judged by HttpsOptions::guard (path_authorization.h) before a handler is
// looked for; a path without a handler is 404.
//
// Limits: 8 KB of headers, 4 KB of request body, HTTP/1.1 only (upstream also speaks HTTP/2 and
// takes 1 MiB of headers).
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
#include "server/certificate.h"
#include "server/tls_settings.h"

namespace ks::server {

struct Request {
  std::string method;
  std::string path;   // as sent, without the query
  std::string query;  // behind the '?', as sent
  std::string user_agent;
};

struct Response {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  bool no_sniff = true;  // X-Content-Type-Options: nosniff
};

// Runs on the server's thread for every method; the body is left out of the answer to HEAD. Must
// not block.
using Handler = std::function<Response(const Request&)>;

// Runs before the handler, on the server's thread: absent lets the request pass, else the answer.
using Guard = std::function<std::optional<Response>(const Request&)>;

struct HttpsOptions {
  std::string bind_address = "0.0.0.0";  // empty, 0.0.0.0 and ::: all addresses of both families
  uint16_t port = 10259;                 // 0: any free port, see HttpsServer::port()
  bool share_port = false;               // SO_REUSEPORT
  ServingCertificate certificate;
  TlsSettings tls;
  Guard guard;                // empty: everybody may ask for everything
  size_t max_sessions = 256;  // beyond it the session that waited longest is closed
  Duration handshake_timeout = std::chrono::seconds(10);
  Duration header_timeout = std::chrono::seconds(32);  // from a request's first byte to its end
  Duration idle_timeout = std::chrono::seconds(90);    // between two requests
  Duration write_timeout = std::chrono::seconds(30);
  Duration close_timeout = std::chrono::seconds(2);        // for the peer's part of a TLS close
  Duration stop_timeout = std::chrono::seconds(5);         // for open answers when the server stops
  Duration accept_pause = std::chrono::milliseconds(200);  // after an accept error
};

// Threads: Handle before Serve; the rest any. Lifetime: handlers outlive the server's Stop.
class HttpsServer {
 public:
  // Binds the socket and no more. Error: `failed to create listener: …`.
  static Result<std::unique_ptr<HttpsServer>> Bind(HttpsOptions options);
  // Bind, then Secure with the options' certificate and settings; nothing is served yet.
  static Result<std::unique_ptr<HttpsServer>> Listen(HttpsOptions options);
  ~HttpsServer();  // stops

  // Error: a certificate or settings that cannot be used. Requires: not yet serving.
  Result<void> Secure(const ServingCertificate& certificate, const TlsSettings& settings);
  // Replaces that of the options. Requires: not yet serving.
  void SetGuard(Guard guard);

  // Requires: not yet serving, path not yet taken.
  void Handle(const std::string& path, Handler handler);

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
