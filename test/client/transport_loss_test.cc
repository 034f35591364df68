// SPDX-License-Identifier: Apache-2.0
// Requests over connections that have died, in each phase of an exchange: what is sent again, what
// is not, and what the caller hears.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "base/mutex.h"
#include "client/transport_harness.h"

namespace ks::client {
namespace {

using Kind = TransportError::Kind;
using ks::testing::ScriptedConnection;
using ks::testing::ScriptedServer;

// What the server does to the connection that had the first request, or to the second request
// wherever it comes.
enum class Loss : uint8_t {
  kIdleLimit,         // closes when nothing came for a while
  kCloseAfterAnswer,  // closes after the answer, which did not announce it
  kEndWithoutNotify,  // the same, as a process that was killed does
  kHalfClosed,        // will not answer any more, and reads on
  kCloseCrosses,      // closes the kept connection while the request is on its way over it
  kResetUnread,       // goes away with the request in the kernel's hands
  kResetRead,         // goes away with the request in its own hands: it may have carried it out
  kResetInAnswer,     // goes away while it answers
};

// What became of the second request.
struct Fate {
  bool answered = true;
  bool uncertain = false;
  int read = 1;  // how often the server read it
};

struct LossCase {
  std::string name;
  Loss loss;
  Fate beast_repeats;
  Fate cpprest_repeats;
  Fate once;  // of both, where it may not be repeated
};

// How often something happened.
class Count {
 public:
  void Add() {
    MutexLock lock(mutex_);
    ++count_;
    grown_.NotifyAll();
  }
  // The count, once it has reached `wanted`; after a minute whatever it is.
  int Reached(int wanted) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    MutexLock lock(mutex_);
    while (count_ < wanted && std::chrono::steady_clock::now() < end) {
      grown_.WaitFor(mutex_, std::chrono::seconds(1));
    }
    return count_;
  }

 private:
  Mutex mutex_;
  CondVar grown_;
  int count_ KS_GUARDED_BY(mutex_) = 0;
};

// Answers the first request, then does what the case says.
class LosingServer {
 public:
  explicit LosingServer(Loss loss) : loss_(loss) {}

  void Serve(ScriptedConnection& connection) {
    bool kept = false;
    while (true) {
      const bool unread = loss_ == Loss::kResetUnread || (kept && loss_ == Loss::kCloseCrosses);
      if (second_is_due_ && unread) {
        connection.WaitForData();
        if (LoseNow()) return connection.Reset();
      }
      const auto request = connection.Read();
      if (!request.has_value()) return;
      if (request->body == "second") {
        second_read_.Add();
        if (loss_ == Loss::kResetRead && LoseNow()) return connection.Reset();
        if (loss_ == Loss::kResetInAnswer && LoseNow()) {
          connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc");
          return connection.Reset();
        }
      }
      const bool first = request->body == "first";
      if (first) second_is_due_ = true;
      connection.Respond(200, request->body);
      if (first && !AfterFirstAnswer(connection)) return;
      kept = true;
    }
  }

  ScriptedServer::Gate& first_over() { return first_over_; }
  Count& second_read() { return second_read_; }

 private:
  bool LoseNow() { return !lost_.exchange(true); }
  bool AfterFirstAnswer(ScriptedConnection& connection) {
    bool goes_on = true;
    if (loss_ == Loss::kIdleLimit) {
      goes_on = connection.WaitForData(std::chrono::milliseconds(20));
      if (!goes_on) connection.Close();
    } else if (loss_ == Loss::kCloseAfterAnswer) {
      connection.Close();
      goes_on = false;
    } else if (loss_ == Loss::kEndWithoutNotify) {
      connection.Abort();
      goes_on = false;
    } else if (loss_ == Loss::kHalfClosed) {
      connection.CloseWriting();
    }
    first_over_.Open();
    return goes_on;
  }

  const Loss loss_;
  std::atomic<bool> second_is_due_{false};
  std::atomic<bool> lost_{false};
  Count second_read_;
  ScriptedServer::Gate first_over_;
};

class TransportLoss : public EachTransportAndRow<LossCase> {
 protected:
  void SendTwo(bool tls, bool may_repeat, const Fate& want) {
    LosingServer server(row().loss);
    Harness harness(
        kind(), [&server](ScriptedConnection& connection) { server.Serve(connection); },
        tls ? Https() : ks::testing::ScriptedServerOptions());
    ASSERT_FALSE(harness.Post("/bind", "first").error.has_value());
    server.first_over().Wait();
    const HttpReply reply = harness.Send({.method = "POST",
                                          .target = "/bind",
                                          .headers = {{"Content-Type", "application/json"}},
                                          .body = "second",
                                          .repeat_when_lost = may_repeat});
    EXPECT_EQ(reply.uncertain, want.uncertain);
    // Whoever reads it where nobody waits for an answer any more may do so later.
    EXPECT_EQ(server.second_read().Reached(want.read), want.read);
    if (want.answered) {
      ASSERT_FALSE(reply.error.has_value()) << reply.error->message;
      EXPECT_EQ(reply.response.body, "second");
    } else {
      ASSERT_TRUE(reply.error.has_value());
      EXPECT_EQ(reply.error->kind, Kind::kLost) << reply.error->message;
    }
  }
};

class TransportLossTest : public EachTransport {};
INSTANTIATE_TEST_SUITE_P(Both, TransportLossTest, BothTransports(), TransportNames());

TEST_P(TransportLoss, MayBeRepeated) {
  const Fate& want = kind() == TransportKind::kBeast ? row().beast_repeats : row().cpprest_repeats;
  for (const bool tls : {true, false}) {
    SCOPED_TRACE(tls ? "https" : "http");
    SendTwo(tls, true, want);
  }
}

TEST_P(TransportLoss, MayNotBeRepeated) {
  for (const bool tls : {true, false}) {
    SCOPED_TRACE(tls ? "https" : "http");
    SendTwo(tls, false, row().once);
  }
}

constexpr Fate kAtOnce = {};
constexpr Fate kRepeated = {.uncertain = true};
constexpr Fate kReadTwice = {.uncertain = true, .read = 2};
INSTANTIATE_TEST_SUITE_P(
    All, TransportLoss,
    ::testing::Combine(
        BothTransports(),
        ::testing::Values(
            LossCase{"IdleLimit", Loss::kIdleLimit, kAtOnce, kRepeated, kAtOnce},
            LossCase{"CloseAfterAnswer", Loss::kCloseAfterAnswer, kAtOnce, kRepeated, kAtOnce},
            LossCase{"EndWithoutNotify", Loss::kEndWithoutNotify, kAtOnce, kRepeated, kAtOnce},
            // cpprestsdk does not look, so the half-closed server reads it.
            LossCase{"HalfClosed", Loss::kHalfClosed, kAtOnce, kReadTwice, kAtOnce},
            LossCase{"CloseCrosses", Loss::kCloseCrosses, kRepeated, kRepeated, kAtOnce},
            LossCase{"ResetUnread", Loss::kResetUnread, kRepeated, kRepeated,
                     Fate{.answered = false, .read = 0}},
            LossCase{"ResetRead", Loss::kResetRead, kReadTwice, kReadTwice,
                     Fate{.answered = false}},
            LossCase{"ResetInAnswer", Loss::kResetInAnswer, kReadTwice, kReadTwice,
                     Fate{.answered = false}})),
    TransportNames());

// What it is given, from the last beginning on; `takes`: of which statuses it wants the body.
class RecordingReader final : public BodyReader {
 public:
  explicit RecordingReader(int takes) : takes_(takes) {}
  bool Begin(const HttpResponse& head) override {
    began_ += "[" + std::to_string(head.status) + " " + head.content_type + "]";
    read_.clear();
    return head.status == takes_;
  }
  void OnPiece(std::string_view piece) override { read_.append(piece); }

  const std::string& began() const { return began_; }
  const std::string& read() const { return read_; }

 private:
  const int takes_;
  std::string began_;
  std::string read_;
};

// The first answer is lost in its middle, so that there is a second one.
TEST(BodyReader, BeginsAnewWithEachSending) {
  Harness harness(TransportKind::kBeast, [](ScriptedConnection& connection) {
    if (!connection.Read().has_value()) return;
    connection.StartChunked("Content-Type: a/b\r\n");
    connection.Chunk("first");
    if (connection.index() == 0) return connection.Reset();
    connection.Chunk(" second");
    connection.EndChunked();
  });
  const auto reader = std::make_shared<RecordingReader>(200);
  const HttpReply reply = harness.Send({.target = "/x", .reader = reader});
  ASSERT_FALSE(reply.error.has_value()) << reply.error->message;
  EXPECT_EQ(reader->read(), "first second");
  EXPECT_THAT(reader->began(), ::testing::EndsWith("[200 a/b]"));
  EXPECT_EQ(reply.response.body, "");
  EXPECT_EQ(reply.response.read_bytes, 12u);
}

TEST(BodyReader, LeavesOtherAnswersToTheReply) {
  Harness harness(TransportKind::kBeast, [](ScriptedConnection& connection) {
    if (connection.Read().has_value()) connection.Respond(503, "not now");
  });
  const auto reader = std::make_shared<RecordingReader>(200);
  const HttpReply reply = harness.Send({.target = "/x", .reader = reader});
  EXPECT_EQ(reader->began(), "[503 application/json]");
  EXPECT_EQ(reader->read(), "");
  EXPECT_EQ(reply.response.body, "not now");
}

// A loss says something about the connections that are as old.
TEST_P(TransportLossTest, OneEmptiesThePool) {
  constexpr int kKept = 2;
  std::atomic<int> arrived{0};
  ScriptedServer::Gate all_arrived;
  ScriptedServer::Gate gone[kKept];
  Harness harness(GetParam(), [&](ScriptedConnection& connection) {
    if (connection.index() >= kKept) {
      connection.Read();
      return connection.Reset();
    }
    connection.Read();
    if (++arrived == kKept) all_arrived.Open();
    all_arrived.Wait();
    connection.Respond(200, "");
    connection.WaitForClose();
    gone[connection.index()].Open();
  });
  ReplySlot slots[kKept];
  for (ReplySlot& slot : slots) harness.transport().Send({.target = "/x"}, slot.Handler());
  for (ReplySlot& slot : slots) EXPECT_FALSE(slot.Wait().error.has_value());
  const HttpReply lost =
      harness.Send({.method = "POST", .target = "/bind", .body = "{}", .repeat_when_lost = false});
  ASSERT_TRUE(lost.error.has_value());
  EXPECT_EQ(lost.error->kind, Kind::kLost) << lost.error->message;
  for (ScriptedServer::Gate& gate : gone) gate.Wait();
}

// Else each of them would leave one more.
TEST(BeastConnections, ThoseOfOneRequestAreNotCollected) {
  constexpr int kSent = 3;
  ScriptedServer::Gate gone[kSent];
  Harness harness(TransportKind::kBeast, [&](ScriptedConnection& connection) {
    while (connection.Read().has_value())
      connection.Respond(200, std::to_string(connection.index()));
    gone[connection.index()].Open();
  });
  for (int i = 0; i < kSent; ++i) {
    const HttpReply reply = harness.Send(
        {.method = "POST", .target = "/bind", .body = "{}", .repeat_when_lost = false});
    ASSERT_FALSE(reply.error.has_value()) << reply.error->message;
    EXPECT_EQ(reply.response.body, std::to_string(i));
  }
  for (int i = 1; i < kSent; ++i) gone[i].Wait();
  EXPECT_EQ(harness.Send({.target = "/x"}).response.body, "0") << "one is kept";
}

// The one used last is closed: those that have been idle for longer are not trusted.
TEST(BeastConnections, OneFoundClosedEmptiesThePool) {
  ScriptedServer::Gate both_arrived;
  ScriptedServer::Gate first_answered;
  ScriptedServer::Gate second_closed;
  ScriptedServer::Gate first_gone;
  std::atomic<int> arrived{0};
  Harness harness(TransportKind::kBeast, [&](ScriptedConnection& connection) {
    const auto request = connection.Read();
    if (!request.has_value()) return;
    if (request->target != "/third") {
      if (++arrived == 2) both_arrived.Open();
      both_arrived.Wait();
    }
    if (request->target == "/second") first_answered.Wait();
    connection.Respond(200, "");
    if (request->target == "/second") {
      connection.Close();
      second_closed.Open();
    } else {
      connection.WaitForClose();
      if (request->target == "/first") first_gone.Open();
    }
  });
  ReplySlot first;
  ReplySlot second;
  harness.transport().Send({.target = "/first"}, first.Handler());
  harness.transport().Send({.target = "/second"}, second.Handler());
  EXPECT_FALSE(first.Wait().error.has_value());
  first_answered.Open();
  EXPECT_FALSE(second.Wait().error.has_value());
  second_closed.Wait();
  EXPECT_FALSE(harness.Get("/third").error.has_value());
  first_gone.Wait();
  EXPECT_EQ(harness.server().connections(), 3);
}

}  // namespace
}  // namespace ks::client
