// SPDX-License-Identifier: Apache-2.0
#include "client/http/http_connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/write.hpp>
#include <cctype>
#include <limits>
#include <utility>

#include "client/http/transport_parts.h"

namespace ks::client {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Kind = TransportError::Kind;

constexpr uint32_t kHeadLimit = 256 << 10;
constexpr size_t kReadBytes = 16 << 10;  // a TLS record
// The shortest end of a chunked body: "0\r\n\r\n". Beast asserts that so much is there when it has
// seen a part of it before.
constexpr size_t kLeastOfChunks = 5;
// How long a connection is kept for the next request, as long as upstream's client keeps one.
constexpr Duration kKeptMost = std::chrono::seconds(90);

// "Connection refused" as upstream's messages have it: "connection refused".
std::string SystemText(const boost::system::error_code& error) {
  std::string text = error.message();
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

bool IsLoss(const boost::system::error_code& error) {
  return error == asio::error::eof || error == asio::ssl::error::stream_truncated ||
         error == asio::error::connection_reset || error == asio::error::broken_pipe ||
         error == asio::error::connection_aborted || error == asio::error::not_connected ||
         error == asio::error::bad_descriptor || error == asio::error::shut_down;
}

}  // namespace

// Hands what it reads straight to the user.
class HttpConnection::Parser final : public http::basic_parser<false> {
 public:
  Parser(HttpConnection& connection, bool no_body) : connection_(connection) {
    header_limit(kHeadLimit);
    body_limit(std::numeric_limits<uint64_t>::max());
    skip(no_body);
  }

  // "100 Continue" and kin: the answer proper is still to come.
  bool IsInterim() const { return head_.status < 200 && head_.status != 101; }
  bool IsSwitch() const { return head_.status == 101; }

 private:
  void on_request_impl(http::verb, beast::string_view, beast::string_view, int,
                       beast::error_code&) override {}
  void on_response_impl(int status, beast::string_view, int, beast::error_code&) override {
    head_.status = status;
  }
  void on_field_impl(http::field field, beast::string_view, beast::string_view value,
                     beast::error_code&) override {
    if (told_) return;  // trailers
    if (field == http::field::content_type) {
      head_.content_type.assign(value.data(), value.size());
    } else if (field == http::field::retry_after) {
      head_.retry_after.assign(value.data(), value.size());
    } else if (field == http::field::content_encoding) {
      gzip_ = beast::iequals(value, "gzip");
    }
  }
  void on_header_impl(beast::error_code&) override {
    told_ = true;
    if (!IsInterim()) connection_.user_->OnHead(head_, gzip_);
  }
  void on_body_init_impl(const boost::optional<uint64_t>&, beast::error_code&) override {}
  size_t on_body_impl(beast::string_view piece, beast::error_code&) override {
    return Piece(piece);
  }
  void on_chunk_header_impl(uint64_t, beast::string_view, beast::error_code&) override {}
  size_t on_chunk_body_impl(uint64_t, beast::string_view piece, beast::error_code&) override {
    return Piece(piece);
  }
  void on_finish_impl(beast::error_code&) override {}

  size_t Piece(beast::string_view piece) {
    if (!piece.empty() &&
        connection_.user_->OnBody({piece.data(), piece.size()}) == StreamSink::Flow::kPause) {
      connection_.paused_ = true;
    }
    return piece.size();
  }

  HttpConnection& connection_;
  HttpResponse head_;
  bool gzip_ = false;
  bool told_ = false;
};

namespace {

// The same certificates count for the server and for the proxy, as upstream.
Result<ConnectionSettings::Peer> MakePeer(const ServerUrl& url, const TlsConfig& tls) {
  ConnectionSettings::Peer peer;
  if (!tls.server_name.empty()) {
    peer.sni = tls.server_name;
  } else if (!url.is_ip) {
    peer.sni = url.host;
  }
  Result<std::shared_ptr<TlsContext>> made = TlsContext::Make(tls, url.host);
  if (!made.ok()) return made.error();
  peer.tls = *made;
  boost::system::error_code error;
  peer.context = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_client);
  peer.context->set_verify_mode(
      tls.insecure_skip_verify ? asio::ssl::verify_none : asio::ssl::verify_peer, error);
  if (error || !peer.tls->Apply(peer.context->native_handle())) {
    return Error{"unable to set up TLS: out of memory"};
  }
  return peer;
}

}  // namespace

Result<std::shared_ptr<const ConnectionSettings>> ConnectionSettings::Make(
    const ServerUrl& url, const TransportOptions& options, const TlsConfig& tls) {
  auto settings = std::make_shared<ConnectionSettings>();
  settings->url = url;
  settings->options = options;
  settings->generation = tls.generation;
  if (url.tls) {
    Result<Peer> server = MakePeer(url, tls);
    if (!server.ok()) return server.error();
    settings->server = std::move(*server);
  }
  if (options.proxy != nullptr && options.proxy->address.tls) {
    Result<Peer> proxy = MakePeer(options.proxy->address, tls);
    if (!proxy.ok()) return proxy.error();
    settings->proxy = std::move(*proxy);
  }
  return std::shared_ptr<const ConnectionSettings>(std::move(settings));
}

const ServerUrl& ConnectionSettings::Dialled() const {
  return options.proxy != nullptr ? options.proxy->address : url;
}

std::string ConnectionSettings::DialFailure(const std::string& cause) const {
  return options.proxy != nullptr ? "proxyconnect tcp: " + cause : cause;
}

HttpConnection::HttpConnection(asio::io_context& context,
                               std::shared_ptr<const ConnectionSettings> made)
    : settings_(std::move(made)), executor_(context.get_executor()), socket_(executor_) {}

HttpConnection::~HttpConnection() { Close(); }

void HttpConnection::Run(User& user, std::string request, bool no_body, Duration silence) {
  user_ = &user;
  request_ = std::move(request);
  no_body_ = no_body;
  silence_ = silence;
  kept_ = false;
  paused_ = false;
  Touch();
  if (connected_) {
    Write();
  } else {
    Connect();
  }
}

void HttpConnection::Connect() {
  if (!settings_->url.refusal.empty()) return Fail(Kind::kOther, settings_->url.refusal);
  const ServerUrl& next = settings_->Dialled();
  if (!next.refusal.empty()) return Fail(Kind::kOther, settings_->DialFailure(next.refusal));
  if (next.is_ip) {
    ErrorCode error;
    const std::string address = next.zone.empty() ? next.host : next.host + "%" + next.zone;
    endpoints_.emplace_back(asio::ip::make_address(address, error), next.port);
    if (error) {
      return Fail(Kind::kResolve,
                  settings_->DialFailure("dial tcp " + next.Authority() + ": " + error.message()));
    }
    return TryNext();
  }
  resolver_ = std::make_unique<Resolver>(executor_);
  resolver_->async_resolve(
      next.host, std::to_string(next.port),
      [self = shared_from_this()](const ErrorCode& failure, const Resolver::results_type& found) {
        if (self->user_ == nullptr) return;
        for (const auto& entry : found) self->endpoints_.push_back(entry.endpoint());
        std::reverse(self->endpoints_.begin(), self->endpoints_.end());
        if (failure || self->endpoints_.empty()) {
          const ConnectionSettings& settings = *self->settings_;
          return self->Fail(Kind::kResolve,
                            settings.DialFailure("dial tcp: lookup " + settings.Dialled().host +
                                                 ": no such host"));
        }
        self->TryNext();
      });
}

void HttpConnection::TryNext() {
  const Tcp::endpoint endpoint = endpoints_.back();
  endpoints_.pop_back();
  ErrorCode error;
  socket_.close(error);
  socket_.open(endpoint.protocol(), error);
  if (error) return FailOf(error);
  SetSocketOptions(socket_.native_handle(), settings_->options);
  Touch();
  socket_.async_connect(endpoint, [self = shared_from_this()](const ErrorCode& failure) {
    if (self->user_ == nullptr) return;
    if (!failure) return self->Connected();
    if (!self->endpoints_.empty()) return self->TryNext();
    const ConnectionSettings& settings = *self->settings_;
    self->Fail(failure == asio::error::timed_out ? Kind::kTimedOut : Kind::kRefused,
               settings.DialFailure("dial tcp " + settings.Dialled().Authority() +
                                    ": connect: " + SystemText(failure)));
  });
}

void HttpConnection::Connected() {
  endpoints_.clear();
  if (settings_->proxy.context == nullptr) return AskProxy();
  Handshake(tls_.emplace(socket_, *settings_->proxy.context), settings_->proxy,
            &HttpConnection::AskProxy);
}

// The proxy, if there is one, is connected: asks it to pass on what comes, unless it is to be sent
// the requests themselves.
void HttpConnection::AskProxy() {
  const std::shared_ptr<const Proxy>& proxy = settings_->options.proxy;
  if (proxy == nullptr) return Secure();
  if (!proxy->Tunnels(settings_->url)) return Write();
  tunnel_.emplace(*proxy, settings_->url);
  SendToProxy(tunnel_->Begin());
}

void HttpConnection::SendToProxy(std::string text) {
  Touch();
  const auto bytes = std::make_shared<const std::string>(std::move(text));
  WithStream([this, &bytes](auto& stream) {
    asio::async_write(stream, asio::buffer(*bytes),
                      [self = shared_from_this(), bytes](const ErrorCode& failure, size_t) {
                        if (self->user_ == nullptr) return;
                        if (failure) return self->FailOf(failure);
                        self->ReadFromProxy();
                      });
  });
}

void HttpConnection::ReadFromProxy() {
  Touch();
  WithStream([this](auto& stream) {
    stream.async_read_some(buffer_.prepare(kReadBytes),
                           [self = shared_from_this()](const ErrorCode& failure, size_t size) {
                             if (self->user_ != nullptr) self->OnProxySaid(failure, size);
                           });
  });
}

void HttpConnection::OnProxySaid(const ErrorCode& failure, size_t size) {
  using Step = ProxyTunnel::Step;
  if (failure == asio::error::eof || failure == asio::ssl::error::stream_truncated) {
    return Fail(Kind::kOther, tunnel_->OnEnd());
  }
  if (failure) return FailOf(failure);
  buffer_.commit(size);
  const auto bytes = buffer_.cdata();
  Step step = tunnel_->OnReceived({static_cast<const char*>(bytes.data()), bytes.size()});
  buffer_.clear();
  switch (step.kind) {
    case Step::Kind::kSend:
      return SendToProxy(std::move(step.text));
    case Step::Kind::kReceive:
      return ReadFromProxy();
    case Step::Kind::kFailed:
      return Fail(Kind::kOther, std::move(step.text));
    case Step::Kind::kDone:
      break;
  }
  tunnel_.reset();
  Secure();
}

void HttpConnection::Secure() {
  const ConnectionSettings::Peer& server = settings_->server;
  if (server.context == nullptr) return Write();
  if (tls_.has_value()) {
    Handshake(inner_tls_.emplace(*tls_, *server.context), server, &HttpConnection::Write);
  } else {
    Handshake(tls_.emplace(socket_, *server.context), server, &HttpConnection::Write);
  }
}

template <class Stream>
void HttpConnection::Handshake(Stream& stream, const ConnectionSettings::Peer& peer,
                               void (HttpConnection::*next)()) {
  if (!peer.sni.empty()) SSL_set_tlsext_host_name(stream.native_handle(), peer.sni.c_str());
  shaking_ = peer.tls.get();
  Touch();
  stream.async_handshake(asio::ssl::stream_base::client,
                         [self = shared_from_this(), next](const ErrorCode& failure) {
                           if (self->user_ == nullptr) return;
                           if (failure) return self->FailOf(failure);
                           self->shaking_ = nullptr;
                           (self.get()->*next)();
                         });
}

template <class Use>
void HttpConnection::WithStream(Use use) {
  if (inner_tls_.has_value()) {
    use(*inner_tls_);
  } else if (tls_.has_value()) {
    use(*tls_);
  } else {
    use(socket_);
  }
}

void HttpConnection::Write() {
  connected_ = true;
  if (!user_->MayWrite()) {
    kept_ = true;
    return End(TransportError{Kind::kFenced, WriteFence::kRefusal});
  }
  parser_ = std::make_unique<Parser>(*this, no_body_);
  Touch();
  socket_.AskBeforeWrite([this] {
    if (!user_->MayWrite()) return false;
    user_->OnWrite();
    return true;
  });
  auto written = [self = shared_from_this()](const ErrorCode& failure, size_t) {
    if (self->user_ == nullptr) return;
    if (failure == GuardedSocket::kRefused) {
      return self->Fail(Kind::kFenced, WriteFence::kRefusal);
    }
    if (failure) return self->FailOf(failure);
    self->request_ = std::string();
    self->Read();
  };
  WithStream([this, &written](auto& stream) {
    asio::async_write(stream, asio::buffer(request_), std::move(written));
  });
}

void HttpConnection::Read() {
  Touch();
  auto read = [self = shared_from_this()](const ErrorCode& error, size_t size) {
    if (self->user_ != nullptr) self->OnRead(error, size);
  };
  WithStream([this, &read](auto& stream) {
    stream.async_read_some(buffer_.prepare(kReadBytes), std::move(read));
  });
}

void HttpConnection::OnRead(const ErrorCode& error, size_t size) {
  buffer_.commit(size);
  if (!error) return Parse();
  // A body that lasts until the connection ends, if the peer said that it meant to end it.
  if (error == asio::error::eof && parser_->got_some()) {
    ErrorCode incomplete;
    parser_->put_eof(incomplete);
    if (!incomplete) return Completed();
  }
  FailOf(error);
}

void HttpConnection::Parse() {
  while (!paused_) {
    if (parser_->is_done()) {
      if (!parser_->IsInterim()) return Completed();
      parser_ = std::make_unique<Parser>(*this, no_body_);
    }
    const bool chunks = parser_->is_header_done() && parser_->chunked();
    if (buffer_.size() < (chunks ? kLeastOfChunks : 1)) return Read();
    ErrorCode error;
    buffer_.consume(parser_->put(buffer_.cdata(), error));
    if (error == http::error::need_more) {
      if (buffer_.size() < kHeadLimit) return Read();
      error = http::error::header_limit;
    }
    if (error) return Fail(Kind::kMalformed, "malformed HTTP response: " + error.message());
  }
  expires_ = TimePoint::max();
}

void HttpConnection::Resume() {
  if (user_ == nullptr || !paused_) return;
  paused_ = false;
  Parse();
}

void HttpConnection::Completed() {
  kept_ = parser_->keep_alive() && buffer_.size() == 0 && !parser_->IsSwitch();
  End(std::nullopt);
}

// The user may drop the last pointer to this: nothing is touched after its call.
void HttpConnection::End(std::optional<TransportError> error) {
  if (kept_) {
    expires_ = RealClock().Now() + kKeptMost;
    parser_.reset();
  } else {
    Close();
  }
  std::exchange(user_, nullptr)->OnEnd(std::move(error));
}

void HttpConnection::Fail(Kind kind, std::string message) {
  kept_ = false;
  End(TransportError{kind, std::move(message)});
}

void HttpConnection::FailOf(const ErrorCode& error) {
  if (IsLoss(error)) return Fail(Kind::kLost, "connection lost: " + error.message());
  if (error == asio::error::timed_out) {
    return Fail(Kind::kTimedOut, "timed out: " + error.message());
  }
  if (error.category() == asio::error::get_ssl_category()) {
    const std::string refusal = shaking_ == nullptr ? "" : shaking_->LastRefusal();
    const std::string text =
        "tls: " + (refusal.empty() ? error.message() : "failed to verify certificate: " + refusal);
    const bool by_proxy = shaking_ != nullptr && shaking_ == settings_->proxy.tls.get();
    return Fail(Kind::kTls, by_proxy ? settings_->DialFailure(text) : text);
  }
  Fail(Kind::kOther, error.message());
}

void HttpConnection::Expire() {
  if (user_ != nullptr) return Fail(Kind::kTimedOut, "timed out: the server is silent");
  kept_ = false;
  Close();
}

void HttpConnection::Abort() {
  user_ = nullptr;
  kept_ = false;
  Close();
}

void HttpConnection::Close() {
  ErrorCode ignored;
  connected_ = false;
  expires_ = TimePoint::max();
  if (resolver_ != nullptr) resolver_->cancel();
  socket_.close(ignored);
}

bool HttpConnection::IsUsable() {
  if (!kept_ || buffer_.size() != 0) return false;
  char byte = 0;
  return recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
         (errno == EAGAIN || errno == EWOULDBLOCK);
}

void HttpConnection::Touch() { expires_ = RealClock().Now() + silence_; }

}  // namespace ks::client
