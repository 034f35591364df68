// SPDX-License-Identifier: Apache-2.0
#pragma once
// May they? Members of system:masters may everything, some paths are open to everybody, and
// somebody else is asked about the rest.
//
// Upstream: docs/spec/operations.md section 5.

#include <atomic>
#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "server/auth/expiring_cache.h"
#include "server/auth/path_authorization.h"
#include "server/http/http_message.h"
#include "server/http/request_metrics.h"

namespace ks::server {

struct AccessQuestion {
  Identity user{};
  std::string verb{};  // the method in lower case
  std::string path{};
};

struct AccessVerdict {
  enum class Kind : uint8_t {
    kAllowed,
    kNoOpinion,  // nothing allows it
    kDenied,     // something forbids it
    kFailed,     // no answer: asked again the next time
  };
  Kind kind = Kind::kNoOpinion;
  std::string reason{};  // of a no; what failed
};

// Asks somebody else. Threads: any; `done` is called once, from any thread, also from inside the
// call.
class AccessReviewer {
 public:
  using Done = std::function<void(AccessVerdict)>;
  virtual ~AccessReviewer() = default;
  virtual void Review(const AccessQuestion& question, Done done) = 0;
};

struct AccessLives {
  Duration allowed = std::chrono::seconds(10);
  Duration refused = std::chrono::seconds(10);
};

// Remembers answers (not failures), the 8192 used last; a question of more than 10,000 characters
// is asked each time. While 1,000 questions are open, further ones fail at once: whoever asks for
// made-up paths must not fill the memory.
// Threads: any. Lifetime: reviewer and clock outlive it, and it outlives pending reviews.
class CachedAccessReviewer final : public AccessReviewer {
 public:
  CachedAccessReviewer(AccessReviewer& reviewer, const Clock& clock, AccessLives lives);

  void Review(const AccessQuestion& question, Done done) override;

 private:
  void Ask(const AccessQuestion& question, Done done);

  AccessReviewer& reviewer_;
  const AccessLives lives_;
  ExpiringCache<AccessVerdict> cache_;
  std::atomic<size_t> open_ = 0;
};

// Threads: any. Lifetime: what it was made with outlives it and pending questions.
class Authorizer {
 public:
  // `reviewer` null: nothing is allowed beyond the first two rules.
  Authorizer(PathAuthorization open, AccessReviewer* reviewer, const Clock& clock,
             RequestMetrics& metrics);

  // `done` is called once, from any thread, also from inside the call.
  void Authorize(const AccessQuestion& question, std::function<void(AccessVerdict)> done) const;

 private:
  const PathAuthorization open_;
  AccessReviewer* const reviewer_;
  const Clock& clock_;
  RequestMetrics& metrics_;
};

}  // namespace ks::server
