// SPDX-License-Identifier: Apache-2.0
// The real transport against a server that misbehaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "api/decode/decoder.h"
#include "client/transport_harness.h"

namespace ks::client {
namespace {

class TransportTest : public EachTransport {};
INSTANTIATE_TEST_SUITE_P(Both, TransportTest, BothTransports(), TransportNames());

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

TEST_P(TransportTest, KeepsConnectionsAndSendsWhatItIsGiven) {
  std::optional<ScriptedRequest> seen;
  Harness harness(GetParam(), [&seen](ScriptedConnection& connection) {
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

// On the client's thread, once an answer has been handed over; never again when it was taken away.
TEST_P(TransportTest, ATaskAfterDeliveries) {
  Harness harness(GetParam(), Echo);
  std::atomic<int> answers{0};
  std::atomic<int> before{-1};  // answers when the task ran
  Mutex mutex;
  CondVar ran;
  int runs = 0;
  const bool taken = harness.transport().SetAfterDelivery([&] {
    const MutexLock lock(mutex);
    before = answers.load();
    ++runs;
    ran.NotifyAll();
  });
  if (!taken) GTEST_SKIP() << "this transport runs no such task";
  ReplySlot slot;
  const HttpReplyHandler handler = slot.Handler();
  (void)harness.transport().Send({.target = "/one"}, [&](HttpReply reply) {
    ++answers;
    handler(std::move(reply));
  });
  EXPECT_EQ(slot.Wait().response.status, 200);
  {
    const MutexLock lock(mutex);
    while (runs == 0) ran.Wait(mutex);
  }
  EXPECT_EQ(before.load(), 1);
  harness.transport().SetAfterDelivery(nullptr);
  const int until_then = [&] {
    const MutexLock lock(mutex);
    return runs;
  }();
  EXPECT_EQ(harness.Post("/two", "").response.status, 200);
  EXPECT_EQ(harness.Post("/three", "").response.status, 200);
  const MutexLock lock(mutex);
  EXPECT_EQ(runs, until_then);
}

TEST_P(TransportTest, ErrorBodiesAreReadAndTheConnectionIsKept) {
  Harness harness(GetParam(), [](ScriptedConnection& connection) {
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

TEST_P(TransportTest, RedirectsAreNotFollowed) {
  std::atomic<int> stolen{0};
  Harness other(GetParam(), [&stolen](ScriptedConnection& connection) {
    while (connection.Read()) {
      ++stolen;
      connection.Respond(200, "");
    }
  });
  const std::string location = "Location: " + other.server().url() + "/steal\r\n";
  Harness harness(GetParam(), [&location](ScriptedConnection& connection) {
    while (connection.Read()) connection.Respond(302, "", location);
  });
  const HttpReply reply =
      harness.Send({.target = "/x", .headers = {{"Authorization", "Bearer secret"}}});
  ASSERT_FALSE(reply.error.has_value());
  EXPECT_EQ(reply.response.status, 302);
  EXPECT_EQ(stolen, 0);
}

TEST_P(TransportTest, PathPrefixOfTheServer) {
  std::string seen;
  Harness harness(GetParam(),
                  [&seen](ScriptedConnection& connection) {
                    while (const auto request = connection.Read()) {
                      seen = request->target;
                      connection.Respond(200, "");
                    }
                  },
                  {}, {.server = "http://127.0.0.1:"});
  TransportOptions options{.server = harness.server().url() + "/k8s/c1"};
  auto transport = NewTransport(GetParam(), options, harness.timers());
  ASSERT_TRUE(transport.ok());
  ReplySlot slot;
  (*transport)->Send({.target = "/api/v1/pods?limit=1"}, slot.Handler());
  ASSERT_FALSE(slot.Wait().error.has_value());
  EXPECT_EQ(seen, "/k8s/c1/api/v1/pods?limit=1");
}

// A server restart: all kept connections are closed by the peer, then a burst of writes comes.
TEST_P(TransportTest, BurstOfPostsAfterAllKeptConnectionsDied) {
  constexpr int kBurst = 8;
  std::atomic<int> requests{0};
  Harness harness(GetParam(), [&requests](ScriptedConnection& connection) {
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
  if (GetParam() == TransportKind::kCpprest) {
    // Beast looks at a kept connection before it uses it, so that nothing is lost here.
    EXPECT_TRUE(uncertain) << "the caller must know that a first sending was lost";
  }
  EXPECT_EQ(requests, 2 * kBurst);
}

// The peer goes away with a request in its hands: it may have carried it out.
TEST_P(TransportTest, LostAfterTheRequestWasRead) {
  std::atomic<int> requests{0};
  Harness harness(GetParam(), [&requests](ScriptedConnection& connection) {
    while (const auto request = connection.Read()) {
      if (++requests == 2) return connection.Reset();
      connection.Respond(201, request->body);
    }
  });
  EXPECT_FALSE(harness.Post("/bind", "1").uncertain);
  const HttpReply reply = harness.Post("/bind", "2");
  ASSERT_FALSE(reply.error.has_value()) << reply.error->message;
  EXPECT_TRUE(reply.uncertain);
  EXPECT_EQ(reply.response.body, "2");
  EXPECT_EQ(requests, 3);
  HttpRequest once{.method = "POST", .target = "/bind", .body = "3", .repeat_when_lost = false};
  requests = 1;
  const HttpReply lost = harness.Send(once);
  ASSERT_TRUE(lost.error.has_value());
  EXPECT_EQ(lost.error->kind, Kind::kLost) << lost.error->message;
  EXPECT_EQ(requests, 2);
}

// Shut when the connection is there, or when the request's bytes are ready for the kernel: it does
// not leave, and what follows goes through.
TEST_P(TransportTest, FenceAtTheLastMoment) {
  class ShutLater final : public Clock {
   public:
    TimePoint Now() const override { return TimePoint(std::chrono::seconds(asked_++)); }
    TimePoint WallNow() const override { return Now(); }

   private:
    mutable std::atomic<int> asked_{0};
  };
  std::atomic<int> bodies{0};
  Harness harness(GetParam(), [&bodies](ScriptedConnection& connection) {
    while (const auto request = connection.Read()) {
      if (!request->body.empty()) ++bodies;
      connection.Respond(200, "");
    }
  });
  const int questions = GetParam() == TransportKind::kCpprest ? 1 : 2;  // before the last one
  for (int open = 1; open <= questions; ++open) {
    SCOPED_TRACE(open);
    const ShutLater clock;
    auto fence = std::make_shared<WriteFence>(clock);
    fence->OpenUntil(TimePoint(std::chrono::seconds(open)));  // for so many questions
    const HttpReply refused =
        harness.Send({.method = "POST", .target = "/bind", .body = "{}", .fence = fence});
    ASSERT_TRUE(refused.error.has_value());
    EXPECT_EQ(refused.error->kind, Kind::kFenced) << refused.error->message;
    EXPECT_THAT(refused.error->message, HasSubstr(WriteFence::kRefusal));
    EXPECT_FALSE(refused.uncertain);
    EXPECT_FALSE(harness.Get("/x").error.has_value());
  }
  EXPECT_EQ(bodies, 0);
}

TEST_P(TransportTest, LostTwiceIsAnError) {
  Harness harness(GetParam(), [](ScriptedConnection& connection) {
    connection.Read();
    connection.Reset();
  });
  const HttpReply reply = harness.Post("/bind", "{}");
  ASSERT_TRUE(reply.error.has_value());
  EXPECT_EQ(reply.error->kind, Kind::kLost) << reply.error->message;
  EXPECT_TRUE(reply.uncertain);
  EXPECT_THAT(reply.error->message, HasSubstr("Post \"https://127.0.0.1:"));
}

TEST_P(TransportTest, RefusedPort) {
  int port = 0;
  {
    ScriptedServer gone({}, Echo);
    port = gone.port();
  }
  std::unique_ptr<TimerService> timers = NewTimerThread();
  auto transport =
      NewTransport(GetParam(), {.server = "http://127.0.0.1:" + std::to_string(port)}, *timers);
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

TEST_P(TransportTest, UnknownHost) {
  std::unique_ptr<TimerService> timers = NewTimerThread();
  auto transport =
      NewTransport(GetParam(), {.server = "https://no-such-host.invalid:6443"}, *timers);
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

class TransportDeadline : public EachTransportAndRow<DeadlineCase> {};

TEST_P(TransportDeadline, IsTrue) {
  Harness harness(kind(), row().script);
  const HttpReply reply =
      harness.Send({.target = "/slow", .timeout = std::chrono::milliseconds(150)});
  ASSERT_TRUE(reply.error.has_value());
  EXPECT_EQ(reply.error->kind, Kind::kTimedOut) << reply.error->message;
  EXPECT_THAT(reply.error->message, HasSubstr("context deadline exceeded"));
}

INSTANTIATE_TEST_SUITE_P(
    All, TransportDeadline,
    ::testing::Combine(
        BothTransports(),
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
                                       }})),
    TransportNames());

TEST_P(TransportTest, CancelIsIdempotentAndTheHandlerStillRuns) {
  Harness harness(GetParam(), [](ScriptedConnection& connection) {
    connection.Read();
    connection.WaitForClose();
  });
  ReplySlot slot;
  const auto exchange = harness.transport().Send({.target = "/x"}, slot.Handler());
  exchange->Cancel();
  exchange->Cancel();
  const HttpReply reply = slot.Wait();
  ASSERT_TRUE(reply.error.has_value());
  EXPECT_EQ(reply.error->kind, Kind::kCanceled);
  exchange->Cancel();
}

TEST_P(TransportTest, DestructionEndsWhatRuns) {
  Harness harness(GetParam(), [](ScriptedConnection& connection) {
    connection.Read();
    connection.StartChunked();
    connection.WaitForClose();
  });
  ReplySlot slot;
  harness.transport().Send({.target = "/x"}, slot.Handler());
  const auto sink = harness.Open({.target = "/watch"});
  sink->WaitHeaders();
  harness.DropTransport();
  EXPECT_EQ(slot.Wait().error->kind, Kind::kCanceled);
  EXPECT_EQ(sink->WaitEnd()->kind, Kind::kCanceled);
}

TEST_P(TransportTest, Gzip) {
  // "hello hello hello\n", gzip.
  constexpr unsigned char kPacked[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
                                       0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0x40, 0x90, 0x5c,
                                       0x00, 0x3b, 0x7c, 0x8a, 0xdf, 0x12, 0x00, 0x00, 0x00};
  std::string offered;
  Harness harness(GetParam(), [&](ScriptedConnection& connection) {
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

struct AnswerCase {
  std::string name;
  std::string answer;  // verbatim; the server closes after it
  std::string want_body;
  int want_status = 200;
  std::optional<Kind> want_error;
};

// What the Beast transport makes of answers itself.
class BeastAnswer : public ::testing::TestWithParam<AnswerCase> {};

TEST_P(BeastAnswer, IsUnderstood) {
  struct Way {
    const char* name;
    bool tls;
    size_t piece;  // of a TLS record, which is read by itself
  };
  for (const Way& way : {Way{"https", true, 1 << 20}, Way{"http", false, 1 << 20},
                         Way{"https, byte for byte", true, 1}}) {
    SCOPED_TRACE(way.name);
    if (way.piece == 1 && GetParam().want_error.has_value()) continue;
    Harness harness(
        TransportKind::kBeast,
        [&way](ScriptedConnection& connection) {
          connection.Read();
          std::string_view left = GetParam().answer;
          while (!left.empty() && connection.Write(left.substr(0, way.piece))) {
            left.remove_prefix(std::min(left.size(), way.piece));
          }
        },
        way.tls ? Https() : ks::testing::ScriptedServerOptions());
    const HttpReply reply = harness.Send({.target = "/x", .accept_gzip = true});
    EXPECT_EQ(reply.error.has_value(), GetParam().want_error.has_value());
    if (reply.error.has_value()) {
      EXPECT_EQ(static_cast<int>(reply.error->kind),
                static_cast<int>(GetParam().want_error.value_or(Kind::kOther)))
          << reply.error->message;
      continue;
    }
    EXPECT_EQ(reply.response.status, GetParam().want_status);
    EXPECT_EQ(reply.response.body, GetParam().want_body);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BeastAnswer,
    ::testing::Values(
        AnswerCase{.name = "UntilTheEnd",
                   .answer = "HTTP/1.1 200 OK\r\n\r\nall of it",
                   .want_body = "all of it"},
        AnswerCase{.name = "Interim",
                   .answer = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: "
                             "x\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok",
                   .want_body = "ok",
                   .want_status = 201},
        AnswerCase{
            .name = "NoContent", .answer = "HTTP/1.1 204 No Content\r\n\r\n", .want_status = 204},
        AnswerCase{.name = "Trailers",
                   .answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nok\r\n"
                             "0\r\nContent-Type: text/x\r\n\r\n",
                   .want_body = "ok"},
        AnswerCase{.name = "NoChunk",
                   .answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
        AnswerCase{.name = "NoHttp",
                   .answer = "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n",
                   .want_error = Kind::kMalformed},
        AnswerCase{.name = "HugeHeader",
                   .answer = "HTTP/1.1 200 OK\r\nX: " + std::string(300'000, 'x') + "\r\n\r\n",
                   .want_error = Kind::kMalformed},
        AnswerCase{.name = "HugeChunkHeader",
                   .answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;" +
                             std::string(300'000, 'x'),
                   .want_error = Kind::kMalformed},
        AnswerCase{.name = "ShortBody",
                   .answer = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc",
                   .want_error = Kind::kLost},
        AnswerCase{.name = "NoGzip",
                   .answer = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: "
                             "5\r\n\r\nhello",
                   .want_error = Kind::kMalformed},
        AnswerCase{.name = "HalfGzip",
                   .answer = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: "
                             "12\r\n\r\n" +
                             std::string("\x1f\x8b\x08\0\0\0\0\0\x02\x03\xcb\x48", 12),
                   .want_error = Kind::kMalformed}),
    [](const auto& test) { return test.param.name; });

// A token with a line break must not begin another header.
TEST(BeastRequest, MustBeWellFormed) {
  std::atomic<int> requests{0};
  Harness harness(TransportKind::kBeast, [&requests](ScriptedConnection& connection) {
    while (connection.Read()) {
      ++requests;
      connection.Respond(200, "");
    }
  });
  const HttpRequest bad[] = {
      {.target = "/x", .headers = {{"Authorization", "Bearer a\r\nX-Remote-User: admin"}}},
      {.target = "/x", .headers = {{"X: y\r\nZ", "w"}}},
      {.target = "/x HTTP/1.1\r\nX: y"},
      {.target = "/\x7f"},
      {.target = ""},
      {.method = "GET /y", .target = "/x"},
  };
  for (const HttpRequest& request : bad) {
    const HttpReply reply = harness.Send(request);
    ASSERT_TRUE(reply.error.has_value()) << request.target;
    EXPECT_EQ(reply.error->kind, Kind::kOther);
    EXPECT_THAT(reply.error->message, HasSubstr("invalid request"));
  }
  EXPECT_EQ(requests, 0);
}

}  // namespace
}  // namespace ks::client
