// SPDX-License-Identifier: Apache-2.0
// The way of spans to a collector that is well, slow, busy, wrong or gone, in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>

#include "client/fake_transport.h"
#include "client/otlp/span_exporter.h"
#include "metrics/registry.h"
#include "testing/otlp_decoder.h"
#include "testing/protobuf.h"

namespace ks::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Exporter : public ::testing::Test {
 protected:
  explicit Exporter(size_t queue = 100, size_t batch = 10) {
    SpanExporterOptions options;
    options.resource.attributes = {{"service.name", std::string("kubesched")}};
    options.queue_spans = queue;
    options.batch_spans = batch;
    exporter_ =
        std::make_unique<SpanExporter>(net_.transport, net_.timers, metrics_, std::move(options));
  }
  void Add(int count = 1) {
    for (int i = 0; i < count; ++i) {
      const uint64_t id = exporter_->NewSpanId();
      exporter_->Add({.context = {.trace = {1, 2}, .span = id},
                      .name = "s",
                      .start = TimePoint(Duration(1)),
                      .end = TimePoint(Duration(2))});
    }
  }
  size_t SpansIn(size_t request) {
    const auto read = testing::DecodeOtlp(net_.transport.request(request).body);
    EXPECT_EQ(read.fault, "");
    return read.spans.size();
  }
  std::string Count(const std::string& reason) const {
    const std::string line = "kubesched_trace_spans_dropped_total{reason=\"" + reason + "\"} ";
    return After(line);
  }
  std::string Sent() const { return After("kubesched_trace_spans_sent_total "); }

  FakeNetwork net_;
  metrics::Registry metrics_;
  std::unique_ptr<SpanExporter> exporter_;

 private:
  std::string After(const std::string& line) const {
    const std::string text = metrics_.Text();
    const size_t at = text.find("\n" + line);
    if (at == std::string::npos) return "none";
    const size_t from = at + 1 + line.size();
    return text.substr(from, text.find('\n', from) - from);
  }
};

TEST_F(Exporter, GathersForASecondAndSendsTogether) {
  Add(3);
  net_.timers.Advance(milliseconds(999));
  EXPECT_EQ(net_.transport.size(), 0U);
  net_.timers.Advance(milliseconds(1));
  ASSERT_EQ(net_.transport.size(), 1U);
  const HttpRequest request = net_.transport.request(0);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/v1/traces");
  EXPECT_THAT(request.headers,
              ::testing::Contains(::testing::Pair("Content-Type", "application/x-protobuf")));
  EXPECT_EQ(SpansIn(0), 3U);
  net_.transport.Answer(0, 200, "");
  EXPECT_EQ(Sent(), "3");
  net_.timers.Advance(seconds(60));
  EXPECT_EQ(net_.transport.size(), 1U);
}

TEST_F(Exporter, AFullBatchGoesAtOnceOneAtATime) {
  Add(25);
  net_.timers.Settle();
  ASSERT_EQ(net_.transport.size(), 1U);
  EXPECT_EQ(SpansIn(0), 10U);
  net_.timers.Advance(seconds(5));
  ASSERT_EQ(net_.transport.size(), 1U);
  net_.transport.Answer(0, 200, "");
  ASSERT_EQ(net_.transport.size(), 2U);
  EXPECT_EQ(SpansIn(1), 10U);
  net_.transport.Answer(1, 200, "");
  ASSERT_EQ(net_.transport.size(), 2U) << "what is left is gathered";
  net_.timers.Advance(seconds(1));
  ASSERT_EQ(net_.transport.size(), 3U);
  EXPECT_EQ(SpansIn(2), 5U);
}

TEST_F(Exporter, ASlowCollectorCostsTheSpansThatDoNotFit) {
  Add(10);
  net_.timers.Settle();
  Add(130);
  EXPECT_EQ(Count("queue_full"), "30");
  EXPECT_EQ(net_.transport.size(), 1U);
  net_.transport.Answer(0, 200, "");
  Add(5);
  EXPECT_EQ(Count("queue_full"), "30");
}

TEST_F(Exporter, ABusyCollectorIsAskedAgainAsItSays) {
  Add();
  net_.timers.Advance(seconds(1));
  net_.transport.Answer(0, 429, "", "7");
  net_.timers.Advance(milliseconds(6999));
  EXPECT_EQ(net_.transport.size(), 1U);
  net_.timers.Advance(milliseconds(1));
  ASSERT_EQ(net_.transport.size(), 2U);
  EXPECT_EQ(net_.transport.request(1).body, net_.transport.request(0).body);
  net_.transport.Answer(1, 200, "");
  EXPECT_EQ(Sent(), "1");
}

TEST_F(Exporter, ACollectorThatIsGoneIsGivenUpAfterAMinute) {
  Add(2);
  net_.timers.Advance(seconds(1));
  size_t tried = 0;
  while (Count("unreachable") == "0") {
    ASSERT_EQ(net_.transport.size(), tried + 1);
    net_.transport.Fail(tried, TransportError::Kind::kRefused);
    ++tried;
    ASSERT_LT(tried, 20U);
    if (Count("unreachable") == "0") net_.timers.Advance(net_.timers.UntilNext());
  }
  EXPECT_EQ(Count("unreachable"), "2");
  EXPECT_GE(tried, 5U);
  EXPECT_LE(net_.transport.at(tried - 1), seconds(61));
  // The next ones are tried as if nothing had been.
  Add();
  net_.timers.Advance(seconds(1));
  ASSERT_EQ(net_.transport.size(), tried + 1);
  net_.transport.Answer(tried, 200, "");
  EXPECT_EQ(Sent(), "1");
}

TEST_F(Exporter, ARefusalIsFinal) {
  for (const int status : {400, 401, 404, 413, 500}) {
    SCOPED_TRACE(status);
    const size_t before = net_.transport.size();
    Add();
    net_.timers.Advance(seconds(1));
    ASSERT_EQ(net_.transport.size(), before + 1);
    net_.transport.Answer(before, status, "no");
  }
  net_.timers.Advance(seconds(100));
  EXPECT_EQ(net_.transport.size(), 5U);
  EXPECT_EQ(Count("rejected"), "5");
}

TEST_F(Exporter, PartialSuccessesAndAnswersThatAreNone) {
  Add(4);
  net_.timers.Advance(seconds(1));
  net_.transport.Answer(0, 200, testing::ProtoField(1, testing::ProtoNumber(1, 3)));
  EXPECT_EQ(Count("rejected"), "3");
  EXPECT_EQ(Sent(), "1");
  Add(2);
  net_.timers.Advance(seconds(1));
  net_.transport.Answer(1, 200, testing::ProtoField(1, testing::ProtoNumber(1, 100)));
  EXPECT_EQ(Count("rejected"), "5") << "more than there were";
  Add(2);
  net_.timers.Advance(seconds(1));
  net_.transport.Answer(2, 200, "\x0a\x7f");
  EXPECT_EQ(Sent(), "3");
}

TEST_F(Exporter, TheEndSendsWhatWaitsAndRetriesNothing) {
  Add(3);
  std::thread end([this] { EXPECT_TRUE(exporter_->Flush(seconds(1))); });
  while (net_.transport.size() == 0) net_.timers.Settle();
  net_.transport.Answer(0, 503, "");
  end.join();
  EXPECT_EQ(Count("unreachable"), "3");
  Add(2);
  EXPECT_EQ(Count("ended"), "2");
}

TEST_F(Exporter, IdsAreNeverZeroAndDiffer) {
  std::set<uint64_t> ids;
  for (int i = 0; i < 1000; ++i) ids.insert(exporter_->NewSpanId());
  EXPECT_EQ(ids.size(), 1000U);
  EXPECT_FALSE(ids.contains(0));
}

TEST_F(Exporter, DestructionDropsWhatWaits) {
  Add(3);
  net_.timers.Advance(seconds(1));
  Add(2);
  exporter_.reset();
  EXPECT_EQ(Count("ended"), "5");
  EXPECT_TRUE(net_.transport.canceled(0));
  net_.timers.Advance(seconds(100));
  EXPECT_EQ(net_.transport.size(), 1U);
}

}  // namespace
}  // namespace ks::client
