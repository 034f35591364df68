// SPDX-License-Identifier: Apache-2.0
#include "client/http_connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/write.hpp>
#include <cctype>
#include <limits>
#include <utility>

#include "client/transport_parts.h"

namespace ks::client {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Kind = TransportError::Kind;

constexpr uint32_t kHeadLimit = 256 << 10;
constexpr size_t kReadBytes = 16 << 10;  // a TLS record
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

Result<std::shared_ptr<const ConnectionSettings>> ConnectionSettings::Make(
    const ServerUrl& url, const TransportOptions& options, const TlsConfig& tls) {
  auto settings = std::make_shared<ConnectionSettings>();
  settings->url = url;
  settings->options = options;
  settings->generation = tls.generation;
  if (!url.tls) return std::shared_ptr<const ConnectionSettings>(std::move(settings));
  if (!tls.server_name.empty()) {
    settings->sni = tls.server_name;
  } else if (!url.is_ip) {
    settings->sni = url.host;
  }
  Result<std::shared_ptr<TlsContext>> made = TlsContext::Make(tls, url.host);
  if (!made.ok()) return made.error();
  settings->tls = *made;
  boost::system::error_code error;
  settings->context = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_client);
  settings->context->set_verify_mode(
      tls.insecure_skip_verify ? asio::ssl::verify_none : asio::ssl::verify_peer, error);
  if (error || !settings->tls->Apply(settings->context->native_handle())) {
    return Error{"unable to set up TLS: out of memory"};
  }
  return std::shared_ptr<const ConnectionSettings>(std::move(settings));
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
  const ServerUrl& url = settings_->url;
  if (!url.refusal.empty()) return Fail(Kind::kOther, url.refusal);
  if (url.is_ip) {
    ErrorCode error;
    const std::string address = url.zone.empty() ? url.host : url.host + "%" + url.zone;
    endpoints_.emplace_back(asio::ip::make_address(address, error), url.port);
    if (error) return Fail(Kind::kResolve, "dial tcp " + url.Authority() + ": " + error.message());
    return TryNext();
  }
  resolver_ = std::make_unique<Resolver>(executor_);
  resolver_->async_resolve(
      url.host, std::to_string(url.port),
      [self = shared_from_this()](const ErrorCode& failure, const Resolver::results_type& found) {
        if (self->user_ == nullptr) return;
        for (const auto& entry : found) self->endpoints_.push_back(entry.endpoint());
        std::reverse(self->endpoints_.begin(), self->endpoints_.end());
        if (failure || self->endpoints_.empty()) {
          return self->Fail(Kind::kResolve,
                            "dial tcp: lookup " + self->settings_->url.host + ": no such host");
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
    const std::string text =
        "dial tcp " + self->settings_->url.Authority() + ": connect: " + SystemText(failure);
    self->Fail(failure == asio::error::timed_out ? Kind::kTimedOut : Kind::kRefused, text);
  });
}

void HttpConnection::Connected() {
  endpoints_.clear();
  if (settings_->context == nullptr) {
    connected_ = true;
    return Write();
  }
  tls_.emplace(socket_, *settings_->context);
  if (!settings_->sni.empty()) {
    SSL_set_tlsext_host_name(tls_->native_handle(), settings_->sni.c_str());
  }
  Touch();
  tls_->async_handshake(asio::ssl::stream_base::client,
                        [self = shared_from_this()](const ErrorCode& failure) {
                          if (self->user_ == nullptr) return;
                          if (failure) return self->FailOf(failure);
                          self->connected_ = true;
                          self->Write();
                        });
}

void HttpConnection::Write() {
  if (!user_->MayWrite()) {
    kept_ = true;
    return End(TransportError{Kind::kFenced, WriteFence::kRefusal});
  }
  parser_ = std::make_unique<Parser>(*this, no_body_);
  user_->OnWrite();
  Touch();
  auto written = [self = shared_from_this()](const ErrorCode& failure, size_t) {
    if (self->user_ == nullptr) return;
    if (failure) return self->FailOf(failure);
    self->request_ = std::string();
    self->Read();
  };
  if (tls_.has_value()) {
    asio::async_write(*tls_, asio::buffer(request_), std::move(written));
  } else {
    asio::async_write(socket_, asio::buffer(request_), std::move(written));
  }
}

void HttpConnection::Read() {
  Touch();
  auto read = [self = shared_from_this()](const ErrorCode& error, size_t size) {
    if (self->user_ != nullptr) self->OnRead(error, size);
  };
  const auto space = buffer_.prepare(kReadBytes);
  if (tls_.has_value()) {
    tls_->async_read_some(space, std::move(read));
  } else {
    socket_.async_read_some(space, std::move(read));
  }
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
    if (buffer_.size() == 0) return Read();
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
    const std::string refusal = connected_ ? "" : settings_->tls->LastRefusal();
    return Fail(
        Kind::kTls,
        "tls: " + (refusal.empty() ? error.message() : "failed to verify certificate: " + refusal));
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
