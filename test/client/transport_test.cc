// SPDX-License-Identifier: Apache-2.0
// The real transport against a server that misbehaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "api/decode.h"
#include "client/transport_harness.h"

namespace ks::client {
namespace {

using Kind = TransportError::Kind;
using ks::testing::ScriptedConnection;
using ks::testing::ScriptedRequest;
using ks::testing::ScriptedServer;
using ::testing::HasSubstr;

// Answers every request with 200 and a text that repeats it.
void Echo(ScriptedConnection& connection) {
  while (const auto request = connection.Read()) {
    connection.Respond(200, request->method + " " + request->target + " " + request->body);
  }
}

TEST(Transport, KeepsConnectionsAndSendsWhatItIsGiven) {
  std::optional<ScriptedRequest> seen;
  Harness harness([&seen](ScriptedConnection& connection) {
    while (auto request = connection.Read()) {
      seen = request;
      connection.Respond(201, "answer", "Retry-After: 7\r\n");
    }
  });
  const std::string target =
      "/api/v1/pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed&limit=500";
  for (int i = 0; i < 5; ++i) {
    const HttpReply reply =
        harness.Send({.method = "PATCH",
                      .target = target,
                      .headers = {{"Accept", "application/json"},
                                  {"Authorization", "Bearer secret"},
                                  {"Content-Type", "application/strategic-merge-patch+json"}},
                      .body = R"({"a":"ü"})"});
    ASSERT_FALSE(reply.error.has_value()) << reply.error->message;
    EXPECT_EQ(reply.response.status, 201);
    EXPECT_EQ(reply.response.body, "answer");
    EXPECT_EQ(reply.response.retry_after, "7");
    EXPECT_EQ(reply.response.content_type, "application/json");
    EXPECT_GE(reply.response.body.capacity(), reply.response.body.size() + api::kJsonPadding);
    EXPECT_FALSE(reply.uncertain);
  }
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->method, "PATCH");
  EXPECT_EQ(seen->target, target);
  EXPECT_EQ(seen->body, R"({"a":"ü"})");
  EXPECT_EQ(seen->Header("content-type"), "application/strategic-merge-patch+json");
  EXPECT_EQ(seen->Header("authorization"), "Bearer secret");
  EXPECT_EQ(seen->Header("accept"), "application/json");
  EXPECT_EQ(seen->Header("host"), "127.0.0.1:" + std::to_string(harness.server().port()));
  // One, but the second request may come before the first connection is back among the kept ones.
  EXPECT_LE(harness.server().connections(), 2);
}

TEST(Transport, ErrorBodiesAreReadAndTheConnectionIsKept) {
  Harness harness([](ScriptedConnection& connection) {
    while (const auto request = connection.Read())
      connection.Respond(500, std::string(100'000, 'x'));
  });
  for (int i = 0; i < 3; ++i) {
    const HttpReply reply = harness.Post("/p", "{}");
    ASSERT_FALSE(reply.error.has_value()) << reply.error->message;
    EXPECT_EQ(reply.response.status, 500);
    EXPECT_EQ(reply.response.body.size(), 100'000u);
  }
  // One, but the second request may come before the first connection is back among the kept ones.
  EXPECT_LE(harness.server().connections(), 2);
}

TEST(Transport, RedirectsAreNotFollowed) {
  std::atomic<int> stolen{0};
  Harness other([&stolen](ScriptedConnection& connection) {
    while (connection.Read()) {
      ++stolen;
      connection.Respond(200, "");
    }
  });
  const std::string location = "Location: " + other.server().url() + "/steal\r\n";
  Harness harness([&location](ScriptedConnection& connection) {
    while (connection.Read()) connection.Respond(302, "", location);
  });
  const HttpReply reply =
      harness.Send({.target = "/x", .headers = {{"Authorization", "Bearer secret"}}});
  ASSERT_FALSE(reply.error.has_value());
  EXPECT_EQ(reply.response.status, 302);
  EXPECT_EQ(stolen, 0);
}

TEST(Transport, PathPrefixOfTheServer) {
  std::string seen;
  Harness harness(
      [&seen](ScriptedConnection& connection) {
        while (const auto request = connection.Read()) {
          seen = request->target;
          connection.Respond(200, "");
        }
      },
      {}, {.server = "http://127.0.0.1:"});
  TransportOptions options{.server = harness.server().url() + "/k8s/c1"};
  auto transport = NewCpprestTransport(options, harness.timers());
  ASSERT_TRUE(transport.ok());
  ReplySlot slot;
  (*transport)->Send({.target = "/api/v1/pods?limit=1"}, slot.Handler());
  ASSERT_FALSE(slot.Wait().error.has_value());
  EXPECT_EQ(seen, "/k8s/c1/api/v1/pods?limit=1");
}

// A server restart: all kept connections are closed by the peer, then a burst of writes comes.
TEST(Transport, BurstOfPostsAfterAllKeptConnectionsDied) {
  constexpr int kBurst = 8;
  std::atomic<int> requests{0};
  Harness harness([&requests](ScriptedConnection& connection) {
    while (const auto request = connection.Read()) {
      ++requests;
      connection.Respond(201, request->body);
    }
  });
  auto burst = [&harness](bool* uncertain) {
    std::vector<std::unique_ptr<ReplySlot>> slots;
    for (int i = 0; i < kBurst; ++i) {
      slots.push_back(std::make_unique<ReplySlot>());
      harness.transport().Send({.method = "POST",
                                .target = "/bind",
                                .headers = {{"Content-Type", "application/json"}},
                                .body = "{\"i\":" + std::to_string(i) + "}"},
                               slots.back()->Handler());
    }
    for (int i = 0; i < kBurst; ++i) {
      const HttpReply reply = slots[i]->Wait();
      ASSERT_FALSE(reply.error.has_value()) << reply.error->message;
      EXPECT_EQ(reply.response.body, "{\"i\":" + std::to_string(i) + "}");
      *uncertain = *uncertain || reply.uncertain;
    }
  };
  bool uncertain = false;
  burst(&uncertain);
  EXPECT_FALSE(uncertain);
  harness.server().CloseConnections();
  burst(&uncertain);
  EXPECT_TRUE(uncertain) << "the caller must know that a first sending was lost";
  EXPECT_EQ(requests, 2 * kBurst);
}

TEST(Transport, LostTwiceIsAnError) {
  Harness harness([](ScriptedConnection& connection) {
    connection.Read();
    connection.Reset();
  });
  const HttpReply reply = harness.Post("/bind", "{}");
  ASSERT_TRUE(reply.error.has_value());
  EXPECT_EQ(reply.error->kind, Kind::kLost) << reply.error->message;
  EXPECT_TRUE(reply.uncertain);
  EXPECT_THAT(reply.error->message, HasSubstr("Post \"https://127.0.0.1:"));
}

TEST(Transport, RefusedPort) {
  int port = 0;
  {
    ScriptedServer gone({}, Echo);
    port = gone.port();
  }
  std::unique_ptr<TimerService> timers = NewTimerThread();
  InitializeClientProcess();
  auto transport =
      NewCpprestTransport({.server = "http://127.0.0.1:" + std::to_string(port)}, *timers);
  ASSERT_TRUE(transport.ok());
  ReplySlot slot;
  (*transport)->Send({.method = "POST", .target = "/x", .body = "{}"}, slot.Handler());
  const HttpReply reply = slot.Wait();
  ASSERT_TRUE(reply.error.has_value());
  EXPECT_EQ(reply.error->kind, Kind::kRefused) << reply.error->message;
  EXPECT_EQ(reply.error->message, "Post \"http://127.0.0.1:" + std::to_string(port) +
                                      "/x\": dial tcp 127.0.0.1:" + std::to_string(port) +
                                      ": connect: connection refused");
}

TEST(Transport, UnknownHost) {
  std::unique_ptr<TimerService> timers = NewTimerThread();
  InitializeClientProcess();
  auto transport = NewCpprestTransport({.server = "https://no-such-host.invalid:6443"}, *timers);
  ASSERT_TRUE(transport.ok());
  ReplySlot slot;
  (*transport)->Send({.target = "/x"}, slot.Handler());
  const HttpReply reply = slot.Wait();
  ASSERT_TRUE(reply.error.has_value());
  EXPECT_EQ(reply.error->kind, Kind::kResolve) << reply.error->message;
}

struct DeadlineCase {
  std::string name;
  ScriptedServer::Script script;
};

class TransportDeadline : public ::testing::TestWithParam<DeadlineCase> {};

TEST_P(TransportDeadline, IsTrue) {
  Harness harness(GetParam().script);
  const HttpReply reply =
      harness.Send({.target = "/slow", .timeout = std::chrono::milliseconds(150)});
  ASSERT_TRUE(reply.error.has_value());
  EXPECT_EQ(reply.error->kind, Kind::kTimedOut) << reply.error->message;
  EXPECT_THAT(reply.error->message, HasSubstr("context deadline exceeded"));
}

INSTANTIATE_TEST_SUITE_P(
    All, TransportDeadline,
    ::testing::Values(DeadlineCase{"NoAnswer",
                                   [](ScriptedConnection& connection) {
                                     connection.Read();
                                     connection.WaitForClose();
                                   }},
                      DeadlineCase{"SlowHeaders",
                                   [](ScriptedConnection& connection) {
                                     connection.Read();
                                     connection.Write("HTTP/1.1 200 OK\r\nContent-");
                                     connection.WaitForClose();
                                   }},
                      DeadlineCase{"StalledBody",
                                   [](ScriptedConnection& connection) {
                                     connection.Read();
                                     connection.Write(
                                         "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc");
                                     connection.WaitForClose();
                                   }}),
    [](const auto& test) { return test.param.name; });

TEST(Transport, CancelIsIdempotentAndTheHandlerStillRuns) {
  Harness harness([](ScriptedConnection& connection) {
    connection.Read();
    connection.WaitForClose();
  });
  ReplySlot slot;
  const auto exchange = harness.transport().Send({.target = "/x"}, slot.Handler());
  exchange->Cancel();
  exchange->Cancel();
  const HttpReply reply = slot.Wait();
  ASSERT_TRUE(reply.error.has_value());
  EXPECT_EQ(reply.error->kind, Kind::kCancelled);
  exchange->Cancel();
}

TEST(Transport, DestructionEndsWhatRuns) {
  Harness harness([](ScriptedConnection& connection) {
    connection.Read();
    connection.StartChunked();
    connection.WaitForClose();
  });
  ReplySlot slot;
  harness.transport().Send({.target = "/x"}, slot.Handler());
  const auto sink = harness.Open({.target = "/watch"});
  sink->WaitHeaders();
  harness.DropTransport();
  EXPECT_EQ(slot.Wait().error->kind, Kind::kCancelled);
  EXPECT_EQ(sink->WaitEnd()->kind, Kind::kCancelled);
}

TEST(Transport, Gzip) {
  // "hello hello hello\n", gzip.
  constexpr unsigned char kPacked[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
                                       0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0x40, 0x90, 0x5c,
                                       0x00, 0x3b, 0x7c, 0x8a, 0xdf, 0x12, 0x00, 0x00, 0x00};
  std::string offered;
  Harness harness([&](ScriptedConnection& connection) {
    while (const auto request = connection.Read()) {
      offered = request->Header("accept-encoding");
      if (offered.empty()) {
        connection.Respond(200, "plain");
      } else {
        connection.Respond(200,
                           std::string(reinterpret_cast<const char*>(kPacked), sizeof(kPacked)),
                           "Content-Encoding: gzip\r\n");
      }
    }
  });
  EXPECT_EQ(harness.Get("/x").response.body, "plain");
  const HttpReply reply = harness.Send({.target = "/x", .accept_gzip = true});
  EXPECT_THAT(offered, HasSubstr("gzip"));
  ASSERT_FALSE(reply.error.has_value()) << reply.error->message;
  EXPECT_EQ(reply.response.body, "hello hello hello\n");
}

}  // namespace
}  // namespace ks::client
