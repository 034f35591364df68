// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who asks? Front proxy, client certificate, bearer token, anonymous, in this order. A credential
// that is there and bad is an error, whatever comes after it, unless a later one is good.
//
// Upstream: docs/spec/operations.md sections 4.1 and 4.3.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "server/auth/expiring_cache.h"
#include "server/http/http_message.h"
#include "server/http/request_metrics.h"
#include "server/tls/trust_roots.h"

namespace ks::server {

// What is said of a token.
struct TokenVerdict {
  enum class Kind : uint8_t {
    kAccepted,
    kRefused,  // a plain no
    kFailed,   // no answer, or an error in it: asked again the next time
  };
  Kind kind = Kind::kRefused;
  Identity user{};      // of an accepted one
  std::string error{};  // of a failure
};

// Asks somebody else about a token. Threads: any; `done` is called once, from any thread, also from
// inside the call.
class TokenReviewer {
 public:
  using Done = std::function<void(TokenVerdict)>;
  virtual ~TokenReviewer() = default;
  virtual void Review(const std::string& token, Done done) = 0;
};

// Remembers verdicts (not failures) and asks once for equal tokens that come together. Tokens are
// kept as digests under a key of this process. While 1,000 questions are open, further ones fail at
// once: whoever sends made-up tokens must not fill the memory.
// Threads: any. Lifetime: reviewer, clock and metrics outlive it, and it outlives pending reviews.
class CachedTokenReviewer final : public TokenReviewer {
 public:
  // `life` of a verdict; not positive: nothing is remembered.
  CachedTokenReviewer(TokenReviewer& reviewer, const Clock& clock, Duration life,
                      RequestMetrics& metrics);

  void Review(const std::string& token, Done done) override KS_EXCLUDES(mutex_);

 private:
  void OnVerdict(const std::string& digest, const TokenVerdict& verdict) KS_EXCLUDES(mutex_);

  TokenReviewer& reviewer_;
  const Clock& clock_;
  const Duration life_;
  RequestMetrics& metrics_;
  const std::string digest_key_;
  ExpiringCache<TokenVerdict> cache_;
  Mutex mutex_;
  std::map<std::string, std::vector<Done>> waiting_ KS_GUARDED_BY(mutex_);
};

struct Authentication {
  std::optional<Identity> user{};  // absent: `error` says why
  std::string error{};
};

// Threads: any. Lifetime: what it was made with outlives it and pending questions.
class Authenticator {
 public:
  // `tokens` null: bearer tokens are not looked at.
  Authenticator(const LiveTrustRoots& roots, TokenReviewer* tokens, const Clock& clock,
                RequestMetrics& metrics)
      : roots_(roots), tokens_(tokens), clock_(clock), metrics_(metrics) {}

  // `done` is called once, from any thread, also from inside the call. The request lives for the
  // call only.
  void Authenticate(const Request& request, std::function<void(Authentication)> done) const;

 private:
  const LiveTrustRoots& roots_;
  TokenReviewer* const tokens_;
  const Clock& clock_;
  RequestMetrics& metrics_;
};

// The token of `Authorization: Bearer` or, of a websocket's opening, of its subprotocol. Empty:
// none.
std::string BearerToken(const HeaderFields& headers);

}  // namespace ks::server
