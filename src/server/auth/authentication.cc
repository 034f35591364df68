// SPDX-License-Identifier: Apache-2.0
#include "server/auth/authentication.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace ks::server {
namespace {

constexpr size_t kCacheEntries = 4096;
constexpr size_t kOpenReviews = 1000;
constexpr std::string_view kSubprotocol = "base64url.bearer.authorization.k8s.io.";

std::string RandomKey() {
  std::array<unsigned char, 32> key{};
  RAND_bytes(key.data(), key.size());
  return {reinterpret_cast<const char*>(key.data()), key.size()};
}

std::string Digest(const std::string& key, const std::string& token) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data(), &size);
  return {reinterpret_cast<const char*>(digest.data()), size};
}

// Whether a comma separated header field has this word.
bool HasWord(std::string_view field, std::string_view word) {
  while (!field.empty()) {
    const size_t comma = field.find(',');
    if (LowerCase(Trimmed(field.substr(0, comma))) == word) return true;
    field = comma == std::string_view::npos ? std::string_view() : field.substr(comma + 1);
  }
  return false;
}

// Empty: not base64url without padding.
std::string FromBase64Url(std::string_view text) {
  std::string result;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    int value = -1;
    if (c >= 'A' && c <= 'Z') value = c - 'A';
    if (c >= 'a' && c <= 'z') value = c - 'a' + 26;
    if (c >= '0' && c <= '9') value = c - '0' + 52;
    if (c == '-') value = 62;
    if (c == '_') value = 63;
    if (value < 0) return "";
    bits = (bits << 6) | static_cast<uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      result += static_cast<char>(bits >> count);
    }
  }
  return result;
}

std::string SubprotocolToken(const HeaderFields& headers) {
  if (!HasWord(headers.Get("Connection"), "upgrade") ||
      LowerCase(headers.Get("Upgrade")) != "websocket") {
    return "";
  }
  for (std::string_view field : headers.All("Sec-WebSocket-Protocol")) {
    while (!field.empty()) {
      const size_t comma = field.find(',');
      const std::string_view word = Trimmed(field.substr(0, comma));
      if (word.starts_with(kSubprotocol)) return FromBase64Url(word.substr(kSubprotocol.size()));
      field = comma == std::string_view::npos ? std::string_view() : field.substr(comma + 1);
    }
  }
  return "";
}

std::string PathUnescaped(const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '%' && i + 2 < text.size() && std::isxdigit(text[i + 1]) != 0 &&
        std::isxdigit(text[i + 2]) != 0) {
      value = static_cast<unsigned>(std::stoul(text.substr(i + 1, 2), nullptr, 16));
      result += static_cast<char>(value);
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string FirstValue(const HeaderFields& headers, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (const std::string_view value = headers.Get(name); !value.empty()) return std::string(value);
  }
  return "";
}

// Absent without the header of the user's name.
std::optional<Identity> ProxiedUser(const HeaderFields& headers, const FrontProxyTrust& trust) {
  Identity user{.user = FirstValue(headers, trust.username_headers),
                .uid = FirstValue(headers, trust.uid_headers)};
  if (user.user.empty()) return std::nullopt;
  for (const std::string& name : trust.group_headers) {
    for (const std::string_view group : headers.All(name)) user.groups.emplace_back(group);
  }
  for (const auto& [name, value] : headers.fields()) {
    const std::string lower = LowerCase(name);
    for (const std::string& given : trust.extra_header_prefixes) {
      const std::string prefix = LowerCase(given);
      if (!lower.starts_with(prefix)) continue;
      user.extra[PathUnescaped(lower.substr(prefix.size()))].push_back(value);
    }
  }
  return user;
}

Identity CertificateUser(const ClientCertificate& certificate) {
  Identity user{.user = certificate.CommonName(),
                .groups = certificate.Organizations(),
                .uid = certificate.Uid()};
  return user;
}

Identity Authenticated(Identity user) {
  const auto has = [&user](std::string_view group) {
    return std::find(user.groups.begin(), user.groups.end(), group) != user.groups.end();
  };
  if (!has("system:authenticated") && !has("system:unauthenticated")) {
    user.groups.emplace_back("system:authenticated");
  }
  return user;
}

void AddError(std::string* errors, const std::string& error) {
  *errors += (errors->empty() ? "" : ", ") + error;
}

// By what the connection itself shows. Absent: nobody so far; `errors` gets what was bad.
std::optional<Identity> ByCertificate(const Request& request, const TrustRoots& roots,
                                      TimePoint now, RequestMetrics& metrics, std::string* errors) {
  if (!request.certificate) return std::nullopt;
  const ClientCertificate& certificate = *request.certificate;
  if (roots.front_proxy) {
    const FrontProxyTrust& trust = *roots.front_proxy;
    const Result<void> verified = trust.authorities->Verify(certificate, now);
    const std::string name = certificate.CommonName();
    if (!verified.ok()) {
      AddError(errors, verified.error().message);
    } else if (!trust.allowed_names.empty() &&
               std::find(trust.allowed_names.begin(), trust.allowed_names.end(), name) ==
                   trust.allowed_names.end()) {
      AddError(errors, "x509: subject with cn=" + name + " is not in the allowed list");
    } else if (auto user = ProxiedUser(request.headers, trust)) {
      return user;
    }
  }
  if (!roots.clients) return std::nullopt;
  metrics.CertificateShown(certificate.NotAfter() - now);
  if (const Result<void> verified = roots.clients->Verify(certificate, now); !verified.ok()) {
    AddError(errors, verified.error().message);
    return std::nullopt;
  }
  Identity user = CertificateUser(certificate);
  if (user.user.empty()) return std::nullopt;
  return user;
}

}  // namespace

CachedTokenReviewer::CachedTokenReviewer(TokenReviewer& reviewer, const Clock& clock, Duration life,
                                         RequestMetrics& metrics)
    : reviewer_(reviewer),
      clock_(clock),
      life_(life),
      metrics_(metrics),
      digest_key_(RandomKey()),
      cache_(clock, kCacheEntries) {}

void CachedTokenReviewer::Review(const std::string& token, Done done) {
  const TimePoint begin = clock_.Now();
  const std::string digest = Digest(digest_key_, token);
  if (std::optional<TokenVerdict> known = cache_.Get(digest)) {
    metrics_.TokenAsked("hit", clock_.Now() - begin);
    done(*std::move(known));
    return;
  }
  const Done measured = [this, begin, done = std::move(done)](TokenVerdict verdict) {
    metrics_.TokenFetches("blocked", -1);
    metrics_.TokenAsked("miss", clock_.Now() - begin);
    done(std::move(verdict));
  };
  metrics_.TokenFetches("blocked", 1);
  bool crowded = false;
  {
    const MutexLock lock(mutex_);
    crowded = waiting_.size() >= kOpenReviews && !waiting_.contains(digest);
    if (!crowded) {
      std::vector<Done>& waiting = waiting_[digest];
      waiting.push_back(measured);
      if (waiting.size() > 1) return;
    }
  }
  if (crowded) {
    measured({.kind = TokenVerdict::Kind::kFailed, .error = "too many token reviews under way"});
    return;
  }
  metrics_.TokenFetches("in_flight", 1);
  reviewer_.Review(token,
                   [this, digest](const TokenVerdict& verdict) { OnVerdict(digest, verdict); });
}

void CachedTokenReviewer::OnVerdict(const std::string& digest, const TokenVerdict& verdict) {
  metrics_.TokenFetches("in_flight", -1);
  const bool failed = verdict.kind == TokenVerdict::Kind::kFailed;
  metrics_.TokenFetched(failed ? "error" : "ok");
  if (!failed) cache_.Put(digest, verdict, life_);
  std::vector<Done> waiting;
  {
    const MutexLock lock(mutex_);
    waiting = std::move(waiting_[digest]);
    waiting_.erase(digest);
  }
  for (const Done& done : waiting) done(verdict);
}

std::string BearerToken(const HeaderFields& headers) {
  const std::string_view field = Trimmed(headers.Get("Authorization"));
  const size_t space = field.find(' ');
  if (space != std::string_view::npos && LowerCase(field.substr(0, space)) == "bearer") {
    const std::string_view rest = field.substr(space + 1);
    if (const std::string_view token = rest.substr(0, rest.find(' ')); !token.empty()) {
      return std::string(token);
    }
  }
  return SubprotocolToken(headers);
}

void Authenticator::Authenticate(const Request& request,
                                 std::function<void(Authentication)> done) const {
  const TimePoint begin = clock_.Now();
  std::string errors;
  if (auto user = ByCertificate(request, *roots_.Get(), clock_.WallNow(), metrics_, &errors)) {
    Identity known = Authenticated(*std::move(user));
    metrics_.Authenticated("success", known.user, clock_.Now() - begin);
    done({.user = std::move(known)});
    return;
  }
  const auto finish = [this, begin, done = std::move(done)](std::optional<Identity> user,
                                                            std::string error) {
    if (!user && error.empty()) {
      user = Identity{.user = "system:anonymous", .groups = {"system:unauthenticated"}};
    }
    metrics_.Authenticated(user ? "success" : "error", user ? user->user : "",
                           clock_.Now() - begin);
    done({.user = std::move(user), .error = std::move(error)});
  };
  const std::string token = tokens_ == nullptr ? std::string() : BearerToken(request.headers);
  if (token.empty()) {
    finish(std::nullopt, errors);
    return;
  }
  tokens_->Review(token, [finish, errors](TokenVerdict verdict) mutable {
    switch (verdict.kind) {
      case TokenVerdict::Kind::kAccepted:
        finish(Authenticated(std::move(verdict.user)), "");
        return;
      case TokenVerdict::Kind::kRefused:
        AddError(&errors, "invalid bearer token");
        break;
      case TokenVerdict::Kind::kFailed:
        AddError(&errors, verdict.error);
        break;
    }
    finish(std::nullopt, errors.find(", ") == std::string::npos ? errors : "[" + errors + "]");
  });
}

}  // namespace ks::server
