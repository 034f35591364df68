// SPDX-License-Identifier: Apache-2.0
#include "apiserver/http/front_session.h"

#include <openssl/ssl.h>

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <utility>

namespace ks::apiserver {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

constexpr int64_t kPiecesPerSecond = 20;  // of a slow body

std::string Text(const boost::beast::string_view& view) { return std::string(view); }

}  // namespace

FrontSession::FrontSession(HttpsFront::State& front, Tcp::socket socket)
    : ServerConnection(front, std::move(socket)), front_(front), fault_timer_(front.io()) {}

std::shared_ptr<FrontSession> FrontSession::Self() {
  return std::static_pointer_cast<FrontSession>(shared_from_this());
}

void FrontSession::OnClose() {
  fault_timer_.cancel();
  watch_.reset();
}

void FrontSession::OnConnected() {
  SSL* ssl = stream().native_handle();
  X509* certificate = SSL_get0_peer_certificate(ssl);
  if (certificate == nullptr) {
    return;
  }
  if (SSL_get_verify_result(ssl) == X509_V_OK) {
    certificate_user_ = UserOfCertificate(certificate);
  }
  bad_certificate_ = !certificate_user_;
}

void FrontSession::OnHeader() {
  const bool asks = boost::beast::iequals(reader().message()[http::field::expect], "100-continue");
  ReadBody(front_.options.max_body, asks && !reader().BodyIsHere());
}

void FrontSession::OnUnreadable(const ErrorCode& error) {
  Failure failure = BadRequest("the request is not HTTP/1.1: " + error.message());
  if (error == boost::system::errc::not_supported) {
    failure.code = 501;
    failure.message = "Unsupported transfer encoding";
  } else if (error == boost::system::errc::destination_address_required) {
    failure = BadRequest("missing required Host header");
  } else if (error == http::error::body_limit) {
    failure = {
        .code = 413,
        .reason = "RequestEntityTooLarge",
        .message = "Request entity too large: limit is " + std::to_string(front_.options.max_body)};
  } else if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    failure = {.code = 431,
               .reason = "BadRequest",
               .message = "the headers are larger than " +
                          std::to_string(front_.limits().header_bytes) + " bytes"};
  }
  head_ = false;
  Answer(StatusAnswer(failure));
}

void FrontSession::OnRequest() {
  server::RequestReader::Message& request = reader().message();
  old_ = request.version() < 11;
  head_ = request.method() == http::verb::head;
  request_ = {.method = head_ ? "GET" : Text(request.method_string()),
              .target = Text(request.target()),
              .accept = Text(request[http::field::accept]),
              .content_type = Text(request[http::field::content_type]),
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
  WatchPeer();
  fault_timer_.expires_after(fault_.latency);
  fault_timer_.async_wait([self = Self()](const ErrorCode& error) {
    if (!error && self->phase() == Phase::kAnswering) {
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
      WatchPeer();
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

void FrontSession::Answer(ApiResponse response) {
  out_ = HeadText(response, Framing::kLength, BeginAnswer(), front_.Date());
  body_.clear();
  if (!head_) {  // else the head of what GET would answer
    body_ = std::move(response.body);
    server::JoinSmallBody(out_, body_);
  }
  Send();
}

void FrontSession::Send() {
  writing_ = true;
  sent_ = watch_ ? watch_->start : 0;
  if (fault_.bytes_per_second > 0) {
    WatchPeer();
    SendPiece();
    return;
  }
  Write({asio::buffer(out_) + sent_, asio::buffer(body_)}, [this] { OnSent(); });
}

void FrontSession::SendPiece() {
  if (sent_ == out_.size() + body_.size()) {
    OnSent();
    return;
  }
  const asio::const_buffer rest = sent_ < out_.size() ? asio::buffer(out_) + sent_
                                                      : asio::buffer(body_) + (sent_ - out_.size());
  const int64_t piece = std::max<int64_t>(1, fault_.bytes_per_second / kPiecesPerSecond);
  const asio::const_buffer next = asio::buffer(rest, static_cast<size_t>(piece));
  const Duration pause = std::chrono::nanoseconds(static_cast<int64_t>(
      1e9 * static_cast<double>(next.size()) / static_cast<double>(fault_.bytes_per_second)));
  sent_ += next.size();
  Write({next}, [this, pause] {
    fault_timer_.expires_after(pause);
    fault_timer_.async_wait([self = Self()](const ErrorCode& canceled) {
      if (!canceled) {
        self->SendPiece();
      }
    });
  });
}

void FrontSession::OnSent() {
  writing_ = false;
  out_.clear();
  body_ = {};
  if (watch_) {
    Pump();
    return;
  }
  fault_ = {};
  FinishAnswer();
}

// The peer gets a TCP reset.
void FrontSession::Reset() {
  ErrorCode ignored;
  stream().next_layer().set_option(asio::socket_base::linger(true, 0), ignored);
  Close();
}

}  // namespace ks::apiserver
