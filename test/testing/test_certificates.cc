// SPDX-License-Identifier: Apache-2.0
#include "testing/test_certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <memory>

#include "base/check.h"

namespace ks::testing {
namespace {

struct Free {
  void operator()(X509* p) const { X509_free(p); }
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  void operator()(BIO* p) const { BIO_free(p); }
};
using CertPtr = std::unique_ptr<X509, Free>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Free>;
using BioPtr = std::unique_ptr<BIO, Free>;

std::string Drain(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(size));
}

std::string PemOf(X509* cert) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), cert);
  return Drain(bio.get());
}

std::string PemOf(EVP_PKEY* key) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return Drain(bio.get());
}

CertPtr ReadCert(const std::string& pem) {
  const BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return CertPtr(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}

KeyPtr ReadKey(const std::string& pem) {
  const BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return KeyPtr(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
}

void AddExtension(X509* cert, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, cert, cert, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
  KS_CHECK(extension != nullptr, value);
  X509_add_ext(cert, extension, -1);
  X509_EXTENSION_free(extension);
}

// Without an issuer: self-signed authority.
TestIdentity Make(const std::string& common_name, const std::string& names,
                  const TestIdentity* issuer) {
  static std::atomic<long> serial{1};
  constexpr long kDay = 24 * 3600;
  const KeyPtr key(EVP_EC_gen("P-256"));
  const CertPtr cert(X509_new());
  X509_set_version(cert.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(cert.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(cert.get()), -kDay);
  X509_gmtime_adj(X509_getm_notAfter(cert.get()), kDay);
  X509_set_pubkey(cert.get(), key.get());
  X509_NAME* subject = X509_get_subject_name(cert.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                             0);
  if (issuer == nullptr) {
    X509_set_issuer_name(cert.get(), subject);
    AddExtension(cert.get(), NID_basic_constraints, "critical,CA:TRUE");
    X509_sign(cert.get(), key.get(), EVP_sha256());
  } else {
    const CertPtr parent = ReadCert(issuer->cert_pem);
    const KeyPtr parent_key = ReadKey(issuer->key_pem);
    X509_set_issuer_name(cert.get(), X509_get_subject_name(parent.get()));
    if (!names.empty()) AddExtension(cert.get(), NID_subject_alt_name, names);
    X509_sign(cert.get(), parent_key.get(), EVP_sha256());
  }
  return {PemOf(cert.get()), PemOf(key.get())};
}

}  // namespace

TestAuthority::TestAuthority(const std::string& name) : own_(Make(name, "", nullptr)) {}

TestIdentity TestAuthority::Issue(const std::string& common_name, const std::string& names) const {
  return Make(common_name, names, &own_);
}

}  // namespace ks::testing
