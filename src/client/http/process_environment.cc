// SPDX-License-Identifier: Apache-2.0
#include "client/http/process_environment.h"

#include <openssl/x509.h>
#include <unistd.h>

#include <cstdlib>

namespace ks::client {
namespace {

constexpr const char* kFileVariable = "SSL_CERT_FILE";
constexpr const char* kDirVariable = "SSL_CERT_DIR";

std::optional<std::string> Variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

}  // namespace

std::string SystemRoots::File() const {
  if (file_variable.has_value()) return *file_variable;
  for (const char* path :
       {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"}) {
    if (access(path, R_OK) == 0) return path;
  }
  return X509_get_default_cert_file();
}

std::string SystemRoots::Dir() const { return dir_variable.value_or(X509_get_default_cert_dir()); }

const SystemRoots& OriginalRoots() {
  static const SystemRoots roots{Variable(kFileVariable), Variable(kDirVariable)};
  return roots;
}

void HideSystemRoots() {
  OriginalRoots();
  setenv(kFileVariable, "/dev/null", 1);
  setenv(kDirVariable, "/dev/null/none", 1);
}

}  // namespace ks::client
