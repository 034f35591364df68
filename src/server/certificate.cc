// SPDX-License-Identifier: Apache-2.0
#include "server/certificate.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>
#include <system_error>

namespace ks::server {
namespace {

constexpr int kKeyBits = 2048;
constexpr int64_t kHourSeconds = 3600;
constexpr int64_t kYearSeconds = 365 * 24 * kHourSeconds;

struct Deleter {
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  void operator()(X509* p) const { X509_free(p); }
  void operator()(X509_EXTENSION* p) const { X509_EXTENSION_free(p); }
  void operator()(BIO* p) const { BIO_free(p); }
};
using Key = std::unique_ptr<EVP_PKEY, Deleter>;
using Certificate = std::unique_ptr<X509, Deleter>;
using Memory = std::unique_ptr<BIO, Deleter>;

struct CertificateNames {
  std::string subject;
  std::string issuer;
  std::string alternative;  // in OpenSSL's syntax: "DNS:localhost,IP:127.0.0.1"; empty: a CA
};

bool AddExtension(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  std::unique_ptr<X509_EXTENSION, Deleter> extension(
      X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool SetCommonName(X509_NAME* name, const std::string& text) {
  return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(text.data()),
                                    static_cast<int>(text.size()), -1, 0) == 1;
}

bool AddExtensions(X509* certificate, X509* issuer, const std::string& alternative) {
  if (alternative.empty()) {
    return AddExtension(certificate, issuer, NID_basic_constraints, "critical,CA:TRUE") &&
           AddExtension(certificate, issuer, NID_key_usage,
                        "critical,digitalSignature,keyEncipherment,keyCertSign") &&
           AddExtension(certificate, issuer, NID_subject_key_identifier, "hash");
  }
  return AddExtension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
         AddExtension(certificate, issuer, NID_key_usage,
                      "critical,digitalSignature,keyEncipherment") &&
         AddExtension(certificate, issuer, NID_ext_key_usage, "serverAuth") &&
         AddExtension(certificate, issuer, NID_authority_key_identifier, "keyid") &&
         AddExtension(certificate, issuer, NID_subject_alt_name, alternative.c_str());
}

// `issuer` null: signs itself.
Certificate MakeCertificate(const CertificateNames& names, EVP_PKEY* key, X509* issuer,
                            EVP_PKEY* issuer_key, int64_t now_unix_s) {
  Certificate certificate(X509_new());
  X509* raw = certificate.get();
  const bool ok =
      raw != nullptr && X509_set_version(raw, 2) == 1 &&
      ASN1_INTEGER_set_int64(X509_get_serialNumber(raw), now_unix_s * 2 + (issuer ? 1 : 0)) == 1 &&
      ASN1_TIME_set(X509_getm_notBefore(raw), now_unix_s - kHourSeconds) != nullptr &&
      ASN1_TIME_set(X509_getm_notAfter(raw), now_unix_s - kHourSeconds + kYearSeconds) != nullptr &&
      X509_set_pubkey(raw, key) == 1 && SetCommonName(X509_get_subject_name(raw), names.subject) &&
      SetCommonName(X509_get_issuer_name(raw), names.issuer) &&
      AddExtensions(raw, issuer ? issuer : raw, names.alternative) &&
      X509_sign(raw, issuer_key, EVP_sha256()) != 0;
  return ok ? std::move(certificate) : nullptr;
}

std::string Contents(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  return size > 0 ? std::string(data, static_cast<size_t>(size)) : std::string();
}

std::string AlternativeNames(const std::string& bind_address) {
  std::string names = "DNS:localhost,IP:127.0.0.1";
  const bool any = bind_address.empty() || bind_address == "0.0.0.0" || bind_address == "::";
  if (!any && bind_address != "127.0.0.1") {
    names += ",IP:" + bind_address;
  }
  return names;
}

// As Go words them.
std::string ErrorText(int error) {
  std::string text = std::generic_category().message(error);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') {
    text[0] = static_cast<char>(text[0] | 0x20);
  }
  return text;
}

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Error{"open " + path + ": " + ErrorText(errno)};
  }
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Created or truncated with exactly these permissions.
Result<void> WriteFile(const std::string& path, const std::string& text, mode_t mode) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (file < 0) {
    return Error{"open " + path + ": " + ErrorText(errno)};
  }
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int failure = errno;
  ::close(file);
  if (!written) {
    return Error{"write " + path + ": " + ErrorText(failure)};
  }
  return {};
}

}  // namespace

Result<ServingCertificate> MakeSelfSignedCertificate(const std::string& bind_address,
                                                     int64_t now_unix_s) {
  const Error failure{"error creating self-signed certificates: OpenSSL could not make the pair"};
  const std::string stamp = std::to_string(now_unix_s);
  const Key ca_key(EVP_RSA_gen(kKeyBits));
  const Key key(EVP_RSA_gen(kKeyBits));
  if (!ca_key || !key) {
    return failure;
  }
  const std::string ca_name = "localhost-ca@" + stamp;
  const Certificate ca = MakeCertificate({.subject = ca_name, .issuer = ca_name, .alternative = ""},
                                         ca_key.get(), nullptr, ca_key.get(), now_unix_s);
  if (!ca) {
    return failure;
  }
  const Certificate leaf = MakeCertificate({.subject = "localhost@" + stamp,
                                            .issuer = ca_name,
                                            .alternative = AlternativeNames(bind_address)},
                                           key.get(), ca.get(), ca_key.get(), now_unix_s);
  const Memory chain(BIO_new(BIO_s_mem()));
  const Memory key_text(BIO_new(BIO_s_mem()));
  if (!leaf || !chain || !key_text || PEM_write_bio_X509(chain.get(), leaf.get()) != 1 ||
      PEM_write_bio_X509(chain.get(), ca.get()) != 1 ||
      PEM_write_bio_PrivateKey_traditional(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                           nullptr) != 1) {
    return failure;
  }
  return ServingCertificate{.chain_pem = Contents(chain.get()),
                            .key_pem = Contents(key_text.get())};
}

Result<ServingCertificate> LoadServingCertificate(const std::string& cert_file,
                                                  const std::string& key_file) {
  if (cert_file.empty() || key_file.empty()) {
    return Error{"missing filename for serving cert"};
  }
  Result<std::string> chain = ReadFile(cert_file);
  if (!chain.ok()) {
    return chain.error();
  }
  Result<std::string> key = ReadFile(key_file);
  if (!key.ok()) {
    return key.error();
  }
  return ServingCertificate{.chain_pem = std::move(chain).value(),
                            .key_pem = std::move(key).value()};
}

Result<ServingCertificate> LoadOrMakeCertificate(const std::string& folder,
                                                 const std::string& bind_address,
                                                 int64_t now_unix_s, bool* made) {
  const std::string start = folder + (folder.ends_with('/') ? "" : "/") + "kube-scheduler.";
  *made = false;
  Result<ServingCertificate> kept = LoadServingCertificate(start + "crt", start + "key");
  if (kept.ok()) {
    return kept;
  }
  const std::string failure = "error creating self-signed certificates: ";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return Error{failure + "mkdir " + folder + ": " + ErrorText(error.value())};
  }
  Result<ServingCertificate> pair = MakeSelfSignedCertificate(bind_address, now_unix_s);
  if (!pair.ok()) {
    return pair;
  }
  Result<void> written = WriteFile(start + "crt", pair.value().chain_pem, 0644);
  if (written.ok()) {
    written = WriteFile(start + "key", pair.value().key_pem, 0600);
  }
  if (!written.ok()) {
    return Error{failure + written.error().message};
  }
  *made = true;
  return pair;
}

}  // namespace ks::server
