// SPDX-License-Identifier: Apache-2.0
#include "server/tls_context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <string>

namespace ks::server {
namespace {

namespace asio = boost::asio;
namespace ssl = asio::ssl;
using ErrorCode = boost::system::error_code;

constexpr const char* kTls12Ciphers =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"
    "ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA";

// ALPN: http/1.1 when the client offers it, else no answer.
int SelectAlpn(SSL*, const unsigned char** out, unsigned char* out_length, const unsigned char* in,
               unsigned int in_length, void*) {
  static constexpr unsigned char kHttp11[] = "\x08http/1.1";
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_length, kHttp11, sizeof(kHttp11) - 1, in, in_length) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

// TLS versions before 1.2 need OpenSSL's lowest security level.
Result<void> ConfigureProtocol(SSL_CTX* native, const TlsSettings& settings) {
  std::string ciphers = settings.ciphers.empty() ? kTls12Ciphers : settings.ciphers;
  if (settings.min_version < TLS1_2_VERSION) {
    ciphers += ":@SECLEVEL=0";
  }
  if (SSL_CTX_set_min_proto_version(native, settings.min_version) != 1 ||
      SSL_CTX_set_cipher_list(native, ciphers.c_str()) != 1 ||
      (!settings.groups.empty() &&
       SSL_CTX_set1_groups_list(native, settings.groups.c_str()) != 1)) {
    return Error{"OpenSSL does not take the TLS settings: ciphers " + ciphers + ", groups " +
                 settings.groups};
  }
  return {};
}

}  // namespace

Result<void> ConfigureTls(ssl::context& tls, const ServingCertificate& certificate,
                          const TlsSettings& settings) {
  ErrorCode error;
  tls.use_certificate_chain(asio::buffer(certificate.chain_pem), error);
  if (error) {
    return Error{"serving certificate: " + error.message()};
  }
  tls.use_private_key(asio::buffer(certificate.key_pem), ssl::context::pem, error);
  if (error &&
      ERR_GET_REASON(static_cast<unsigned long>(error.value())) != X509_R_KEY_VALUES_MISMATCH) {
    return Error{"serving key: " + error.message()};
  }
  SSL_CTX* native = tls.native_handle();
  if (error || SSL_CTX_check_private_key(native) != 1) {
    return Error{"tls: private key does not match public key"};
  }
  static constexpr unsigned char kSessionContext[] = "kubesched";
  if (Result<void> set = ConfigureProtocol(native, settings); !set.ok()) {
    return set.error();
  }
  SSL_CTX_set_session_id_context(native, kSessionContext, sizeof(kSessionContext) - 1);
  SSL_CTX_set_options(native, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_alpn_select_cb(native, SelectAlpn, nullptr);
  return {};
}

}  // namespace ks::server
