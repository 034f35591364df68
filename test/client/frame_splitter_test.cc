// SPDX-License-Identifier: Apache-2.0
#include "client/watch/frame_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "client/rest/backoff.h"

namespace ks::client {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

std::vector<std::string> Cut(FrameSplitter& splitter, std::string_view text, size_t piece) {
  std::vector<std::string> frames;
  for (size_t at = 0; at < text.size(); at += piece) {
    splitter.Append(text.substr(at, piece));
    std::string_view frame;
    while (splitter.Next(&frame)) frames.emplace_back(frame);
  }
  return frames;
}

struct SplitCase {
  std::string name;
  std::string text;
  std::vector<std::string> want;
  bool want_broken = false;
};

class Splitting : public ::testing::TestWithParam<SplitCase> {};

// Whatever the pieces, the frames are the same.
TEST_P(Splitting, InPiecesOfEverySize) {
  for (size_t piece = 1; piece <= GetParam().text.size(); ++piece) {
    SCOPED_TRACE(piece);
    FrameSplitter splitter;
    EXPECT_THAT(Cut(splitter, GetParam().text, piece), ElementsAreArray(GetParam().want));
    EXPECT_EQ(splitter.broken(), GetParam().want_broken);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Splitting,
    ::testing::Values(
        SplitCase{"lines", "{\"a\":1}\n{\"b\":2}\n", {"{\"a\":1}", "{\"b\":2}"}},
        SplitCase{"noLineEnds", "{}{}{\"a\":{}}", {"{}", "{}", "{\"a\":{}}"}},
        SplitCase{"pretty", "{\n \"a\": {\n }\n}\r\n{\n}", {"{\n \"a\": {\n }\n}", "{\n}"}},
        SplitCase{"bracesInStrings",
                  "{\"a\":\"}}{{\"}{\"b\":\"\\\"}\"}",
                  {"{\"a\":\"}}{{\"}", "{\"b\":\"\\\"}\"}"}},
        SplitCase{"escapedBackslash",
                  "{\"a\":\"\\\\\"}{\"b\":\"\\\\\\\"{\"}",
                  {"{\"a\":\"\\\\\"}", "{\"b\":\"\\\\\\\"{\"}"}},
        SplitCase{"incomplete", "{\"a\":1}\n{\"b\":", {"{\"a\":1}"}},
        SplitCase{
            "protobuf", std::string("\0\0\0\x3\n{}\0\0\0\0\0\0\0\x2{\"", 17), {"\n{}", "", "{\""}},
        SplitCase{"cutProtobuf", std::string("\0\0\0\x1x\0\0\x1\0y", 10), {"x"}},
        SplitCase{"hugeProtobuf", std::string("\0\0\0\x1x\x8\0\0\0y", 10), {"x"}, true},
        SplitCase{"strayBrace", "{\"a\":1}}{}", {"{\"a\":1}"}, true},
        SplitCase{
            "longerThanABlock",
            "{\"abcdefghijklmnopqrstuvwxyz\":\"0123456789\\\"0123456789\"}\n{\"x\":[{},{}]}",
            {"{\"abcdefghijklmnopqrstuvwxyz\":\"0123456789\\\"0123456789\"}", "{\"x\":[{},{}]}"}}),
    [](const auto& test) { return test.param.name; });

TEST(FrameSplitter, RandomPieces) {
  constexpr uint64_t kSeed = 7;
  Random random(kSeed);
  std::string text;
  std::vector<std::string> want;
  for (int i = 0; i < 500; ++i) {
    std::string frame = "{\"type\":\"ADDED\",\"object\":{\"s\":\"";
    for (uint64_t n = random.Below(300); n > 0; --n) frame += "ab{}\\\"\\\\é"[random.Below(4)];
    frame += "\"}}";
    want.push_back(frame);
    text += frame + (random.Below(3) == 0 ? "" : "\n");
  }
  FrameSplitter splitter;
  std::vector<std::string> frames;
  for (size_t at = 0; at < text.size();) {
    const size_t size = 1 + random.Below(2048);
    splitter.Append(std::string_view(text).substr(at, size));
    at += size;
    std::string_view frame;
    while (splitter.Next(&frame)) frames.emplace_back(frame);
  }
  EXPECT_EQ(frames, want) << "seed " << kSeed;
}

TEST(FrameSplitter, AnEndlessObjectIsRefused) {
  FrameSplitter splitter(1000);
  std::string_view frame;
  splitter.Append("{\"a\":\"");
  for (int i = 0; i < 20 && !splitter.broken(); ++i) {
    splitter.Append(std::string(100, 'x'));
    EXPECT_FALSE(splitter.Next(&frame));
  }
  EXPECT_TRUE(splitter.broken());
}

// 16 MB in pieces of 2 KB as one object: quadratic work would take minutes.
TEST(FrameSplitter, LargeObjectInSmallPieces) {
  FrameSplitter splitter;
  std::string_view frame;
  splitter.Append("{\"a\":\"");
  const std::string piece(2048, 'x');
  for (int i = 0; i < 8192; ++i) {
    splitter.Append(piece);
    ASSERT_FALSE(splitter.Next(&frame));
  }
  splitter.Append("\"}");
  ASSERT_TRUE(splitter.Next(&frame));
  EXPECT_EQ(frame.size(), 8 + 8192 * piece.size());
}

TEST(Backoff, W6) {
  Backoff backoff;
  std::vector<double> delays;
  TimePoint now{};
  for (int i = 0; i < 8; ++i) {
    const Duration delay = backoff.Next(now, 0.5);
    delays.push_back(std::chrono::duration<double>(delay).count());
    now += delay;
  }
  EXPECT_THAT(delays, ElementsAre(1.2, 2.4, 4.8, 9.6, 19.2, 38.4, 45, 45));
  now += std::chrono::minutes(2);
  EXPECT_EQ(backoff.Next(now, 0.5), std::chrono::milliseconds(1200));
}

}  // namespace
}  // namespace ks::client
