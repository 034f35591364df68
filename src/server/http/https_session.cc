// SPDX-License-Identifier: Apache-2.0
#include "server/http/https_session.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <limits>
#include <string_view>

#include "base/logging.h"
#include "base/text.h"
#include "server/http/http_date.h"
#include "server/http/listener.h"
#include "server/tls/tls_context.h"

namespace ks::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace ssl = asio::ssl;
using Tcp = asio::ip::tcp;
using boost::system::error_code;

constexpr size_t kHeaderLimit = (1 << 20) + 4096;
constexpr size_t kReadBytes = 16 << 10;
constexpr size_t kSmallBuffer = 64 << 10;   // what every session may have, whatever others have
constexpr size_t kLingerLimit = 256 << 10;  // bytes of a refused request that are thrown away
constexpr std::string_view kPlainHttpAnswer =
    "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

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

}  // namespace

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
    : shared_(shared), tls_(shared.Tls()), stream_(std::move(socket), *tls_) {
  shared_.sessions.push_back(this);
  position_ = std::prev(shared_.sessions.end());
  ++shared_.session_count;
}

HttpsSession::~HttpsSession() {
  beast::get_lowest_layer(stream_).close();  // before the count says that it is closed
  shared_.sessions.erase(position_);
  shared_.buffered_bytes -= noted_bytes_;
  --shared_.session_count;
  if (shared_.stopping && shared_.sessions.empty()) {
    shared_.timer.cancel();
  }
}

void HttpsSession::Start() {
  ErrorCode ignored;
  Tcp::socket& socket = beast::get_lowest_layer(stream_).socket();
  CloseOnExec(socket.native_handle());
  socket.set_option(Tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  source_ = EndpointText(socket.remote_endpoint(ignored));
  const Tcp::endpoint local = socket.local_endpoint(ignored);
  local_address_ = AddressText(local);
  SetLocalAddress(stream_.native_handle(), local_address_);
  ExpireAfter(shared_.options.handshake_timeout);
  stream_.async_handshake(
      ssl::stream_base::server,
      [self = shared_from_this()](const ErrorCode& error) { self->OnHandshake(error); });
}

void HttpsSession::Close() {
  ++turn_;
  beast::get_lowest_layer(stream_).close();
  const std::shared_ptr<HttpsSession> last = std::move(itself_);
}

void HttpsSession::ExpireAfter(Duration timeout) {
  beast::get_lowest_layer(stream_).expires_after(
      std::chrono::duration_cast<std::chrono::milliseconds>(timeout));
}

// The value comes back on the server's thread, unless the session has gone on or is gone.
template <class T>
std::function<void(T)> HttpsSession::Once(void (HttpsSession::*take)(T), T fallback) {
  auto handover = std::make_shared<Handover<T>>(
      shared_.mailbox,
      [weak = weak_from_this(), turn = turn_, take](T value) {
        const std::shared_ptr<HttpsSession> self = weak.lock();
        if (self && self->turn_ == turn) {
          ++self->turn_;
          ((*self).*take)(std::move(value));
        }
      },
      std::move(fallback));
  return [handover = std::move(handover)](T value) { handover->Give(std::move(value)); };
}

void HttpsSession::OnHandshake(const ErrorCode& error) {
  if (!error) {
    certificate_ = ClientCertificate::Of(stream_.native_handle());
    WaitForRequest(shared_.options.header_timeout);
    return;
  }
  KS_LOG(5, "TLS handshake failed", {{"srcIP", source_}, {"err", error.message()}});
  if (error.category() == asio::error::get_ssl_category() &&
      ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_HTTP_REQUEST) {
    phase_ = Phase::kWriting;
    ExpireAfter(shared_.options.write_timeout);
    asio::async_write(stream_.next_layer(), asio::buffer(kPlainHttpAnswer),
                      [self = shared_from_this()](const ErrorCode& written, size_t) {
                        if (!written) {
                          self->Linger();
                        }
                      });
  }
}

void HttpsSession::WaitForRequest(Duration timeout) {
  if (shared_.stopping) {
    ShutDown();
    return;
  }
  phase_ = Phase::kReading;
  request_ = {};
  parser_.reset();
  if (buffer_.size() > 0) {
    ReadRequest();
    return;
  }
  if (buffer_.capacity() > kSmallBuffer) {
    buffer_.shrink_to_fit();
    NoteBuffer();
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

void HttpsSession::ReadRequest() {
  begin_ = std::chrono::steady_clock::now();
  parser_.emplace();
  parser_->header_limit(kHeaderLimit);
  parser_->body_limit(std::numeric_limits<uint64_t>::max());  // known when the header is
  parser_->eager(false);
  route_ = nullptr;
  refusal_.reset();
  ExpireAfter(shared_.options.header_timeout);
  Parse();
}

// Takes what the buffer holds; reads on while the header or the body are not whole.
void HttpsSession::Parse() {
  const bool header_was_done = parser_->is_header_done();
  ErrorCode error;
  while (!parser_->is_done() && buffer_.size() > 0 &&
         parser_->is_header_done() == header_was_done) {
    const size_t used = parser_->put(buffer_.data(), error);
    buffer_.consume(used);
    if (error == http::error::need_more) {
      error = {};
      break;
    }
    if (error) {
      OnUnreadable(error);
      return;
    }
  }
  if (!header_was_done && parser_->is_header_done()) {
    OnHeader();
  } else if (header_was_done && parser_->is_done()) {
    OnWhole();
  } else {
    ReadMore();
  }
}

void HttpsSession::ReadMore() {
  stream_.async_read_some(buffer_.prepare(kReadBytes),
                          [self = shared_from_this()](const ErrorCode& error, size_t size) {
                            self->buffer_.commit(size);
                            if (!error) {
                              self->Parse();
                            } else if (error == asio::error::eof) {
                              self->ShutDown();
                            }
                          });
  NoteBuffer();
  if (buffer_.capacity() > kSmallBuffer &&
      shared_.buffered_bytes > shared_.options.max_buffered_bytes) {
    Close();  // others need the memory
  }
}

void HttpsSession::NoteBuffer() {
  shared_.buffered_bytes += buffer_.capacity() - noted_bytes_;
  noted_bytes_ = buffer_.capacity();
}

void HttpsSession::OnUnreadable(const ErrorCode& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    Refuse(http::status::request_header_fields_too_large);
  } else if (error == http::error::body_limit) {
    if (refusal_) {
      refused_ = true;
      OnAnswer(*std::move(refusal_));
    } else {
      Refuse(http::status::payload_too_large);
    }
  } else {
    Refuse(http::status::bad_request);
  }
}

void HttpsSession::OnHeader() {
  const http::request<http::string_body>& message = parser_->get();
  const std::string target(message.target());
  const size_t query = target.find('?');
  request_.method = std::string(message.method_string());
  request_.path = target.substr(0, query);
  request_.query = query == std::string::npos ? "" : target.substr(query + 1);
  request_.remote_address = source_;
  request_.certificate = certificate_;
  for (const auto& field : message) {
    request_.headers.Add(std::string_view(field.name_string().data(), field.name_string().size()),
                         std::string_view(field.value().data(), field.value().size()));
  }
  phase_ = Phase::kAsking;
  itself_ = shared_from_this();
  if (!shared_.options.guard) {
    OnAdmission({});
    return;
  }
  shared_.options.guard(
      request_, Once<Admission>(&HttpsSession::OnAdmission, Admission{.refusal = Unanswered()}));
}

void HttpsSession::OnAdmission(Admission admission) {
  const std::shared_ptr<HttpsSession> self = std::move(itself_);
  phase_ = Phase::kReading;
  request_.caller = std::move(admission.caller);
  refusal_ = std::move(admission.refusal);
  route_ = refusal_ ? nullptr : shared_.Find(request_.path);
  if (!refusal_ && route_ == nullptr) {
    refusal_ = NotFound();
  }
  const size_t limit = route_ != nullptr ? route_->options.body_limit : RouteOptions{}.body_limit;
  if (parser_->content_length().value_or(0) > limit) {
    OnUnreadable(http::error::body_limit);
    return;
  }
  parser_->body_limit(limit);
  parser_->eager(true);
  ExpireAfter(shared_.options.header_timeout);
  if (parser_->is_done()) {
    OnWhole();
  } else if (route_ != nullptr && LowerCase(request_.headers.Get("Expect")) == "100-continue") {
    Continue();
  } else {
    Parse();
  }
}

void HttpsSession::Continue() {
  asio::async_write(stream_, asio::buffer(kContinue),
                    [self = shared_from_this()](const ErrorCode& error, size_t) {
                      if (!error) {
                        self->Parse();
                      }
                    });
}

void HttpsSession::OnWhole() {
  if (route_ == nullptr) {
    OnAnswer(*std::move(refusal_));
    return;
  }
  request_.body = std::move(parser_->get().body());
  phase_ = Phase::kAsking;
  itself_ = shared_from_this();
  route_->handler(request_, Once<Response>(&HttpsSession::OnAnswer, Unanswered()));
}

void HttpsSession::OnAnswer(Response answer) {
  const std::shared_ptr<HttpsSession> self = std::move(itself_);
  LogAnswer(answer.status);
  response_ = Message(std::move(answer));
  response_.keep_alive(parser_->get().keep_alive() && !refused_ && !shared_.stopping);
  shared_.sessions.splice(shared_.sessions.end(), shared_.sessions, position_);
  Write();
}

HttpsSession::HttpResponse HttpsSession::Message(Response answer) const {
  HttpResponse response(http::int_to_status(static_cast<unsigned>(answer.status)),
                        parser_->get().version());
  response.set(http::field::cache_control, "no-cache, private");
  if (!answer.content_type.empty()) {
    response.set(http::field::content_type, answer.content_type);
  }
  if (answer.no_sniff) {
    response.set("X-Content-Type-Options", "nosniff");
  }
  for (const auto& [name, value] : answer.headers) {
    response.insert(name, value);
  }
  response.set(http::field::date, HttpDate(RealClock().WallNow()));
  response.content_length(answer.body.size());
  if (parser_->get().method() != http::verb::head) {
    response.body() = std::move(answer.body);
  }
  return response;
}

void HttpsSession::LogAnswer(int status) const {
  KS_LOG(3, "HTTP",
         {{"verb", request_.method},
          {"URI", request_.path + (request_.query.empty() ? "" : "?" + request_.query)},
          {"latency", FormatDuration(std::chrono::steady_clock::now() - begin_)},
          {"userAgent", request_.headers.Get("User-Agent")},
          {"contentType", request_.headers.Get("Content-Type")},
          {"audit-ID", ""},
          {"srcIP", source_},
          {"resp", status}});
}

// The request cannot be read to its end; the connection is of no further use.
void HttpsSession::Refuse(http::status status) {
  refused_ = true;
  response_ = HttpResponse(status, 11);
  response_.set(http::field::content_type, "text/plain; charset=utf-8");
  response_.body() = std::to_string(static_cast<unsigned>(status)) + " " +
                     std::string(http::obsolete_reason(status));
  response_.prepare_payload();
  response_.keep_alive(false);
  Write();
}

void HttpsSession::Write() {
  phase_ = Phase::kWriting;
  ExpireAfter(shared_.options.write_timeout);
  http::async_write(stream_, response_,
                    [self = shared_from_this()](const ErrorCode& error, size_t) {
                      if (error) {
                        return;
                      }
                      if (self->response_.keep_alive()) {
                        self->response_ = {};
                        self->WaitForRequest(self->shared_.options.idle_timeout);
                      } else {
                        self->ShutDown();
                      }
                    });
}

void HttpsSession::ShutDown() {
  phase_ = Phase::kWriting;
  ExpireAfter(shared_.options.close_timeout);
  stream_.async_shutdown([self = shared_from_this()](const ErrorCode&) {
    if (self->refused_) {
      self->Linger();
    }
  });
}

// Closing a socket with unread bytes resets the connection, and the peer may lose the answer that
// says why: what still comes is thrown away, within limits.
void HttpsSession::Linger() {
  ErrorCode ignored;
  beast::get_lowest_layer(stream_).socket().shutdown(Tcp::socket::shutdown_send, ignored);
  ExpireAfter(shared_.options.close_timeout);
  Discard();
}

void HttpsSession::Discard() {
  stream_.next_layer().async_read_some(
      asio::buffer(scrap_), [self = shared_from_this()](const ErrorCode& error, size_t size) {
        self->discarded_ += size;
        if (!error && self->discarded_ < kLingerLimit) {
          self->Discard();
        }
      });
}

}  // namespace ks::server
