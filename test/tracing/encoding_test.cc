// SPDX-License-Identifier: Apache-2.0
// Bodies and headers, read by a strict decoder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/otlp_decoder.h"
#include "testing/protobuf.h"
#include "tracing/otlp_encoding.h"
#include "tracing/sampling.h"
#include "tracing/span.h"

namespace ks::tracing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr SpanContext kRoot{{0x0123456789abcdefULL, 0xfedcba9876543210ULL}, 0xa1b2c3d4e5f60718ULL};
constexpr char kTrace[] = "0123456789abcdeffedcba9876543210";

Resource OfTest() {
  return {.attributes = {{"service.name", std::string("kubesched")}},
          .scope_name = "kubesched",
          .scope_version = "v1"};
}

TEST(Encoding, EverythingThatASpanHas) {
  Span span{.context = {.trace = kRoot.trace, .span = 7},
            .parent = kRoot.span,
            .name = "Bind",
            .kind = SpanKind::kClient,
            .start = TimePoint(Duration(1'700'000'000'000'000'001)),
            .end = TimePoint(Duration(1'700'000'000'000'000'002)),
            .links = {{.to = kRoot, .attributes = {{"why", std::string("preempted")}}}},
            .failed = true,
            .message = "no"};
  span.Add("text", std::string("ä \"q\""));
  span.Add("number", int64_t{-5});
  span.Add("empty", std::string());
  const auto request = testing::DecodeOtlp(EncodeTraces(OfTest(), std::vector<Span>{span}));
  ASSERT_EQ(request.fault, "");
  EXPECT_THAT(request.resource, ElementsAre(Pair("service.name", "kubesched")));
  EXPECT_EQ(request.scope_name + " " + request.scope_version, "kubesched v1");
  ASSERT_EQ(request.spans.size(), 1U);
  const testing::OtlpSpan& read = request.spans[0];
  EXPECT_EQ(read.trace, kTrace);
  EXPECT_EQ(read.span, "0000000000000007");
  EXPECT_EQ(read.parent, "a1b2c3d4e5f60718");
  EXPECT_EQ(read.name, "Bind");
  EXPECT_EQ(read.kind, 3);
  EXPECT_EQ(read.start, 1'700'000'000'000'000'001U);
  EXPECT_EQ(read.end, 1'700'000'000'000'000'002U);
  EXPECT_THAT(read.attributes,
              ElementsAre(Pair("empty", ""), Pair("number", "-5"), Pair("text", "ä \"q\"")));
  EXPECT_THAT(read.links, ElementsAre(Pair(kTrace, "a1b2c3d4e5f60718")));
  EXPECT_TRUE(read.failed);
  EXPECT_EQ(read.message, "no");
}

TEST(Encoding, ARootHasNoParentAndASuccessNoStatus) {
  const Span span{.context = kRoot,
                  .name = "pod",
                  .start = TimePoint(Duration(1)),
                  .end = TimePoint(Duration(1))};
  const auto request = testing::DecodeOtlp(EncodeTraces(OfTest(), std::vector<Span>{span, span}));
  ASSERT_EQ(request.fault, "");
  ASSERT_EQ(request.spans.size(), 2U);
  EXPECT_EQ(request.spans[0].parent, "");
  EXPECT_FALSE(request.spans[0].failed);
  EXPECT_THAT(testing::TraceFaults(request.spans),
              ElementsAre("pod appears twice", std::string("a second root of ") + kTrace));
}

TEST(Encoding, TheDecoderIsStrict) {
  const std::string good =
      EncodeTraces(OfTest(), std::vector<Span>{{.context = kRoot,
                                                .name = "pod",
                                                .start = TimePoint(Duration(1)),
                                                .end = TimePoint(Duration(2))}});
  EXPECT_EQ(testing::DecodeOtlp(good).fault, "");
  EXPECT_NE(testing::DecodeOtlp(good.substr(0, good.size() - 1)).fault, "");
  EXPECT_NE(testing::DecodeOtlp(good + testing::ProtoField(2, "x")).fault, "");
  EXPECT_NE(testing::DecodeOtlp("").fault, "");
  EXPECT_NE(testing::DecodeOtlp(EncodeTraces({}, std::vector<Span>{{.context = kRoot}})).fault, "");
}

TEST(Encoding, Answers) {
  EXPECT_EQ(DecodeAnswer("")->rejected_spans, 0);
  const auto partial = DecodeAnswer(
      testing::ProtoField(1, testing::ProtoNumber(1, 3) + testing::ProtoField(2, "too old")));
  ASSERT_TRUE(partial.has_value());
  EXPECT_EQ(partial->rejected_spans, 3);
  EXPECT_EQ(partial->message, "too old");
  // What later versions add is passed over.
  EXPECT_EQ(DecodeAnswer(testing::ProtoField(9, "new"))->rejected_spans, 0);
  EXPECT_FALSE(DecodeAnswer("\x0a\x7f").has_value());
  EXPECT_FALSE(DecodeAnswer("<html>").has_value());
}

TEST(Traceparent, IsTheW3CHeader) {
  EXPECT_EQ(Traceparent(kRoot), std::string("00-") + kTrace + "-a1b2c3d4e5f60718-01");
  EXPECT_EQ(Traceparent({{0, 1}, 2}), "00-00000000000000000000000000000001-0000000000000002-01");
}

TEST(CurrentSpan, NestsAndEnds) {
  EXPECT_FALSE(CurrentSpan().valid());
  {
    const CurrentSpanScope outer(kRoot);
    {
      const CurrentSpanScope inner({kRoot.trace, 5});
      EXPECT_EQ(CurrentSpan().span, 5U);
    }
    EXPECT_EQ(CurrentSpan(), kRoot);
  }
  EXPECT_FALSE(CurrentSpan().valid());
}

std::string Uid(int i) { return "0d6a9c3e-5f0b-4a1c-9d2e-" + std::to_string(100000000000 + i); }

TEST(Sampling, FollowsFromTheUid) {
  EXPECT_EQ(RootOf(Uid(1)), RootOf(Uid(1)));
  EXPECT_NE(TraceIdText(RootOf(Uid(1))), TraceIdText(RootOf(Uid(2))));
  EXPECT_TRUE(RootOf("").valid());
}

TEST(Sampling, TakesTheShareThatIsAskedFor) {
  constexpr int kPods = 200'000;
  int at_one_percent = 0;
  for (int i = 0; i < kPods; ++i) {
    const SpanContext root = RootOf(Uid(i));
    EXPECT_FALSE(IsSampled(root, 0));
    EXPECT_TRUE(IsSampled(root, kMillion));
    at_one_percent += IsSampled(root, 10'000) ? 1 : 0;
    // Whoever is recorded at a low ratio is at a higher one.
    EXPECT_LE(IsSampled(root, 10'000), IsSampled(root, 20'000));
  }
  EXPECT_NEAR(at_one_percent, kPods / 100, 150);
}

}  // namespace
}  // namespace ks::tracing
