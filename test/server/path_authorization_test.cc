// SPDX-License-Identifier: Apache-2.0
#include "server/path_authorization.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ks::server {
namespace {

TEST(PathAuthorization, OpensExactPathsAndPrefixes) {
  const auto made = PathAuthorization::Make({"/healthz*", "readyz", "/", "/livez"});
  ASSERT_TRUE(made.ok());
  const std::pair<const char*, bool> rows[] = {
      {"/healthz", true},   {"/healthzx", true}, {"/healthz/ping", true}, {"/readyz", true},
      {"/readyz/x", false}, {"/livez", true},    {"/livez/", false},      {"/", false},
      {"/metrics", false},  {"", false}};
  for (const auto& [path, open] : rows) EXPECT_EQ(made.value().Allowed(path), open) << path;
  EXPECT_FALSE(PathAuthorization::Make({}).value().Allowed("/healthz"));
  EXPECT_TRUE(PathAuthorization::Make({"*"}).value().Allowed("/any/thing"));
}

TEST(PathAuthorization, RefusesStarsInside) {
  EXPECT_EQ(PathAuthorization::Make({"*/x"}).error().message, "only trailing * allowed in \"*/x\"");
  EXPECT_EQ(PathAuthorization::Make({"/a*b"}).error().message,
            "only trailing * allowed in \"a*b\"");
}

TEST(PathAuthorization, ForbidsInUpstreamsWords) {
  const Guard guard = PathAuthorization::Make({"/healthz"}).value().MakeGuard();
  EXPECT_FALSE(guard({.method = "GET", .path = "/healthz"}).has_value());
  const auto answer = guard({.method = "POST", .path = "/metrics", .user_agent = "Prometheus/3.0"});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, 403);
  EXPECT_EQ(answer->content_type, "application/json");
  EXPECT_EQ(answer->body,
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
            "\"message\":\"forbidden: User \\\"system:anonymous\\\" cannot post path "
            "\\\"/metrics\\\"\",\"reason\":\"Forbidden\",\"details\":{},\"code\":403}\n");
}

TEST(PathAuthorization, IndentsForPeople) {
  const std::string want =
      "{\n  \"kind\": \"Status\",\n  \"apiVersion\": \"v1\",\n  \"metadata\": {},\n"
      "  \"status\": \"Failure\",\n"
      "  \"message\": \"forbidden: User \\\"system:anonymous\\\" cannot get path "
      "\\\"/m\\u0026lt;\\u0026gt;\\\"\",\n"
      "  \"reason\": \"Forbidden\",\n  \"details\": {},\n  \"code\": 403\n}";
  const Request by_agent{.method = "GET", .path = "/m<>", .user_agent = "curl/8"};
  EXPECT_EQ(Forbidden(by_agent, "system:anonymous").body, want);
  const Request by_query{.method = "GET", .path = "/m<>", .query = "pretty=true"};
  EXPECT_EQ(Forbidden(by_query, "system:anonymous").body, want);
}

}  // namespace
}  // namespace ks::server
