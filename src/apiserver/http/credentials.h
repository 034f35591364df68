// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cluster's own CA, server and client certificates, bearer tokens, and the kubeconfigs that carry
// them.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/store/types.h"
#include "base/result.h"
#include "server/tls/certificate.h"

struct x509_st;

namespace ks::apiserver {

struct CertificateAuthority {
  std::string certificate_pem{};
  std::string key_pem{};
};

// EC P-256 keys: made in a millisecond. Valid from one hour before `now_unix_s` for ten years.
Result<CertificateAuthority> MakeAuthority(const std::string& common_name, int64_t now_unix_s);
// Names: localhost, kubernetes, kubernetes.default, kubernetes.default.svc, 127.0.0.1, ::1 and
// `more` (names or IPs).
Result<server::ServingCertificate> MakeServerCertificate(const CertificateAuthority& authority,
                                                         const std::vector<std::string>& more,
                                                         int64_t now_unix_s);
// Common name = user, organizations = groups.
Result<server::ServingCertificate> MakeClientCertificate(const CertificateAuthority& authority,
                                                         const UserInfo& user, int64_t now_unix_s);

// Whom a client's certificate speaks for: common name and organizations, plus
// system:authenticated. Absent: it has no common name.
std::optional<UserInfo> UserOfCertificate(x509_st* certificate);

// Bearer tokens as kube-apiserver's --token-auth-file has them, one a line:
// `token,user,uid,"group1,group2"`; groups may be missing; empty lines and # comments are skipped.
// Every user gets system:authenticated besides. Errors name the line.
Result<std::map<std::string, UserInfo>> ParseTokens(std::string_view text);
// 32 random characters. Error: OpenSSL has no randomness.
Result<std::string> MakeToken();

// What a client needs: admin (system:masters) or any other user.
struct ClientAccess {
  std::string server_url{};  // "https://127.0.0.1:34567"
  std::string ca_pem{};
  std::string certificate_pem{};  // either the pair …
  std::string key_pem{};
  std::string token{};  // … or this
};
// YAML, everything inline (…-data).
std::string KubeconfigText(const std::string& user, const ClientAccess& access);

}  // namespace ks::apiserver
