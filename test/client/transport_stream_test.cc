// SPDX-License-Identifier: Apache-2.0
// Streams of the real transport: how they end, back-pressure, memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <thread>

#include "client/transport_harness.h"
#include "testing/sanitized.h"

namespace ks::client {
namespace {

class StreamTest : public EachTransport {};
INSTANTIATE_TEST_SUITE_P(Both, StreamTest, BothTransports(), TransportNames());

using Kind = TransportError::Kind;
using ks::testing::ScriptedConnection;
using ks::testing::ScriptedServer;
using std::chrono::milliseconds;

struct EndCase {
  std::string name;
  ScriptedServer::Script script;
  std::optional<Kind> want;
  std::string want_data = "{\"a\":1}\n";
};

class StreamEnd : public EachTransportAndRow<EndCase> {};

// False: the idle time was over before the server's answer had begun.
bool ExpectEnd(TransportKind kind, const EndCase& row, bool tls, milliseconds idle) {
  Harness harness(kind, row.script, tls ? Https() : ks::testing::ScriptedServerOptions(),
                  {.stream_idle_timeout = idle});
  const auto sink = harness.Open({.target = "/watch"});
  const std::optional<TransportError> error = sink->WaitEnd();
  if (sink->status() == 0 || (sink->data().empty() && !row.want_data.empty())) return false;
  // Half a chunk may come, or be held back until the other half is there.
  EXPECT_THAT(sink->data(), ::testing::StartsWith(row.want_data));
  EXPECT_EQ(sink->status(), 200);
  EXPECT_EQ(error.has_value(), row.want.has_value());
  if (error.has_value() && row.want.has_value()) {
    EXPECT_EQ(static_cast<int>(error->kind), static_cast<int>(*row.want)) << error->message;
  }
  return true;
}

// Silence is waited out, so the idle time is short, and longer where the machine is busy.
TEST_P(StreamEnd, IsToldWithItsReason) {
  for (const bool tls : {true, false}) {
    SCOPED_TRACE(tls ? "https" : "http");
    bool began = false;
    for (milliseconds idle(400); !began && idle < std::chrono::minutes(1); idle *= 4) {
      began = ExpectEnd(kind(), row(), tls, idle);
    }
    EXPECT_TRUE(began) << "no answer";
  }
}

void Begin(ScriptedConnection& connection) {
  connection.Read();
  connection.StartChunked();
  connection.Chunk("{\"a\":1}\n");
}

INSTANTIATE_TEST_SUITE_P(All, StreamEnd,
                         ::testing::Combine(
                             BothTransports(),
                             ::testing::Values(EndCase{"Clean",
                                                       [](ScriptedConnection& connection) {
                                                         Begin(connection);
                                                         connection.EndChunked();
                                                         connection.WaitForClose();
                                                       },
                                                       std::nullopt},
                                               EndCase{"FinBetweenChunks",
                                                       [](ScriptedConnection& connection) {
                                                         Begin(connection);
                                                         connection.Abort();
                                                       },
                                                       Kind::kLost},
                                               EndCase{"FinInMidChunk",
                                                       [](ScriptedConnection& connection) {
                                                         Begin(connection);
                                                         connection.Write("40\r\n{\"type\":");
                                                         connection.Abort();
                                                       },
                                                       Kind::kLost},
                                               EndCase{"NotifyBetweenChunks",
                                                       [](ScriptedConnection& connection) {
                                                         Begin(connection);
                                                       },
                                                       Kind::kLost},
                                               EndCase{"GarbageChunkHeader",
                                                       [](ScriptedConnection& connection) {
                                                         Begin(connection);
                                                         connection.Write("hello\r\nworld\r\n");
                                                         connection.WaitForClose();
                                                       },
                                                       Kind::kMalformed},
                                               EndCase{"Silence",
                                                       [](ScriptedConnection& connection) {
                                                         Begin(connection);
                                                         connection.WaitForClose();
                                                       },
                                                       Kind::kTimedOut})),
                         TransportNames());

TEST_P(StreamTest, Reset) {
  ScriptedServer::Gate gate;
  Harness harness(GetParam(), [&gate](ScriptedConnection& connection) {
    Begin(connection);
    gate.Wait();
    connection.Reset();
  });
  const auto sink = harness.Open({.target = "/watch"});
  sink->WaitData(8);
  gate.Open();
  const std::optional<TransportError> error = sink->WaitEnd();
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind, Kind::kLost) << error->message;
}

TEST_P(StreamTest, ErrorStatusComesWithItsBody) {
  Harness harness(GetParam(), [](ScriptedConnection& connection) {
    while (connection.Read()) connection.Respond(410, "{\"kind\":\"Status\"}");
  });
  for (int i = 0; i < 2; ++i) {
    const auto sink = harness.Open({.target = "/watch"});
    EXPECT_FALSE(sink->WaitEnd().has_value());
    EXPECT_EQ(sink->status(), 410);
    EXPECT_EQ(sink->data(), "{\"kind\":\"Status\"}");
  }
  // One, but the second request may come before the first connection is back among the kept ones.
  EXPECT_LE(harness.server().connections(), 2);
}

// False: the deadline was over before the headers came.
bool ExpectNoDeadlineAfterHeaders(TransportKind kind, milliseconds timeout) {
  ScriptedServer::Gate gate;
  Harness harness(kind, [&gate](ScriptedConnection& connection) {
    Begin(connection);
    gate.Wait();
    connection.EndChunked();
    connection.WaitForClose();
  });
  const auto sink = harness.Open({.target = "/watch", .timeout = timeout});
  // Past the deadline by the clock that the deadline would use.
  ReplySlot slot;
  harness.timers().Schedule(timeout + milliseconds(100), [done = slot.Handler()] { done({}); });
  slot.Wait();
  gate.Open();
  const std::optional<TransportError> error = sink->WaitEnd();
  if (sink->status() == 0) return false;
  EXPECT_FALSE(error.has_value());
  return true;
}

// The deadline is waited out, so it is short, and longer where the machine is busy.
TEST_P(StreamTest, DeadlineEndsWithTheHeaders) {
  bool began = false;
  for (milliseconds timeout(300); !began && timeout < std::chrono::minutes(1); timeout *= 4) {
    began = ExpectNoDeadlineAfterHeaders(GetParam(), timeout);
  }
  EXPECT_TRUE(began) << "no answer";
}

TEST_P(StreamTest, CancelBeforeHeaders) {
  Harness harness(GetParam(), [](ScriptedConnection& connection) {
    connection.Read();
    connection.WaitForClose();
  });
  std::shared_ptr<Exchange> exchange;
  const auto sink = harness.Open({.target = "/watch"}, &exchange);
  exchange->Cancel();
  exchange->Cancel();
  const auto error = sink->WaitEnd();
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind, Kind::kCanceled);
  EXPECT_EQ(sink->status(), 0);
}

TEST_P(StreamTest, CancelInTheMiddle) {
  Harness harness(GetParam(), [](ScriptedConnection& connection) {
    Begin(connection);
    connection.WaitForClose();
  });
  std::shared_ptr<Exchange> exchange;
  const auto sink = harness.Open({.target = "/watch"}, &exchange);
  sink->WaitData(8);
  exchange->Cancel();
  const auto error = sink->WaitEnd();
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind, Kind::kCanceled);
}

// Pauses at each piece until the test goes on.
class PausingSink final : public StreamSink {
 public:
  void OnHeaders(const HttpResponse&) override {}
  Flow OnData(std::string_view data) override {
    MutexLock lock(mutex_);
    bytes_ += data.size();
    ++pieces_;
    changed_.NotifyAll();
    return Flow::kPause;
  }
  void OnEnd(std::optional<TransportError> error) override {
    MutexLock lock(mutex_);
    ended_ = true;
    error_ = std::move(error);
    changed_.NotifyAll();
  }
  // False: the stream ended first.
  bool WaitPieces(size_t count) {
    MutexLock lock(mutex_);
    while (pieces_ < count && !ended_) changed_.Wait(mutex_);
    return pieces_ >= count;
  }
  std::optional<TransportError> WaitEnd() {
    MutexLock lock(mutex_);
    while (!ended_) changed_.Wait(mutex_);
    return error_;
  }
  size_t bytes() {
    MutexLock lock(mutex_);
    return bytes_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  size_t bytes_ KS_GUARDED_BY(mutex_) = 0;
  size_t pieces_ KS_GUARDED_BY(mutex_) = 0;
  bool ended_ KS_GUARDED_BY(mutex_) = false;
  std::optional<TransportError> error_ KS_GUARDED_BY(mutex_);
};

TEST_P(StreamTest, PauseAndResume) {
  constexpr size_t kPieces = 50;
  Harness harness(GetParam(), [](ScriptedConnection& connection) {
    connection.Read();
    connection.StartChunked();
    for (size_t i = 0; i < kPieces; ++i) connection.Chunk(std::string(1000, 'x'));
    connection.EndChunked();
    connection.WaitForClose();
  });
  auto sink = std::make_shared<PausingSink>();
  const auto exchange = harness.transport().OpenStream({.target = "/watch"}, sink);
  for (size_t i = 1; i <= kPieces; ++i) {
    if (!sink->WaitPieces(i)) break;
    EXPECT_EQ(sink->bytes(), i * 1000);
    exchange->Resume();
  }
  EXPECT_FALSE(sink->WaitEnd().has_value());
}

TEST_P(StreamTest, CancelWhilePaused) {
  Harness harness(GetParam(), [](ScriptedConnection& connection) {
    Begin(connection);
    connection.WaitForClose();
  });
  auto sink = std::make_shared<PausingSink>();
  const auto exchange = harness.transport().OpenStream({.target = "/watch"}, sink);
  sink->WaitPieces(1);
  exchange->Cancel();
  const auto error = sink->WaitEnd();
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind, Kind::kCanceled);
}

size_t ResidentBytes() {
  size_t pages = 0;
  size_t resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * 4096;
}

// 200 MB through a sink that stops now and then: the kernel's window has to hold the server back,
// not our memory.
TEST_P(StreamTest, MemoryStaysFlat) {
  constexpr size_t kChunk = 64 << 10;
  constexpr size_t kTotal = 200 << 20;
  constexpr size_t kMostGrowth = 30 << 20;
  std::atomic<bool> sent_all{false};
  Harness harness(
      GetParam(),
      [&sent_all](ScriptedConnection& connection) {
        connection.Read();
        connection.StartChunked();
        const std::string chunk(kChunk, 'x');
        for (size_t sent = 0; sent < kTotal; sent += kChunk) {
          if (!connection.Chunk(chunk)) return;
        }
        sent_all = true;
        connection.EndChunked();
        connection.WaitForClose();
      },
      ks::testing::ScriptedServerOptions());
  auto sink = std::make_shared<PausingSink>();
  const size_t before = ResidentBytes();
  size_t most = before;
  const auto exchange = harness.transport().OpenStream({.target = "/watch"}, sink);
  size_t pieces = 0;
  while (sink->WaitPieces(pieces + 1)) {
    if (++pieces % 64 == 0) most = std::max(most, ResidentBytes());
    exchange->Resume();
  }
  EXPECT_FALSE(sink->WaitEnd().has_value());
  EXPECT_TRUE(sent_all);
  EXPECT_EQ(sink->bytes(), kTotal);
  if (!ks::testing::kSanitized) {
    EXPECT_LT(most - before, kMostGrowth);
  }
}

}  // namespace
}  // namespace ks::client
