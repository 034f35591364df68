// SPDX-License-Identifier: Apache-2.0
#include "server/health.h"

#include <gtest/gtest.h>

namespace ks::server {
namespace {

HealthCheck Check(const std::string& name, const std::string& failure = "") {
  return {.name = name, .failure = [failure] { return failure; }};
}

std::vector<HealthCheck> Ready(const std::string& sync_failure = "") {
  return {Check("leaderElection"), Check("shutdown"), Check("sched-handler-sync", sync_failure)};
}

struct HealthCase {
  std::string name;
  std::vector<HealthCheck> checks;
  std::string query;
  int want_status = 200;
  std::string want_body;
};

TEST(Health, Root) {
  const HealthCase cases[] = {
      {.name = "all pass", .checks = Ready(), .query = "", .want_body = "ok"},
      {.name = "verbose",
       .checks = Ready(),
       .query = "verbose",
       .want_body = "[+]leaderElection ok\n[+]shutdown ok\n[+]sched-handler-sync ok\nreadyz check "
                    "passed\n"},
      {.name = "verbose with any value",
       .checks = {Check("ping")},
       .query = "verbose=0",
       .want_body = "[+]ping ok\nreadyz check passed\n"},
      {.name = "14.1 exclude",
       .checks = Ready(),
       .query = "verbose&exclude=shutdown",
       .want_body = "[+]leaderElection ok\n[+]shutdown excluded: ok\n[+]sched-handler-sync "
                    "ok\nreadyz check passed\n"},
      {.name = "14.1 delayed standby",
       .checks = Ready("handlers are not fully synchronized"),
       .query = "",
       .want_status = 500,
       .want_body = "[+]leaderElection ok\n[+]shutdown ok\n[-]sched-handler-sync failed: reason "
                    "withheld\nreadyz check failed\n"},
      {.name = "the failing check excluded",
       .checks = Ready("handlers are not fully synchronized"),
       .query = "exclude=sched-handler-sync",
       .want_body = "ok"},
      {.name = "unknown names excluded, failing",
       .checks = {Check("a", "broken")},
       .query = "exclude=y&exclude=x&exclude=x",
       .want_status = 500,
       .want_body = "[-]a failed: reason withheld\nwarn: some health checks cannot be excluded: no "
                    "matches for \"x\",\"y\"\nreadyz check failed\n"},
      {.name = "unknown name excluded, not verbose",
       .checks = {Check("a")},
       .query = "exclude=x",
       .want_body = "ok"},
      {.name = "escaped name",
       .checks = {Check("a b")},
       .query = "verbose&exclude=a%20b",
       .want_body = "[+]a b excluded: ok\nreadyz check passed\n"},
      {.name = "broken escape",
       .checks = {Check("a")},
       .query = "exclude=%4&exclude&verbose",
       .want_body = "[+]a ok\nwarn: some health checks cannot be excluded: no matches for "
                    "\"\",\"%4\"\nreadyz check passed\n"},
  };
  for (const HealthCase& test : cases) {
    SCOPED_TRACE(test.name);
    const Response response = AnswerHealth("readyz", test.checks, test.query);
    EXPECT_EQ(response.status, test.want_status);
    EXPECT_EQ(response.body, test.want_body);
    EXPECT_EQ(response.content_type, "text/plain; charset=utf-8");
    EXPECT_TRUE(response.no_sniff);
  }
}

TEST(Health, ExcludedCheckDoesNotRun) {
  int runs = 0;
  const HealthCheck counted{.name = "a", .failure = [&runs] {
                              ++runs;
                              return std::string();
                            }};
  EXPECT_EQ(AnswerHealth("livez", {counted}, "exclude=a").status, 200);
  EXPECT_EQ(runs, 0);
}

TEST(Health, OneCheck) {
  const Response good = AnswerHealthCheck(Check("a"));
  EXPECT_EQ(good.status, 200);
  EXPECT_EQ(good.body, "ok");
  EXPECT_FALSE(good.no_sniff);
  const Response bad =
      AnswerHealthCheck(Check("sched-handler-sync", "handlers are not fully synchronized"));
  EXPECT_EQ(bad.status, 500);
  EXPECT_EQ(bad.body, "internal server error: handlers are not fully synchronized\n");
  EXPECT_TRUE(bad.no_sniff);
}

}  // namespace
}  // namespace ks::server
