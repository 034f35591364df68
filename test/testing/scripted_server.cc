// SPDX-License-Identifier: Apache-2.0
#include "testing/scripted_server.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/check.h"

namespace ks::testing {
namespace {

template <class T, class ReadFunction>
T* ReadPem(const std::string& pem, ReadFunction read) {
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  T* object = read(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  KS_CHECK(object != nullptr, "unreadable PEM");
  return object;
}

std::shared_ptr<SSL_CTX> MakeContext(const TestIdentity& identity,
                                     const std::string& client_ca_pem) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  X509* cert = ReadPem<X509>(identity.cert_pem, PEM_read_bio_X509);
  EVP_PKEY* key = ReadPem<EVP_PKEY>(identity.key_pem, PEM_read_bio_PrivateKey);
  SSL_CTX_use_certificate(context.get(), cert);
  SSL_CTX_use_PrivateKey(context.get(), key);
  X509_free(cert);
  EVP_PKEY_free(key);
  if (!client_ca_pem.empty()) {
    X509* ca = ReadPem<X509>(client_ca_pem, PEM_read_bio_X509);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), ca);
    X509_free(ca);
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    SSL_CTX_set_session_id_context(context.get(), reinterpret_cast<const unsigned char*>("t"), 1);
  }
  return context;
}

int Listen(bool ipv6, int* port) {
  const int fd = socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  KS_CHECK(fd >= 0, "socket");
  sockaddr_storage address{};
  socklen_t size = 0;
  if (ipv6) {
    auto* in = reinterpret_cast<sockaddr_in6*>(&address);
    in->sin6_family = AF_INET6;
    in->sin6_addr = in6addr_loopback;
    size = sizeof(*in);
  } else {
    auto* in = reinterpret_cast<sockaddr_in*>(&address);
    in->sin_family = AF_INET;
    in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    size = sizeof(*in);
  }
  KS_CHECK(bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0, std::strerror(errno));
  KS_CHECK(listen(fd, 128) == 0, std::strerror(errno));
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  *port = ntohs(ipv6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                     : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
  return fd;
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace

// ---- ScriptedConnection ----

ScriptedConnection::~ScriptedConnection() {
  if (ssl_ != nullptr) {
    if (fd_ >= 0) SSL_shutdown(ssl_);
    SSL_free(ssl_);
  }
}

int ScriptedConnection::ReadSome(char* data, int size) {
  if (fd_ < 0) return 0;
  ERR_clear_error();
  return ssl_ != nullptr ? SSL_read(ssl_, data, size)
                         : static_cast<int>(recv(fd_, data, static_cast<size_t>(size), 0));
}

std::optional<ScriptedRequest> ScriptedConnection::Read() {
  char data[16384];
  size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    const int count = ReadSome(data, sizeof(data));
    if (count <= 0) return std::nullopt;
    buffer_.append(data, static_cast<size_t>(count));
  }
  ScriptedRequest request;
  size_t line = buffer_.find("\r\n");
  const std::string first = buffer_.substr(0, line);
  const size_t space = first.find(' ');
  request.method = first.substr(0, space);
  request.target = first.substr(space + 1, first.rfind(' ') - space - 1);
  while (line < end) {
    const size_t next = buffer_.find("\r\n", line + 2);
    const std::string header = buffer_.substr(line + 2, next - line - 2);
    const size_t colon = header.find(':');
    const size_t value = header.find_first_not_of(' ', colon + 1);
    request.headers[Lower(header.substr(0, colon))] =
        value == std::string::npos ? "" : header.substr(value);
    line = next;
  }
  buffer_.erase(0, end + 4);
  const size_t length = std::strtoul(request.Header("content-length").c_str(), nullptr, 10);
  while (buffer_.size() < length) {
    const int count = ReadSome(data, sizeof(data));
    if (count <= 0) return std::nullopt;
    buffer_.append(data, static_cast<size_t>(count));
  }
  request.body = buffer_.substr(0, length);
  buffer_.erase(0, length);
  return request;
}

std::string ScriptedConnection::ReadExactly(size_t size) {
  char data[4096];
  while (buffer_.size() < size) {
    const int count = ReadSome(data, sizeof(data));
    if (count <= 0) break;
    buffer_.append(data, static_cast<size_t>(count));
  }
  std::string bytes = buffer_.substr(0, size);
  buffer_.erase(0, bytes.size());
  return bytes;
}

void ScriptedConnection::PassOn(int other) {
  const auto forward = [other](std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(other, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  };
  char data[16384];
  if (!forward(buffer_)) return;
  buffer_.clear();
  while (fd_ >= 0) {
    if (ssl_ == nullptr || SSL_pending(ssl_) == 0) {
      pollfd both[] = {{fd_, POLLIN, 0}, {other, POLLIN, 0}};
      if (poll(both, 2, -1) < 0) return;
      if (both[1].revents != 0) {
        const ssize_t count = recv(other, data, sizeof(data), 0);
        if (count <= 0 || !Write({data, static_cast<size_t>(count)})) return;
      }
      if (both[0].revents == 0) continue;
    }
    const int count = ReadSome(data, sizeof(data));
    if (count <= 0 || !forward({data, static_cast<size_t>(count)})) return;
  }
}

bool ScriptedConnection::Write(std::string_view raw) {
  while (!raw.empty() && fd_ >= 0) {
    ERR_clear_error();
    const int count = ssl_ != nullptr
                          ? SSL_write(ssl_, raw.data(), static_cast<int>(raw.size()))
                          : static_cast<int>(send(fd_, raw.data(), raw.size(), MSG_NOSIGNAL));
    if (count <= 0) return false;
    raw.remove_prefix(static_cast<size_t>(count));
  }
  return fd_ >= 0;
}

bool ScriptedConnection::Respond(int status, std::string_view body, std::string_view headers) {
  std::string text =
      "HTTP/1.1 " + std::to_string(status) + " Scripted\r\nContent-Type: application/json\r\n";
  text.append(headers)
      .append("Content-Length: ")
      .append(std::to_string(body.size()))
      .append("\r\n\r\n")
      .append(body);
  return Write(text);
}

bool ScriptedConnection::StartChunked(std::string_view headers) {
  std::string text =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n";
  text.append(headers).append("\r\n");
  return Write(text);
}

bool ScriptedConnection::Chunk(std::string_view data) {
  char size[32];
  std::snprintf(size, sizeof(size), "%zx\r\n", data.size());
  std::string text = size;
  text.append(data).append("\r\n");
  return Write(text);
}

void ScriptedConnection::WaitForClose() {
  char data[1024];
  while (ReadSome(data, sizeof(data)) > 0) {
  }
}

bool ScriptedConnection::WaitForData(Duration most) {
  pollfd wanted{.fd = fd_, .events = POLLIN, .revents = 0};
  const auto most_ms = std::chrono::duration_cast<std::chrono::milliseconds>(most).count();
  return poll(&wanted, 1, static_cast<int>(most_ms)) > 0;
}

void ScriptedConnection::Close() {
  if (ssl_ != nullptr) SSL_shutdown(ssl_);
  shutdown(fd_, SHUT_RDWR);
  fd_ = -1;
}

void ScriptedConnection::CloseWriting() { shutdown(fd_, SHUT_WR); }

void ScriptedConnection::Reset() {
  const linger hard = {1, 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
  fd_ = -1;  // the server closes the descriptor
}

void ScriptedConnection::Abort() {
  shutdown(fd_, SHUT_RDWR);
  fd_ = -1;
}

std::string ScriptedConnection::ClientName() const {
  X509* cert = ssl_ != nullptr ? SSL_get1_peer_certificate(ssl_) : nullptr;
  if (cert == nullptr) return {};
  char name[256];
  X509_NAME_oneline(X509_get_subject_name(cert), name, sizeof(name));
  X509_free(cert);
  return name + 1;
}

int ScriptedConnection::ClientCertificates() const {
  if (ClientName().empty()) return 0;
  return 1 + std::max(0, sk_X509_num(SSL_get_peer_cert_chain(ssl_)));  // the first is not in it
}

std::string ScriptedConnection::ServerName() const {
  const char* name =
      ssl_ != nullptr ? SSL_get_servername(ssl_, TLSEXT_NAMETYPE_host_name) : nullptr;
  return name != nullptr ? name : "";
}

// ---- ScriptedServer ----

ScriptedServer::ScriptedServer(ScriptedServerOptions options, Script script)
    : options_(std::move(options)), script_(std::move(script)) {
  signal(SIGPIPE, SIG_IGN);
  listener_ = Listen(options_.ipv6, &port_);
  if (options_.identity.has_value()) UseIdentity(*options_.identity);
  acceptor_ = std::thread([this] { Accept(); });
}

ScriptedServer::~ScriptedServer() {
  stopping_ = true;
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  CloseConnections();
  std::vector<std::thread> threads;
  {
    MutexLock lock(mutex_);
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
  close(listener_);
}

std::string ScriptedServer::url() const {
  const std::string host = options_.ipv6 ? "[::1]" : "127.0.0.1";
  return (options_.identity.has_value() ? "https://" : "http://") + host + ":" +
         std::to_string(port_);
}

void ScriptedServer::UseIdentity(const TestIdentity& identity) {
  std::shared_ptr<SSL_CTX> context = MakeContext(identity, options_.client_ca_pem);
  MutexLock lock(mutex_);
  context_ = std::move(context);
}

void ScriptedServer::CloseConnections() {
  MutexLock lock(mutex_);
  for (const auto& [index, fd] : open_) shutdown(fd, SHUT_RDWR);
}

void ScriptedServer::Accept() {
  while (!stopping_) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    const int index = connections_++;
    MutexLock lock(mutex_);
    if (stopping_) {
      close(fd);
      return;
    }
    open_[index] = fd;
    threads_.emplace_back([this, fd, index] { Serve(fd, index); });
  }
}

void ScriptedServer::Serve(int fd, int index) {
  std::shared_ptr<SSL_CTX> context;
  {
    MutexLock lock(mutex_);
    context = context_;
  }
  SSL* ssl = nullptr;
  bool ready = true;
  if (context != nullptr) {
    ssl = SSL_new(context.get());
    SSL_set_fd(ssl, fd);
    ready = SSL_accept(ssl) == 1;
  }
  {
    ScriptedConnection connection(fd, ssl, index);
    if (ready) {
      ++handshakes_;
      script_(connection);
    } else {
      connection.fd_ = -1;
    }
  }
  MutexLock lock(mutex_);
  open_.erase(index);
  close(fd);
}

void ScriptedServer::Gate::Open() {
  MutexLock lock(mutex_);
  open_ = true;
  opened_.NotifyAll();
}

void ScriptedServer::Gate::Wait() {
  MutexLock lock(mutex_);
  while (!open_) opened_.Wait(mutex_);
}

}  // namespace ks::testing
