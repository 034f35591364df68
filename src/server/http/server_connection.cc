// SPDX-License-Identifier: Apache-2.0
#include "server/http/server_connection.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>
#include <string_view>
#include <utility>

namespace ks::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

constexpr size_t kSmallBody = 16 << 10;
constexpr size_t kScrapBytes = 4 << 10;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::string_view kPlainHttpAnswer =
    "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";

bool IsPlainHttp(const boost::system::error_code& error) {
  return error.category() == asio::error::get_ssl_category() &&
         ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_HTTP_REQUEST;
}

}  // namespace

ServerConnection::ServerConnection(ServerListener& listener, Tcp::socket socket)
    : listener_(listener),
      place_(listener.Enter(this)),
      tls_(listener.tls()),
      stream_(std::move(socket), *tls_),
      deadline_(listener.io()),
      reader_(listener.limits().header_bytes, listener.buffered_bytes()) {}

ServerConnection::~ServerConnection() {
  ErrorCode ignored;
  stream_.next_layer().close(ignored);  // before the count says that it is closed
  listener_.Leave(place_);
}

void ServerConnection::Start() {
  ErrorCode ignored;
  Tcp::socket& socket = stream_.next_layer();
  CloseOnExec(socket.native_handle());
  socket.set_option(Tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  deadline_.Start(weak_from_this(), [this] { Close(); });
  deadline_.ExpireAfter(listener_.limits().handshake_timeout);
  stream_.async_handshake(
      asio::ssl::stream_base::server,
      [self = shared_from_this()](const ErrorCode& error) { self->OnHandshake(error); });
}

void ServerConnection::Close() {
  ErrorCode ignored;
  phase_ = Phase::kClosing;
  stream_.next_layer().close(ignored);
  OnClose();
}

ServerConnection::Standing ServerConnection::standing() const {
  if (!stream_.next_layer().is_open()) {
    return Standing::kLeaving;
  }
  return phase_ == Phase::kReading ? Standing::kWaiting : Standing::kServed;
}

void ServerConnection::OnHandshake(const ErrorCode& error) {
  if (error) {
    OnHandshakeError(deadline_.missed() ? make_error_code(beast::error::timeout) : error);
  }
  if (phase_ == Phase::kClosing) {
    return;
  }
  if (!error) {
    OnConnected();
    NextRequest(listener_.limits().first_timeout);
  } else if (IsPlainHttp(error)) {
    AnswerPlainHttp();
  }
}

void ServerConnection::AnswerPlainHttp() {
  phase_ = Phase::kClosing;
  deadline_.ExpireAfter(listener_.limits().write_timeout);
  asio::async_write(stream_.next_layer(), asio::buffer(kPlainHttpAnswer),
                    [self = shared_from_this()](const ErrorCode& error, size_t) {
                      if (!error) {
                        self->Linger();
                      }
                    });
}

void ServerConnection::NextRequest(Duration timeout) {
  if (listener_.stopping()) {
    ShutDown();
    return;
  }
  phase_ = Phase::kReading;
  reader_.Reset(!reading_);
  listener_.MoveToBack(place_);
  if (reader_.buffered() > 0) {
    Parse();
    return;
  }
  deadline_.ExpireAfter(timeout);
  Read();
}

void ServerConnection::Read() {
  if (reading_ || reader_.full()) {
    return;
  }
  reading_ = true;
  stream_.async_read_some(reader_.Prepare(),
                          [self = shared_from_this()](const ErrorCode& error, size_t size) {
                            self->OnRead(error, size);
                          });
  if (reader_.large() && listener_.buffered_bytes() > listener_.limits().buffered_bytes) {
    Close();  // others need the memory
  }
}

void ServerConnection::WatchPeer() {
  if (reader_.buffered() == 0) {
    Read();
  }
}

void ServerConnection::OnRead(const ErrorCode& error, size_t size) {
  reading_ = false;
  reader_.Commit(size);
  if (phase_ == Phase::kAnswering && error) {
    Close();
  }
  if (phase_ != Phase::kReading) {
    return;
  }
  if (!error) {
    Parse();
  } else if (error == asio::error::eof) {
    ShutDown();
  }
}

void ServerConnection::Parse() {
  if (!reader_.begun()) {
    reader_.Begin();
    deadline_.ExpireAfter(listener_.limits().request_timeout);
  }
  ErrorCode error;
  switch (reader_.Parse(error)) {
    case RequestReader::Progress::kMore:
      Read();
      break;
    case RequestReader::Progress::kHeader:
      phase_ = Phase::kAnswering;
      OnHeader();
      break;
    case RequestReader::Progress::kWhole:
      phase_ = Phase::kAnswering;
      deadline_.Clear();
      OnRequest();
      break;
    case RequestReader::Progress::kBroken:
      Refuse(error);
      break;
  }
}

void ServerConnection::ReadBody(uint64_t limit, bool invite) {
  phase_ = Phase::kReading;
  if (!reader_.LimitBody(limit)) {
    Refuse(beast::http::error::body_limit);
  } else if (invite && !reader_.whole()) {
    Invite();
  } else {
    Parse();
  }
}

void ServerConnection::Refuse(const ErrorCode& error) {
  phase_ = Phase::kAnswering;
  refused_ = true;
  OnUnreadable(error);
}

void ServerConnection::Invite() {
  asio::async_write(stream_, asio::buffer(kContinue),
                    [self = shared_from_this()](const ErrorCode& error, size_t) {
                      if (!error && self->phase_ == Phase::kReading) {
                        self->Parse();
                      }
                    });
}

bool ServerConnection::BeginAnswer(bool last) {
  keep_alive_ = !last && !refused_ && reader_.message().keep_alive() && !listener_.stopping();
  return keep_alive_;
}

void ServerConnection::Write(std::array<asio::const_buffer, 2> parts, std::function<void()> done) {
  deadline_.ExpireAfter(listener_.limits().write_timeout);
  asio::async_write(
      stream_, parts,
      [self = shared_from_this(), done = std::move(done)](const ErrorCode& error, size_t) {
        if (self->phase_ == Phase::kClosing) {
          return;
        }
        if (error) {
          self->Close();
          return;
        }
        self->deadline_.Clear();
        done();
      });
}

void ServerConnection::FinishAnswer() {
  if (keep_alive_) {
    NextRequest(listener_.limits().idle_timeout);
  } else {
    ShutDown();
  }
}

void ServerConnection::ShutDown() {
  phase_ = Phase::kClosing;
  deadline_.ExpireAfter(listener_.limits().close_timeout);
  stream_.async_shutdown([self = shared_from_this()](const ErrorCode&) {
    if (self->refused_) {
      self->Linger();
    }
  });
}

// Closing a socket with unread bytes resets the connection, and the peer may lose the answer that
// says why: what still comes is thrown away, within limits.
void ServerConnection::Linger() {
  ErrorCode ignored;
  stream_.next_layer().shutdown(Tcp::socket::shutdown_send, ignored);
  deadline_.ExpireAfter(listener_.limits().close_timeout);
  scrap_.resize(kScrapBytes);
  Discard();
}

void ServerConnection::Discard() {
  stream_.next_layer().async_read_some(
      asio::buffer(scrap_), [self = shared_from_this()](const ErrorCode& error, size_t size) {
        self->discarded_ += size;
        if (!error && self->discarded_ < self->listener_.limits().linger_bytes) {
          self->Discard();
        }
      });
}

void JoinSmallBody(std::string& head, std::string& body) {
  if (body.size() <= kSmallBody) {
    head += body;
    body.clear();
  }
}

}  // namespace ks::server
