// SPDX-License-Identifier: Apache-2.0
#include "server/http/https_server.h"

#include <malloc.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/logging.h"
#include "server/http/https_session.h"
#include "server/http/listening_socket.h"
#include "server/tls/tls_context.h"

namespace ks::server {
namespace {

using Tcp = boost::asio::ip::tcp;

// So many sessions at a time are no monitoring: what they took is given back when they are gone.
constexpr size_t kFlood = 64;
constexpr Duration kTrimPause = std::chrono::seconds(10);  // a trim holds up who allocates

// The peer closed the connection before it was accepted, and said nothing; or what it said by then
// is neither the beginning of a ClientHello nor of a request in plain HTTP, which gets an answer.
bool IsHopeless(Tcp::socket& socket) {
  constexpr unsigned char kHandshake = 22;  // record type; RFC 8446 5.1, 4
  constexpr unsigned char kMajorVersion = 3;
  constexpr unsigned char kClientHello = 1;
  std::array<unsigned char, 6> head{};
  const ssize_t size =
      ::recv(socket.native_handle(), head.data(), head.size(), MSG_PEEK | MSG_DONTWAIT);
  if (size <= 0) {
    return size == 0;
  }
  if (head[0] != kHandshake) {
    return head[0] < 'A' || head[0] > 'Z';
  }
  return (size > 1 && head[1] != kMajorVersion) ||
         (size == std::ssize(head) && head[5] != kClientHello);
}

}  // namespace

// Everything but the counters belongs to the server's thread once Serve has started it.
struct HttpsServer::State final : HttpsShared {
  using HttpsShared::HttpsShared;

  bool Admits(Tcp::socket& socket) override;
  void NoteFlood();

  std::vector<std::shared_ptr<void>> kept;
  bool flooded = false;  // what the flood took was not given back yet
  std::chrono::steady_clock::time_point next_trim{};
};

// A session with its TLS state costs twenty times the look.
bool HttpsServer::State::Admits(Tcp::socket& socket) {
  NoteFlood();
  return !IsHopeless(socket);
}

// The allocator keeps what many sessions had, between memory that is still in use.
void HttpsServer::State::NoteFlood() {
  if (connection_count() >= kFlood) {
    flooded = true;
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (!flooded || connection_count() >= kFlood / 4 || now < next_trim) {
    return;
  }
  flooded = false;
  next_trim = now + kTrimPause;
  ::malloc_trim(0);
}

Result<std::unique_ptr<HttpsServer>> HttpsServer::Bind(HttpsOptions options) {
  auto state = std::make_unique<State>(std::move(options));
  const ListenAddress where{.bind_address = state->options.bind_address,
                            .port = state->options.port,
                            .share_port = state->options.share_port};
  if (Result<void> bound = state->Bind(where); !bound.ok()) {
    return bound.error();
  }
  return std::unique_ptr<HttpsServer>(new HttpsServer(std::move(state)));
}

Result<std::unique_ptr<HttpsServer>> HttpsServer::Listen(HttpsOptions options) {
  auto bound = Bind(std::move(options));
  if (!bound.ok()) {
    return bound;
  }
  HttpsServer& server = *bound.value();
  const HttpsOptions& kept = server.state_->options;
  if (Result<void> secured = server.Secure({.certificate = kept.certificate, .settings = kept.tls});
      !secured.ok()) {
    return secured.error();
  }
  return bound;
}

Result<void> HttpsServer::Secure(const TlsSetup& setup) {
  auto tls = MakeTlsContext(setup);
  if (!tls.ok()) {
    return tls.error();
  }
  state_->SetTls(std::move(tls).value());
  return {};
}

void HttpsServer::SetGuard(Guard guard) {
  KS_CHECK(!state_->serving(), "SetGuard while serving");
  state_->options.guard = std::move(guard);
}

HttpsServer::HttpsServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

HttpsServer::~HttpsServer() { Stop(); }

void HttpsServer::Handle(const std::string& path, Handler handler, RouteOptions options) {
  HandleAsync(
      path,
      [handler = std::move(handler)](const Request& request, const Reply& reply) {
        reply(handler(request));
      },
      options);
}

void HttpsServer::HandleAsync(const std::string& path, AsyncHandler handler, RouteOptions options) {
  KS_CHECK(!state_->serving(), "Handle while serving");
  const bool added =
      state_->routes.emplace(path, Route{.handler = std::move(handler), .options = options}).second;
  KS_CHECK(added, "two handlers for " + path);
}

void HttpsServer::HandlePrefix(const std::string& prefix, AsyncHandler handler,
                               RouteOptions options) {
  KS_CHECK(!state_->serving(), "Handle while serving");
  const bool added =
      state_->prefixes.emplace(prefix, Route{.handler = std::move(handler), .options = options})
          .second;
  KS_CHECK(added, "two handlers for " + prefix);
}

void HttpsServer::Keep(std::shared_ptr<void> owned) { state_->kept.push_back(std::move(owned)); }

void HttpsServer::Serve() {
  KS_CHECK(state_->tls() != nullptr, "Serve before Secure");
  log::Info(0, "Serving securely on " + state_->address());
  state_->Serve();
}

void HttpsServer::Stop() {
  if (!state_->serving()) {
    return;
  }
  state_->Stop();
  state_->mailbox->Close();
  KS_LOG(1, "[graceful-termination] secure server is exiting");
}

uint16_t HttpsServer::port() const { return state_->port(); }

std::string HttpsServer::address() const { return state_->address(); }

size_t HttpsServer::sessions() const { return state_->connection_count(); }

}  // namespace ks::server
