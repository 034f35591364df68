// SPDX-License-Identifier: Apache-2.0
#pragma once
// Protocol settings of the server's TLS, from upstream's flags to OpenSSL's terms.
//
// Upstream: docs/spec/config.md sections 8.1 and 8.5, docs/spec/operations.md section 3.2.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace ks::server {

// The default is upstream's: TLS 1.2, forward secrecy only.
struct TlsSettings {
  int min_version = 0x0303;  // on the wire: 0x0301 TLS 1.0 … 0x0304 TLS 1.3
  std::string ciphers;       // OpenSSL's list for TLS 1.2 and older; empty: the default
  std::string groups;        // OpenSSL's list of key exchange groups; empty: OpenSSL's own
};

// What the flags --tls-cipher-suites (IANA names), --tls-curve-preferences (TLS group numbers) and
// --tls-min-version ask for; empty ones keep the default. Errors: upstream's texts, and one for
// what OpenSSL does not have. `warnings` gets one line per insecure suite and per group left out.
Result<TlsSettings> MakeTlsSettings(const std::vector<std::string>& cipher_suites,
                                    const std::vector<int32_t>& curves,
                                    const std::string& min_version,
                                    std::vector<std::string>* warnings);

}  // namespace ks::server
