// SPDX-License-Identifier: Apache-2.0
#pragma once
// One connection of the Beast transport: connects, then carries one exchange after the other.
// Internal to the transport: only beast_transport.cc and http_connection.cc include this header,
// because Boost's are heavy. Threads: all of it belongs to the transport's thread, which runs the
// io_context.
//
// Upstream: docs/spec/api.md sections 7.1 (TLS floor, keep-alive), 8.3 (names).

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "client/http/guarded_socket.h"
#include "client/http/proxy_tunnel.h"
#include "client/http/server_url.h"
#include "client/http/tls_context.h"
#include "client/http/transport.h"

namespace ks::client {

// What new connections are made with: one for each generation of TLS settings.
struct ConnectionSettings {
  // Error: the TLS settings are unusable.
  static Result<std::shared_ptr<const ConnectionSettings>> Make(const ServerUrl& url,
                                                                const TransportOptions& options,
                                                                const TlsConfig& tls);

  // What one handshake is made with; shared by the connections, each of which takes references of
  // its own.
  struct Peer {
    std::string sni{};  // empty: an address is no server name (RFC 6066)
    std::shared_ptr<TlsContext> tls{};
    std::unique_ptr<boost::asio::ssl::context> context{};
  };

  // What is connected to: the proxy's address if there is one, else the server's.
  const ServerUrl& Dialled() const;
  // Why that failed, as upstream words it.
  std::string DialFailure(const std::string& cause) const;

  ServerUrl url;
  TransportOptions options;
  uint64_t generation = 0;
  Peer server{};  // without context: plain http
  Peer proxy{};   // without context: there is none, or it is spoken to in the clear
};

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  // Whoever has the connection for one exchange. Hears nothing more after OnEnd or Abort. May not
  // call the connection back, except from OnEnd.
  class User {
   public:
    // The connection is there and nothing of the request has left. False ends the exchange with
    // kFenced. Asked twice: before the request is made ready, when a refusal leaves the connection
    // as good as it was, and when its bytes are ready for the kernel.
    virtual bool MayWrite() = 0;
    // Bytes of the request leave now: from here on the peer may carry it out.
    virtual void OnWrite() = 0;
    virtual void OnHead(const HttpResponse& head, bool gzip) = 0;
    // A piece of the body. kPause: no more before Resume.
    virtual StreamSink::Flow OnBody(std::string_view piece) = 0;
    // Exactly once, and last.
    virtual void OnEnd(std::optional<TransportError> error) = 0;

   protected:
    ~User() = default;
  };

  HttpConnection(boost::asio::io_context& context, std::shared_ptr<const ConnectionSettings> made);
  ~HttpConnection();

  // Sends `request`, the whole text, once the connection stands, and reads the answer. `no_body`:
  // the answer to a HEAD. `silence`: the most of the peer's in any step.
  // Requires: no exchange runs, and none has failed.
  void Run(User& user, std::string request, bool no_body, Duration silence);
  // After a kPause.
  void Resume();
  // Closes; the user hears nothing more.
  void Abort();

  // The exchange that ended left it fit for another one.
  bool IsKept() const { return kept_; }
  // False as well when the peer has closed it, or has sent what nobody asked for.
  bool IsUsable();
  uint64_t generation() const { return settings_->generation; }

  // When the peer will have been silent for too long; TimePoint::max(): a pause.
  TimePoint expires() const { return expires_; }
  // The peer was silent for too long: closes, and tells the user if there is one.
  void Expire();

 private:
  using Executor = boost::asio::io_context::executor_type;
  using Tcp = boost::asio::ip::tcp;
  using Socket = GuardedSocket;
  using Resolver = boost::asio::ip::basic_resolver<Tcp, Executor>;
  using ErrorCode = boost::system::error_code;
  class Parser;

  using Tls = boost::asio::ssl::stream<Socket&>;
  using TlsInTls = boost::asio::ssl::stream<Tls&>;

  void Connect();
  void TryNext();
  void Connected();
  void AskProxy();
  void SendToProxy(std::string text);
  void ReadFromProxy();
  void OnProxySaid(const ErrorCode& failure, size_t size);
  void Secure();
  template <class Stream>
  void Handshake(Stream& stream, const ConnectionSettings::Peer& peer,
                 void (HttpConnection::*next)());
  // Calls `use` with the outermost stream that stands.
  template <class Use>
  void WithStream(Use use);
  void Write();
  void Read();
  void OnRead(const ErrorCode& error, size_t size);
  void Parse();
  void Completed();
  void Touch();
  void End(std::optional<TransportError> error);
  void Fail(TransportError::Kind kind, std::string message);
  void FailOf(const ErrorCode& error);
  void Close();

  const std::shared_ptr<const ConnectionSettings> settings_;
  Executor executor_;
  Socket socket_;
  std::optional<Tls> tls_;               // with the server, or with the proxy
  std::optional<TlsInTls> inner_tls_;    // with the server, through tls_ with the proxy
  std::optional<ProxyTunnel> tunnel_;    // while the proxy is asked for it
  const TlsContext* shaking_ = nullptr;  // of the handshake under way
  std::unique_ptr<Resolver> resolver_;
  std::vector<Tcp::endpoint> endpoints_;  // still to try, the last first
  boost::beast::flat_buffer buffer_;

  User* user_ = nullptr;  // null: no exchange
  std::string request_;
  bool no_body_ = false;
  Duration silence_{};
  std::unique_ptr<Parser> parser_;
  bool connected_ = false;
  bool kept_ = false;
  bool paused_ = false;
  TimePoint expires_ = TimePoint::max();
};

}  // namespace ks::client
