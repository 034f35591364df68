// SPDX-License-Identifier: Apache-2.0
#include "server/tls/x509.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <utility>

namespace ks::server {
namespace {

using Use = CertificateSpec::Use;

struct Deleter {
  void operator()(BIO* p) const { BIO_free(p); }
  void operator()(X509_EXTENSION* p) const { X509_EXTENSION_free(p); }
};
using Memory = std::unique_ptr<BIO, Deleter>;

bool AddExtension(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  std::unique_ptr<X509_EXTENSION, Deleter> extension(
      X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool AddName(X509_NAME* name, const char* field, const std::string& text) {
  return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(text.data()),
                                    static_cast<int>(text.size()), -1, 0) == 1;
}

bool SetSubject(X509_NAME* name, const CertificateSpec& spec) {
  for (const std::string& organization : spec.organizations) {
    if (!AddName(name, "O", organization)) {
      return false;
    }
  }
  return AddName(name, "CN", spec.common_name);
}

bool AddExtensions(X509* certificate, X509* issuer, const CertificateSpec& spec) {
  // Only RSA keys encipher keys: RFC 8813.
  const bool rsa = EVP_PKEY_get_base_id(X509_get0_pubkey(certificate)) == EVP_PKEY_RSA;
  const std::string key_usage =
      std::string("critical,digitalSignature") + (rsa ? ",keyEncipherment" : "");
  if (spec.use == Use::kAuthority) {
    return AddExtension(certificate, issuer, NID_basic_constraints, "critical,CA:TRUE") &&
           AddExtension(certificate, issuer, NID_key_usage, (key_usage + ",keyCertSign").c_str()) &&
           AddExtension(certificate, issuer, NID_subject_key_identifier, "hash");
  }
  return AddExtension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
         AddExtension(certificate, issuer, NID_key_usage, key_usage.c_str()) &&
         AddExtension(certificate, issuer, NID_ext_key_usage,
                      spec.use == Use::kServer ? "serverAuth" : "clientAuth") &&
         AddExtension(certificate, issuer, NID_authority_key_identifier, "keyid") &&
         (spec.alternative_names.empty() ||
          AddExtension(certificate, issuer, NID_subject_alt_name, spec.alternative_names.c_str()));
}

bool SetSerial(X509* certificate) {
  uint64_t serial = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial)) != 1) {
    return false;
  }
  return ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), (serial >> 1) | 1) == 1;
}

std::string Contents(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  return size > 0 ? std::string(data, static_cast<size_t>(size)) : std::string();
}

}  // namespace

Certificate IssueCertificate(const CertificateSpec& spec, EVP_PKEY* key, X509* issuer,
                             EVP_PKEY* issuer_key) {
  Certificate certificate(X509_new());
  X509* raw = certificate.get();
  const bool ok =
      raw != nullptr && X509_set_version(raw, 2) == 1 && SetSerial(raw) &&
      ASN1_TIME_set(X509_getm_notBefore(raw), spec.not_before_unix_s) != nullptr &&
      ASN1_TIME_set(X509_getm_notAfter(raw), spec.not_after_unix_s) != nullptr &&
      X509_set_pubkey(raw, key) == 1 && SetSubject(X509_get_subject_name(raw), spec) &&
      X509_set_issuer_name(raw, X509_get_subject_name(issuer != nullptr ? issuer : raw)) == 1 &&
      AddExtensions(raw, issuer != nullptr ? issuer : raw, spec) &&
      X509_sign(raw, issuer_key, EVP_sha256()) != 0;
  return ok ? std::move(certificate) : nullptr;
}

std::string PemOf(X509* certificate) {
  const Memory memory(BIO_new(BIO_s_mem()));
  return memory && PEM_write_bio_X509(memory.get(), certificate) == 1 ? Contents(memory.get()) : "";
}

std::string PemOf(EVP_PKEY* key) {
  const Memory memory(BIO_new(BIO_s_mem()));
  const bool written = memory && PEM_write_bio_PrivateKey_traditional(
                                     memory.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1;
  return written ? Contents(memory.get()) : "";
}

Certificate ReadCertificate(std::string_view pem) {
  const Memory memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Certificate(memory ? PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr) : nullptr);
}

Key ReadKey(std::string_view pem) {
  const Memory memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Key(memory ? PEM_read_bio_PrivateKey(memory.get(), nullptr, nullptr, nullptr) : nullptr);
}

}  // namespace ks::server
