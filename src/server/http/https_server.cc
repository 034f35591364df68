// SPDX-License-Identifier: Apache-2.0
#include "server/http/https_server.h"

#include <malloc.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <iterator>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/logging.h"
#include "server/http/https_session.h"
#include "server/http/listener.h"
#include "server/tls/tls_context.h"

namespace ks::server {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using ErrorCode = boost::system::error_code;

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
struct HttpsServer::State : HttpsShared {
  explicit State(HttpsOptions server_options)
      : HttpsShared(std::move(server_options)), acceptor(io) {}
  ~State() { mailbox->Close(); }

  void Accept();
  void OnAccept(const ErrorCode& error, Tcp::socket socket);
  void MakeRoom();
  void NoteFlood();
  void BeginStop();
  void CloseAll(bool only_waiting);

  std::string address;
  uint16_t port = 0;
  std::thread thread;
  std::vector<std::shared_ptr<void>> kept;
  Tcp::acceptor acceptor;
  bool flooded = false;  // what the flood took was not given back yet
  std::chrono::steady_clock::time_point next_trim{};
};

void HttpsServer::State::Accept() {
  acceptor.async_accept(io, [this](const ErrorCode& error, Tcp::socket socket) {
    OnAccept(error, std::move(socket));
  });
}

void HttpsServer::State::OnAccept(const ErrorCode& error, Tcp::socket socket) {
  if (stopping || error == asio::error::operation_aborted) {
    return;
  }
  if (error) {
    // Mostly "too many open files": trying again at once would only burn a core.
    KS_LOG(2, "Accepting a connection failed; pausing", {{"err", error.message()}});
    timer.expires_after(options.accept_pause);
    timer.async_wait([this](const ErrorCode&) {
      if (!stopping) {
        Accept();
      }
    });
    return;
  }
  NoteFlood();
  if (IsHopeless(socket)) {  // a session with its TLS state costs twenty times the look
    Accept();
    return;
  }
  MakeRoom();
  if (sessions.size() <= options.max_sessions) {
    std::make_shared<HttpsSession>(*this, std::move(socket))->Start();
  }
  Accept();
}

// A closed session leaves the list when its operation has ended, hence one above the limit. Callers
// that only wait go first, then those whom guard or handler keep waiting: were they never cut, slow
// answers could lock probes out.
void HttpsServer::State::MakeRoom() {
  if (sessions.size() < options.max_sessions) {
    return;
  }
  HttpsSession* chosen = nullptr;
  for (HttpsSession* session : sessions) {
    if (session->waiting()) {
      chosen = session;
      break;
    }
    if (chosen == nullptr && session->asking()) {
      chosen = session;
    }
  }
  if (chosen != nullptr) {
    chosen->Close();
  }
}

// The allocator keeps what many sessions had, between memory that is still in use.
void HttpsServer::State::NoteFlood() {
  if (sessions.size() >= kFlood) {
    flooded = true;
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (!flooded || sessions.size() >= kFlood / 4 || now < next_trim) {
    return;
  }
  flooded = false;
  next_trim = now + kTrimPause;
  ::malloc_trim(0);
}

void HttpsServer::State::CloseAll(bool only_waiting) {
  const std::vector<HttpsSession*> all(sessions.begin(), sessions.end());
  for (HttpsSession* session : all) {
    if (!only_waiting || session->waiting()) {
      session->Close();
    }
  }
}

void HttpsServer::State::BeginStop() {
  stopping = true;
  ErrorCode ignored;
  acceptor.close(ignored);
  timer.cancel();
  CloseAll(true);
  if (sessions.empty()) {
    return;
  }
  timer.expires_after(options.stop_timeout);
  timer.async_wait([this](const ErrorCode& error) {
    if (!error) {
      CloseAll(false);
    }
  });
}

Result<std::unique_ptr<HttpsServer>> HttpsServer::Bind(HttpsOptions options) {
  auto state = std::make_unique<State>(std::move(options));
  const ListenAddress where{.bind_address = state->options.bind_address,
                            .port = state->options.port,
                            .share_port = state->options.share_port};
  if (Result<void> bound = BindAcceptor(state->acceptor, where); !bound.ok()) {
    return bound.error();
  }
  ErrorCode ignored;
  const Tcp::endpoint endpoint = state->acceptor.local_endpoint(ignored);
  state->port = endpoint.port();
  state->address = EndpointText(endpoint);
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
  const MutexLock lock(state_->tls_mutex);
  state_->tls.swap(tls.value());
  return {};
}

void HttpsServer::SetGuard(Guard guard) {
  KS_CHECK(!state_->thread.joinable(), "SetGuard while serving");
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
  KS_CHECK(!state_->thread.joinable(), "Handle while serving");
  const bool added =
      state_->routes.emplace(path, Route{.handler = std::move(handler), .options = options}).second;
  KS_CHECK(added, "two handlers for " + path);
}

void HttpsServer::HandlePrefix(const std::string& prefix, AsyncHandler handler,
                               RouteOptions options) {
  KS_CHECK(!state_->thread.joinable(), "Handle while serving");
  const bool added =
      state_->prefixes.emplace(prefix, Route{.handler = std::move(handler), .options = options})
          .second;
  KS_CHECK(added, "two handlers for " + prefix);
}

void HttpsServer::Keep(std::shared_ptr<void> owned) { state_->kept.push_back(std::move(owned)); }

void HttpsServer::Serve() {
  KS_CHECK(!state_->thread.joinable() && !state_->stopping, "Serve called twice");
  KS_CHECK(state_->Tls() != nullptr, "Serve before Secure");
  log::Info(0, "Serving securely on " + state_->address);
  state_->Accept();
  state_->thread = std::thread([state = state_.get()] { state->io.run(); });
}

void HttpsServer::Stop() {
  if (!state_->thread.joinable()) {
    return;
  }
  asio::post(state_->io, [state = state_.get()] { state->BeginStop(); });
  state_->thread.join();
  state_->mailbox->Close();
  KS_LOG(1, "[graceful-termination] secure server is exiting");
}

uint16_t HttpsServer::port() const { return state_->port; }

std::string HttpsServer::address() const { return state_->address; }

size_t HttpsServer::sessions() const { return state_->session_count; }

}  // namespace ks::server
