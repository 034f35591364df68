// SPDX-License-Identifier: Apache-2.0
#include "kubesched/flags/go_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace ks::flags {
namespace {

using ::testing::ElementsAre;

TEST(GoValues, IntegersOfBaseZero) {
  const std::pair<const char*, int64_t> good[] = {{"0", 0},
                                                  {"-0", 0},
                                                  {"+7", 7},
                                                  {"0x1F", 31},
                                                  {"0o17", 15},
                                                  {"017", 15},
                                                  {"0b101", 5},
                                                  {"1_000", 1000},
                                                  {"0x_ff", 255},
                                                  {"0_7", 7},
                                                  {"-0x10", -16},
                                                  {"9223372036854775807", INT64_MAX},
                                                  {"-9223372036854775808", INT64_MIN}};
  for (const auto& [text, value] : good) {
    const auto parsed = ParseInt(text, 0, 64);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(parsed.value(), value) << text;
  }
  for (const char* text :
       {"", "-", "+", "1__0", "_1", "1_", "0x", "08", "1.0", " 1", "1 ", "--1"}) {
    EXPECT_FALSE(ParseInt(text, 0, 64).ok()) << text;
  }
  EXPECT_FALSE(ParseInt("1_0", 10, 64).ok());
  EXPECT_EQ(ParseInt("9223372036854775808", 0, 64).error().message,
            "strconv.ParseInt: parsing \"9223372036854775808\": value out of range");
  EXPECT_FALSE(ParseInt("2147483648", 0, 32).ok());
  EXPECT_EQ(ParseInt("-2147483648", 0, 32).value(), INT32_MIN);
}

TEST(GoValues, Durations) {
  using std::chrono::hours;
  using std::chrono::milliseconds;
  using std::chrono::nanoseconds;
  const std::pair<const char*, Duration> good[] = {{"0", Duration(0)},
                                                   {"5s", std::chrono::seconds(5)},
                                                   {"1h0m", hours(1)},
                                                   {"1.5h", std::chrono::minutes(90)},
                                                   {"-2ms", milliseconds(-2)},
                                                   {"+3us", nanoseconds(3000)},
                                                   {".5s", milliseconds(500)},
                                                   {"1.s", milliseconds(1000)},
                                                   {"3\u00b5s", nanoseconds(3000)},
                                                   {"0.3s", milliseconds(300)},
                                                   {"2562047h47m16.854775807s", Duration::max()}};
  for (const auto& [text, value] : good) {
    const auto parsed = ParseDuration(text);
    ASSERT_TRUE(parsed.ok()) << text << ": " << parsed.error().message;
    EXPECT_EQ(parsed.value(), value) << text;
  }
  const std::pair<const char*, const char*> bad[] = {
      {"", "time: invalid duration \"\""},
      {"5", "time: missing unit in duration \"5\""},
      {"5x", "time: unknown unit \"x\" in duration \"5x\""},
      {"s", "time: invalid duration \"s\""},
      {".s", "time: invalid duration \".s\""},
      {"1h ", "time: unknown unit \"h \" in duration \"1h \""},
      {"2562048h", "time: invalid duration \"2562048h\""},
      {"99999999999999999999s", "time: invalid duration \"99999999999999999999s\""}};
  for (const auto& [text, error] : bad) {
    const auto parsed = ParseDuration(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().message, error);
  }
}

TEST(GoValues, CommaLists) {
  EXPECT_THAT(ParseCsv("").value(), ElementsAre());
  EXPECT_THAT(ParseCsv("a").value(), ElementsAre("a"));
  EXPECT_THAT(ParseCsv("a,").value(), ElementsAre("a", ""));
  EXPECT_THAT(ParseCsv("a,\"b,\"\"c\"").value(), ElementsAre("a", "b,\"c"));
  EXPECT_EQ(ParseCsv("a,\"b\"c").error().message,
            "parse error on line 1, column 5: extraneous or missing \" in quoted-field");
  EXPECT_EQ(JoinCsv({"a", "b,c", "d\"e"}), "a,\"b,c\",\"d\"\"e\"");
}

TEST(GoValues, TextsAndFloats) {
  EXPECT_EQ(Quote("a\"\\\n\x01\x7f"), "\"a\\\"\\\\\\n\\x01\\x7f\"");
  EXPECT_EQ(FormatFloat32(50), "50");
  EXPECT_EQ(FormatFloat32(0.1F), "0.1");
  EXPECT_EQ(FormatFloat32(1e30F), "1e+30");
  EXPECT_EQ(ParseFloat32("-1").value(), -1);
  EXPECT_FALSE(ParseFloat32("").ok());
  EXPECT_FALSE(ParseFloat32("+-1").ok());
}

}  // namespace
}  // namespace ks::flags
