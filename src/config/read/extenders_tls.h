// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether PEM texts can serve as TLS material of an extender.
//
// Upstream: docs/spec/config.md section 6.

#include <string>

#include "base/result.h"

namespace ks::config {

// At least one certificate.
Result<void> CheckAuthorities(const std::string& pem);

// A certificate with its private key.
Result<void> CheckKeyPair(const std::string& certificate_pem, const std::string& key_pem);

}  // namespace ks::config
