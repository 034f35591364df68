// SPDX-License-Identifier: Apache-2.0
#pragma once
// One connection of the daemon's HTTPS server, and what all connections of a server share: who may
// ask, who answers. For https_server.cc only: it brings Beast with it.
//
// Threads: the server's, but for Mailbox.

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "server/http/https_server.h"
#include "server/http/server_connection.h"
#include "server/http/server_listener.h"
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

// What the sessions of a server share.
struct HttpsShared : ServerListener {
  explicit HttpsShared(HttpsOptions server_options);
  ~HttpsShared() override { mailbox->Close(); }

  std::shared_ptr<ServerConnection> MakeConnection(Tcp::socket socket) override;

  // Null: 404.
  const Route* Find(const std::string& path) const;

  HttpsOptions options;
  std::map<std::string, Route, std::less<>> routes;
  std::map<std::string, Route, std::less<>> prefixes;
  const std::shared_ptr<Mailbox> mailbox;
};

// The guard is asked when a request's header is here, the handler when its body is. Either may
// answer later (┄) and from any thread; till then the session keeps itself alive.
//
//  OnHeader ─▶ guard ┄▶ OnAdmission ─▶ ReadBody ─┬─▶ OnRequest ─▶ handler ┄▶ OnAnswer ─▶ Send
//                                                │       └─ refused, no such path ─▲         ▲
//                                                └─▶ OnUnreadable ── refused ──────┘         │
//                                                        └── anything else: its status ──────┘
class HttpsSession final : public ServerConnection {
 public:
  HttpsSession(HttpsShared& shared, Tcp::socket socket);

  Standing standing() const override;

 private:
  using Head = boost::beast::http::response<boost::beast::http::empty_body>;

  void OnConnected() override;
  void OnHandshakeError(const ErrorCode& error) override;
  void OnHeader() override;
  void OnAdmission(Admission admission);
  void OnRequest() override;
  void OnUnreadable(const ErrorCode& error) override;
  void OnAnswer(Response answer);
  void OnClose() override;

  Head HeadOf(const Response& answer) const;
  void Send(Head head, std::string body);
  void LogAnswer(int status) const;

  // The value comes back on the server's thread, unless the session has gone on or is gone.
  template <class T>
  std::function<void(T)> Once(void (HttpsSession::*take)(T), T fallback);

  HttpsShared& shared_;
  const std::string source_;
  const std::string local_address_;
  std::shared_ptr<const ClientCertificate> certificate_;

  Request request_;
  const Route* route_ = nullptr;
  std::optional<Response> refusal_;
  uint64_t turn_ = 0;                     // answers of another turn are dropped
  std::shared_ptr<HttpsSession> itself_;  // while guard or handler have yet to answer
  std::string head_;                      // of the answer that is written, with a small body
  std::string body_;                      // a large one
};

}  // namespace ks::server
