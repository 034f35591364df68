// SPDX-License-Identifier: Apache-2.0
// Reviews and trust roots as they go over the wire; the client's transport is a fake.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "client/fake_transport.h"
#include "kubesched/access/delegated_reviews.h"
#include "kubesched/access/delegated_roots.h"
#include "testing/test_certificates.h"

#include <nlohmann/json.hpp>

namespace ks::daemon {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using Kind = server::TokenVerdict::Kind;

TEST(Reviews, BodiesAreUpstreams) {
  const server::AccessQuestion question{
      .user = {.user = "system:serviceaccount:default:prom",
               .groups = {"system:serviceaccounts", "system:authenticated"},
               .uid = "dc98e8f9",
               .extra = {{"authentication.kubernetes.io/credential-id", {"JTI=1"}}}},
      .verb = "get",
      .path = "/metrics"};
  EXPECT_EQ(AccessReviewBody(question),
            R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","metadata":{},)"
            R"("spec":{"nonResourceAttributes":{"path":"/metrics","verb":"get"},)"
            R"("user":"system:serviceaccount:default:prom",)"
            R"("groups":["system:serviceaccounts","system:authenticated"],)"
            R"("extra":{"authentication.kubernetes.io/credential-id":["JTI=1"]},)"
            R"("uid":"dc98e8f9"},"status":{"allowed":false}})");
  EXPECT_EQ(TokenReviewBody("t\"x"),
            R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","metadata":{},)"
            R"("spec":{"token":"t\"x"},"status":{"user":{}}})");
}

TEST(Reviews, AnswersAreRead) {
  const server::TokenVerdict known = ReadTokenReview(
      R"({"status":{"authenticated":true,"user":{"username":"u","uid":"1","groups":["a","b"],)"
      R"("extra":{"k":["v"]}}}})");
  EXPECT_EQ(known.kind, Kind::kAccepted);
  EXPECT_EQ(
      known.user,
      (server::Identity{.user = "u", .groups = {"a", "b"}, .uid = "1", .extra = {{"k", {"v"}}}}));
  EXPECT_EQ(ReadTokenReview(R"({"status":{"authenticated":false}})").kind, Kind::kRefused);
  EXPECT_EQ(ReadTokenReview(R"({"status":{"error":"bad"}})").error, "bad");
  for (const char* odd :
       {"", "[]", "{", R"({"status":7})", R"({"status":{"authenticated":"yes"}})"}) {
    EXPECT_EQ(ReadTokenReview(odd).kind, Kind::kRefused) << odd;
    EXPECT_EQ(ReadAccessReview(odd).kind, server::AccessVerdict::Kind::kNoOpinion) << odd;
  }
  EXPECT_EQ(ReadAccessReview(R"({"status":{"allowed":true}})").kind,
            server::AccessVerdict::Kind::kAllowed);
  const auto denied = ReadAccessReview(R"({"status":{"denied":true,"reason":"why"}})");
  EXPECT_EQ(denied.kind, server::AccessVerdict::Kind::kDenied);
  EXPECT_EQ(denied.reason, "why");
}

class ReviewsOverTheWire : public ::testing::Test {
 protected:
  void Ask() {
    reviewer_.Review("t", [this](server::TokenVerdict verdict) {
      const MutexLock lock(mutex_);
      said_.push_back(std::move(verdict));
    });
  }
  std::vector<server::TokenVerdict> said() {
    const MutexLock lock(mutex_);
    return said_;
  }

  client::FakeNetwork net_;
  metrics::Registry registry_;
  server::RequestMetrics metrics_{registry_};
  Mutex mutex_;
  std::vector<server::TokenVerdict> said_ KS_GUARDED_BY(mutex_);
  std::unique_ptr<client::RestClient> client_ = net_.Client();
  ApiTokenReviewer reviewer_{*client_, metrics_};
};

TEST_F(ReviewsOverTheWire, PassingFailuresAreRepeatedFourTimes) {
  Ask();
  for (size_t i = 0; i < 4; ++i) {
    net_.transport.Answer(i, 500, R"({"kind":"Status","reason":"InternalError","message":"down"})");
    ASSERT_TRUE(said().empty());
    net_.timers.Advance(milliseconds(2100));
    ASSERT_EQ(net_.transport.size(), i + 2);
  }
  EXPECT_GE(net_.transport.at(1), milliseconds(500));
  net_.transport.Answer(4, 500, R"({"kind":"Status","reason":"InternalError","message":"down"})");
  ASSERT_EQ(said().size(), 1u);
  EXPECT_EQ(said()[0].kind, Kind::kFailed);
  EXPECT_EQ(said()[0].error, "down");
  EXPECT_THAT(registry_.Text(),
              HasSubstr("apiserver_delegated_authn_request_total{code=\"500\"} 1"));
}

TEST_F(ReviewsOverTheWire, AnAnswerIsAnAnswer) {
  Ask();
  EXPECT_EQ(net_.transport.request(0).target, "/apis/authentication.k8s.io/v1/tokenreviews");
  net_.transport.Answer(0, 201, R"({"status":{"authenticated":true,"user":{"username":"u"}}})");
  ASSERT_EQ(said().size(), 1u);
  EXPECT_EQ(said()[0].user.user, "u");
  Ask();
  net_.transport.Answer(1, 403, R"({"kind":"Status","reason":"Forbidden","message":"no"})");
  ASSERT_EQ(said().size(), 2u);
  EXPECT_EQ(said()[1].error, "no") << "not repeated";
}

TEST_F(ReviewsOverTheWire, NothingIsSentAfterStop) {
  Ask();
  net_.transport.Answer(0, 500, R"({"kind":"Status","reason":"InternalError","message":"down"})");
  reviewer_.Stop();
  net_.timers.Advance(std::chrono::seconds(10));
  EXPECT_EQ(net_.transport.size(), 1u);
}

json ConfigMap(const std::string& client_ca, const std::string& version = "7") {
  return {
      {"kind", "ConfigMap"},
      {"metadata", {{"name", "extension-apiserver-authentication"}, {"resourceVersion", version}}},
      {"data", {{"client-ca-file", client_ca}}}};
}

TEST(TrustRoots, AreReadFromTheConfigMap) {
  const testing::TestAuthority authority("a");
  json map = ConfigMap(authority.ca_pem());
  map["data"]["requestheader-client-ca-file"] = authority.ca_pem();
  map["data"]["requestheader-allowed-names"] = R"(["front"])";
  map["data"]["requestheader-username-headers"] = R"(["X-Remote-User"])";
  const auto roots = ReadTrustRoots(map.dump());
  ASSERT_TRUE(roots.ok()) << roots.error().message;
  EXPECT_NE(roots->clients, nullptr);
  ASSERT_TRUE(roots->front_proxy.has_value());
  EXPECT_EQ(roots->front_proxy->allowed_names, std::vector<std::string>{"front"});
  EXPECT_EQ(roots->front_proxy->username_headers, std::vector<std::string>{"X-Remote-User"});
  EXPECT_TRUE(roots->front_proxy->uid_headers.empty());

  EXPECT_EQ(ReadTrustRoots(R"({"data":{}})")->clients, nullptr);
  EXPECT_EQ(ReadTrustRoots("[]").error().message, "the ConfigMap is no JSON object");
  EXPECT_THAT(ReadTrustRoots(ConfigMap("nothing").dump()).error().message,
              HasSubstr("client-ca-file: "));
  map["data"]["requestheader-allowed-names"] = "front";
  EXPECT_EQ(ReadTrustRoots(map.dump()).error().message,
            "requestheader-allowed-names: not a JSON list of texts");
}

TEST(PublishedRoots, AreListedWatchedAndListedAgain) {
  const testing::TestAuthority first("first");
  const testing::TestAuthority second("second");
  client::FakeNetwork net;
  Mutex mutex;
  std::vector<std::string> seen;
  const auto client = net.Client();
  PublishedRoots roots(*client, [&](const server::TrustRoots& now) {
    const MutexLock lock(mutex);
    seen.push_back(now.clients ? now.clients->pem() : "");
  });
  const auto count = [&] {
    const MutexLock lock(mutex);
    return seen.size();
  };
  roots.Watch();
  EXPECT_THAT(net.transport.request(0).target,
              HasSubstr("fieldSelector=metadata.name%3Dextension-apiserver-authentication"));
  net.transport.Fail(0, client::TransportError::Kind::kRefused);
  net.timers.Advance(std::chrono::seconds(1));
  net.transport.Answer(1, 200,
                       json({{"kind", "ConfigMapList"},
                             {"metadata", {{"resourceVersion", "9"}}},
                             {"items", {ConfigMap(first.ca_pem())}}})
                           .dump());
  EXPECT_EQ(count(), 1u);
  EXPECT_THAT(net.transport.request(2).target, HasSubstr("&resourceVersion=9&"));
  net.transport.Headers(2, 200);
  net.transport.Data(2,
                     json({{"type", "MODIFIED"}, {"object", ConfigMap(second.ca_pem())}}).dump());
  ASSERT_EQ(count(), 2u);
  net.transport.Data(2, json({{"type", "MODIFIED"}, {"object", ConfigMap("broken")}}).dump());
  EXPECT_EQ(count(), 2u) << "left aside";
  net.transport.End(2);
  net.timers.Advance(std::chrono::seconds(1));
  EXPECT_EQ(net.transport.size(), 4u) << "listed again";
  const MutexLock lock(mutex);
  EXPECT_EQ(seen[1], second.ca_pem());
}

}  // namespace
}  // namespace ks::daemon
