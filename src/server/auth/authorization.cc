// SPDX-License-Identifier: Apache-2.0
#include "server/auth/authorization.h"

#include <algorithm>
#include <string>
#include <utility>

namespace ks::server {
namespace {

using Kind = AccessVerdict::Kind;

constexpr size_t kCacheEntries = 8192;
constexpr size_t kLongestQuestion = 10000;
constexpr size_t kOpenReviews = 1000;

// Length and text of each part: no two questions share a key.
std::string CacheKey(const AccessQuestion& question) {
  std::string key;
  const auto add = [&key](std::string_view part) {
    key += std::to_string(part.size()) + ':';
    key += part;
  };
  add(question.verb);
  add(question.path);
  add(question.user.user);
  add(question.user.uid);
  for (const std::string& group : question.user.groups) add(group);
  for (const auto& [name, values] : question.user.extra) {
    key += '=';
    add(name);
    for (const std::string& value : values) add(value);
  }
  return key;
}

size_t Size(const AccessQuestion& question) {
  const Identity& user = question.user;
  size_t size = question.verb.size() + question.path.size() + user.user.size() + user.uid.size();
  for (const std::string& group : user.groups) size += group.size();
  for (const auto& [name, values] : user.extra) {
    size += name.size();
    for (const std::string& value : values) size += value.size();
  }
  return size;
}

const char* ResultOf(Kind kind) {
  switch (kind) {
    case Kind::kAllowed:
      return "allowed";
    case Kind::kDenied:
      return "denied";
    case Kind::kFailed:
      return "error";
    case Kind::kNoOpinion:
      break;
  }
  return "no-opinion";
}

}  // namespace

CachedAccessReviewer::CachedAccessReviewer(AccessReviewer& reviewer, const Clock& clock,
                                           AccessLives lives)
    : reviewer_(reviewer), lives_(lives), cache_(clock, kCacheEntries) {}

void CachedAccessReviewer::Ask(const AccessQuestion& question, Done done) {
  if (open_.fetch_add(1) >= kOpenReviews) {
    --open_;
    done({.kind = Kind::kFailed, .reason = "too many access reviews under way"});
    return;
  }
  reviewer_.Review(question, [this, done = std::move(done)](AccessVerdict verdict) {
    --open_;
    done(std::move(verdict));
  });
}

void CachedAccessReviewer::Review(const AccessQuestion& question, Done done) {
  if (Size(question) > kLongestQuestion) {
    Ask(question, std::move(done));
    return;
  }
  std::string key = CacheKey(question);
  if (std::optional<AccessVerdict> known = cache_.Get(key)) {
    done(*std::move(known));
    return;
  }
  Ask(question, [this, key = std::move(key), done = std::move(done)](AccessVerdict verdict) {
    if (verdict.kind != Kind::kFailed) {
      cache_.Put(key, verdict, verdict.kind == Kind::kAllowed ? lives_.allowed : lives_.refused);
    }
    done(std::move(verdict));
  });
}

Authorizer::Authorizer(PathAuthorization open, AccessReviewer* reviewer, const Clock& clock,
                       RequestMetrics& metrics)
    : open_(std::move(open)), reviewer_(reviewer), clock_(clock), metrics_(metrics) {}

void Authorizer::Authorize(const AccessQuestion& question,
                           std::function<void(AccessVerdict)> done) const {
  const auto finish = [this, begin = clock_.Now(), done = std::move(done)](AccessVerdict verdict) {
    metrics_.Authorized(ResultOf(verdict.kind), clock_.Now() - begin);
    done(std::move(verdict));
  };
  const auto& groups = question.user.groups;
  if (std::find(groups.begin(), groups.end(), "system:masters") != groups.end() ||
      open_.Allowed(question.path)) {
    finish({.kind = Kind::kAllowed});
  } else if (reviewer_ == nullptr) {
    finish({});
  } else {
    reviewer_->Review(question, finish);
  }
}

}  // namespace ks::server
