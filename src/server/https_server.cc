// SPDX-License-Identifier: Apache-2.0
#include "server/https_server.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <list>
#include <map>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/logging.h"
#include "server/http_date.h"
#include "server/listener.h"
#include "server/tls_context.h"

namespace ks::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace ssl = asio::ssl;
using Tcp = asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using HttpResponse = http::response<http::string_body>;

constexpr size_t kHeaderLimit = 8 << 10;
constexpr size_t kBodyLimit = 4 << 10;
constexpr size_t kBufferLimit = 16 << 10;
constexpr size_t kLingerLimit = 256 << 10;  // bytes of a refused request that are thrown away
constexpr std::string_view kPlainHttpAnswer =
    "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
}  // namespace

// Everything but `session_count` belongs to the server's thread once Serve has started it.
struct HttpsServer::State {
  class Session;

  explicit State(HttpsOptions server_options)
      : options(std::move(server_options)), acceptor(io), timer(io) {}

  void Accept();
  void OnAccept(const ErrorCode& error, Tcp::socket socket);
  void MakeRoom();
  void BeginStop();
  HttpResponse Answer(const http::request<http::string_body>& request, const std::string& source);
  Response Handle(const Request& asked);

  HttpsOptions options;
  std::map<std::string, Handler, std::less<>> handlers;
  std::string address;
  uint16_t port = 0;
  std::thread thread;
  std::atomic<size_t> session_count = 0;

  asio::io_context io{1};
  ssl::context tls{ssl::context::tls_server};
  Tcp::acceptor acceptor;
  asio::steady_timer timer;      // pause after an accept error; deadline of a stop
  std::list<Session*> sessions;  // the one that waited longest first
  bool stopping = false;
};

// One connection. Kept alive by its pending operation; every operation has a deadline.
class HttpsServer::State::Session : public std::enable_shared_from_this<Session> {
 public:
  Session(State& server, Tcp::socket socket)
      : server_(server), stream_(std::move(socket), server.tls), buffer_(kBufferLimit) {
    server_.sessions.push_back(this);
    position_ = std::prev(server_.sessions.end());
    ++server_.session_count;
  }

  ~Session() {
    server_.sessions.erase(position_);
    --server_.session_count;
    if (server_.stopping && server_.sessions.empty()) {
      server_.timer.cancel();
    }
  }

  void Start() {
    ErrorCode ignored;
    Tcp::socket& socket = beast::get_lowest_layer(stream_).socket();
    CloseOnExec(socket.native_handle());
    socket.set_option(Tcp::no_delay(true), ignored);
    socket.set_option(asio::socket_base::keep_alive(true), ignored);
    const Tcp::endpoint peer = socket.remote_endpoint(ignored);
    source_ = EndpointText(peer);
    ExpireAfter(server_.options.handshake_timeout);
    stream_.async_handshake(
        ssl::stream_base::server,
        [self = shared_from_this()](const ErrorCode& error) { self->OnHandshake(error); });
  }

  // Nothing is owed to the peer: it may be cut at any time.
  bool waiting() const { return waiting_; }

  // Pending operations end with an error, which ends the session.
  void Close() { beast::get_lowest_layer(stream_).close(); }

 private:
  void ExpireAfter(Duration timeout) {
    beast::get_lowest_layer(stream_).expires_after(
        std::chrono::duration_cast<std::chrono::milliseconds>(timeout));
  }

  void OnHandshake(const ErrorCode& error) {
    if (!error) {
      WaitForRequest(server_.options.header_timeout);
    } else if (error.category() == asio::error::get_ssl_category() &&
               ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_HTTP_REQUEST) {
      waiting_ = false;
      ExpireAfter(server_.options.write_timeout);
      asio::async_write(stream_.next_layer(), asio::buffer(kPlainHttpAnswer),
                        [self = shared_from_this()](const ErrorCode& written, size_t) {
                          if (!written) {
                            self->Linger();
                          }
                        });
    }
  }

  void WaitForRequest(Duration timeout) {
    if (server_.stopping) {
      ShutDown();
      return;
    }
    waiting_ = true;
    if (buffer_.size() > 0) {
      ReadRequest();
      return;
    }
    ExpireAfter(timeout);
    stream_.async_read_some(buffer_.prepare(4096),
                            [self = shared_from_this()](const ErrorCode& error, size_t size) {
                              self->buffer_.commit(size);
                              if (!error) {
                                self->ReadRequest();
                              } else if (error == asio::error::eof) {
                                self->ShutDown();
                              }
                            });
  }

  void ReadRequest() {
    parser_.emplace();
    parser_->header_limit(kHeaderLimit);
    parser_->body_limit(kBodyLimit);
    ExpireAfter(server_.options.header_timeout);
    http::async_read(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](const ErrorCode& error, size_t) { self->OnRequest(error); });
  }

  void OnRequest(const ErrorCode& error) {
    if (error == http::error::header_limit || error == http::error::buffer_overflow) {
      Refuse(http::status::request_header_fields_too_large);
    } else if (error == http::error::body_limit) {
      Refuse(http::status::payload_too_large);
    } else if (error == http::error::end_of_stream || error == http::error::partial_message) {
      ShutDown();
    } else if (error.category() == http::make_error_code(http::error::bad_method).category()) {
      Refuse(http::status::bad_request);
    } else if (!error) {
      const http::request<http::string_body>& request = parser_->get();
      const bool keep_alive = request.keep_alive() && !server_.stopping;
      response_ = server_.Answer(request, source_);
      response_.keep_alive(keep_alive);
      server_.sessions.splice(server_.sessions.end(), server_.sessions, position_);
      Write();
    }
  }

  // The request cannot be read to its end; the connection is of no further use.
  void Refuse(http::status status) {
    refused_ = true;
    response_ = HttpResponse(status, 11);
    response_.set(http::field::content_type, "text/plain; charset=utf-8");
    response_.body() = std::to_string(static_cast<unsigned>(status)) + " " +
                       std::string(http::obsolete_reason(status));
    response_.prepare_payload();
    response_.keep_alive(false);
    Write();
  }

  void Write() {
    waiting_ = false;
    ExpireAfter(server_.options.write_timeout);
    http::async_write(stream_, response_,
                      [self = shared_from_this()](const ErrorCode& error, size_t) {
                        if (error) {
                          return;
                        }
                        if (self->response_.keep_alive()) {
                          self->WaitForRequest(self->server_.options.idle_timeout);
                        } else {
                          self->ShutDown();
                        }
                      });
  }

  void ShutDown() {
    waiting_ = false;
    ExpireAfter(server_.options.close_timeout);
    stream_.async_shutdown([self = shared_from_this()](const ErrorCode&) {
      if (self->refused_) {
        self->Linger();
      }
    });
  }

  // Closing a socket with unread bytes resets the connection, and the peer may lose the answer
  // that says why: what still comes is thrown away, within limits.
  void Linger() {
    ErrorCode ignored;
    beast::get_lowest_layer(stream_).socket().shutdown(Tcp::socket::shutdown_send, ignored);
    ExpireAfter(server_.options.close_timeout);
    Discard();
  }

  void Discard() {
    stream_.next_layer().async_read_some(
        asio::buffer(scrap_), [self = shared_from_this()](const ErrorCode& error, size_t size) {
          self->discarded_ += size;
          if (!error && self->discarded_ < kLingerLimit) {
            self->Discard();
          }
        });
  }

  State& server_;
  std::list<Session*>::iterator position_;
  beast::ssl_stream<beast::tcp_stream> stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  HttpResponse response_;
  std::string source_;
  std::array<char, 4096> scrap_;
  size_t discarded_ = 0;
  bool waiting_ = true;
  bool refused_ = false;
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
  MakeRoom();
  if (sessions.size() <= options.max_sessions) {
    std::make_shared<Session>(*this, std::move(socket))->Start();
  }
  Accept();
}

// A closed session leaves the list when its operation has ended, hence one above the limit.
void HttpsServer::State::MakeRoom() {
  if (sessions.size() < options.max_sessions) {
    return;
  }
  for (Session* session : sessions) {
    if (session->waiting()) {
      session->Close();
      return;
    }
  }
}

void HttpsServer::State::BeginStop() {
  stopping = true;
  ErrorCode ignored;
  acceptor.close(ignored);
  timer.cancel();
  for (Session* session : sessions) {
    if (session->waiting()) {
      session->Close();
    }
  }
  if (sessions.empty()) {
    return;
  }
  timer.expires_after(options.stop_timeout);
  timer.async_wait([this](const ErrorCode& error) {
    if (!error) {
      for (Session* session : sessions) {
        session->Close();
      }
    }
  });
}

Response HttpsServer::State::Handle(const Request& asked) {
  if (options.guard) {
    if (std::optional<Response> refusal = options.guard(asked)) {
      return *std::move(refusal);
    }
  }
  const auto handler = handlers.find(asked.path);
  return handler == handlers.end() ? Response{.status = 404, .body = "404 page not found\n"}
                                   : handler->second(asked);
}

HttpResponse HttpsServer::State::Answer(const http::request<http::string_body>& request,
                                        const std::string& source) {
  const auto start = std::chrono::steady_clock::now();
  const std::string target(request.target());
  const size_t query = target.find('?');
  Request asked{.method = std::string(request.method_string()),
                .path = target.substr(0, query),
                .query = query == std::string::npos ? "" : target.substr(query + 1),
                .user_agent = std::string(request[http::field::user_agent])};
  Response answer = Handle(asked);
  HttpResponse response(http::int_to_status(static_cast<unsigned>(answer.status)),
                        request.version());
  response.set(http::field::cache_control, "no-cache, private");
  response.set(http::field::content_type, answer.content_type);
  if (answer.no_sniff) {
    response.set("X-Content-Type-Options", "nosniff");
  }
  response.set(http::field::date, HttpDate(RealClock().WallNow()));
  response.content_length(answer.body.size());
  if (request.method() != http::verb::head) {
    response.body() = std::move(answer.body);
  }
  KS_LOG(3, "HTTP",
         {{"verb", asked.method},
          {"URI", target},
          {"latency", FormatDuration(std::chrono::steady_clock::now() - start)},
          {"userAgent", asked.user_agent},
          {"contentType", std::string(request[http::field::content_type])},
          {"audit-ID", ""},
          {"srcIP", source},
          {"resp", answer.status}});
  return response;
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
  if (Result<void> secured = server.Secure(kept.certificate, kept.tls); !secured.ok()) {
    return secured.error();
  }
  return bound;
}

Result<void> HttpsServer::Secure(const ServingCertificate& certificate,
                                 const TlsSettings& settings) {
  KS_CHECK(!state_->thread.joinable(), "Secure while serving");
  return ConfigureTls(state_->tls, certificate, settings);
}

void HttpsServer::SetGuard(Guard guard) {
  KS_CHECK(!state_->thread.joinable(), "SetGuard while serving");
  state_->options.guard = std::move(guard);
}

HttpsServer::HttpsServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

HttpsServer::~HttpsServer() { Stop(); }

void HttpsServer::Handle(const std::string& path, Handler handler) {
  KS_CHECK(!state_->thread.joinable(), "Handle while serving");
  const bool added = state_->handlers.emplace(path, std::move(handler)).second;
  KS_CHECK(added, "two handlers for " + path);
}

void HttpsServer::Serve() {
  KS_CHECK(!state_->thread.joinable() && !state_->stopping, "Serve called twice");
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
  KS_LOG(1, "[graceful-termination] secure server is exiting");
}

uint16_t HttpsServer::port() const { return state_->port; }

std::string HttpsServer::address() const { return state_->address; }

size_t HttpsServer::sessions() const { return state_->session_count; }

}  // namespace ks::server
