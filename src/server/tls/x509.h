// SPDX-License-Identifier: Apache-2.0
#pragma once
// Makes X.509 certificates with OpenSSL: authorities, servers, clients. Shared by the daemon's
// self-signed certificate and by the in-memory API server's credentials.

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ks::server {

struct X509Deleter {
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  void operator()(X509* p) const { X509_free(p); }
};
using Key = std::unique_ptr<EVP_PKEY, X509Deleter>;
using Certificate = std::unique_ptr<X509, X509Deleter>;

struct CertificateSpec {
  enum class Use : uint8_t { kAuthority, kServer, kClient };
  Use use = Use::kServer;
  std::string common_name{};
  std::vector<std::string> organizations{};
  std::string alternative_names{};  // OpenSSL's syntax: "DNS:localhost,IP:127.0.0.1"
  int64_t not_before_unix_s = 0;
  int64_t not_after_unix_s = 0;
};

// Signed with SHA-256; a random serial number. `issuer` null: signs itself, `issuer_key` is then
// `key`. Null: OpenSSL does not take it (for example a malformed name).
Certificate IssueCertificate(const CertificateSpec& spec, EVP_PKEY* key, X509* issuer,
                             EVP_PKEY* issuer_key);

// Empty: it could not be written.
std::string PemOf(X509* certificate);
std::string PemOf(EVP_PKEY* key);  // the traditional form ("EC PRIVATE KEY", "RSA PRIVATE KEY")

// The first one in the text. Null: none there.
Certificate ReadCertificate(std::string_view pem);
Key ReadKey(std::string_view pem);

}  // namespace ks::server
