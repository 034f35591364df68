// SPDX-License-Identifier: Apache-2.0
#include "kubesched/access/delegated_reviews.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/mutex.h"
#include "base/random.h"

namespace ks::daemon {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr Duration kTimeout = std::chrono::seconds(10);
constexpr int kAttempts = 5;
constexpr auto kReplace = ordered_json::error_handler_t::replace;

bool MayPass(const api::ApiError& error) {
  return error.IsInternal() || error.IsTooManyRequests() || error.reason == "Timeout" ||
         error.retry_after_seconds >= 0;
}

std::string CodeOf(const client::RestReply& reply) {
  const int code = reply.ok() ? reply.code : reply.error->code;
  return code == 0 ? "<error>" : std::to_string(code);
}

std::string TextAt(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::vector<std::string> TextsAt(const json& object, const char* key) {
  std::vector<std::string> texts;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return texts;
  for (const json& item : *found) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  }
  return texts;
}

bool IsTrue(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

// An object; empty where there is none.
json ObjectAt(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : json::object();
}

json StatusOf(const std::string& body) {
  const json review = json::parse(body, nullptr, false);
  return review.is_object() ? ObjectAt(review, "status") : json::object();
}

}  // namespace

struct ReviewSender::State {
  explicit State(client::RestClient& rest)
      : client(&rest),
        random(static_cast<uint64_t>(rest.clock().WallNow().time_since_epoch().count())) {}

  void Send(const std::shared_ptr<State>& self, const client::RestRequest& request, Done done,
            int attempts_left) KS_EXCLUDES(mutex) {
    const MutexLock lock(mutex);
    if (client == nullptr) return;
    client->Send(request, [self, request, done = std::move(done),
                           attempts_left](client::RestReply reply) mutable {
      if (reply.ok() || attempts_left <= 1 || !MayPass(*reply.error) ||
          !self->Repeat(self, request, done, attempts_left - 1)) {
        done(std::move(reply));
      }
    });
  }

  // False: stopped.
  bool Repeat(const std::shared_ptr<State>& self, const client::RestRequest& request,
              const Done& done, int attempts_left) KS_EXCLUDES(mutex) {
    const MutexLock lock(mutex);
    if (client == nullptr) return false;
    double delay_seconds = 0.5;
    for (int i = attempts_left; i < kAttempts - 1; ++i) delay_seconds *= 1.5;
    delay_seconds *= 1 + 0.2 * random.Unit();
    client->timers().Schedule(
        std::chrono::duration_cast<Duration>(std::chrono::duration<double>(delay_seconds)),
        [self, request, done, attempts_left] { self->Send(self, request, done, attempts_left); });
    return true;
  }

  Mutex mutex;
  client::RestClient* client KS_GUARDED_BY(mutex);
  Random random KS_GUARDED_BY(mutex);
};

ReviewSender::ReviewSender(client::RestClient& client) : state_(std::make_shared<State>(client)) {}

void ReviewSender::Send(const client::RestRequest& request, Done done) {
  state_->Send(state_, request, std::move(done), kAttempts);
}

void ReviewSender::Stop() {
  const MutexLock lock(state_->mutex);
  state_->client = nullptr;
}

std::string TokenReviewBody(const std::string& token) {
  return ordered_json{{"kind", "TokenReview"},
                      {"apiVersion", "authentication.k8s.io/v1"},
                      {"metadata", ordered_json::object()},
                      {"spec", {{"token", token}}},
                      {"status", {{"user", ordered_json::object()}}}}
      .dump(-1, ' ', false, kReplace);
}

std::string AccessReviewBody(const server::AccessQuestion& question) {
  ordered_json spec = {
      {"nonResourceAttributes", {{"path", question.path}, {"verb", question.verb}}},
      {"user", question.user.user}};
  if (!question.user.groups.empty()) spec["groups"] = question.user.groups;
  if (!question.user.extra.empty()) spec["extra"] = question.user.extra;
  if (!question.user.uid.empty()) spec["uid"] = question.user.uid;
  return ordered_json{{"kind", "SubjectAccessReview"},
                      {"apiVersion", "authorization.k8s.io/v1"},
                      {"metadata", ordered_json::object()},
                      {"spec", std::move(spec)},
                      {"status", {{"allowed", false}}}}
      .dump(-1, ' ', false, kReplace);
}

server::TokenVerdict ReadTokenReview(const std::string& body) {
  const json status = StatusOf(body);
  if (IsTrue(status, "authenticated")) {
    const json user = ObjectAt(status, "user");
    server::Identity known{.user = TextAt(user, "username"),
                           .groups = TextsAt(user, "groups"),
                           .uid = TextAt(user, "uid")};
    const json extra = ObjectAt(user, "extra");
    for (const auto& [name, values] : extra.items()) {
      known.extra[name] = TextsAt(extra, name.c_str());
    }
    return {.kind = server::TokenVerdict::Kind::kAccepted, .user = std::move(known)};
  }
  if (std::string error = TextAt(status, "error"); !error.empty()) {
    return {.kind = server::TokenVerdict::Kind::kFailed, .error = std::move(error)};
  }
  return {};
}

server::AccessVerdict ReadAccessReview(const std::string& body) {
  using Kind = server::AccessVerdict::Kind;
  const json status = StatusOf(body);
  std::string reason = TextAt(status, "reason");
  if (IsTrue(status, "allowed")) return {.kind = Kind::kAllowed};
  return {.kind = IsTrue(status, "denied") ? Kind::kDenied : Kind::kNoOpinion,
          .reason = std::move(reason)};
}

void ApiTokenReviewer::Review(const std::string& token, Done done) {
  sender_.Send(
      {.method = "POST",
       .target = "/apis/authentication.k8s.io/v1/tokenreviews",
       .body = TokenReviewBody(token),
       .timeout = kTimeout,
       .verb = "post",
       .resource = "tokenreviews.authentication.k8s.io"},
      [this, begin = clock_.Now(), done = std::move(done)](const client::RestReply& reply) {
        metrics_.TokenReviewed(CodeOf(reply), clock_.Now() - begin);
        if (reply.ok()) {
          done(ReadTokenReview(reply.body));
        } else {
          done({.kind = server::TokenVerdict::Kind::kFailed, .error = reply.error->message});
        }
      });
}

void ApiAccessReviewer::Review(const server::AccessQuestion& question, Done done) {
  sender_.Send(
      {.method = "POST",
       .target = "/apis/authorization.k8s.io/v1/subjectaccessreviews?timeout=10s",
       .body = AccessReviewBody(question),
       .timeout = kTimeout,
       .verb = "post",
       .resource = "subjectaccessreviews.authorization.k8s.io"},
      [this, begin = clock_.Now(), done = std::move(done)](const client::RestReply& reply) {
        metrics_.AccessReviewed(CodeOf(reply), clock_.Now() - begin);
        if (reply.ok()) {
          done(ReadAccessReview(reply.body));
        } else {
          done({.kind = server::AccessVerdict::Kind::kFailed, .reason = reply.error->message});
        }
      });
}

}  // namespace ks::daemon
