// SPDX-License-Identifier: Apache-2.0
#include "server/auth/path_authorization.h"

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

}  // namespace
}  // namespace ks::server
