// SPDX-License-Identifier: Apache-2.0
// docs/spec/metrics.md 9.5 and 9.8 as a scraper of real daemons sees them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "e2e/free_port.h"
#include "process/embedded_cluster.h"
#include "testing/tls_client.h"

namespace ks::daemon {
namespace {

// Values by what stands before them.
using Samples = std::map<std::string, double, std::less<>>;

Samples Scrape(int port) {
  testing::TlsClient client(port);
  client.Send("GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  std::istringstream page(client.ReadUntil("\x01: the end of the connection"));
  Samples samples;
  for (std::string line; std::getline(page, line);) {
    const size_t blank = line.rfind(' ');
    if (line.starts_with("#") || blank == std::string::npos) continue;
    samples[line.substr(0, blank)] = std::strtod(line.c_str() + blank, nullptr);
  }
  return samples;
}

// -1: there is no such series.
double Value(const Samples& samples, const std::string& series) {
  const auto it = samples.find(series);
  return it == samples.end() ? -1 : it->second;
}

// A daemon that anybody may scrape.
struct Scraped {
  Scraped(EmbeddedCluster& cluster, const std::string& name, const char* user)
      : port(e2e::FreePort()),
        daemon(cluster.Start(name, cluster.Configure(name, user, ""),
                             {"--bind-address=127.0.0.1", "--secure-port=" + std::to_string(port),
                              "--authorization-always-allow-paths=/metrics"})) {}

  double Value(const std::string& series) const { return daemon::Value(Scrape(port), series); }
  // Whether it gets there.
  bool Shows(const std::string& series, double value) const {
    return Eventually([&] { return Value(series) == value; });
  }

  const int port;
  const std::unique_ptr<DaemonProcess> daemon;
};

TEST(ScrapedDaemon, Example95Standby) {
  EmbeddedCluster cluster;
  const Scraped leader(cluster, "leader", kFirstUser);
  const std::string status = "leader_election_master_status{name=\"kube-scheduler\"}";
  ASSERT_TRUE(leader.Shows(status, 1)) << leader.daemon->Log();
  const Scraped standby(cluster, "standby", kSecondUser);
  ASSERT_TRUE(standby.Shows("scheduler_cache_size{type=\"nodes\"}", 4)) << standby.daemon->Log();
  // Its list of pods may come after that of nodes: from here on it sees every pod before a binding.
  const std::string added =
      R"(scheduler_queue_incoming_pods_total{event="UnscheduledPodAdd",queue="active"})";
  cluster.CreatePods("big-", 2, "1000");
  ASSERT_TRUE(standby.Shows(added, 2)) << standby.daemon->Log();
  cluster.CreatePods("fits-", 1);
  ASSERT_TRUE(cluster.AllBound(1)) << leader.daemon->Log();

  // First what only grows: two pods may be active before it has seen the third, or the binding.
  EXPECT_TRUE(standby.Shows(added, 3));
  EXPECT_TRUE(standby.Shows("scheduler_cache_size{type=\"pods\"}", 1));
  EXPECT_TRUE(standby.Shows("scheduler_pending_pods{queue=\"active\"}", 2));
  const Samples seen = Scrape(standby.port);
  EXPECT_EQ(Value(seen, status), 0);
  for (const auto& [series, value] : seen) {
    EXPECT_FALSE(series.starts_with("scheduler_schedule_attempts_total")) << series;
  }
  EXPECT_TRUE(leader.Shows(
      R"(scheduler_schedule_attempts_total{profile="default-scheduler",result="unschedulable"})",
      2));
}

// The counts depend on how long the scheduler ran; the server must have counted the same.
TEST(ScrapedDaemon, Example98Client) {
  EmbeddedCluster cluster;
  json rules = json::array();
  for (const char* verb : {"create", "get", "list", "watch", "update"}) {
    rules.push_back(EmbeddedCluster::Counter({{"verb", verb}, {"user", kFirstUser}}));
  }
  cluster.Rules(rules);
  const Scraped scraped(cluster, "one", kFirstUser);
  cluster.CreatePods("p-", 10);
  ASSERT_TRUE(cluster.AllBound(10)) << scraped.daemon->Log();
  const std::string host = cluster.host();
  const auto requests = [&](const Samples& seen, const std::string& code,
                            const std::string& method) {
    return Value(seen, "rest_client_requests_total{code=\"" + code + "\",host=\"" + host +
                           "\",method=\"" + method + "\"}");
  };
  // Renewals go on between a scrape and a look at the server.
  Samples seen;
  std::vector<int> asked;
  const bool same = Eventually([&] {
    asked = cluster.Matched();
    seen = Scrape(scraped.port);
    return requests(seen, "201", "POST") == asked[0] && requests(seen, "200", "PUT") == asked[4] &&
           requests(seen, "200", "GET") + 1 == asked[1] + asked[2] + asked[3];
  });
  const int watches = asked[3];
  EXPECT_TRUE(same) << requests(seen, "201", "POST") << " " << requests(seen, "200", "GET") << " "
                    << requests(seen, "200", "PUT") << " " << json(asked);
  EXPECT_GE(asked[0], 21) << "the lease, ten bindings, their events";
  EXPECT_GE(asked[4], 1) << "renewals";
  EXPECT_GE(watches, 2);
  EXPECT_EQ(requests(seen, "404", "GET"), 1) << "the first look for the lease";
  const auto whole = [&](const std::string& family, const std::string& verb) {
    return Value(seen, family + "_count{host=\"" + host + "\",verb=\"" + verb + "\"}");
  };
  for (const char* family : {"rest_client_request_duration_seconds",
                             "rest_client_request_size_bytes", "rest_client_response_size_bytes"}) {
    EXPECT_EQ(whole(family, "POST"), asked[0]) << family;
    EXPECT_EQ(whole(family, "GET"), asked[1] + asked[2]) << family << ": watches never end";
  }
  EXPECT_EQ(Value(seen, "rest_client_transport_cache_entries"), 1);
  EXPECT_EQ(Value(seen, "rest_client_transport_create_calls_total{result=\"miss\"}"), 1);
  EXPECT_EQ(Value(seen, "rest_client_transport_create_calls_total{result=\"hit\"}"), 3);
  EXPECT_EQ(Value(seen, "rest_client_exec_plugin_certificate_rotation_age_count"), 0);
  EXPECT_EQ(Value(seen, "rest_client_exec_plugin_ttl_seconds"), HUGE_VAL);
  EXPECT_EQ(scraped.daemon->Stop(), 0) << scraped.daemon->Log();
}

}  // namespace
}  // namespace ks::daemon
