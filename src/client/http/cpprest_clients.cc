// SPDX-License-Identifier: Apache-2.0
#include "client/http/cpprest_clients.h"

#include <netdb.h>
#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>

#include "base/logging.h"
#include "client/http/transport_parts.h"

namespace ks::client {
namespace {

using boost::asio::ip::tcp;
using web::http::client::http_client;
using web::http::client::http_client_config;

// Runs before each request. On a new connection the socket is not open yet, and options set on it
// would be lost without a word, so it is opened here; asio connects a socket that is open already.
void OpenSocket(tcp::socket& socket, int family, const TransportOptions& options) {
  if (socket.is_open() || family == AF_UNSPEC) return;
  boost::system::error_code error;
  socket.open(family == AF_INET6 ? tcp::v6() : tcp::v4(), error);
  if (!error) SetSocketOptions(socket.native_handle(), options);
}

http_client_config BaseConfig(const ServerUrl& url, const TransportOptions& options,
                              const TlsConfig& tls, const std::shared_ptr<TlsContext>& context,
                              int family) {
  http_client_config config;
  // The library would repeat the Authorization header to wherever a redirect points.
  config.set_max_redirects(0);
  config.set_timeout(options.idle_timeout);
  if (!url.tls) {
    config.set_nativehandle_options([family, options](void* handle) {
      OpenSocket(*static_cast<tcp::socket*>(handle), family, options);
    });
    return config;
  }
  config.set_nativehandle_options([family, options](void* handle) {
    OpenSocket(static_cast<boost::asio::ssl::stream<tcp::socket&>*>(handle)->next_layer(), family,
               options);
  });
  config.set_validate_certificates(!tls.insecure_skip_verify);
  // An address is no server name (RFC 6066); with a Host header in brackets the library would send
  // that.
  config.set_tlsext_sni_enabled(!url.is_ip || !tls.server_name.empty());
  config.set_ssl_context_callback([context](boost::asio::ssl::context& ssl) {
    if (!context->Apply(ssl.native_handle())) log::Error("out of memory", "Unable to set up TLS");
  });
  return config;
}

using Kind = TransportError::Kind;

Kind KindOf(const std::error_code& code, std::string_view text) {
  switch (code.value()) {
    case ECONNREFUSED:
    case EHOSTUNREACH:  // what the library says for a refused port
    case ENETUNREACH:
      return Kind::kRefused;
    case EPIPE:
    case ECONNRESET:
    case ECONNABORTED:
    case ENOTCONN:
    case EBADF:
      return Kind::kLost;
    case ETIMEDOUT:
      return Kind::kTimedOut;
    case ECANCELED:
      return Kind::kCanceled;
    default:
      break;
  }
  if (text.find("resolving address") != text.npos) return Kind::kResolve;
  if (text.find("SSL handshake") != text.npos) return Kind::kTls;
  if (text.find("Invalid chunked response header") != text.npos ||
      text.find("Invalid HTTP") != text.npos || text.find("parsing") != text.npos) {
    return Kind::kMalformed;
  }
  for (std::string_view lost : {"Failed to read HTTP status line", "Failed to write request",
                                "Failed to read", "Retrieving message chunk header"}) {
    if (text.find(lost) != text.npos) return Kind::kLost;
  }
  return Kind::kOther;
}

std::string Describe(Kind kind, const CpprestClients& clients, const ServerUrl& url,
                     std::string_view text) {
  switch (kind) {
    case Kind::kRefused:
      return "dial tcp " + url.Authority() + ": connect: connection refused";
    case Kind::kLost:
      return "connection lost: " + std::string(text);
    case Kind::kTimedOut:
      return "timed out: " + std::string(text);
    case Kind::kCanceled:
      return "request canceled";
    case Kind::kResolve:
      return "dial tcp: lookup " + url.host + ": no such host";
    case Kind::kTls: {
      const std::string refusal = clients.tls ? clients.tls->LastRefusal() : std::string();
      return "tls: " +
             (refusal.empty() ? std::string(text) : "failed to verify certificate: " + refusal);
    }
    case Kind::kMalformed:
      return "malformed HTTP response: " + std::string(text);
    case Kind::kFenced:
    case Kind::kOther:
      break;
  }
  return std::string(text);
}

}  // namespace

void ReportUnobservedTask() {
  log::Error("", "A failed task of the HTTP library was not looked at");
}

int AddressFamily(const ServerUrl& url) {
  if (url.is_ip) return url.is_ipv6 ? AF_INET6 : AF_INET;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(url.host.c_str(), nullptr, &hints, &found) != 0) return AF_UNSPEC;
  const int family = found->ai_family;
  freeaddrinfo(found);
  return family;
}

Result<std::shared_ptr<CpprestClients>> CpprestClients::Make(const ServerUrl& url,
                                                             const TransportOptions& options,
                                                             const TlsConfig& tls,
                                                             int address_family,
                                                             std::shared_ptr<TlsContext> context) {
  auto clients = std::make_shared<CpprestClients>();
  clients->generation = tls.generation;
  clients->tls = std::move(context);
  if (url.tls && clients->tls == nullptr) {
    Result<std::shared_ptr<TlsContext>> made = TlsContext::Make(tls, url.host);
    if (!made.ok()) return made.error();
    clients->tls = *made;
  }
  // The library takes the name for SNI from the Host header, and would write an IPv6 address there
  // without brackets.
  if (!tls.server_name.empty()) {
    clients->host_header = tls.server_name;
  } else if (url.is_ipv6) {
    clients->host_header = url.Authority();
  }
  try {
    // Without brackets: the URI form with them does not resolve.
    web::uri_builder builder;
    builder.set_scheme(url.tls ? "https" : "http").set_host(url.host).set_port(url.port);
    builder.set_path(url.prefix);
    const web::uri base = builder.to_uri();
    http_client_config config = BaseConfig(url, options, tls, clients->tls, address_family);
    clients->plain = std::make_unique<http_client>(base, config);
    http_client_config gzip = config;
    gzip.set_request_compressed_response(true);
    gzip.set_chunksize(256 * 1024);
    clients->gzip = std::make_unique<http_client>(base, gzip);
    // Small pieces, so that a body without chunks (from a proxy) is not held back until 64 KiB are
    // full.
    config.set_chunksize(4096);
    config.set_timeout(options.stream_idle_timeout);
    clients->stream = std::make_unique<http_client>(base, config);
  } catch (const std::exception& e) {
    return Error{"invalid server URL \"" + url.Text() + "\": " + e.what()};
  }
  return clients;
}

std::unique_ptr<http_client> CpprestClients::NewPlain() const {
  return std::make_unique<http_client>(plain->base_uri(), plain->client_config());
}

TransportError ClassifyException(const CpprestClients& clients, const ServerUrl& url) {
  Kind kind = Kind::kOther;
  std::string text = "unknown exception";
  try {
    throw;
  } catch (const web::http::http_exception& e) {
    text = e.what();
    kind = KindOf(e.error_code(), text);
  } catch (const pplx::task_canceled&) {
    kind = Kind::kCanceled;
  } catch (const std::system_error& e) {
    text = e.what();
    kind = KindOf(e.code(), text);
  } catch (const std::exception& e) {
    text = e.what();
    kind = KindOf(std::error_code(), text);
  } catch (...) {
    kind = Kind::kOther;
  }
  return {kind, Describe(kind, clients, url, text)};
}

}  // namespace ks::client
