// SPDX-License-Identifier: Apache-2.0
#include "api/object.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/time_text.h"

namespace ks::api {
namespace {

TEST(ObjectMetaTest, Key) {
  ObjectMeta meta;
  meta.name = "n1";
  EXPECT_EQ(meta.Key(), "n1");
  meta.ns = Symbol("ns");
  EXPECT_EQ(meta.Key(), "ns/n1");
}

TEST(ResourceVersionTest, W5) {
  struct Case {
    const char* a;
    const char* b;
    std::strong_ordering order;
  };
  const Case cases[] = {
      {"9", "10", std::strong_ordering::less},
      {"10", "10", std::strong_ordering::equal},
      {"123456789012345678901", "99", std::strong_ordering::greater},
      {"12", "13", std::strong_ordering::less},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.a);
    const Result<std::strong_ordering> order = CompareResourceVersions(c.a, c.b);
    ASSERT_TRUE(order.ok());
    EXPECT_EQ(*order, c.order);
  }
  const auto error = [](std::string_view a, std::string_view b) {
    return CompareResourceVersions(a, b).error().message;
  };
  EXPECT_EQ(error("010", "9"), "resource version is not well formed: 010");
  EXPECT_EQ(error("0", "5"), "resource version is not well formed: 0");
  EXPECT_EQ(error("5", ""), "resource version is not well formed: ");
  EXPECT_EQ(error("5", "x"), "resource version is not well formed: x");
}

TEST(SymbolMapTest, Assign) {
  const Symbol a("assign-a");
  const Symbol b("assign-b");
  std::vector<LabelMap::Entry> entries = {
      {b, Symbol("1")}, {a, Symbol("2")}, {b, Symbol("3")}, {b, Symbol("4")}};
  LabelMap map{{Symbol("old"), Symbol("x")}};
  map.Assign(entries);
  EXPECT_EQ(map, (LabelMap{{a, Symbol("2")}, {b, Symbol("4")}}));
  EXPECT_TRUE(entries.empty());
  map.Assign(entries);
  EXPECT_TRUE(map.empty());
}

TEST(SymbolMapTest, SetFindErase) {
  LabelMap map;
  map.Set(Symbol("k"), Symbol("1"));
  map.Set(Symbol("k"), Symbol("2"));
  EXPECT_EQ(map.size(), 1u);
  EXPECT_EQ(map.Find(Symbol("k"))->view(), "2");
  EXPECT_TRUE(map.Erase(Symbol("k")));
  EXPECT_FALSE(map.Erase(Symbol("k")));
  EXPECT_FALSE(map.Contains(Symbol("k")));
}

// docs/spec/api.md section 4.
TEST(ParseTimeTest, Table) {
  struct Case {
    const char* name;
    const char* text;
    const char* any;     // in UTC, "" when refused
    const char* micros;  // the same
  };
  const Case cases[] = {
      {"seconds", "2026-01-02T02:04:05Z", "2026-01-02T02:04:05.000000Z", ""},
      {"micros", "2026-01-02T02:04:05.123456Z", "2026-01-02T02:04:05.123456Z",
       "2026-01-02T02:04:05.123456Z"},
      {"millis", "2026-01-02T02:04:05.999Z", "2026-01-02T02:04:05.999000Z", ""},
      {"nanos", "2026-01-02T02:04:05.123456789Z", "2026-01-02T02:04:05.123456Z", ""},
      {"many_digits", "2026-01-02T02:04:05.12345678912345Z", "2026-01-02T02:04:05.123456Z", ""},
      {"offset", "2026-01-02T02:04:05+01:30", "2026-01-02T00:34:05.000000Z", ""},
      {"negative_offset", "2026-01-01T23:00:00.000001-05:00", "2026-01-02T04:00:00.000001Z",
       "2026-01-02T04:00:00.000001Z"},
      {"offset_24_60_as_upstream", "2026-01-03T02:04:05+24:60", "2026-01-02T01:04:05.000000Z", ""},
      {"leap_day", "2028-02-29T00:00:00Z", "2028-02-29T00:00:00.000000Z", ""},
      {"no_leap_day", "2026-02-29T00:00:00Z", "", ""},
      {"empty", "", "", ""},
      {"blank_for_T", "2026-01-02 02:04:05Z", "", ""},
      {"no_zone", "2026-01-02T02:04:05", "", ""},
      {"point_only", "2026-01-02T02:04:05.Z", "", ""},
      {"month_13", "2026-13-02T02:04:05Z", "", ""},
      {"hour_24", "2026-01-02T24:04:05Z", "", ""},
      {"second_60", "2026-01-02T02:04:60Z", "", ""},
      {"short", "2026-1-2T2:4:5Z", "", ""},
      {"more", "2026-01-02T02:04:05Zx", "", ""},
      {"offset_without_colon", "2026-01-02T02:04:05+0100", "", ""},
      {"cut", "2026-01-02T02:0", "", ""},
  };
  const auto text = [](const std::optional<TimePoint>& time) {
    return time ? FormatMicroTime(*time) : std::string();
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(text(ParseTime(c.text, TimePrecision::kAny)), c.any);
    EXPECT_EQ(text(ParseTime(c.text, TimePrecision::kMicros)), c.micros);
  }
}

TEST(ParseTimeTest, YearsOutsideTheRangeAreClamped) {
  EXPECT_EQ(ParseTime("0001-01-01T00:00:00Z", TimePrecision::kAny), TimePoint::min());
  EXPECT_EQ(ParseTime("9999-12-31T23:59:59.999Z", TimePrecision::kAny), TimePoint::max());
  EXPECT_TRUE(ParseTime("2261-12-31T23:59:59.999999999-23:59", TimePrecision::kAny));
  EXPECT_TRUE(ParseTime("1678-01-01T00:00:00+23:59", TimePrecision::kAny));
}

}  // namespace
}  // namespace ks::api
