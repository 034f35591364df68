// SPDX-License-Identifier: Apache-2.0
// Everything together, from the kubeconfig's data to a reflector's deltas, against a scripted
// server.
#include "client/rest/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "api/node.h"
#include "client/transport_harness.h"
#include "client/watch/reflector.h"
#include "testing/fake_clock.h"
#include "testing/temp_dir.h"

namespace ks::client {
namespace {

using ks::testing::FakeClock;
using ks::testing::ScriptedConnection;
using ks::testing::ScriptedServer;
using ks::testing::TempDir;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string NodeJson(const std::string& name, int version) {
  return R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name +
         R"(","resourceVersion":")" + std::to_string(version) + R"("}})";
}

TEST(Connection, RotatedTokenFile) {
  TempDir dir;
  FakeClock clock;
  ScriptedServer server(Https(), [](ScriptedConnection& connection) {
    while (const auto request = connection.Read()) {
      const bool known = request->Header("authorization") == "Bearer new";
      connection.Respond(known ? 200 : 401, known ? "{}" : "denied");
    }
  });
  InitializeClientProcess();
  ClusterAccess access{.server = server.url(),
                       .ca_data = Authority().ca_pem(),
                       .token_file = dir.Write("token", "old\n")};
  auto connection = Connection::Make(access, clock);
  ASSERT_TRUE(connection.ok()) << connection.error().message;
  const auto client = (*connection)->NewRestClient({.qps = -1});
  dir.Write("token", "new\n");
  const RestReply refused = client->Get("/api");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error->code, 401);
  EXPECT_EQ(refused.error->message,
            "the server has asked for the client to provide credentials (get )");
  clock.Advance(seconds(50));
  EXPECT_TRUE(client->Get("/api").ok());
}

TEST(Connection, PluginRunsAgainAfterA401) {
  TempDir dir;
  const std::string plugin = dir.WriteScript(
      "login",
      "cd \"$(dirname \"$0\")\"\necho x >> runs\nn=$(wc -l < runs | tr -d ' ')\n"
      "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1beta1\",\"kind\":\"ExecCredential\","
      "\"status\":{\"token\":\"t'$n'\"}}'\n");
  std::atomic<int> accepted{1};
  ScriptedServer server(Https(), [&accepted](ScriptedConnection& connection) {
    while (const auto request = connection.Read()) {
      const bool known = request->Header("authorization") == "Bearer t" + std::to_string(accepted);
      connection.Respond(known ? 200 : 401, "{}");
    }
  });
  InitializeClientProcess();
  ClusterAccess access{.server = server.url(), .ca_data = Authority().ca_pem()};
  access.exec =
      ExecPlugin{.api_version = "client.authentication.k8s.io/v1beta1", .command = plugin};
  auto connection = Connection::Make(access);
  ASSERT_TRUE(connection.ok()) << connection.error().message;
  const auto client = (*connection)->NewRestClient({.qps = -1});
  EXPECT_TRUE(client->Get("/api").ok());
  accepted = 2;
  EXPECT_FALSE(client->Get("/api").ok()) << "the request itself is not repeated";
  EXPECT_TRUE(client->Get("/api").ok());
}

TEST(Connection, RetryAfterIsObeyed) {
  std::atomic<int> requests{0};
  ScriptedServer server(Https(), [&requests](ScriptedConnection& connection) {
    while (connection.Read()) {
      if (++requests < 4) {
        connection.Respond(requests % 2 == 0 ? 500 : 429, "{}", "Retry-After: 0\r\n");
      } else {
        connection.Respond(201, "{}");
      }
    }
  });
  InitializeClientProcess();
  auto connection = Connection::Make({.server = server.url(), .ca_data = Authority().ca_pem()});
  ASSERT_TRUE(connection.ok());
  const auto client = (*connection)->NewRestClient({.qps = -1});
  EXPECT_TRUE(client->Post("/bind", "{}").ok());
  EXPECT_EQ(requests, 4);
}

TEST(Connection, ReflectorSurvivesACutConnection) {
  std::string first_watch;
  std::string second_watch;
  std::atomic<int> watches{0};
  ScriptedServer server(Https(), [&](ScriptedConnection& connection) {
    while (const auto request = connection.Read()) {
      if (request->target.find("watch=true") == std::string::npos) {
        connection.Respond(
            200,
            R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[)" +
                NodeJson("a", 1) + "]}");
        continue;
      }
      connection.StartChunked();
      if (watches++ == 0) {
        first_watch = request->target;
        // Cut within a frame and within a chunk.
        const std::string event = R"({"type":"ADDED","object":)" + NodeJson("b", 6) + "}\n";
        connection.Chunk(event.substr(0, 20));
        connection.Chunk(event.substr(20) + event.substr(0, 30));
        connection.Write("ff\r\n{\"type\":");
        connection.Abort();
        return;
      }
      second_watch = request->target;
      connection.Chunk(R"({"type":"DELETED","object":)" + NodeJson("a", 7) + "}\n");
      connection.WaitForClose();
    }
  });
  InitializeClientProcess();
  auto connection = Connection::Make({.server = server.url(), .ca_data = Authority().ca_pem()});
  ASSERT_TRUE(connection.ok());
  const auto client = (*connection)->NewRestClient({.qps = -1});
  Mutex mutex;
  CondVar changed;
  std::vector<std::string> seen;
  Reflector<api::Node> reflector(
      *client, {.path = "/api/v1/nodes", .type_name = "*v1.Node", .resource = "nodes"},
      [&](std::vector<api::Delta<api::Node>> batch) {
        MutexLock lock(mutex);
        for (const auto& delta : batch) {
          if (delta.type == api::Delta<api::Node>::Type::kReplace) {
            seen.push_back("=" + std::to_string(delta.items.size()));
          } else {
            seen.push_back(delta.object->meta.name + delta.object->meta.resource_version);
          }
        }
        changed.NotifyAll();
      });
  reflector.Start();
  {
    MutexLock lock(mutex);
    while (seen.size() < 3) changed.Wait(mutex);
    EXPECT_THAT(seen, ElementsAre("=1", "b6", "a7"));
  }
  reflector.Stop();
  EXPECT_THAT(first_watch, HasSubstr("resourceVersion=5&"));
  EXPECT_THAT(second_watch, HasSubstr("resourceVersion=6&"));
  EXPECT_EQ(reflector.Status().lists, 1u);
}

}  // namespace
}  // namespace ks::client
