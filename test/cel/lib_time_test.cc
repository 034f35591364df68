// SPDX-License-Identifier: Apache-2.0
// Timestamps and durations.
#include <gtest/gtest.h>

#include "cel/evaluation.h"

namespace ks::cel {
namespace {

constexpr Row kRows[] = {
    {"timestamp('2009-02-13T23:31:30Z') == timestamp(1234567890)"},
    {"string(timestamp('2009-02-13T23:31:30.1200+01:00')) == '2009-02-13T23:31:30.12+01:00'"},
    {"string(timestamp('2009-02-13T23:31:30+00:00')) == '2009-02-13T23:31:30Z'"},
    {"timestamp('2009-02-13T23:31:30+01:00') == timestamp('2009-02-13T22:31:30Z')"},
    {"timestamp('2009-02-13t23:31:30Z') == timestamp(0)",
     "compilation failed: ERROR: <input>:1:11: invalid timestamp argument\n | "
     "timestamp('2009-02-13t23:31:30Z') == timestamp(0)\n | ..........^"},
    {"timestamp(dyn('2009-02-13')) == timestamp(0)",
     "program instantiation failed: type conversion error from 'string' to "
     "'google.protobuf.Timestamp'"},
    {"timestamp('0001-01-01T00:00:00Z') - duration('1ns') == timestamp(0)", "timestamp overflow"},
    {"timestamp('9999-12-31T23:59:59Z') + duration('1s') == timestamp(0)", "timestamp overflow"},
    {"timestamp(-62135596801) == timestamp(0)",
     "compilation failed: ERROR: <input>:1:11: invalid timestamp argument\n | "
     "timestamp(-62135596801) == timestamp(0)\n | ..........^"},
    {"timestamp(253402300800) == timestamp(0)",
     "compilation failed: ERROR: <input>:1:11: invalid timestamp argument\n | "
     "timestamp(253402300800) == timestamp(0)\n | ..........^"},
    {"timestamp('9999-12-31T23:59:59Z') - timestamp('0001-01-01T00:00:00Z') == duration('0s')",
     "integer overflow"},
    {"timestamp('2020-01-01T00:00:01Z') - timestamp('2020-01-01T00:00:00Z') == duration('1s')"},
    {"duration('1h') + timestamp('2020-01-01T00:00:00Z') == timestamp('2020-01-01T01:00:00Z')"},
    {"duration('2562047h') + duration('2562047h') == duration('0s')", "integer overflow"},
    {"duration('1h') - duration('30m') == duration('1800s')"},
    {"duration('1.5h') == duration('90m') && duration('-1m') < duration('0')"},
    {"duration('1d') == duration('24h')",
     "compilation failed: ERROR: <input>:1:10: invalid duration argument\n | duration('1d') == "
     "duration('24h')\n | .........^"},
    {"duration('1500ms') == duration('1.5s') && duration('1us') == duration('1000ns')"},
    {"string(duration('1h30m')) == '5400s' && string(duration('1500ms')) == '1.5s'"},
    {"string(duration('1ns')) == '0.000000001s'"},
    {"duration('123.321s').getMilliseconds() == 123321"},
    {"duration('90m').getHours() == 1 && duration('90m').getMinutes() == 90"},
    {"duration('-90s').getMinutes() == -1 && duration('90s').getSeconds() == 90"},
    {"timestamp('2009-02-13T23:31:30.123Z').getFullYear() == 2009"},
    {"timestamp('2009-02-13T23:31:30.123Z').getMonth() == 1"},
    {"timestamp('2009-02-13T23:31:30.123Z').getDayOfYear() == 43"},
    {"timestamp('2009-02-13T23:31:30.123Z').getDayOfMonth() == 12"},
    {"timestamp('2009-02-13T23:31:30.123Z').getDate() == 13"},
    {"timestamp('2009-02-13T23:31:30.123Z').getDayOfWeek() == 5"},
    {"timestamp('2009-02-13T23:31:30.123Z').getHours() == 23"},
    {"timestamp('2009-02-13T23:31:30.123Z').getMinutes() == 31"},
    {"timestamp('2009-02-13T23:31:30.123Z').getSeconds() == 30"},
    {"timestamp('2009-02-13T23:31:30.123Z').getMilliseconds() == 123"},
    {"timestamp('2009-02-13T23:31:30Z').getHours('America/Los_Angeles') == 15"},
    {"timestamp('2009-02-13T23:31:30Z').getDate('Asia/Tokyo') == 14"},
    {"timestamp('2009-02-13T23:31:30Z').getHours('+01:30') == 1"},
    {"timestamp('2009-02-13T23:31:30Z').getMinutes('-01:30') == 1"},
    {"timestamp('2009-02-13T23:31:30Z').getHours('02:00') == 1"},
    {"timestamp('2009-02-13T23:31:30Z').getHours('') == 23"},
    {"timestamp('2009-02-13T23:31:30Z').getHours('Nope/Zone') == 0", "unknown time zone Nope/Zone"},
    {"timestamp('2009-02-13T23:31:30Z').getHours('../etc') == 0", "time: invalid location name"},
    {"timestamp('2009-02-13T23:31:30Z').getHours('x:00') == 0",
     "strconv.Atoi: parsing \"x\": invalid syntax"},
    {"timestamp('2009-02-13T23:31:30Z').getHours('+1:x') == 0",
     "strconv.Atoi: parsing \"x\": invalid syntax"},
    {"timestamp('2009-02-13T23:31:30+05:00').getHours() == 18"},
    {"int(timestamp('2009-02-13T23:31:30.9Z')) == 1234567890"},
    {"int(duration('1.5s')) == 1500000000"},
    {"google.protobuf.Duration{seconds: 1, nanos: 5} == duration('1000000005ns')"},
    {"timestamp('2009-02-13T23:31:30Z') < timestamp('2009-02-13T23:31:31Z')"},
    {"duration(dyn('x')) == duration('1s')",
     "program instantiation failed: type conversion error from 'string' to "
     "'google.protobuf.Duration'"},
};

TEST(LibTimeTest, ValuesAndErrors) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.expression);
    EXPECT_EQ(EvaluateOnSample(row.expression).text, row.wanted);
  }
}

}  // namespace
}  // namespace ks::cel
