// SPDX-License-Identifier: Apache-2.0
#pragma once
// A plain TLS client on a blocking socket, for tests of servers: it sends exactly the bytes it is
// given. Not for anything else: certificates are not verified.

#include <string>
#include <string_view>
#include <vector>

#include "testing/test_certificates.h"

namespace ks::testing {

// A TCP connection to 127.0.0.1, without TLS.
class PlainClient {
 public:
  explicit PlainClient(int port, bool ipv6 = false);
  ~PlainClient();
  PlainClient(const PlainClient&) = delete;
  PlainClient& operator=(const PlainClient&) = delete;

  bool connected() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  bool Send(std::string_view data);
  // Until the peer closes.
  std::string ReadAll();

 private:
  int fd_ = -1;
};

struct Answer {
  bool complete = false;
  int status = 0;
  std::string head;  // status line and headers
  std::string body;
};

class TlsClient {
 public:
  explicit TlsClient(int port, bool ipv6 = false, int max_version = 0);
  // With a client certificate; an empty one: none. With a server's name to ask for; empty: none.
  TlsClient(int port, const TestIdentity& identity, const std::string& server_name = "");
  ~TlsClient();
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  bool connected() const { return connected_; }
  bool Send(std::string_view data);
  // One answer by its Content-Length. `head_only`: an answer to HEAD.
  Answer Read(bool head_only = false);
  Answer Exchange(std::string_view method, std::string_view target);
  // Everything up to and with `end`, taken off. Shorter: the peer closed before.
  std::string ReadUntil(std::string_view end);
  // Waits until the peer closes; true if nothing came before.
  bool ReadsEnd();
  // The errno of the last failed read, 0 for an orderly end.
  int read_errno() const { return read_errno_; }
  // The protocol the server chose by ALPN; empty: none.
  std::string alpn() const;
  // The common name of the server's certificate.
  std::string peer_name() const;
  // Common names of the authorities whose certificates the server asks for.
  std::vector<std::string> asked_authorities() const;

 private:
  void Handshake(int max_version, const TestIdentity& identity, const std::string& server_name);
  bool Receive();

  PlainClient tcp_;
  void* context_ = nullptr;  // SSL_CTX
  void* ssl_ = nullptr;      // SSL
  bool connected_ = false;
  int read_errno_ = 0;
  std::string rest_;
};

}  // namespace ks::testing
