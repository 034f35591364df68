// SPDX-License-Identifier: Apache-2.0
// Nothing that writes leaves while the fence is shut (docs/spec/operations.md 6.3), in virtual
// time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/fake_transport.h"
#include "client/write/writer.h"
#include "testing/builders.h"

namespace ks::client {
namespace {

using ks::testing::MakePod;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;

class WriterFence : public ::testing::Test {
 protected:
  explicit WriterFence(RestOptions options = {.qps = -1})
      : scheduling_(net_.Client(std::move(options))), events_(net_.Client()) {
    writer_ = std::make_unique<Writer>(*scheduling_, *events_, WriterOptions{.fence = fence_});
  }
  void OpenFor(Duration time) { fence_->OpenUntil(net_.timers.clock().Now() + time); }
  api::PodPtr Pod() { return MakePod().Name("p").Namespace("ns").Uid("u1").Obj(); }
  framework::ApiWriter::Done Expect() {
    return [this](const std::optional<api::ApiError>& error) {
      results_.push_back(error ? error->message : "ok");
    };
  }

  FakeNetwork net_;
  std::shared_ptr<WriteFence> fence_ = std::make_shared<WriteFence>(net_.timers.clock());
  std::vector<std::string> results_;
  std::unique_ptr<RestClient> scheduling_;
  std::unique_ptr<RestClient> events_;
  std::unique_ptr<Writer> writer_;
};

TEST_F(WriterFence, OpensForATimeAndClosesForEver) {
  EXPECT_FALSE(fence_->IsOpen());
  OpenFor(seconds(10));
  EXPECT_TRUE(fence_->IsOpen());
  OpenFor(seconds(5));  // takes nothing away
  net_.timers.Advance(seconds(9));
  EXPECT_TRUE(fence_->IsOpen());
  net_.timers.Advance(seconds(1));
  EXPECT_FALSE(fence_->IsOpen());
  OpenFor(seconds(10));
  EXPECT_TRUE(fence_->IsOpen());
  fence_->Close();
  OpenFor(seconds(10));
  EXPECT_FALSE(fence_->IsOpen());
}

TEST_F(WriterFence, NothingLeavesAStandby) {
  writer_->Bind(Pod(), "n", Expect());
  writer_->PatchPodStatus(MakePod().Name("q").Uid("u2").Obj(), {.nominated_node_name = "n"},
                          Expect());
  writer_->EvictPod(MakePod().Name("r").Uid("u3").Obj(),
                    {.type = "DisruptionTarget", .status = "True"}, TimePoint(),
                    [this](framework::EvictionOutcome, const std::optional<api::ApiError>& error) {
                      results_.push_back(error ? error->message : "ok");
                    });
  writer_->RecordEvent({.regarding = Pod(), .reason = "Scheduled"});
  net_.timers.Advance(seconds(60));
  EXPECT_EQ(net_.transport.size(), 0U);
  EXPECT_THAT(results_,
              ElementsAre(WriteFence::kRefusal, WriteFence::kRefusal, WriteFence::kRefusal));
  EXPECT_EQ(writer_->Stats().fenced, 4U);
  EXPECT_EQ(writer_->Stats().events_pending, 0U);
}

TEST_F(WriterFence, ARepetitionIsASending) {
  OpenFor(milliseconds(5));
  writer_->Bind(Pod(), "n", Expect());
  ASSERT_EQ(net_.transport.size(), 1U);
  net_.transport.Answer(0, 429, StatusBody(503, "ServiceUnavailable", "boom"));
  net_.timers.Advance(seconds(1));
  EXPECT_EQ(net_.transport.size(), 1U);
  EXPECT_THAT(results_, ElementsAre(WriteFence::kRefusal));
}

TEST_F(WriterFence, SoIsOneThatTheServerAskedFor) {
  OpenFor(milliseconds(500));
  writer_->Bind(Pod(), "n", Expect());
  net_.transport.Answer(0, 429, StatusBody(429, "TooManyRequests", "later"), "1");
  net_.timers.Advance(seconds(2));
  EXPECT_EQ(net_.transport.size(), 1U);
  EXPECT_THAT(results_, ElementsAre(WriteFence::kRefusal));
}

// What may have been carried out is still looked into: a question is no write.
TEST_F(WriterFence, AFailureThatMayBeNoneIsAskedAbout) {
  OpenFor(milliseconds(5));
  writer_->Bind(Pod(), "n", Expect());
  net_.transport.Answer(0, 500, StatusBody(500, "InternalError", "boom"));
  net_.timers.Advance(seconds(1));
  ASSERT_EQ(net_.transport.size(), 2U);
  EXPECT_EQ(net_.transport.request(1).method, "GET");
  net_.transport.Answer(
      1, 200,
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns",)"
      R"("uid":"u1","resourceVersion":"9"},"spec":{"nodeName":"n"}})");
  EXPECT_THAT(results_, ElementsAre("ok"));
}

class SlowWriterFence : public WriterFence {
 protected:
  SlowWriterFence() : WriterFence({.qps = 1, .burst = 1}) {}
};

// The client's own limit may keep a request longer than the lease lasts.
TEST_F(SlowWriterFence, AWaitForTheRateLimitIsNoWayRound) {
  OpenFor(milliseconds(500));
  writer_->Bind(Pod(), "n", Expect());
  writer_->Bind(MakePod().Name("q").Namespace("ns").Uid("u2").Obj(), "n", Expect());
  net_.timers.Advance(seconds(2));
  EXPECT_EQ(net_.transport.size(), 1U);
  EXPECT_THAT(results_, ElementsAre(WriteFence::kRefusal));
  net_.transport.Answer(0, 201, "{}");
  EXPECT_THAT(results_, ElementsAre(WriteFence::kRefusal, "ok"));
}

}  // namespace
}  // namespace ks::client
