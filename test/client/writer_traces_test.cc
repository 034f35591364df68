// SPDX-License-Identifier: Apache-2.0
// Calls to the API server as spans, and the header that they carry.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/fake_transport.h"
#include "client/write/writer.h"
#include "testing/builders.h"
#include "testing/kept_spans.h"

namespace ks::client {
namespace {

using ks::testing::KeptSpans;
using ks::testing::MakePod;
using std::chrono::seconds;
using tracing::Span;

constexpr tracing::SpanContext kCaller{{1, 2}, 99};

class WriterTraces : public ::testing::Test {
 protected:
  WriterTraces() : client_(net_.Client()), events_(net_.Client()) {
    writer_ = std::make_unique<Writer>(*client_, *events_, WriterOptions{.spans = &spans_});
  }
  api::PodPtr Pod() { return MakePod().Name("p").Namespace("ns").Uid("u1").Obj(); }
  std::string HeaderOf(size_t request) {
    for (const auto& [name, value] : net_.transport.request(request).headers) {
      if (name == "traceparent") return value;
    }
    return "";
  }

  FakeNetwork net_;
  KeptSpans spans_;
  std::unique_ptr<RestClient> client_;
  std::unique_ptr<RestClient> events_;
  std::unique_ptr<Writer> writer_;
};

TEST_F(WriterTraces, EachSendingIsASpanOfItsOwn) {
  {
    const tracing::CurrentSpanScope scope(kCaller);
    writer_->Bind(Pod(), "n", {});
  }
  net_.timers.Settle();
  ASSERT_EQ(net_.transport.size(), 1U);
  net_.transport.Answer(0, 503, StatusBody(503, "ServiceUnavailable", "busy"));
  net_.timers.Advance(seconds(1));
  ASSERT_EQ(net_.transport.size(), 2U);
  net_.transport.Answer(1, 201, "{}");
  ASSERT_EQ(spans_.spans.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    const Span& span = spans_.spans[i];
    EXPECT_EQ(span.name, "POST");
    EXPECT_EQ(span.kind, tracing::SpanKind::kClient);
    EXPECT_EQ(span.parent, kCaller.span);
    EXPECT_EQ(span.context.trace, kCaller.trace);
    EXPECT_EQ(HeaderOf(i), tracing::Traceparent(span.context));
    EXPECT_EQ(KeptSpans::Get(span, "url.path"), "/api/v1/namespaces/ns/pods/p/binding");
  }
  EXPECT_TRUE(spans_.spans[0].failed);
  EXPECT_EQ(KeptSpans::Get(spans_.spans[0], "http.response.status_code"), "503");
  EXPECT_EQ(KeptSpans::Get(spans_.spans[0], "error.type"), "503");
  EXPECT_FALSE(spans_.spans[1].failed);
  EXPECT_EQ(KeptSpans::Get(spans_.spans[1], "http.request.resend_count"), "1");
}

TEST_F(WriterTraces, CallsOfNoSpanAndEventsHaveNone) {
  writer_->Bind(Pod(), "n", {});
  net_.timers.Settle();
  {
    const tracing::CurrentSpanScope scope(kCaller);
    writer_->RecordEvent({.regarding = Pod(),
                          .related = {},
                          .reporting_controller = "s",
                          .reason = "r",
                          .action = "a",
                          .note = "n"});
  }
  net_.timers.Settle();
  ASSERT_EQ(net_.transport.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(HeaderOf(i), "");
    net_.transport.Answer(i, 201, "{}");
  }
  EXPECT_TRUE(spans_.spans.empty());
}

}  // namespace
}  // namespace ks::client
