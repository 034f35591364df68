// SPDX-License-Identifier: Apache-2.0
#include "apiserver/service/authorizer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testing/temp_dir.h"

namespace ks::apiserver {
namespace {

UserInfo User(std::string name, std::vector<std::string> groups = {}) {
  groups.emplace_back("system:authenticated");
  return {.name = std::move(name), .groups = std::move(groups)};
}
RequestInfo Resource(std::string verb, std::string group, std::string resource, std::string ns) {
  RequestInfo info;
  info.resource_request = true;
  info.verb = std::move(verb);
  info.group = std::move(group);
  info.version = "v1";
  info.resource = std::move(resource);
  info.ns = std::move(ns);
  return info;
}
RequestInfo Path(std::string verb, std::string path) {
  RequestInfo info;
  info.verb = std::move(verb);
  info.path = std::move(path);
  return info;
}

TEST(AllowAll, WhoIsKnownMayDoEverything) {
  const auto authorizer = NewAllowAll();
  EXPECT_TRUE(authorizer->Authorize(User("x"), Resource("delete", "", "nodes", "")).allowed);
  EXPECT_TRUE(authorizer->Authorize(User("x"), Path("post", "/kubesched/faults")).allowed);
  EXPECT_TRUE(authorizer
                  ->Authorize({.name = "root", .groups = {"system:masters"}},
                              Resource("delete", "", "nodes", ""))
                  .allowed);
}

TEST(AllowAll, StrangersMayReadHealthAndVersion) {
  const auto authorizer = NewAllowAll();
  for (const char* path : {"/healthz", "/livez", "/readyz", "/version", "/readyz/ping"}) {
    EXPECT_TRUE(authorizer->Authorize({}, Path("get", path)).allowed) << path;
  }
  for (const char* path : {"/api", "/apis", "/versions", "/metrics", "/"}) {
    EXPECT_FALSE(authorizer->Authorize({}, Path("get", path)).allowed) << path;
  }
  EXPECT_FALSE(authorizer->Authorize({}, Path("post", "/healthz")).allowed);
  EXPECT_FALSE(authorizer->Authorize({}, Resource("get", "", "pods", "default")).allowed);
}

struct PolicyCase {
  const char* name;
  const char* spec;
  UserInfo user;
  RequestInfo request;
  bool allowed;
};

class Policy : public ::testing::TestWithParam<PolicyCase> {};

TEST_P(Policy, Decides) {
  const PolicyCase& row = GetParam();
  const testing::TempDir dir;
  const std::string file = dir.Write(
      "policy.jsonl",
      std::string("# who may do what\n\n") +
          R"({"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":)" +
          row.spec + "}\n");
  const auto authorizer = LoadPolicy(file);
  ASSERT_TRUE(authorizer.ok()) << authorizer.error().message;
  const Decision decision = (*authorizer)->Authorize(row.user, row.request);
  EXPECT_EQ(decision.allowed, row.allowed);
  EXPECT_EQ(decision.reason, row.allowed ? "" : "No policy matched.");
}

const UserInfo kAlice = User("alice", {"dev"});

INSTANTIATE_TEST_SUITE_P(
    Cases, Policy,
    ::testing::Values(
        PolicyCase{"everything",
                   R"({"user":"alice","apiGroup":"*","namespace":"*","resource":"*"})", kAlice,
                   Resource("delete", "apps", "replicasets", "ns"), true},
        PolicyCase{"other_user", R"({"user":"bob","apiGroup":"*","namespace":"*","resource":"*"})",
                   kAlice, Resource("get", "", "pods", "ns"), false},
        PolicyCase{"group", R"({"group":"dev","namespace":"ns","resource":"pods"})", kAlice,
                   Resource("create", "", "pods", "ns"), true},
        PolicyCase{"user_and_group_must_both_match",
                   R"({"user":"alice","group":"ops","namespace":"*","resource":"*"})", kAlice,
                   Resource("get", "", "pods", "ns"), false},
        PolicyCase{"other_namespace", R"({"user":"alice","namespace":"ns","resource":"pods"})",
                   kAlice, Resource("get", "", "pods", "other"), false},
        PolicyCase{"api_group_unset_is_core", R"({"user":"alice","namespace":"*","resource":"*"})",
                   kAlice, Resource("get", "apps", "replicasets", "ns"), false},
        PolicyCase{"readonly_reads",
                   R"({"user":"alice","namespace":"*","resource":"*","readonly":true})", kAlice,
                   Resource("watch", "", "pods", "ns"), true},
        PolicyCase{"readonly_writes",
                   R"({"user":"alice","namespace":"*","resource":"*","readonly":true})", kAlice,
                   Resource("patch", "", "pods", "ns"), false},
        PolicyCase{"everybody", R"({"user":"*","namespace":"*","resource":"*"})", kAlice,
                   Resource("get", "", "pods", "ns"), true},
        PolicyCase{"authenticated",
                   R"({"group":"system:authenticated","readonly":true,"nonResourcePath":"*"})",
                   kAlice, Path("get", "/apis"), true},
        PolicyCase{"resource_rule_is_none_for_paths",
                   R"({"user":"alice","apiGroup":"*","namespace":"*","resource":"*"})", kAlice,
                   Path("get", "/apis"), false},
        PolicyCase{"path_prefix", R"({"user":"alice","nonResourcePath":"/apis/*"})", kAlice,
                   Path("get", "/apis/apps/v1"), true},
        PolicyCase{"path_prefix_elsewhere", R"({"user":"alice","nonResourcePath":"/apis/*"})",
                   kAlice, Path("get", "/api"), false},
        PolicyCase{"masters",
                   R"({"user":"bob"})",
                   {.name = "root", .groups = {"system:masters"}},
                   Resource("delete", "", "nodes", ""),
                   true},
        PolicyCase{"health_stays_public", R"({"user":"bob"})", UserInfo{}, Path("get", "/readyz"),
                   true}),
    [](const auto& row) { return row.param.name; });

struct BadCase {
  const char* line;
  const char* message;
};

class BadPolicy : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadPolicy, NamesFileLineAndCure) {
  const testing::TempDir dir;
  const std::string file = dir.Write("p", std::string("# first\n") + GetParam().line + "\n");
  const auto authorizer = LoadPolicy(file);
  ASSERT_FALSE(authorizer.ok());
  EXPECT_EQ(authorizer.error().message, file + ":2: " + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Lines, BadPolicy,
    ::testing::Values(
        BadCase{"[]", "not a JSON object; the file has one on each line"},
        BadCase{"{", "not a JSON object; the file has one on each line"},
        BadCase{R"({"user":"alice"})",
                "must have apiVersion abac.authorization.kubernetes.io/v1beta1 and kind Policy"},
        BadCase{R"({"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy"})",
                "spec is missing"},
        BadCase{
            R"({"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"a","verb":"get"}})",
            "unknown field spec.verb; known are user, group, readonly, apiGroup, namespace, "
            "resource, nonResourcePath"},
        BadCase{
            R"({"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"a","readonly":"yes"}})",
            "spec.readonly must be true or false"},
        BadCase{
            R"({"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":3}})",
            "spec.user must be a text"},
        BadCase{
            R"({"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"resource":"*"}})",
            "spec names neither user nor group, so it matches nobody; \"*\" is everybody"}));

TEST(PolicyFile, Missing) {
  const testing::TempDir dir;
  const auto authorizer = LoadPolicy(dir.path() + "/none");
  ASSERT_FALSE(authorizer.ok());
  EXPECT_EQ(authorizer.error().message, "read " + dir.path() + "/none: cannot be opened");
}

}  // namespace
}  // namespace ks::apiserver
