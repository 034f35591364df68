// SPDX-License-Identifier: Apache-2.0
#pragma once
// One connection of the daemon's HTTPS server, and what all connections of a server share. For
// https_server.cc only: it brings Beast with it.
//
// Threads: the server's, but for Mailbox.

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
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "server/http/https_server.h"
#include "server/tls/client_certificate.h"

namespace ks::server {

// The way onto the server's thread. Threads: any.
class Mailbox {
 public:
  explicit Mailbox(boost::asio::io_context& io) : io_(&io) {}

  // Runs `task` on the server's thread, at once when that is the caller's; drops it after Close.
  template <class Task>
  void Run(Task task) KS_EXCLUDES(mutex_) {
    {
      const MutexLock lock(mutex_);
      if (io_ == nullptr) {
        return;
      }
      if (!io_->get_executor().running_in_this_thread()) {
        boost::asio::post(*io_, std::move(task));
        return;
      }
    }
    task();
  }

  void Close() KS_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    io_ = nullptr;
  }

 private:
  Mutex mutex_;
  boost::asio::io_context* io_ KS_GUARDED_BY(mutex_);
};

struct Route {
  AsyncHandler handler;
  RouteOptions options;
};

class HttpsSession;

// What the sessions of a server share.
struct HttpsShared {
  explicit HttpsShared(HttpsOptions server_options)
      : options(std::move(server_options)), mailbox(std::make_shared<Mailbox>(io)), timer(io) {}

  std::shared_ptr<boost::asio::ssl::context> Tls() KS_EXCLUDES(tls_mutex) {
    const MutexLock lock(tls_mutex);
    return tls;
  }

  // Null: 404.
  const Route* Find(const std::string& path) const;

  HttpsOptions options;
  std::map<std::string, Route, std::less<>> routes;
  std::map<std::string, Route, std::less<>> prefixes;
  std::atomic<size_t> session_count = 0;

  boost::asio::io_context io{1};
  const std::shared_ptr<Mailbox> mailbox;
  Mutex tls_mutex;
  std::shared_ptr<boost::asio::ssl::context> tls KS_GUARDED_BY(tls_mutex);  // of new connections
  boost::asio::steady_timer timer;    // pause after an accept error; deadline of a stop
  std::list<HttpsSession*> sessions;  // the one that waited longest first
  size_t buffered_bytes = 0;          // the sum over all sessions
  bool stopping = false;
};

// Kept alive by its pending operation, or by itself while it waits for guard or handler. Every
// operation has a deadline.
class HttpsSession : public std::enable_shared_from_this<HttpsSession> {
 public:
  HttpsSession(HttpsShared& shared, boost::asio::ip::tcp::socket socket);
  ~HttpsSession();
  HttpsSession(const HttpsSession&) = delete;
  HttpsSession& operator=(const HttpsSession&) = delete;

  void Start();

  // Nothing is owed to the peer: it may be cut at any time.
  bool waiting() const { return phase_ == Phase::kReading; }
  // Guard or handler have yet to answer.
  bool asking() const { return phase_ == Phase::kAsking; }

  // Pending operations end with an error, which ends the session; an answer that is still to come
  // is dropped. May destroy the session.
  void Close();

 private:
  using ErrorCode = boost::system::error_code;
  using HttpResponse = boost::beast::http::response<boost::beast::http::string_body>;
  enum class Phase : uint8_t { kReading, kAsking, kWriting };

  void ExpireAfter(Duration timeout);
  void OnHandshake(const ErrorCode& error);
  void WaitForRequest(Duration timeout);
  void ReadRequest();
  void Parse();
  void ReadMore();
  void NoteBuffer();
  void OnUnreadable(const ErrorCode& error);
  void OnHeader();
  void OnAdmission(Admission admission);
  void Continue();
  void OnWhole();
  void OnAnswer(Response answer);
  HttpResponse Message(Response answer) const;
  void LogAnswer(int status) const;
  void Refuse(boost::beast::http::status status);
  void Write();
  void ShutDown();
  void Linger();
  void Discard();

  template <class T>
  std::function<void(T)> Once(void (HttpsSession::*take)(T), T fallback);

  HttpsShared& shared_;
  std::list<HttpsSession*>::iterator position_;
  const std::shared_ptr<boost::asio::ssl::context> tls_;
  boost::beast::ssl_stream<boost::beast::tcp_stream> stream_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  size_t noted_bytes_ = 0;  // this session's part of HttpsShared::buffered_bytes

  Request request_;
  std::chrono::steady_clock::time_point begin_;  // of the request
  const Route* route_ = nullptr;
  std::optional<Response> refusal_;
  uint64_t turn_ = 0;  // answers of another turn are dropped
  std::shared_ptr<HttpsSession> itself_;

  HttpResponse response_;
  std::string source_;
  std::string local_address_;
  std::shared_ptr<const ClientCertificate> certificate_;
  std::array<char, 4096> scrap_;
  size_t discarded_ = 0;
  Phase phase_ = Phase::kReading;
  bool refused_ = false;  // bytes of the request are left unread
};

}  // namespace ks::server
