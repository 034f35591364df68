// SPDX-License-Identifier: Apache-2.0
#include "server/tls/tls_settings.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace ks::server {
namespace {

enum class Suite : uint8_t { kTls13, kFine, kInsecure, kBroken };

struct KnownSuite {
  std::string_view name;
  std::string_view openssl;
  Suite kind;
};

// kTls13: always on, whatever the list says. kBroken: not in OpenSSL as Debian builds it.
constexpr KnownSuite kSuites[] = {
    {"TLS_AES_128_GCM_SHA256", "", Suite::kTls13},
    {"TLS_AES_256_GCM_SHA384", "", Suite::kTls13},
    {"TLS_CHACHA20_POLY1305_SHA256", "", Suite::kTls13},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA-AES128-SHA", Suite::kFine},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256", Suite::kFine},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA-AES256-SHA", Suite::kFine},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384", Suite::kFine},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", "ECDHE-ECDSA-CHACHA20-POLY1305", Suite::kFine},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305",
     Suite::kFine},
    {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA", Suite::kFine},
    {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256", Suite::kFine},
    {"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA", Suite::kFine},
    {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384", Suite::kFine},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "ECDHE-RSA-CHACHA20-POLY1305", Suite::kFine},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305", Suite::kFine},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", "ECDHE-ECDSA-AES128-SHA256", Suite::kInsecure},
    {"TLS_ECDHE_ECDSA_WITH_RC4_128_SHA", "", Suite::kBroken},
    {"TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA", "", Suite::kBroken},
    {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", "ECDHE-RSA-AES128-SHA256", Suite::kInsecure},
    {"TLS_ECDHE_RSA_WITH_RC4_128_SHA", "", Suite::kBroken},
    {"TLS_RSA_WITH_3DES_EDE_CBC_SHA", "", Suite::kBroken},
    {"TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA", Suite::kInsecure},
    {"TLS_RSA_WITH_AES_128_CBC_SHA256", "AES128-SHA256", Suite::kInsecure},
    {"TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256", Suite::kInsecure},
    {"TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA", Suite::kInsecure},
    {"TLS_RSA_WITH_AES_256_GCM_SHA384", "AES256-GCM-SHA384", Suite::kInsecure},
    {"TLS_RSA_WITH_RC4_128_SHA", "", Suite::kBroken},
};

struct KnownGroup {
  int32_t number;
  std::string_view openssl;  // empty: upstream has it, OpenSSL 3.0 does not
};
constexpr KnownGroup kGroups[] = {
    {23, "P-256"}, {24, "P-384"}, {25, "P-521"}, {29, "X25519"}, {4587, ""}, {4588, ""}, {4589, ""},
};

struct KnownVersion {
  std::string_view name;
  int number;
};
constexpr KnownVersion kVersions[] = {{"VersionTLS10", 0x0301},
                                      {"VersionTLS11", 0x0302},
                                      {"VersionTLS12", 0x0303},
                                      {"VersionTLS13", 0x0304}};
constexpr int kTls12 = 0x0303;
constexpr int kTls13 = 0x0304;

Result<void> AddSuites(const std::vector<std::string>& names, TlsSettings* settings,
                       std::vector<std::string>* warnings) {
  for (const std::string& name : names) {
    const auto* const known =
        std::find_if(std::begin(kSuites), std::end(kSuites),
                     [&name](const KnownSuite& suite) { return suite.name == name; });
    if (known == std::end(kSuites)) {
      return Error{"Cipher suite " + name + " not supported or doesn't exist"};
    }
    if (known->kind == Suite::kBroken) {
      return Error{"Cipher suite " + name +
                   " is broken and not supported by kubesched; remove it from "
                   "--tls-cipher-suites"};
    }
    if (known->kind == Suite::kInsecure) {
      warnings->push_back("Use of insecure cipher '" + name + "' detected.");
    }
    if (known->openssl.empty()) continue;
    settings->ciphers += (settings->ciphers.empty() ? "" : ":") + std::string(known->openssl);
  }
  // A list without a suite for it leaves no TLS 1.2.
  if (!names.empty() && settings->ciphers.empty()) settings->min_version = kTls13;
  return {};
}

Result<void> AddGroups(const std::vector<int32_t>& numbers, TlsSettings* settings,
                       std::vector<std::string>* warnings) {
  std::set<int32_t> seen;
  for (const int32_t number : numbers) {
    const std::string start = "curve preference " + std::to_string(number);
    if (number < 1 || number > 65535) return Error{start + " is out of range (must be 1-65535)"};
    const auto* const known =
        std::find_if(std::begin(kGroups), std::end(kGroups),
                     [number](const KnownGroup& group) { return group.number == number; });
    if (known == std::end(kGroups)) {
      return Error{start + " is not supported by the current Go version"};
    }
    if (!seen.insert(number).second) return Error{"duplicate " + start};
    if (known->openssl.empty()) {
      warnings->push_back(start + " is left out: this OpenSSL does not have it");
      continue;
    }
    settings->groups += (settings->groups.empty() ? "" : ":") + std::string(known->openssl);
  }
  if (!numbers.empty() && settings->groups.empty()) {
    return Error{
        "--tls-curve-preferences names no group that this OpenSSL has; add 29 (X25519) or 23 "
        "(P-256)"};
  }
  return {};
}

}  // namespace

Result<TlsSettings> MakeTlsSettings(const std::vector<std::string>& cipher_suites,
                                    const std::vector<int32_t>& curves,
                                    const std::string& min_version,
                                    std::vector<std::string>* warnings) {
  TlsSettings settings;
  if (Result<void> added = AddSuites(cipher_suites, &settings, warnings); !added.ok()) {
    return added.error();
  }
  if (Result<void> added = AddGroups(curves, &settings, warnings); !added.ok()) {
    return added.error();
  }
  if (min_version.empty()) return settings;
  const auto* const known =
      std::find_if(std::begin(kVersions), std::end(kVersions),
                   [&](const KnownVersion& version) { return version.name == min_version; });
  if (known == std::end(kVersions)) return Error{"unknown tls version \"" + min_version + "\""};
  const bool only_tls13 = settings.min_version == kTls13 && known->number <= kTls12;
  if (!only_tls13) settings.min_version = known->number;
  return settings;
}

}  // namespace ks::server
