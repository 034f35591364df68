// SPDX-License-Identifier: Apache-2.0
#include "testing/test_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ks::testing {
namespace {

using namespace std::string_literals;

std::string Text(const std::string& bytes, int family) {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(family, bytes.data(), text, sizeof(text));
  return family == AF_INET6 ? "[" + std::string(text) + "]" : text;
}

size_t Length(const std::string& byte) {
  return byte.empty() ? 0 : static_cast<unsigned char>(byte[0]);
}

std::string Basic(const std::string& user, const std::string& password) {
  const std::string text = user + ":" + password;
  std::string out(4 * ((text.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  return "Basic " + out.substr(0, static_cast<size_t>(size));
}

}  // namespace

TestProxy::TestProxy(TestProxyOptions options) : options_(std::move(options)) {
  server_ = std::make_unique<ScriptedServer>(
      ScriptedServerOptions{.identity = options_.identity, .client_ca_pem = ""},
      [this](ScriptedConnection& connection) {
        if (options_.kind == TestProxyOptions::Kind::kSocks5) {
          ServeSocks(connection);
        } else {
          ServeHttp(connection);
        }
      });
}

std::string TestProxy::url() const {
  const bool socks = options_.kind == TestProxyOptions::Kind::kSocks5;
  std::string text = socks ? "socks5://" : options_.identity.has_value() ? "https://" : "http://";
  if (!options_.user.empty()) text += options_.user + ":" + options_.password + "@";
  return text + "127.0.0.1:" + std::to_string(server_->port());
}

std::vector<std::string> TestProxy::asked() const {
  MutexLock lock(mutex_);
  return asked_;
}

void TestProxy::RecordRequest(const std::string& asked) {
  MutexLock lock(mutex_);
  asked_.push_back(asked);
}

void TestProxy::ServeHttp(ScriptedConnection& connection) {
  const std::string wanted = options_.user.empty() ? "" : Basic(options_.user, options_.password);
  while (const auto request = connection.Read()) {
    RecordRequest(request->method + " " + request->target);
    if (request->Header("proxy-authorization") != wanted) {
      connection.Write("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
    } else if (request->method == "CONNECT") {
      connection.Write("HTTP/1.1 200 Connection established\r\n\r\n");
      return Tunnel(connection);
    } else {
      connection.Respond(
          200, "by the proxy: " + request->Header("host") + " " + request->Header("authorization"));
    }
  }
}

void TestProxy::ServeSocks(ScriptedConnection& connection) {
  const std::string hello = connection.ReadExactly(2);
  const std::string methods =
      connection.ReadExactly(hello.size() < 2 ? 0 : Length(hello.substr(1)));
  const char method = options_.user.empty() ? '\0' : '\2';
  if (methods.find(method) == methods.npos) {
    connection.Write("\5\xff"s);
    return connection.WaitForClose();
  }
  connection.Write(std::string{'\5', method});
  if (method != '\0') {
    connection.ReadExactly(1);
    const std::string user = connection.ReadExactly(Length(connection.ReadExactly(1)));
    const std::string password = connection.ReadExactly(Length(connection.ReadExactly(1)));
    const bool right = user == options_.user && password == options_.password;
    connection.Write(right ? "\1\0"s : "\1\1"s);
    if (!right) return connection.WaitForClose();
  }
  const std::string request = connection.ReadExactly(4);
  if (request.size() < 4) return;
  const std::string host = request[3] == 3
                               ? connection.ReadExactly(Length(connection.ReadExactly(1)))
                           : request[3] == 4 ? Text(connection.ReadExactly(16), AF_INET6)
                                             : Text(connection.ReadExactly(4), AF_INET);
  const std::string port = connection.ReadExactly(2);
  if (port.size() < 2) return;
  RecordRequest(host + ":" + std::to_string(256 * Length(port) + Length(port.substr(1))));
  connection.Write("\5\0\0\3\4name\0\0"s);
  Tunnel(connection);
}

void TestProxy::Tunnel(ScriptedConnection& connection) const {
  const int target = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(options_.target_port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(target, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    connection.PassOn(target);
  }
  close(target);
}

}  // namespace ks::testing
