// SPDX-License-Identifier: Apache-2.0
#include "server/health.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "server/tls/certificate.h"
#include "testing/tls_client.h"

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

TEST(Health, RootRequestsAreCounted) {
  metrics::Registry slis;
  HealthMetrics metrics(slis);
  AnswerHealth("readyz", {Check("a"), Check("b", "bad"), Check("c")}, "exclude=c", &metrics);
  AnswerHealth("readyz", {Check("a")}, "", &metrics);
  const std::string text = slis.Text();
  for (const char* line :
       {"kubernetes_healthcheck{name=\"a\",type=\"readyz\"} 1\n",
        "kubernetes_healthcheck{name=\"b\",type=\"readyz\"} 0\n",
        "kubernetes_healthchecks_total{name=\"a\",status=\"success\",type=\"readyz\"} 2\n",
        "kubernetes_healthchecks_total{name=\"b\",status=\"error\",type=\"readyz\"} 1\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
  EXPECT_EQ(text.find("\"c\""), std::string::npos) << "an excluded check did not run";
}

TEST(Health, ChecksOfASchedulerInOrder) {
  struct Case {
    std::string name;
    bool elects;
    bool coordinated;
    std::string want_healthz;
    std::string want_livez;
    std::string want_readyz;
  };
  const Case cases[] = {
      {"with leader election", true, false, "[-]leaderElection failed: reason withheld\n",
       "[+]ping ok\n",
       "[-]leaderElection failed: reason withheld\n[+]shutdown ok\n[+]sched-handler-sync ok\n"},
      {"coordinated", true, true, "[-]leaderElection failed: reason withheld\n", "[+]ping ok\n",
       "[-]leaderElection failed: reason withheld\n[+]shutdown ok\n[+]sched-handler-sync ok\n"
       "[-]informer-sync failed: reason withheld\n"},
      {"without", false, false, "[+]ping ok\n", "[+]ping ok\n",
       "[+]shutdown ok\n[+]sched-handler-sync ok\n"},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    SchedulerHealth health;
    health.handlers_synced = true;
    const auto server =
        HttpsServer::Listen({.bind_address = "127.0.0.1",
                             .port = 0,
                             .certificate = MakeSelfSignedCertificate("", 1795219413).value()})
            .value();
    SchedulerHealthOptions options;
    if (test.elects) options.leader_election = [] { return std::string("late"); };
    if (test.coordinated) options.informer_sync = [] { return std::string("not yet"); };
    InstallSchedulerHealth(*server, health, std::move(options));
    server->Serve();
    testing::TlsClient client(server->port());
    EXPECT_TRUE(client.Exchange("GET", "/healthz?verbose").body.starts_with(test.want_healthz));
    EXPECT_TRUE(client.Exchange("GET", "/livez?verbose").body.starts_with(test.want_livez));
    EXPECT_TRUE(client.Exchange("GET", "/readyz?verbose").body.starts_with(test.want_readyz));
    EXPECT_EQ(client.Exchange("GET", "/healthz/leaderElection").body,
              test.elects ? "internal server error: late\n" : "404 page not found\n");
    EXPECT_EQ(client.Exchange("GET", "/readyz/informer-sync").body,
              test.coordinated ? "internal server error: not yet\n" : "404 page not found\n");
  }
}

}  // namespace
}  // namespace ks::server
