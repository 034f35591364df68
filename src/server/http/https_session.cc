// SPDX-License-Identifier: Apache-2.0
#include "server/http/https_session.h"

#include <atomic>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/fields.hpp>
#include <string_view>

#include "base/logging.h"
#include "base/text.h"
#include "server/http/http_date.h"
#include "server/http/listening_socket.h"
#include "server/tls/tls_context.h"

namespace ks::server {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;

// Hands one value over to the server's thread; `fallback` when it dies without.
template <class T>
class Handover {
 public:
  Handover(std::shared_ptr<Mailbox> mailbox, std::function<void(T)> take, T fallback)
      : mailbox_(std::move(mailbox)), take_(std::move(take)), fallback_(std::move(fallback)) {}
  ~Handover() { Give(std::move(fallback_)); }
  Handover(const Handover&) = delete;
  Handover& operator=(const Handover&) = delete;

  void Give(T value) {
    if (!given_.exchange(true)) {
      mailbox_->Run([take = std::move(take_), value = std::move(value)]() mutable {
        take(std::move(value));
      });
    }
  }

 private:
  const std::shared_ptr<Mailbox> mailbox_;
  std::function<void(T)> take_;
  T fallback_;
  std::atomic<bool> given_ = false;
};

Response Unanswered() { return Response{.status = 500, .body = "Internal Server Error\n"}; }

std::string RemoteText(const Tcp::socket& socket) {
  boost::system::error_code ignored;
  return EndpointText(socket.remote_endpoint(ignored));
}

std::string LocalText(const Tcp::socket& socket) {
  boost::system::error_code ignored;
  return AddressText(socket.local_endpoint(ignored));
}

// Status line and fields, up to and with the empty line.
std::string HeadText(const http::response<http::empty_body>& head) {
  http::fields::writer writer(head, head.version(), head.result_int());
  return boost::beast::buffers_to_string(writer.get());
}

ServerLimits LimitsOf(const HttpsOptions& options) {
  return {.max_connections = options.max_sessions,
          .header_bytes = (1 << 20) + 4096,
          .buffered_bytes = options.max_buffered_bytes,
          .linger_bytes = 256 << 10,
          .handshake_timeout = options.handshake_timeout,
          .first_timeout = options.header_timeout,
          .request_timeout = options.header_timeout,
          .idle_timeout = options.idle_timeout,
          .write_timeout = options.write_timeout,
          .close_timeout = options.close_timeout,
          .stop_timeout = options.stop_timeout,
          .accept_pause = options.accept_pause,
          .accept_error_verbosity = 2};
}

}  // namespace

HttpsShared::HttpsShared(HttpsOptions server_options)
    : ServerListener(LimitsOf(server_options)),
      options(std::move(server_options)),
      mailbox(std::make_shared<Mailbox>(io())) {}

std::shared_ptr<ServerConnection> HttpsShared::MakeConnection(Tcp::socket socket) {
  return std::make_shared<HttpsSession>(*this, std::move(socket));
}

const Route* HttpsShared::Find(const std::string& path) const {
  if (const auto exact = routes.find(path); exact != routes.end()) {
    return &exact->second;
  }
  const Route* longest = nullptr;
  for (const auto& [prefix, route] : prefixes) {
    if (path.starts_with(prefix)) {
      longest = &route;  // sorted: a longer prefix of the same path comes later
    }
  }
  return longest;
}

HttpsSession::HttpsSession(HttpsShared& shared, Tcp::socket socket)
    : ServerConnection(shared, std::move(socket)),
      shared_(shared),
      source_(RemoteText(stream().next_layer())),
      local_address_(LocalText(stream().next_layer())) {
  SetLocalAddress(stream().native_handle(), local_address_);
}

// In its handshake a connection waits, too: nobody has asked for anything yet.
ServerConnection::Standing HttpsSession::standing() const {
  if (itself_) {
    return Standing::kAsking;
  }
  return phase() == Phase::kHandshake ? Standing::kWaiting : ServerConnection::standing();
}

template <class T>
std::function<void(T)> HttpsSession::Once(void (HttpsSession::*take)(T), T fallback) {
  auto handover = std::make_shared<Handover<T>>(
      shared_.mailbox,
      [weak = weak_from_this(), turn = turn_, take](T value) {
        const auto self = std::static_pointer_cast<HttpsSession>(weak.lock());
        if (self && self->turn_ == turn) {
          ++self->turn_;
          ((*self).*take)(std::move(value));
        }
      },
      std::move(fallback));
  return [handover = std::move(handover)](T value) { handover->Give(std::move(value)); };
}

void HttpsSession::OnConnected() { certificate_ = ClientCertificate::Of(stream().native_handle()); }

void HttpsSession::OnHandshakeError(const ErrorCode& error) {
  KS_LOG(5, "TLS handshake failed", {{"srcIP", source_}, {"err", error.message()}});
}

void HttpsSession::OnHeader() {
  const RequestReader::Message& message = reader().message();
  const std::string target(message.target());
  const size_t query = target.find('?');
  request_ = {.method = std::string(message.method_string()),
              .path = target.substr(0, query),
              .query = query == std::string::npos ? "" : target.substr(query + 1),
              .remote_address = source_,
              .certificate = certificate_};
  for (const auto& field : message) {
    request_.headers.Add(std::string_view(field.name_string().data(), field.name_string().size()),
                         std::string_view(field.value().data(), field.value().size()));
  }
  deadline().Clear();
  itself_ = std::static_pointer_cast<HttpsSession>(shared_from_this());
  if (!shared_.options.guard) {
    OnAdmission({});
    return;
  }
  shared_.options.guard(
      request_, Once<Admission>(&HttpsSession::OnAdmission, Admission{.refusal = Unanswered()}));
}

void HttpsSession::OnAdmission(Admission admission) {
  const std::shared_ptr<HttpsSession> self = std::move(itself_);
  request_.caller = std::move(admission.caller);
  refusal_ = std::move(admission.refusal);
  route_ = refusal_ ? nullptr : shared_.Find(request_.path);
  if (!refusal_ && route_ == nullptr) {
    refusal_ = NotFound();
  }
  deadline().ExpireAfter(shared_.options.header_timeout);
  ReadBody(route_ != nullptr ? route_->options.body_limit : RouteOptions{}.body_limit,
           route_ != nullptr && LowerCase(request_.headers.Get("Expect")) == "100-continue");
}

void HttpsSession::OnRequest() {
  if (route_ == nullptr) {
    OnAnswer(*std::move(refusal_));
    return;
  }
  request_.body = std::move(reader().message().body());
  itself_ = std::static_pointer_cast<HttpsSession>(shared_from_this());
  route_->handler(request_, Once<Response>(&HttpsSession::OnAnswer, Unanswered()));
}

void HttpsSession::OnAnswer(Response answer) {
  const std::shared_ptr<HttpsSession> self = std::move(itself_);
  LogAnswer(answer.status);
  Head head = HeadOf(answer);
  if (reader().message().method() == http::verb::head) {
    answer.body.clear();
  }
  Send(std::move(head), std::move(answer.body));
}

void HttpsSession::OnUnreadable(const ErrorCode& error) {
  http::status status = http::status::bad_request;
  std::string body;
  if (error == boost::system::errc::not_supported) {
    status = http::status::not_implemented;
    body = "Unsupported transfer encoding";
  } else if (error == boost::system::errc::destination_address_required) {
    body = "400 Bad Request: missing required Host header";
  } else if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    status = http::status::request_header_fields_too_large;
  } else if (error == http::error::body_limit && refusal_) {
    OnAnswer(*std::move(refusal_));
    return;
  } else if (error == http::error::body_limit) {
    status = http::status::payload_too_large;
  }
  Head head(status, 11);
  head.set(http::field::content_type, "text/plain; charset=utf-8");
  if (body.empty()) {
    body = std::to_string(static_cast<unsigned>(status)) + " " +
           std::string(http::obsolete_reason(status));
  }
  head.content_length(body.size());
  Send(std::move(head), std::move(body));
}

HttpsSession::Head HttpsSession::HeadOf(const Response& answer) const {
  Head head(http::int_to_status(static_cast<unsigned>(answer.status)),
            reader().message().version());
  head.set(http::field::cache_control, "no-cache, private");
  if (!answer.content_type.empty()) {
    head.set(http::field::content_type, answer.content_type);
  }
  if (answer.no_sniff) {
    head.set("X-Content-Type-Options", "nosniff");
  }
  for (const auto& [name, value] : answer.headers) {
    head.insert(name, value);
  }
  head.set(http::field::date, HttpDate(RealClock().WallNow()));
  head.content_length(answer.body.size());
  return head;
}

void HttpsSession::Send(Head head, std::string body) {
  head.keep_alive(BeginAnswer());
  head_ = HeadText(head);
  body_ = std::move(body);
  JoinSmallBody(head_, body_);
  Write({asio::buffer(head_), asio::buffer(body_)}, [this] {
    request_ = {};
    head_ = {};
    body_ = {};
    FinishAnswer();
  });
}

void HttpsSession::OnClose() {
  ++turn_;
  const std::shared_ptr<HttpsSession> last = std::move(itself_);
}

void HttpsSession::LogAnswer(int status) const {
  KS_LOG(3, "HTTP",
         {{"verb", request_.method},
          {"URI", request_.path + (request_.query.empty() ? "" : "?" + request_.query)},
          {"latency", FormatDuration(std::chrono::steady_clock::now() - reader().begun_at())},
          {"userAgent", request_.headers.Get("User-Agent")},
          {"contentType", request_.headers.Get("Content-Type")},
          {"audit-ID", ""},
          {"srcIP", source_},
          {"resp", status}});
}

}  // namespace ks::server
