// SPDX-License-Identifier: Apache-2.0
#pragma once
// A TlsConfig parsed once and applied to every new connection: pinned CAs, TLS 1.2 as floor, client
// certificate, and verification of the server's name by our own rule, which keeps the reason of a
// refusal for the error text.
//
// Upstream: docs/spec/api.md sections 7.1, 8.3.

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "client/http/transport.h"

namespace ks::client {

// Threads: any.
class TlsContext : public std::enable_shared_from_this<TlsContext> {
 public:
  // `host`: of the URL; checked unless the configuration names another server name. Errors say
  // which part is unusable.
  static Result<std::shared_ptr<TlsContext>> Make(const TlsConfig& config, const std::string& host);

  // Sets up a fresh context of one connection. False: OpenSSL refused (out of memory).
  bool Apply(SSL_CTX* context) const;

  // Why the last refused certificate was refused; empty when none was.
  std::string LastRefusal() const;

 private:
  struct Free {
    void operator()(X509* p) const { X509_free(p); }
    void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
    void operator()(X509_STORE* p) const { X509_STORE_free(p); }
  };

  TlsContext() = default;
  static int Verify(X509_STORE_CTX* store, void* unused);
  bool VerifyPeer(X509_STORE_CTX* store) const;

  bool insecure_ = false;
  std::string expected_name_;
  std::unique_ptr<X509_STORE, Free> roots_;
  std::vector<std::unique_ptr<X509, Free>> chain_;  // leaf first
  std::unique_ptr<EVP_PKEY, Free> key_;

  mutable Mutex mutex_;
  mutable std::string refusal_ KS_GUARDED_BY(mutex_);
};

}  // namespace ks::client
