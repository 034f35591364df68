// SPDX-License-Identifier: Apache-2.0
#pragma once
// Certificates that callers present, and the authorities that vouch for them.
//
// Upstream: docs/spec/operations.md sections 3.2 and 4.1.

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace ks::server {

// What a peer presented, with the intermediates it sent; not verified. Threads: any.
class ClientCertificate {
 public:
  // Null: the peer presented none.
  static std::shared_ptr<const ClientCertificate> Of(SSL* connection);
  // Leaf first. Null: no certificate in the text.
  static std::shared_ptr<const ClientCertificate> FromPem(std::string_view chain);
  ~ClientCertificate();
  ClientCertificate(const ClientCertificate&) = delete;
  ClientCertificate& operator=(const ClientCertificate&) = delete;

  std::string CommonName() const;
  std::vector<std::string> Organizations() const;
  // The subject's UID attribute (0.9.2342.19200300.100.1.1 is not it: Kubernetes has its own,
  // 1.3.6.1.4.1.57683.2). Empty: none.
  std::string Uid() const;
  std::string SerialNumber() const;  // decimal
  TimePoint NotAfter() const;

  X509* leaf() const { return leaf_; }
  STACK_OF(X509) * intermediates() const { return intermediates_; }

 private:
  ClientCertificate() = default;

  X509* leaf_ = nullptr;                      // owned
  STACK_OF(X509) * intermediates_ = nullptr;  // owned
};

// A PEM bundle of trusted certificates. Threads: any.
class CertificateAuthorities {
 public:
  // Error: no certificate in the bundle, or one that cannot be read.
  static Result<std::shared_ptr<const CertificateAuthorities>> FromPem(std::string pem);
  ~CertificateAuthorities();
  CertificateAuthorities(const CertificateAuthorities&) = delete;
  CertificateAuthorities& operator=(const CertificateAuthorities&) = delete;

  // Whether one of them vouches for a client certificate at `now`. Error: why not, as it is logged.
  Result<void> Verify(const ClientCertificate& certificate, TimePoint now) const;

  const std::string& pem() const { return pem_; }

 private:
  CertificateAuthorities() = default;

  std::string pem_;
  X509_STORE* store_ = nullptr;  // owned
};

}  // namespace ks::server
