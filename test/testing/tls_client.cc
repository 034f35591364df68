// SPDX-License-Identifier: Apache-2.0
#include "testing/tls_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

namespace ks::testing {
namespace {

int Connect(int port, bool ipv6) {
  const int fd = ::socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(static_cast<uint16_t>(port));
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = v4.sin_port;
  v6.sin6_addr = in6addr_loopback;
  const auto* address =
      ipv6 ? reinterpret_cast<const sockaddr*>(&v6) : reinterpret_cast<const sockaddr*>(&v4);
  if (::connect(fd, address, ipv6 ? sizeof(v6) : sizeof(v4)) != 0) {
    ::close(fd);
    return -1;
  }
  // As Kubernetes' clients do; else the request waits for the acknowledgement of the handshake.
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return fd;
}

size_t ContentLength(const std::string& head) {
  const std::string key = "Content-Length: ";
  const size_t at = head.find(key);
  return at == std::string::npos ? 0 : std::strtoul(head.c_str() + at + key.size(), nullptr, 10);
}

void UseIdentity(SSL_CTX* context, const TestIdentity& identity) {
  BIO* cert_text = BIO_new_mem_buf(identity.cert_pem.data(), -1);
  BIO* key_text = BIO_new_mem_buf(identity.key_pem.data(), -1);
  X509* cert = PEM_read_bio_X509(cert_text, nullptr, nullptr, nullptr);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(key_text, nullptr, nullptr, nullptr);
  SSL_CTX_use_certificate(context, cert);
  SSL_CTX_use_PrivateKey(context, key);
  EVP_PKEY_free(key);
  X509_free(cert);
  BIO_free(key_text);
  BIO_free(cert_text);
}

std::string CommonName(X509_NAME* name) {
  char text[256] = "";
  X509_NAME_get_text_by_NID(name, NID_commonName, text, sizeof(text));
  return text;
}

}  // namespace

PlainClient::PlainClient(int port, bool ipv6) : fd_(Connect(port, ipv6)) {}

PlainClient::~PlainClient() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

bool PlainClient::Send(std::string_view data) {
  return ::send(fd_, data.data(), data.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(data.size());
}

std::string PlainClient::ReadAll() {
  std::string text;
  char buffer[4096];
  ssize_t size = 0;
  while ((size = ::recv(fd_, buffer, sizeof(buffer), 0)) > 0) {
    text.append(buffer, static_cast<size_t>(size));
  }
  return text;
}

TlsClient::TlsClient(int port, bool ipv6, int max_version) : tcp_(port, ipv6) {
  Handshake(max_version, {}, "");
}

TlsClient::TlsClient(int port, const TestIdentity& identity, const std::string& server_name)
    : tcp_(port) {
  Handshake(0, identity, server_name);
}

void TlsClient::Handshake(int max_version, const TestIdentity& identity,
                          const std::string& server_name) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  context_ = context;
  SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
  SSL_CTX_set_max_proto_version(context, max_version);
  SSL_CTX_set_security_level(context, 0);
  static constexpr unsigned char kOffered[] = "\x02h2\x08http/1.1";
  SSL_CTX_set_alpn_protos(context, kOffered, sizeof(kOffered) - 1);
  if (!identity.cert_pem.empty()) {
    UseIdentity(context, identity);
  }
  SSL* ssl = SSL_new(context);
  ssl_ = ssl;
  SSL_set_fd(ssl, tcp_.fd());
  if (!server_name.empty()) {
    SSL_set_tlsext_host_name(ssl, server_name.c_str());
  }
  connected_ = tcp_.connected() && SSL_connect(ssl) == 1;
}

TlsClient::~TlsClient() {
  SSL_free(static_cast<SSL*>(ssl_));
  SSL_CTX_free(static_cast<SSL_CTX*>(context_));
}

std::string TlsClient::peer_name() const {
  X509* peer = SSL_get0_peer_certificate(static_cast<SSL*>(ssl_));
  return peer == nullptr ? std::string() : CommonName(X509_get_subject_name(peer));
}

std::vector<std::string> TlsClient::asked_authorities() const {
  std::vector<std::string> names;
  const STACK_OF(X509_NAME)* asked = SSL_get0_peer_CA_list(static_cast<SSL*>(ssl_));
  for (int i = 0; i < sk_X509_NAME_num(asked); ++i) {
    names.push_back(CommonName(sk_X509_NAME_value(asked, i)));
  }
  return names;
}

bool TlsClient::Send(std::string_view data) {
  return SSL_write(static_cast<SSL*>(ssl_), data.data(), static_cast<int>(data.size())) ==
         static_cast<int>(data.size());
}

Answer TlsClient::Read(bool head_only) {
  Answer answer;
  while (true) {
    const size_t head_end = rest_.find("\r\n\r\n");
    if (head_end != std::string::npos) {
      const size_t body_at = head_end + 4;
      const size_t length = head_only ? 0 : ContentLength(rest_.substr(0, body_at));
      if (rest_.size() >= body_at + length) {
        answer.complete = true;
        answer.head = rest_.substr(0, body_at);
        answer.body = rest_.substr(body_at, length);
        answer.status = std::atoi(rest_.c_str() + sizeof("HTTP/1.1"));
        rest_.erase(0, body_at + length);
        return answer;
      }
    }
    if (!Receive()) {
      return answer;
    }
  }
}

bool TlsClient::Receive() {
  char buffer[4096];
  errno = 0;
  const int size = SSL_read(static_cast<SSL*>(ssl_), buffer, sizeof(buffer));
  if (size <= 0) {
    read_errno_ = errno;
    return false;
  }
  rest_.append(buffer, static_cast<size_t>(size));
  return true;
}

std::string TlsClient::ReadUntil(std::string_view end) {
  size_t at = 0;
  while ((at = rest_.find(end)) == std::string::npos) {
    if (!Receive()) {
      return std::exchange(rest_, {});
    }
  }
  std::string text = rest_.substr(0, at + end.size());
  rest_.erase(0, text.size());
  return text;
}

std::string TlsClient::alpn() const {
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(static_cast<SSL*>(ssl_), &name, &size);
  return std::string(reinterpret_cast<const char*>(name), size);
}

Answer TlsClient::Exchange(std::string_view method, std::string_view target) {
  Send(std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  return Read(method == "HEAD");
}

bool TlsClient::ReadsEnd() {
  char byte = 0;
  return rest_.empty() && SSL_read(static_cast<SSL*>(ssl_), &byte, 1) <= 0;
}

}  // namespace ks::testing
