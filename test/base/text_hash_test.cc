// SPDX-License-Identifier: Apache-2.0
#include "base/text_hash.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/string_map.h"

namespace ks {
namespace {

TEST(TextHash, SameTextSameHash) {
  for (const size_t length : {0U, 1U, 7U, 8U, 9U, 16U, 63U, 300U}) {
    const std::string text(length, 'a');
    const std::string padded = "b" + text + "b";  // elsewhere, and not aligned
    EXPECT_EQ(HashText(text), HashText(std::string_view(padded).substr(1, length))) << length;
  }
}

TEST(TextHash, LengthAndEachByteCount) {
  std::set<size_t> hashes;
  size_t texts = 0;
  for (size_t length = 0; length < 40; ++length) {
    hashes.insert(HashText(std::string(length, '\0')));
    ++texts;
    for (size_t i = 0; i < length; ++i, ++texts) {
      std::string text(length, '\0');
      text[i] = 1;
      hashes.insert(HashText(text));
    }
  }
  EXPECT_EQ(hashes.size(), texts);
}

// Blocks that can follow each other in any order without libstdc++'s std::hash of 96 characters
// telling it (found by test/security/collisions.py).
TEST(TextHash, TextsOfOneStandardHashDiffer) {
  const std::array<std::string, 3> blocks = {"oif4caaafjyclngs", "avjfdaaazncwltem",
                                             "m24pjaaa5f0pn0k3"};
  std::set<size_t> standard;
  std::set<size_t> keyed;
  for (size_t number = 0; number < 729; ++number) {
    std::string text;
    size_t rest = number;
    for (int place = 0; place < 6; ++place, rest /= 3) text += blocks[rest % 3];
    standard.insert(std::hash<std::string>()(text));
    keyed.insert(HashText(text));
  }
  ASSERT_EQ(standard.size(), 1U);
  EXPECT_EQ(keyed.size(), 729U);
}

TEST(TextHash, EachProcessHasItsOwnKey) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the test's program once more
  EXPECT_EXIT(
      {
        std::fprintf(stderr, "hash %zu.", HashText("text"));
        std::exit(0);
      },
      ::testing::ExitedWithCode(0),
      ::testing::AllOf(
          ::testing::HasSubstr("hash "),
          ::testing::Not(::testing::HasSubstr("hash " + std::to_string(HashText("text")) + "."))));
}

TEST(TextHash, TablesAreAskedWithViews) {
  StringMap<int> map;
  map["one"] = 1;
  EXPECT_EQ(map.find(std::string_view("one"))->second, 1);
  StringSet set = {"one"};
  EXPECT_TRUE(set.contains(std::string_view("one")));
  EXPECT_FALSE(set.contains(std::string_view("two")));
}

}  // namespace
}  // namespace ks
