// SPDX-License-Identifier: Apache-2.0
#include "apiserver/http/credentials.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <sstream>
#include <utility>

#include "golang/base64.h"
#include "server/tls/x509.h"

namespace ks::apiserver {
namespace {

using server::Certificate;
using server::CertificateSpec;
using server::Key;

constexpr int64_t kHourSeconds = 3600;
constexpr int64_t kTenYearsSeconds = 10 * 365 * 24 * kHourSeconds;
constexpr std::string_view kAuthenticated = "system:authenticated";

CertificateSpec SpecFor(CertificateSpec::Use use, const std::string& common_name,
                        int64_t now_unix_s) {
  return {.use = use,
          .common_name = common_name,
          .not_before_unix_s = now_unix_s - kHourSeconds,
          .not_after_unix_s = now_unix_s - kHourSeconds + kTenYearsSeconds};
}

Result<server::ServingCertificate> Issue(const CertificateAuthority& authority,
                                         const CertificateSpec& spec) {
  const Certificate issuer = server::ReadCertificate(authority.certificate_pem);
  const Key issuer_key = server::ReadKey(authority.key_pem);
  if (!issuer || !issuer_key) {
    return Error{"the authority's certificate or key is not PEM"};
  }
  if (X509_check_private_key(issuer.get(), issuer_key.get()) != 1) {
    return Error{"the authority's key does not belong to its certificate"};
  }
  const Key key(EVP_EC_gen("P-256"));
  const Certificate made =
      key ? server::IssueCertificate(spec, key.get(), issuer.get(), issuer_key.get()) : nullptr;
  if (!made) {
    return Error{"OpenSSL could not make the certificate of \"" + spec.common_name + "\""};
  }
  return server::ServingCertificate{.chain_pem = server::PemOf(made.get()),
                                    .key_pem = server::PemOf(key.get())};
}

bool IsAddress(const std::string& name) {
  return name.find(':') != std::string::npos ||
         name.find_first_not_of("0123456789.") == std::string::npos;
}

std::string NameText(X509_NAME* name, int index) {
  ASN1_STRING* value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index));
  unsigned char* utf8 = nullptr;
  const int size = ASN1_STRING_to_UTF8(&utf8, value);
  if (size < 0) {
    return "";
  }
  std::string text(reinterpret_cast<const char*>(utf8), static_cast<size_t>(size));
  OPENSSL_free(utf8);
  return text;
}

// As a YAML string in double quotes.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
    }
    quoted += c;
  }
  return quoted + '"';
}

// The fields of a line of comma-separated values; one may stand in double quotes.
std::vector<std::string> Fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

std::vector<std::string> GroupsOf(const std::string& list) {
  std::vector<std::string> groups;
  std::istringstream parts(list);
  for (std::string group; std::getline(parts, group, ',');) {
    if (!group.empty()) {
      groups.push_back(std::move(group));
    }
  }
  groups.emplace_back(kAuthenticated);
  return groups;
}

}  // namespace

Result<CertificateAuthority> MakeAuthority(const std::string& common_name, int64_t now_unix_s) {
  const Key key(EVP_EC_gen("P-256"));
  const CertificateSpec spec = SpecFor(CertificateSpec::Use::kAuthority, common_name, now_unix_s);
  const Certificate made =
      key ? server::IssueCertificate(spec, key.get(), nullptr, key.get()) : nullptr;
  if (!made) {
    return Error{"OpenSSL could not make the authority \"" + common_name + "\""};
  }
  return CertificateAuthority{.certificate_pem = server::PemOf(made.get()),
                              .key_pem = server::PemOf(key.get())};
}

Result<server::ServingCertificate> MakeServerCertificate(const CertificateAuthority& authority,
                                                         const std::vector<std::string>& more,
                                                         int64_t now_unix_s) {
  CertificateSpec spec = SpecFor(CertificateSpec::Use::kServer, "kube-apiserver", now_unix_s);
  spec.alternative_names =
      "DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,"
      "IP:127.0.0.1,IP:::1";
  for (const std::string& name : more) {
    spec.alternative_names += (IsAddress(name) ? ",IP:" : ",DNS:") + name;
  }
  return Issue(authority, spec);
}

Result<server::ServingCertificate> MakeClientCertificate(const CertificateAuthority& authority,
                                                         const UserInfo& user, int64_t now_unix_s) {
  CertificateSpec spec = SpecFor(CertificateSpec::Use::kClient, user.name, now_unix_s);
  spec.organizations = user.groups;
  return Issue(authority, spec);
}

std::optional<UserInfo> UserOfCertificate(x509_st* certificate) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  UserInfo user{.name = "", .groups = {}};
  int index = -1;
  while ((index = X509_NAME_get_index_by_NID(subject, NID_organizationName, index)) >= 0) {
    user.groups.push_back(NameText(subject, index));
  }
  user.groups.emplace_back(kAuthenticated);
  index = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  user.name = index < 0 ? "" : NameText(subject, index);
  if (user.name.empty()) {
    return std::nullopt;
  }
  return user;
}

Result<std::map<std::string, UserInfo>> ParseTokens(std::string_view text) {
  std::map<std::string, UserInfo> tokens;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line[0] == '#') {
      continue;
    }
    const std::vector<std::string> fields = Fields(line);
    const std::string place = "line " + std::to_string(number) + ": ";
    if (fields.size() < 3 || fields.size() > 4 || fields[0].empty() || fields[1].empty()) {
      return Error{place + "expected token,user,uid or token,user,uid,\"group1,group2\""};
    }
    UserInfo user{.name = fields[1], .groups = GroupsOf(fields.size() > 3 ? fields[3] : "")};
    if (!tokens.emplace(fields[0], std::move(user)).second) {
      return Error{place + "the token stands on an earlier line too"};
    }
  }
  return tokens;
}

Result<std::string> MakeToken() {
  unsigned char bytes[16];
  if (RAND_bytes(bytes, sizeof(bytes)) != 1) {
    return Error{"OpenSSL has no random numbers"};
  }
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string token;
  for (const unsigned char byte : bytes) {
    token += kDigits[byte >> 4];
    token += kDigits[byte & 15];
  }
  return token;
}

std::string KubeconfigText(const std::string& user, const ClientAccess& access) {
  std::string text =
      "apiVersion: v1\n"
      "kind: Config\n"
      "clusters:\n"
      "- name: kubesched\n"
      "  cluster:\n"
      "    server: " +
      access.server_url +
      "\n    certificate-authority-data: " + golang::EncodeBase64(access.ca_pem) +
      "\nusers:\n- name: " + Quoted(user) + "\n  user:\n";
  if (access.token.empty()) {
    text += "    client-certificate-data: " + golang::EncodeBase64(access.certificate_pem) +
            "\n    client-key-data: " + golang::EncodeBase64(access.key_pem) + "\n";
  } else {
    text += "    token: " + Quoted(access.token) + "\n";
  }
  text +=
      "contexts:\n"
      "- name: kubesched\n"
      "  context:\n"
      "    cluster: kubesched\n"
      "    user: " +
      Quoted(user) + "\ncurrent-context: kubesched\n";
  return text;
}

}  // namespace ks::apiserver
