// SPDX-License-Identifier: Apache-2.0
// Lists and watches of the production client under faults of the server, over real sockets
// (docs/spec/api.md 6.3 to 6.7).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/node.h"
#include "integration/cluster.h"

namespace ks::integration {
namespace {

using std::chrono::milliseconds;
using ::testing::Each;
using ::testing::Ge;
using ::testing::Pair;
using ::testing::SizeIs;

using NodeMirror = Mirror<api::Node>;

void CreateNodes(Server& server, const std::string& prefix, int count) {
  server.CreateNodes(Numbered(prefix, count));
}

TEST(Watching, SeesWhatHappens) {
  Server server;
  CreateNodes(server, "n", 3);
  Client cluster(server);
  NodeMirror nodes(cluster, "nodes");
  nodes.WaitFor({"n0", "n1", "n2"});
  server.CreateNode("n3");
  server.Delete("nodes", "", "n0");
  nodes.WaitFor({"n1", "n2", "n3"});
  EXPECT_EQ(nodes.Status().lists, 1U);
  EXPECT_EQ(nodes.Status().watches, 1U);
}

// A watch that breaks off in the middle of a frame goes on where it was: nothing is lost, nothing
// comes twice, nothing is listed again.
TEST(Watching, ACutWatchResumes) {
  constexpr int kCuts = 3;
  Server server;
  server.CreateNode("first");
  server.Faults(R"({"rules":[{"match":{"verb":"watch"},"times":3,"fault":{"cutWatch":"150ms"}}]})");
  Client cluster(server);
  NodeMirror nodes(cluster, "nodes");
  std::set<std::string> all = {"first"};
  nodes.WaitFor(all);
  while (nodes.Status().watches <= kCuts) {
    all.insert("n" + std::to_string(all.size()));
    server.CreateNode("n" + std::to_string(all.size() - 1));
    nodes.WaitFor(all);
  }
  EXPECT_THAT(nodes.Deliveries(), SizeIs(all.size() - 1));
  EXPECT_THAT(nodes.Deliveries(), Each(Pair(::testing::_, 1)));
  EXPECT_EQ(nodes.Status().lists, 1U);
}

// 410: what happened in between is seen by listing again.
TEST(Watching, ForgottenHistoryIsListedAgain) {
  Server server;
  CreateNodes(server, "old", 2);
  Client cluster(server);
  NodeMirror nodes(cluster, "nodes");
  nodes.WaitFor({"old0", "old1"});
  server.Run([](apiserver::Service& service) {
    const apiserver::KindInfo& kind = *apiserver::FindResource("", "v1", "nodes");
    EXPECT_TRUE(service.registry().Create(kind, "", {{"metadata", {{"name", "new"}}}}).ok());
    EXPECT_TRUE(service.registry().Delete(kind, "", "old0").ok());
    service.store().ForgetHistory();
    service.EndWatches();
  });
  nodes.WaitFor({"old1", "new"});
  EXPECT_THAT(nodes.Status().lists, Ge(1U));
  server.CreateNode("newer");
  nodes.WaitFor({"old1", "new", "newer"});
}

struct ListFault {
  const char* name;
  const char* fault;
};

class ListFaults : public ::testing::TestWithParam<ListFault> {};

TEST_P(ListFaults, EndInTheWholeState) {
  Server server;
  CreateNodes(server, "n", 20);
  server.Faults(std::string(R"({"rules":[{"match":{"verb":"list"},"times":2,"fault":)") +
                GetParam().fault + "}]}");
  Client cluster(server);
  NodeMirror nodes(cluster, "nodes");
  nodes.WaitFor(Numbered("n", 20));
  server.CreateNode("later");
  std::set<std::string> all = Numbered("n", 20);
  all.insert("later");
  nodes.WaitFor(all);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, ListFaults,
    ::testing::Values(ListFault{"too_many", R"({"status":429,"retryAfter":1})"},
                      ListFault{"unavailable", R"({"status":503})"},
                      ListFault{"internal", R"({"status":500,"applied":true})"},
                      ListFault{"forbidden_for_now", R"({"status":403})"},
                      ListFault{"expired", R"({"status":410})"},
                      ListFault{"reset", R"({"reset":true})"},
                      ListFault{"late", R"({"latency":"30ms"})"},
                      ListFault{"slow", R"({"bytesPerSecond":100000})"}),
    [](const auto& row) { return row.param.name; });

class WatchFaults : public ::testing::TestWithParam<ListFault> {};

TEST_P(WatchFaults, EndInAWatch) {
  Server server;
  server.CreateNode("n0");
  server.Faults(std::string(R"({"rules":[{"match":{"verb":"watch"},"times":2,"fault":)") +
                GetParam().fault + "}]}");
  Client cluster(server);
  NodeMirror nodes(cluster, "nodes");
  nodes.WaitFor({"n0"});
  CreateNodes(server, "m", 5);
  std::set<std::string> all = Numbered("m", 5);
  all.insert("n0");
  nodes.WaitFor(all);
}

INSTANTIATE_TEST_SUITE_P(Rows, WatchFaults,
                         ::testing::Values(ListFault{"too_many",
                                                     R"({"status":429,"retryAfter":1})"},
                                           ListFault{"unavailable", R"({"status":503})"},
                                           ListFault{"reset", R"({"reset":true})"},
                                           ListFault{"expired", R"({"status":410})"},
                                           ListFault{"late", R"({"latency":"30ms"})"},
                                           ListFault{"slow", R"({"bytesPerSecond":20000})"}),
                         [](const auto& row) { return row.param.name; });

// A list that shows an older state than was seen before: the watch from its version brings the
// rest.
TEST(Watching, AStaleListIsCaughtUpWith) {
  Server server;
  server.CreateNode("n0");
  server.Faults(R"({"rules":[{"match":{"verb":"list"},"after":1,"fault":{"staleList":true}}]})");
  Client first(server);
  {
    NodeMirror before(first, "nodes");
    before.WaitFor({"n0"});
  }
  server.CreateNode("n1");
  server.Delete("nodes", "", "n0");
  NodeMirror after(first, "nodes");
  after.WaitFor({"n1"});
}

// A watch without a word is given up after the inactivity time. Healthy ones live by bookmarks.
TEST(Watching, ASilentWatchIsReplaced) {
  Server server({.bookmark_interval = milliseconds(20)});
  server.Faults(R"({"rules":[{"match":{"verb":"watch"},"times":2,"fault":{"stallWatch":"5ms"}}]})");
  Client cluster(server, {.stream_idle_timeout = milliseconds(300)});
  NodeMirror nodes(cluster, "nodes");
  nodes.WaitForLists(1);
  while (server.FaultCounts().find("\"fired\": 2") == std::string::npos) {
  }
  CreateNodes(server, "n", 5);
  nodes.WaitFor(Numbered("n", 5));
  EXPECT_THAT(nodes.Deliveries(), Each(Pair(::testing::_, 1)));
}

// The server goes away and comes back on its port, with or without what it remembered.
TEST(Watching, OutlivesARestartOfTheServer) {
  for (const bool forgets : {false, true}) {
    Server server;
    CreateNodes(server, "n", 2);
    Client cluster(server);
    NodeMirror nodes(cluster, "nodes");
    nodes.WaitFor({"n0", "n1"});
    server.Stop();
    server.CreateNode("meanwhile");
    server.Delete("nodes", "", "n0");
    if (forgets) server.ForgetHistory();
    server.Start();
    nodes.WaitFor({"n1", "meanwhile"});
    server.CreateNode("later");
    nodes.WaitFor({"n1", "meanwhile", "later"});
    EXPECT_THAT(nodes.Status().lists, Ge(forgets ? 2U : 1U));
  }
}

}  // namespace
}  // namespace ks::integration
