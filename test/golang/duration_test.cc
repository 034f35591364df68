// SPDX-License-Identifier: Apache-2.0
// Section 2.7 of docs/spec/config.md.
#include "golang/durations.h"

#include <gtest/gtest.h>

#include <string>

namespace ks::golang {
namespace {

struct Row {
  std::string text;
  std::string want;  // printed, or the error
};

TEST(DurationTest, ParsesAndPrints) {
  const Row rows[] = {
      {"1h", "1h0m0s"},
      {"90m", "1h30m0s"},
      {"1m30.5s", "1m30.5s"},
      {"1500ms", "1.5s"},
      {"1.5us", "1.5µs"},
      {"1.5µs", "1.5µs"},
      {"1.5μs", "1.5µs"},
      {"25h", "25h0m0s"},
      {"-90s", "-1m30s"},
      {"+5s", "5s"},
      {".5s", "500ms"},
      {"5.s", "5s"},
      {"1.5h", "1h30m0s"},
      {"1h1h", "2h0m0s"},
      {"10ns", "10ns"},
      {"0", "0s"},
      {"+0", "0s"},
      {"-0", "0s"},
      {"0s", "0s"},
      {"-0s", "0s"},
      {"0.9ns", "0s"},
      {"0.99999999999999999999s", "1s"},
      {"9223372036854775807ns", "2562047h47m16.854775807s"},
      {"-9223372036854775808ns", "-2562047h47m16.854775808s"},
      {"2562047h47m16.854775807s", "2562047h47m16.854775807s"},
      {"9223372036854775808ns", "time: invalid duration \"9223372036854775808ns\""},
      {"2562048h", "time: invalid duration \"2562048h\""},
      {"99999999999999999999s", "time: invalid duration \"99999999999999999999s\""},
      {"9223372036s9223372036s", "time: invalid duration \"9223372036s9223372036s\""},
      {"90", "time: missing unit in duration \"90\""},
      {"00", "time: missing unit in duration \"00\""},
      {"1s2", "time: missing unit in duration \"1s2\""},
      {"1.5.5s", "time: missing unit in duration \"1.5.5s\""},
      {"1d", "time: unknown unit \"d\" in duration \"1d\""},
      {"5 s", "time: unknown unit \" s\" in duration \"5 s\""},
      {"1S", "time: unknown unit \"S\" in duration \"1S\""},
      {"1e3s", "time: unknown unit \"e\" in duration \"1e3s\""},
      {"1s-5s", "time: unknown unit \"s-\" in duration \"1s-5s\""},
      {"abc", "time: invalid duration \"abc\""},
      {" 5s", "time: invalid duration \" 5s\""},
      {"", "time: invalid duration \"\""},
      {"+", "time: invalid duration \"+\""},
      {".s", "time: invalid duration \".s\""},
      {"é\n\"\\", "time: invalid duration \"\\xc3\\xa9\\x0a\\\"\\\\\""},
  };
  for (const Row& row : rows) {
    const Result<Duration> duration = ParseDuration(row.text);
    EXPECT_EQ(duration.ok() ? FormatDuration(*duration) : duration.error().message, row.want)
        << row.text;
  }
}

}  // namespace
}  // namespace ks::golang
