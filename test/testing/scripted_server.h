// SPDX-License-Identifier: Apache-2.0
#pragma once
// An HTTP(S) server that does to its clients what a test's script says, wrong things above all. One
// thread per connection, loopback, port chosen by the system. Not a model of the API server.

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "testing/test_certificates.h"

typedef struct ssl_st SSL;
typedef struct ssl_ctx_st SSL_CTX;

namespace ks::testing {

struct ScriptedRequest {
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  std::string Header(const std::string& lower_case_name) const {
    const auto it = headers.find(lower_case_name);
    return it == headers.end() ? std::string() : it->second;
  }
};

// One accepted connection, handshake done. Blocking calls; a peer that went away makes Read empty
// and writes vain.
class ScriptedConnection {
 public:
  ScriptedConnection(int fd, SSL* ssl, int index) : index_(index), fd_(fd), ssl_(ssl) {}
  ~ScriptedConnection();

  std::optional<ScriptedRequest> Read();
  // So many bytes, whatever they are; fewer when the peer is gone.
  std::string ReadExactly(size_t size);
  // Carries bytes between the peer and another socket until one of them closes.
  void PassOn(int other);
  // False: the peer is gone.
  bool Write(std::string_view raw);
  // With Content-Length. `headers`: whole lines, each with \r\n.
  bool Respond(int status, std::string_view body, std::string_view headers = "");
  bool StartChunked(std::string_view headers = "");
  bool Chunk(std::string_view data);
  bool EndChunked() { return Write("0\r\n\r\n"); }
  // Blocks until the peer closes or the server stops.
  void WaitForClose();
  // Blocks until something can be read, be it the end; reads nothing. False: not within `most`.
  bool WaitForData(Duration most = std::chrono::minutes(5));
  // An orderly end, TLS notify included. The peer has it when this returns.
  void Close();
  // Nothing more will be written; reading goes on.
  void CloseWriting();
  // RST instead of an orderly end.
  void Reset();
  // FIN without a TLS notify.
  void Abort();

  // Order of acceptance, from 0.
  int index() const { return index_; }
  // Subject of the client's certificate: "CN=...", empty without one.
  std::string ClientName() const;
  // How many certificates the client sent.
  int ClientCertificates() const;
  // The name the client asked for (SNI); empty without one.
  std::string ServerName() const;

 private:
  friend class ScriptedServer;
  int ReadSome(char* data, int size);

  const int index_;
  int fd_;
  SSL* ssl_;  // null: plain http
  std::string buffer_;
};

struct ScriptedServerOptions {
  std::optional<TestIdentity> identity;  // absent: plain http
  std::string client_ca_pem;             // client certificates are required and checked
  bool ipv6 = false;
};

class ScriptedServer {
 public:
  // Runs for every connection, on its own thread; the connection ends with it.
  using Script = std::function<void(ScriptedConnection&)>;

  ScriptedServer(ScriptedServerOptions options, Script script);
  ~ScriptedServer();

  int port() const { return port_; }
  // "https://127.0.0.1:41234", "http://[::1]:41234".
  std::string url() const;
  // TCP connections accepted, failed handshakes included.
  int connections() const { return connections_; }
  int handshakes() const { return handshakes_; }
  void UseIdentity(const TestIdentity& identity);

  // Shuts all connections down (FIN) without stopping to listen.
  void CloseConnections();

  // Lets scripts wait for the test, and the other way round. Open gates stay open; the test must
  // open them before the server goes.
  class Gate {
   public:
    void Open();
    void Wait();

   private:
    Mutex mutex_;
    CondVar opened_;
    bool open_ KS_GUARDED_BY(mutex_) = false;
  };

 private:
  void Accept();
  void Serve(int fd, int index);

  const ScriptedServerOptions options_;
  const Script script_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> connections_{0};
  std::atomic<int> handshakes_{0};
  std::atomic<bool> stopping_{false};

  Mutex mutex_;
  std::shared_ptr<SSL_CTX> context_ KS_GUARDED_BY(mutex_);
  std::map<int, int> open_ KS_GUARDED_BY(mutex_);  // index to descriptor
  std::vector<std::thread> threads_ KS_GUARDED_BY(mutex_);

  std::thread acceptor_;
};

}  // namespace ks::testing
