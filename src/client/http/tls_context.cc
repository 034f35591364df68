// SPDX-License-Identifier: Apache-2.0
#include "client/http/tls_context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "client/http/process_environment.h"

namespace ks::client {
namespace {

using Holder = std::shared_ptr<const TlsContext>;

void FreeHolder(void*, void* holder, CRYPTO_EX_DATA*, int, long, void*) {
  delete static_cast<Holder*>(holder);
}

// The slot of an SSL_CTX that keeps our TlsContext alive as long as OpenSSL may call Verify.
int HolderIndex() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, FreeHolder);
  return index;
}

struct BioFree {
  void operator()(BIO* p) const { BIO_free(p); }
};
using BioPtr = std::unique_ptr<BIO, BioFree>;

BioPtr ReadBio(const std::string& text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Never asks on the terminal.
int NoPassphrase(char*, int, int, void*) { return 0; }

std::string OpensslError() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  if (code == 0) return "no PEM block found";
  const char* reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : "error " + std::to_string(code);
}

// All certificates of a PEM text, in order; other blocks are skipped.
std::vector<X509*> ReadCertificates(const std::string& pem) {
  std::vector<X509*> certificates;
  const BioPtr bio = ReadBio(pem);
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)) {
    certificates.push_back(certificate);
  }
  return certificates;
}

std::string NameOf(X509* certificate) {
  char buffer[256];
  X509_NAME_oneline(X509_get_subject_name(certificate), buffer, sizeof(buffer));
  return buffer;
}

int KeepResult(int ok, X509_STORE_CTX*) { return ok; }

}  // namespace

Result<std::shared_ptr<TlsContext>> TlsContext::Make(const TlsConfig& config,
                                                     const std::string& host) {
  std::shared_ptr<TlsContext> context(new TlsContext());
  context->insecure_ = config.insecure_skip_verify;
  context->expected_name_ = config.server_name.empty() ? host : config.server_name;
  context->roots_.reset(X509_STORE_new());
  X509_STORE* roots = context->roots_.get();
  ERR_clear_error();
  if (config.ca_pem.empty()) {
    if (!config.insecure_skip_verify) {
      const SystemRoots& system = OriginalRoots();
      X509_STORE_load_locations(roots, system.File().c_str(), system.Dir().c_str());
      ERR_clear_error();
    }
  } else {
    const std::vector<X509*> certificates = ReadCertificates(config.ca_pem);
    for (X509* certificate : certificates) {
      X509_STORE_add_cert(roots, certificate);
      X509_free(certificate);
    }
    if (certificates.empty()) {
      return Error{"unable to load root certificates: no valid certificate authority data seen: " +
                   OpensslError()};
    }
  }
  ERR_clear_error();
  if (config.client_cert_pem.empty()) return context;
  for (X509* certificate : ReadCertificates(config.client_cert_pem)) {
    context->chain_.emplace_back(certificate);
  }
  if (context->chain_.empty()) {
    return Error{"unable to use the client certificate: " + OpensslError()};
  }
  ERR_clear_error();
  const BioPtr key = ReadBio(config.client_key_pem);
  context->key_.reset(PEM_read_bio_PrivateKey(key.get(), nullptr, NoPassphrase, nullptr));
  if (!context->key_) return Error{"unable to use the client key: " + OpensslError()};
  if (X509_check_private_key(context->chain_.front().get(), context->key_.get()) != 1) {
    ERR_clear_error();
    return Error{"the client key does not belong to the client certificate"};
  }
  return context;
}

bool TlsContext::Apply(SSL_CTX* context) const {
  if (SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1) return false;
  SSL_CTX_set1_cert_store(context, roots_.get());
  // The client's certificates are those of its file, as Go's are. Of the server's authorities
  // OpenSSL would add one that issued them, and kube-apiserver checks at each request whatever was
  // sent.
  SSL_CTX_set_mode(context, SSL_MODE_NO_AUTO_CHAIN);
  if (!chain_.empty()) {
    if (SSL_CTX_use_certificate(context, chain_.front().get()) != 1) return false;
    for (size_t i = 1; i < chain_.size(); ++i) {
      if (SSL_CTX_add1_chain_cert(context, chain_[i].get()) != 1) return false;
    }
    if (SSL_CTX_use_PrivateKey(context, key_.get()) != 1) return false;
  }
  if (insecure_) return true;
  SSL_CTX_set_ex_data(context, HolderIndex(), new Holder(shared_from_this()));
  SSL_CTX_set_cert_verify_callback(context, &TlsContext::Verify, nullptr);
  return true;
}

int TlsContext::Verify(X509_STORE_CTX* store, void*) {
  const void* ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
  SSL_CTX* context = SSL_get_SSL_CTX(static_cast<const SSL*>(ssl));
  const auto* holder = static_cast<const Holder*>(SSL_CTX_get_ex_data(context, HolderIndex()));
  return (*holder)->VerifyPeer(store) ? 1 : 0;
}

bool TlsContext::VerifyPeer(X509_STORE_CTX* store) const {
  // Replaces the name check of the HTTP library, which would compare with the Host header.
  X509_STORE_CTX_set_verify_cb(store, KeepResult);
  X509_VERIFY_PARAM* wanted = X509_STORE_CTX_get0_param(store);
  if (X509_VERIFY_PARAM_set1_ip_asc(wanted, expected_name_.c_str()) != 1) {
    ERR_clear_error();
    X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    X509_VERIFY_PARAM_set1_host(wanted, expected_name_.c_str(), expected_name_.size());
  }
  if (X509_verify_cert(store) == 1) return true;
  const int error = X509_STORE_CTX_get_error(store);
  std::string text = X509_verify_cert_error_string(error);
  if (X509* certificate = X509_STORE_CTX_get_current_cert(store)) {
    text += " (certificate " + NameOf(certificate) + ", expected name " + expected_name_ + ")";
  }
  MutexLock lock(mutex_);
  refusal_ = std::move(text);
  return false;
}

std::string TlsContext::LastRefusal() const {
  MutexLock lock(mutex_);
  return refusal_;
}

}  // namespace ks::client
