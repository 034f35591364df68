// SPDX-License-Identifier: Apache-2.0
#pragma once
// The serving certificate: from two files, or made in memory. Not for client certificates, and
// files are read once (reloading on change is not done yet).
//
// Upstream: docs/spec/operations.md section 3.1.

#include <cstdint>
#include <string>

#include "base/result.h"

namespace ks::server {

struct ServingCertificate {
  std::string chain_pem;  // leaf first
  std::string key_pem;
};

enum class KeyKind : uint8_t {
  kP256,     // made in less than a millisecond
  kRsa2048,  // two of them take a third of a second of CPU
};

// A new pair: leaf and its own CA, names localhost, 127.0.0.1 and `bind_address` when that is a
// specific IP; valid from one hour before `now_unix_s` for 365 days.
Result<ServingCertificate> MakeSelfSignedCertificate(const std::string& bind_address,
                                                     int64_t now_unix_s,
                                                     KeyKind kind = KeyKind::kP256);

// Reads both files. Errors carry upstream's texts: `open F: no such file or directory`, `missing
// filename for serving cert` when only one is given. Whether the two fit is seen when the server is
// made.
Result<ServingCertificate> LoadServingCertificate(const std::string& cert_file,
                                                  const std::string& key_file);

// The pair `folder`/kube-scheduler.crt and .key if both can be read (whatever their dates), else a
// new one of RSA keys that is written there; the folder is made when it is missing. `made` tells
// which. Errors: `error creating self-signed certificates: …`.
Result<ServingCertificate> LoadOrMakeCertificate(const std::string& folder,
                                                 const std::string& bind_address,
                                                 int64_t now_unix_s, bool* made);

}  // namespace ks::server
