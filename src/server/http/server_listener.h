// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of an HTTPS server that is the same in the daemon and in the in-memory API server: the
// listening socket, the thread, the open connections and their end.

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <list>
#include <memory>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "server/http/listening_socket.h"

namespace boost::asio::ssl {
class context;
}

namespace ks::server {

class ServerConnection;

// What a server allows its callers.
struct ServerLimits {
  size_t max_connections = 0;  // beyond it the one that waited longest is closed
  size_t header_bytes = 0;     // of one request
  // What half-read requests of all connections may take; beyond it those with large buffers are
  // closed.
  size_t buffered_bytes = std::numeric_limits<size_t>::max();
  size_t linger_bytes = 0;  // of a refused request that are thrown away

  Duration handshake_timeout{};
  Duration first_timeout{};    // from the handshake to the first request
  Duration request_timeout{};  // from a request's first byte to its end
  Duration idle_timeout{};     // between two requests
  Duration write_timeout{};
  Duration close_timeout{};  // for the peer's part of a TLS close
  Duration stop_timeout{};   // for open answers when the server stops; zero: they are cut
  Duration accept_pause = std::chrono::milliseconds(200);  // after an accept error
  int accept_error_verbosity = 0;                          // of its log line
};

// Accepts connections and knows the open ones.
//
// Threads: its own from Serve to Stop, for everything that does not say otherwise.
// Lifetime: outlives its connections.
class ServerListener {
 public:
  using Tcp = boost::asio::ip::tcp;
  using ErrorCode = boost::system::error_code;
  using Connections = std::list<ServerConnection*>;

  explicit ServerListener(const ServerLimits& limits);
  virtual ~ServerListener();
  ServerListener(const ServerListener&) = delete;
  ServerListener& operator=(const ServerListener&) = delete;

  // Error: `failed to create listener: …`. Threads: the caller's, before Serve.
  Result<void> Bind(const ListenAddress& where);
  // Threads: any, after Bind.
  uint16_t port() const { return port_; }
  const std::string& address() const { return address_; }  // "[::]:10259"

  // For new connections; open ones keep what they have. Threads: any.
  void SetTls(std::shared_ptr<boost::asio::ssl::context> tls) KS_EXCLUDES(tls_mutex_);
  std::shared_ptr<boost::asio::ssl::context> tls() const KS_EXCLUDES(tls_mutex_);

  // Starts the thread. Requires: bound, called once.
  void Serve();
  // Between Serve and Stop. Threads: those of Serve and Stop.
  bool serving() const { return thread_.joinable(); }
  // Closes the listening socket and the connections that wait, lets answers finish for
  // stop_timeout, ends the thread. Blocks for it; idempotent. Requires: not called on that thread.
  void Stop();

  size_t connection_count() const { return connection_count_; }  // threads: any

  // For connections.
  boost::asio::io_context& io() { return io_; }
  const ServerLimits& limits() const { return limits_; }
  bool stopping() const { return stopping_; }
  size_t& buffered_bytes() { return buffered_bytes_; }
  Connections::iterator Enter(ServerConnection* connection);
  void Leave(Connections::iterator place);
  // The connection begins to wait.
  void MoveToBack(Connections::iterator place);

 protected:
  // Whether this connection is worth a session.
  virtual bool Admits(Tcp::socket& socket);
  virtual std::shared_ptr<ServerConnection> MakeConnection(Tcp::socket socket) = 0;
  virtual void BeginStop();

 private:
  void Accept();
  void OnAccept(const ErrorCode& error, Tcp::socket socket);
  void MakeRoom();
  void CloseConnections(bool only_waiting);

  const ServerLimits limits_;
  uint16_t port_ = 0;
  std::string address_;
  std::thread thread_;
  std::atomic<size_t> connection_count_ = 0;

  mutable Mutex tls_mutex_;
  std::shared_ptr<boost::asio::ssl::context> tls_ KS_GUARDED_BY(tls_mutex_);

  Connections connections_;  // the one that waited longest first
  size_t buffered_bytes_ = 0;
  bool stopping_ = false;
  boost::asio::io_context io_{1};
  Tcp::acceptor acceptor_;
  boost::asio::steady_timer timer_;  // pause after an accept error; deadline of a stop
};

}  // namespace ks::server
