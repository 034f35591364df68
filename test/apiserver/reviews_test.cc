// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "apiserver/service/subresources.h"

namespace ks::apiserver {
namespace {

constexpr char kAuthorization[] = "authorization.k8s.io";
constexpr char kAuthentication[] = "authentication.k8s.io";

RequestInfo Post(std::string group, std::string resource, std::string ns = "") {
  RequestInfo info;
  info.resource_request = true;
  info.verb = "create";
  info.group = std::move(group);
  info.version = "v1";
  info.resource = std::move(resource);
  info.ns = std::move(ns);
  return info;
}

// Lets alice read pods in ns, and everybody in the group ops everything; shows what was asked.
class Rules final : public Authorizer {
 public:
  Decision Authorize(const UserInfo& user, const RequestInfo& request) const override {
    for (const std::string& group : user.groups) {
      if (group == "ops") return {};
    }
    if (user.name == "alice" && request.resource == "pods" && request.ns == "ns" &&
        request.verb == "get") {
      return {};
    }
    return {.allowed = false,
            .reason = user.name + " may not " + request.verb + " " +
                      (request.resource_request ? request.resource : request.path)};
  }
};

std::optional<UserInfo> Lookup(std::string_view token) {
  if (token != "secret") return {};
  return UserInfo{.name = "alice", .groups = {"system:authenticated"}};
}

std::optional<Outcome<Json>> Ask(const RequestInfo& info, const std::string& body) {
  const UserInfo user{.name = "alice", .groups = {"system:authenticated"}};
  return Review(info, user, Json::parse(body), Rules(), Lookup);
}
Json Status(const RequestInfo& info, const std::string& body) {
  const auto answer = Ask(info, body);
  if (!answer.has_value() || !answer->ok()) {
    ADD_FAILURE() << (answer.has_value() ? answer->failure().message : "not answered");
    return {};
  }
  return (**answer)["status"];
}

TEST(Review, OwnAccess) {
  const RequestInfo info = Post(kAuthorization, "selfsubjectaccessreviews");
  EXPECT_EQ(Status(info, R"({"spec":{"resourceAttributes":
                        {"namespace":"ns","verb":"get","resource":"pods"}}})"),
            Json::parse(R"({"allowed":true})"));
  EXPECT_EQ(Status(info, R"({"spec":{"resourceAttributes":
                        {"namespace":"ns","verb":"delete","resource":"pods"}}})"),
            Json::parse(R"({"allowed":false,"reason":"alice may not delete pods"})"));
  EXPECT_EQ(Status(info, R"({"spec":{"nonResourceAttributes":{"path":"/metrics","verb":"get"}}})"),
            Json::parse(R"({"allowed":false,"reason":"alice may not get /metrics"})"));
}

TEST(Review, KeepsWhatWasSentAndNamesItself) {
  const auto answer = Ask(Post(kAuthorization, "selfsubjectaccessreviews"),
                          R"({"spec":{"nonResourceAttributes":{"path":"/x","verb":"get"}}})");
  ASSERT_TRUE(answer.has_value() && answer->ok());
  EXPECT_EQ((**answer)["kind"], "SelfSubjectAccessReview");
  EXPECT_EQ((**answer)["apiVersion"], "authorization.k8s.io/v1");
  EXPECT_EQ((**answer)["spec"]["nonResourceAttributes"]["path"], "/x");
}

TEST(Review, AccessOfOthers) {
  const RequestInfo info = Post(kAuthorization, "subjectaccessreviews");
  EXPECT_EQ(Status(info, R"({"spec":{"user":"bob","groups":["ops"],"resourceAttributes":
                        {"namespace":"ns","verb":"get","resource":"pods"}}})")["allowed"],
            true);
  EXPECT_EQ(Status(info, R"({"spec":{"user":"bob","resourceAttributes":
                        {"namespace":"ns","verb":"get","resource":"pods"}}})")["allowed"],
            false);
  EXPECT_EQ(Status(Post(kAuthorization, "localsubjectaccessreviews", "ns"),
                   R"({"spec":{"user":"alice","resourceAttributes":
                        {"namespace":"ns","verb":"get","resource":"pods"}}})")["allowed"],
            true);
}

struct RefusedCase {
  const char* name;
  RequestInfo info;
  const char* body;
  int code;
  const char* message;
};
class Refused : public ::testing::TestWithParam<RefusedCase> {};

TEST_P(Refused, AsTheRealServer) {
  const auto answer = Ask(GetParam().info, GetParam().body);
  ASSERT_TRUE(answer.has_value());
  ASSERT_FALSE(answer->ok());
  EXPECT_EQ(answer->failure().code, GetParam().code);
  EXPECT_EQ(answer->failure().message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Reviews, Refused,
    ::testing::Values(
        RefusedCase{"nothing_asked", Post(kAuthorization, "selfsubjectaccessreviews"),
                    R"({"spec":{}})", 422,
                    ".authorization.k8s.io \"\" is invalid: spec: Invalid value: null: exactly one "
                    "of nonResourceAttributes or resourceAttributes must be specified"},
        RefusedCase{"both_asked", Post(kAuthorization, "selfsubjectaccessreviews"),
                    R"({"spec":{"nonResourceAttributes":{"path":"/x","verb":"get"},
                        "resourceAttributes":{"verb":"list"}}})",
                    422,
                    ".authorization.k8s.io \"\" is invalid: spec: Invalid value: "
                    "{\"Path\":\"/x\",\"Verb\":\"get\"}: exactly one of nonResourceAttributes or "
                    "resourceAttributes must be specified"},
        RefusedCase{"nobody", Post(kAuthorization, "subjectaccessreviews"),
                    R"({"spec":{"nonResourceAttributes":{"path":"/metrics","verb":"get"}}})", 422,
                    ".authorization.k8s.io \"\" is invalid: spec.user: Invalid value: \"\": at "
                    "least one of user or group must be specified"},
        RefusedCase{"elsewhere", Post(kAuthorization, "localsubjectaccessreviews", "default"),
                    R"({"spec":{"user":"bob","resourceAttributes":{"namespace":"x"}}})", 422,
                    ".authorization.k8s.io \"\" is invalid: spec.resourceAttributes.namespace: "
                    "Invalid value: \"x\": must match metadata.namespace"},
        RefusedCase{"no_token", Post(kAuthentication, "tokenreviews"), R"({"spec":{}})", 400,
                    "token is required for TokenReview in authentication"},
        RefusedCase{"other_kind", Post(kAuthentication, "selfsubjectreviews"),
                    R"({"kind":"Pod","apiVersion":"v1"})", 400,
                    "Pod in version \"v1\" cannot be handled as a SelfSubjectReview: converting "
                    "(v1.Pod) to (authentication.SelfSubjectReview): unknown conversion"}),
    [](const auto& row) { return row.param.name; });

TEST(Review, Tokens) {
  const RequestInfo info = Post(kAuthentication, "tokenreviews");
  EXPECT_EQ(Status(info, R"({"spec":{"token":"secret"}})"), Json::parse(R"({
    "authenticated":true,"user":{"username":"alice","groups":["system:authenticated"]}})"));
  EXPECT_EQ(Status(info, R"({"spec":{"token":"nonsense"}})"),
            Json::parse(R"({"user":{},"error":"invalid bearer token"})"));
}

TEST(Review, WhoAmI) {
  EXPECT_EQ(Status(Post(kAuthentication, "selfsubjectreviews"), "{}"), Json::parse(R"({
    "userInfo":{"username":"alice","groups":["system:authenticated"]}})"));
}

TEST(Review, OthersAreNotItsBusiness) {
  EXPECT_FALSE(Ask(Post("", "pods", "ns"), "{}").has_value());
  EXPECT_FALSE(Ask(Post("apps", "tokenreviews"), "{}").has_value());
  RequestInfo get = Post(kAuthentication, "tokenreviews");
  get.verb = "get";
  const auto answer = Ask(get, "{}");
  ASSERT_TRUE(answer.has_value() && !answer->ok());
  EXPECT_EQ(answer->failure().code, 405);
}

}  // namespace
}  // namespace ks::apiserver
