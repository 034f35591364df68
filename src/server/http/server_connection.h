// SPDX-License-Identifier: Apache-2.0
#pragma once
// The core of an HTTPS server's session: one connection (TLS, HTTP/1.1, Boost.Beast) from handshake
// to close, with a deadline on every step that waits for the peer. What is asked and what is
// answered is the subject of the session that derives from it: HttpsSession in the daemon,
// apiserver::FrontSession in the in-memory API server.
//
// It brings Beast with it: for sources of HTTPS servers only.

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/http/deadline.h"
#include "server/http/request_reader.h"
#include "server/http/server_listener.h"

namespace ks::server {

//                             ┌──────────── FinishAnswer, the connection is kept ───────────┐
//                             ▼                                                             │
//  kHandshake ─OnConnected─▶ kReading ──OnHeader──▶ kAnswering ──ReadBody──▶ kReading       │
//      │                      │   │                                              │          │
//      │                      │   └──OnUnreadable──▶ kAnswering ◀──OnRequest─────┘          │
//      │ failed               │ end of the stream      │ BeginAnswer, Write ────────────────┘
//      ▼                      ▼                        │ FinishAnswer, the last one
//  (plain HTTP is answered) kClosing ◀─────────────────┘
//                             ▲
//     Close, from everywhere ─┘   TLS close; what is left of a refused request is thrown away
//
// Threads: the listener's. Lifetime: kept alive by its pending operations, or by the session.
class ServerConnection : public std::enable_shared_from_this<ServerConnection> {
 public:
  using Tcp = ServerListener::Tcp;
  using ErrorCode = ServerListener::ErrorCode;
  // What the peer loses when the connection is cut.
  enum class Standing : uint8_t {
    kLeaving,  // it is cut
    kWaiting,  // nothing is owed to the peer
    kAsking,   // somebody else has yet to give the answer
    kServed,   // a handshake or an answer under way
  };

  ServerConnection(ServerListener& listener, Tcp::socket socket);
  virtual ~ServerConnection();
  ServerConnection(const ServerConnection&) = delete;
  ServerConnection& operator=(const ServerConnection&) = delete;

  void Start();
  // Pending operations end with an error, which ends the connection. May destroy it.
  void Close();
  virtual Standing standing() const;

 protected:
  using Stream = boost::asio::ssl::stream<Tcp::socket>;
  enum class Phase : uint8_t { kHandshake, kReading, kAnswering, kClosing };

  // The certificate of the peer can be looked at.
  virtual void OnConnected() = 0;
  virtual void OnHandshakeError(const ErrorCode& error) = 0;
  // The header is whole: ReadBody follows, in this call or later. The request's deadline runs on,
  // unless the session clears it.
  virtual void OnHeader() = 0;
  // The request is whole: BeginAnswer follows, in this call or later. There is no deadline.
  virtual void OnRequest() = 0;
  // The request cannot be read to its end; BeginAnswer follows. Errors: RequestReader::Parse.
  virtual void OnUnreadable(const ErrorCode& error) = 0;
  // Closed. May let go of what keeps the connection alive.
  virtual void OnClose() = 0;

  // `invite`: the peer is told to send the body (100 Continue).
  void ReadBody(uint64_t limit, bool invite);
  // Notices while there is nothing to write that the peer leaves, and closes. What the peer says
  // early is kept for later, and nothing is read till then.
  void WatchPeer();
  // False: the connection ends with this answer (`last`: whatever the peer wishes), and its head
  // has to say so.
  bool BeginAnswer(bool last = false);
  // Writes a part of an answer, then calls `done`; closes when it cannot. Requires: no other Write
  // is under way. Lifetime: of what `parts` show, until `done`.
  void Write(std::array<boost::asio::const_buffer, 2> parts, std::function<void()> done);
  // All is written: the next request, or the end.
  void FinishAnswer();

  RequestReader& reader() { return reader_; }
  const RequestReader& reader() const { return reader_; }
  Stream& stream() { return stream_; }
  Deadline& deadline() { return deadline_; }
  Phase phase() const { return phase_; }

 private:
  void OnHandshake(const ErrorCode& error);
  void AnswerPlainHttp();
  void NextRequest(Duration timeout);
  void Read();
  void OnRead(const ErrorCode& error, size_t size);
  void Parse();
  void Refuse(const ErrorCode& error);
  void Invite();
  void ShutDown();
  void Linger();
  void Discard();

  ServerListener& listener_;
  const ServerListener::Connections::iterator place_;
  const std::shared_ptr<boost::asio::ssl::context> tls_;
  Stream stream_;
  Deadline deadline_;
  RequestReader reader_;
  Phase phase_ = Phase::kHandshake;
  bool reading_ = false;  // a read is outstanding
  bool keep_alive_ = false;
  bool refused_ = false;     // bytes of the request are left unread
  std::vector<char> scrap_;  // of what is thrown away
  size_t discarded_ = 0;
};

// Puts a body behind its head where both fit in one TLS record; else leaves it alone.
void JoinSmallBody(std::string& head, std::string& body);

}  // namespace ks::server
