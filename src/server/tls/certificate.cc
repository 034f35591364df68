// SPDX-License-Identifier: Apache-2.0
#include "server/tls/certificate.h"

#include <fcntl.h>
#include <openssl/ec.h>
#include <openssl/rsa.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/file_text.h"
#include "server/tls/x509.h"

namespace ks::server {
namespace {

constexpr int64_t kHourSeconds = 3600;
constexpr int64_t kYearSeconds = 365 * 24 * kHourSeconds;

Key NewKey(KeyKind kind) {
  return Key(kind == KeyKind::kP256 ? EVP_EC_gen("P-256") : EVP_RSA_gen(2048));
}

std::string AlternativeNames(const std::string& bind_address) {
  std::string names = "DNS:localhost,IP:127.0.0.1";
  const bool any = bind_address.empty() || bind_address == "0.0.0.0" || bind_address == "::";
  if (!any && bind_address != "127.0.0.1") {
    names += ",IP:" + bind_address;
  }
  return names;
}

// Created or truncated with exactly these permissions.
Result<void> WriteFile(const std::string& path, const std::string& text, mode_t mode) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (file < 0) {
    return Error{"open " + path + ": " + SystemErrorText(errno)};
  }
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int failure = errno;
  ::close(file);
  if (!written) {
    return Error{"write " + path + ": " + SystemErrorText(failure)};
  }
  return {};
}

}  // namespace

Result<ServingCertificate> MakeSelfSignedCertificate(const std::string& bind_address,
                                                     int64_t now_unix_s, KeyKind kind) {
  const Error failure{"error creating self-signed certificates: OpenSSL could not make the pair"};
  const std::string stamp = std::to_string(now_unix_s);
  const Key ca_key = NewKey(kind);
  const Key key = NewKey(kind);
  if (!ca_key || !key) {
    return failure;
  }
  CertificateSpec spec{.use = CertificateSpec::Use::kAuthority,
                       .common_name = "localhost-ca@" + stamp,
                       .not_before_unix_s = now_unix_s - kHourSeconds,
                       .not_after_unix_s = now_unix_s - kHourSeconds + kYearSeconds};
  const Certificate ca = IssueCertificate(spec, ca_key.get(), nullptr, ca_key.get());
  if (!ca) {
    return failure;
  }
  spec.use = CertificateSpec::Use::kServer;
  spec.common_name = "localhost@" + stamp;
  spec.alternative_names = AlternativeNames(bind_address);
  const Certificate leaf = IssueCertificate(spec, key.get(), ca.get(), ca_key.get());
  if (!leaf) {
    return failure;
  }
  ServingCertificate pair{.chain_pem = PemOf(leaf.get()) + PemOf(ca.get()),
                          .key_pem = PemOf(key.get())};
  if (pair.chain_pem.empty() || pair.key_pem.empty()) {
    return failure;
  }
  return pair;
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
    return Error{failure + "mkdir " + folder + ": " + SystemErrorText(error.value())};
  }
  Result<ServingCertificate> pair =
      MakeSelfSignedCertificate(bind_address, now_unix_s, KeyKind::kRsa2048);
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
