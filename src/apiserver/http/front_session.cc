// SPDX-License-Identifier: Apache-2.0
#include "apiserver/http/front_session.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <utility>

#include "server/http/listener.h"

namespace ks::apiserver {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

constexpr size_t kHeaderLimit = 64 << 10;
constexpr size_t kBufferLimit = 128 << 10;
constexpr size_t kIdleRead = 4 << 10;
constexpr size_t kBodyRead = 16 << 10;  // a TLS record
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::string_view kPlainHttpAnswer =
    "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";

bool IsHttpError(const boost::system::error_code& error) {
  return error.category() == http::make_error_code(http::error::bad_method).category();
}

}  // namespace

FrontSession::FrontSession(HttpsFront::State& front, Tcp::socket socket)
    : front_(front),
      stream_(std::move(socket), front.tls),
      fault_timer_(front.io),
      buffer_(kBufferLimit) {
  front_.sessions.push_back(this);
  position_ = std::prev(front_.sessions.end());
}

FrontSession::~FrontSession() { front_.sessions.erase(position_); }

void FrontSession::ExpireAfter(Duration timeout) {
  deadline_ = std::chrono::steady_clock::now() + timeout;
}

void FrontSession::Start() {
  ErrorCode ignored;
  Tcp::socket& socket = stream_.next_layer();
  server::CloseOnExec(socket.native_handle());
  socket.set_option(Tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  ExpireAfter(front_.options.handshake_timeout);
  stream_.async_handshake(
      asio::ssl::stream_base::server,
      [self = shared_from_this()](const ErrorCode& error) { self->OnHandshake(error); });
}

void FrontSession::Close() {
  ErrorCode ignored;
  phase_ = Phase::kClosing;
  fault_timer_.cancel();
  watch_.reset();
  stream_.next_layer().close(ignored);
}

void FrontSession::OnHandshake(const ErrorCode& error) {
  if (phase_ == Phase::kClosing) {
    return;
  }
  if (!error) {
    ReadCertificate();
    NextRequest();
  } else if (error.category() == asio::error::get_ssl_category() &&
             ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_HTTP_REQUEST) {
    AnswerPlainHttp();
  }
}

void FrontSession::ReadCertificate() {
  SSL* ssl = stream_.native_handle();
  X509* certificate = SSL_get0_peer_certificate(ssl);
  if (certificate == nullptr) {
    return;
  }
  if (SSL_get_verify_result(ssl) == X509_V_OK) {
    certificate_user_ = UserOfCertificate(certificate);
  }
  bad_certificate_ = !certificate_user_;
}

void FrontSession::AnswerPlainHttp() {
  phase_ = Phase::kClosing;
  ExpireAfter(front_.options.close_timeout);
  asio::async_write(stream_.next_layer(), asio::buffer(kPlainHttpAnswer),
                    [self = shared_from_this()](const ErrorCode& error, size_t) {
                      if (!error) {
                        self->Linger();
                      }
                    });
}

void FrontSession::Read() {
  // What is to be kept for later must not move below a read that is outstanding.
  const bool kept = phase_ != Phase::kRequest && buffer_.size() > 0;
  if (reading_ || kept || buffer_.size() >= kHeaderLimit) {
    return;
  }
  reading_ = true;
  const bool body = parser_ && parser_->is_header_done();
  stream_.async_read_some(buffer_.prepare(body ? kBodyRead : kIdleRead),
                          [self = shared_from_this()](const ErrorCode& error, size_t size) {
                            self->OnRead(error, size);
                          });
}

void FrontSession::OnRead(const ErrorCode& error, size_t size) {
  reading_ = false;
  buffer_.commit(size);
  if (phase_ == Phase::kClosing) {
    return;
  }
  if (phase_ != Phase::kRequest) {
    // The peer leaves, or says something early: that is kept for later, and nothing more is read
    // till then.
    if (error) {
      Close();
    }
    return;
  }
  if (!error) {
    Parse();
  } else if (error == asio::error::eof) {
    ShutDown();
  }
}

void FrontSession::NextRequest() {
  phase_ = Phase::kRequest;
  parser_.emplace();
  parser_->header_limit(kHeaderLimit);
  parser_->body_limit(front_.options.max_body);
  parser_->eager(true);
  continued_ = false;
  fault_ = {};
  front_.sessions.splice(front_.sessions.end(), front_.sessions, position_);
  ExpireAfter(front_.options.idle_timeout);
  if (buffer_.size() > 0) {
    Parse();
  } else {
    Read();
  }
}

void FrontSession::Parse() {
  const bool fresh = !parser_->got_some();
  while (buffer_.size() > 0 && !parser_->is_done()) {
    ErrorCode error;
    const size_t used = parser_->put(buffer_.data(), error);
    buffer_.consume(used);
    if (error && error != http::error::need_more) {
      OnParseError(error);
      return;
    }
    if (used == 0) {
      break;
    }
  }
  if (fresh) {
    ExpireAfter(front_.options.request_timeout);
  }
  if (parser_->is_done()) {
    OnRequest();
    return;
  }
  if (parser_->is_header_done() && !continued_) {
    OnHeader();
  }
  Read();
}

void FrontSession::OnHeader() {
  continued_ = true;
  if (!boost::beast::iequals(parser_->get()[http::field::expect], "100-continue")) {
    return;
  }
  asio::async_write(stream_, asio::buffer(kContinue),
                    [self = shared_from_this()](const ErrorCode&, size_t) {});
}

void FrontSession::OnParseError(const ErrorCode& error) {
  if (error == http::error::body_limit) {
    Refuse({.code = 413,
            .reason = "RequestEntityTooLarge",
            .message =
                "Request entity too large: limit is " + std::to_string(front_.options.max_body)});
  } else if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    Refuse({.code = 431,
            .reason = "BadRequest",
            .message = "the headers are larger than " + std::to_string(kHeaderLimit) + " bytes"});
  } else if (IsHttpError(error)) {
    Refuse(BadRequest("the request is not HTTP/1.1: " + error.message()));
  } else {
    ShutDown();
  }
}

// The request cannot be read to its end; the connection is of no further use.
void FrontSession::Refuse(const Failure& failure) {
  refused_ = true;
  keep_alive_ = false;
  head_ = false;
  Answer(StatusAnswer(failure));
}

void FrontSession::OnRequest() {
  phase_ = Phase::kAnswer;
  deadline_ = SteadyTime::max();
  http::request<http::string_body> request = parser_->release();
  keep_alive_ = request.keep_alive() && !front_.stopping;
  old_ = request.version() < 11;
  head_ = request.method() == http::verb::head;
  const auto text = [](const boost::beast::string_view& view) { return std::string(view); };
  request_ = {.method = head_ ? "GET" : text(request.method_string()),
              .target = text(request.target()),
              .accept = text(request[http::field::accept]),
              .content_type = text(request[http::field::content_type]),
              .body = std::move(request.body()),
              .user = {}};
  const boost::beast::string_view authorization = request[http::field::authorization];
  Outcome<UserInfo> user = front_.Authenticate(certificate_user_, bad_certificate_,
                                               {authorization.data(), authorization.size()});
  if (!user.ok()) {
    Answer(StatusAnswer(user.failure()));
    return;
  }
  request_.user = std::move(user).value();
  fault_ = front_.DecideFault(request_).value_or(Fault{});
  if (fault_.latency == Duration{}) {
    Carry();
    return;
  }
  Read();  // to see a peer that does not wait
  fault_timer_.expires_after(fault_.latency);
  fault_timer_.async_wait([self = shared_from_this()](const ErrorCode& error) {
    if (!error && self->phase_ == Phase::kAnswer) {
      self->Carry();
    }
  });
}

void FrontSession::Carry() {
  if (fault_.status != 0 || fault_.reset || fault_.stall) {
    if (fault_.applied) {
      front_.Handle(request_);
    }
    if (fault_.reset) {
      Reset();
    } else if (fault_.stall) {
      phase_ = Phase::kStalled;
      Read();
    } else {
      Answer(InjectedAnswer(fault_));
    }
    return;
  }
  ApiResponse response = front_.Handle(request_);
  front_.Age(request_, fault_.stale_list, response);
  if (response.watch && !head_) {
    StartWatch(std::move(response));
  } else {
    Answer(std::move(response));
  }
}

}  // namespace ks::apiserver
