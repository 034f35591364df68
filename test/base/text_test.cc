// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ks {
namespace {

using ::testing::ElementsAre;

TEST(TextTest, OnlyAsciiLettersBecomeLowerCase) {
  EXPECT_EQ(LowerCase("Az09-_@[`{\xC3\x84"), "az09-_@[`{\xC3\x84");
  EXPECT_EQ(LowerCase(""), "");
}

TEST(TextTest, TrimmedLeavesWhatIsBetween) {
  EXPECT_EQ(Trimmed(" \ta b\t "), "a b");
  EXPECT_EQ(Trimmed(" \t "), "");
  EXPECT_EQ(Trimmed(""), "");
  EXPECT_EQ(Trimmed("a\n"), "a\n");
  EXPECT_EQ(Trimmed("\r\n a\v\f", kSpace), "a");
}

TEST(TextTest, SplitTrimmedHasOnePartMoreThanSeparators) {
  EXPECT_THAT(SplitTrimmed(" a ,b,, c", ','), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(SplitTrimmed("a,", ','), ElementsAre("a", ""));
  EXPECT_THAT(SplitTrimmed("", ','), ElementsAre(""));
}

}  // namespace
}  // namespace ks
