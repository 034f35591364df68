// SPDX-License-Identifier: Apache-2.0
#include "server/tls/client_certificate.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <ctime>
#include <utility>

#include "server/tls/x509.h"

namespace ks::server {
namespace {

constexpr std::string_view kUidAttribute = "1.3.6.1.4.1.57683.2";

struct Deleter {
  void operator()(BIO* p) const { BIO_free(p); }
  void operator()(X509_STORE_CTX* p) const { X509_STORE_CTX_free(p); }
  void operator()(BIGNUM* p) const { BN_free(p); }
  void operator()(char* p) const { OPENSSL_free(p); }
  void operator()(ASN1_OBJECT* p) const { ASN1_OBJECT_free(p); }
};
template <class T>
using Owned = std::unique_ptr<T, Deleter>;

std::vector<std::string> Values(X509* certificate, const ASN1_OBJECT* attribute) {
  std::vector<std::string> values;
  X509_NAME* name = X509_get_subject_name(certificate);
  for (int at = X509_NAME_get_index_by_OBJ(name, attribute, -1); at >= 0;
       at = X509_NAME_get_index_by_OBJ(name, attribute, at)) {
    unsigned char* text = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (size >= 0) {
      values.emplace_back(reinterpret_cast<char*>(text), static_cast<size_t>(size));
      OPENSSL_free(text);
    }
  }
  return values;
}

std::string Last(std::vector<std::string> values) {
  return values.empty() ? std::string() : std::move(values.back());
}

// The next one of a PEM text; null at its end or at one that is broken.
Certificate Next(BIO* text) {
  Certificate next(PEM_read_bio_X509(text, nullptr, nullptr, nullptr));
  ERR_clear_error();
  return next;
}

}  // namespace

ClientCertificate::~ClientCertificate() {
  X509_free(leaf_);
  sk_X509_pop_free(intermediates_, X509_free);
}

std::shared_ptr<const ClientCertificate> ClientCertificate::Of(SSL* connection) {
  X509* leaf = SSL_get1_peer_certificate(connection);
  if (leaf == nullptr) {
    return nullptr;
  }
  std::shared_ptr<ClientCertificate> made(new ClientCertificate);
  made->leaf_ = leaf;
  // A server's chain of the peer goes without the leaf.
  if (STACK_OF(X509)* chain = SSL_get_peer_cert_chain(connection); chain != nullptr) {
    made->intermediates_ = X509_chain_up_ref(chain);
  }
  return made;
}

std::shared_ptr<const ClientCertificate> ClientCertificate::FromPem(std::string_view chain) {
  const Owned<BIO> text(BIO_new_mem_buf(chain.data(), static_cast<int>(chain.size())));
  Certificate leaf = Next(text.get());
  if (!leaf) {
    return nullptr;
  }
  std::shared_ptr<ClientCertificate> made(new ClientCertificate);
  made->leaf_ = leaf.release();
  made->intermediates_ = sk_X509_new_null();
  for (Certificate next = Next(text.get()); next; next = Next(text.get())) {
    sk_X509_push(made->intermediates_, next.release());
  }
  return made;
}

std::string ClientCertificate::CommonName() const {
  return Last(Values(leaf_, OBJ_nid2obj(NID_commonName)));
}

std::vector<std::string> ClientCertificate::Organizations() const {
  return Values(leaf_, OBJ_nid2obj(NID_organizationName));
}

std::string ClientCertificate::Uid() const {
  const Owned<ASN1_OBJECT> attribute(OBJ_txt2obj(std::string(kUidAttribute).c_str(), 1));
  return Last(Values(leaf_, attribute.get()));
}

std::string ClientCertificate::SerialNumber() const {
  const Owned<BIGNUM> number(ASN1_INTEGER_to_BN(X509_get_serialNumber(leaf_), nullptr));
  const Owned<char> text(number ? BN_bn2dec(number.get()) : nullptr);
  return text ? text.get() : "";
}

TimePoint ClientCertificate::NotAfter() const {
  std::tm time{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(leaf_), &time) != 1) {
    return {};
  }
  return TimePoint(std::chrono::seconds(timegm(&time)));
}

CertificateAuthorities::~CertificateAuthorities() { X509_STORE_free(store_); }

Result<std::shared_ptr<const CertificateAuthorities>> CertificateAuthorities::FromPem(
    std::string pem) {
  std::shared_ptr<CertificateAuthorities> made(new CertificateAuthorities);
  made->store_ = X509_STORE_new();
  const Owned<BIO> text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  size_t count = 0;
  for (Certificate next = Next(text.get()); next; next = Next(text.get())) {
    X509_STORE_add_cert(made->store_, next.get());
    ++count;
  }
  ERR_clear_error();
  if (count == 0) {
    return Error{"data does not contain any valid RSA or ECDSA certificates"};
  }
  // Whatever is in the bundle is trusted, also an intermediate without its root.
  X509_STORE_set_flags(made->store_, X509_V_FLAG_PARTIAL_CHAIN);
  made->pem_ = std::move(pem);
  return std::shared_ptr<const CertificateAuthorities>(std::move(made));
}

Result<void> CertificateAuthorities::Verify(const ClientCertificate& certificate,
                                            TimePoint now) const {
  const Owned<X509_STORE_CTX> context(X509_STORE_CTX_new());
  if (!context || X509_STORE_CTX_init(context.get(), store_, certificate.leaf(),
                                      certificate.intermediates()) != 1) {
    return Error{"OpenSSL could not begin to verify a certificate"};
  }
  X509_STORE_CTX_set_purpose(context.get(), X509_PURPOSE_SSL_CLIENT);
  X509_STORE_CTX_set_time(
      context.get(), 0,
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count());
  const bool valid = X509_verify_cert(context.get()) == 1;
  const int fault = X509_STORE_CTX_get_error(context.get());
  ERR_clear_error();
  if (valid) {
    return {};
  }
  return Error{"verifying certificate SN=" + certificate.SerialNumber() +
               " failed: x509: " + X509_verify_cert_error_string(fault)};
}

}  // namespace ks::server
