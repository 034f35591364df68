// SPDX-License-Identifier: Apache-2.0
#include "api/quantity.h"

#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace ks::api {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr const char* kRegex =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr const char* kSuffix = "unable to parse quantity's suffix";

Quantity Q(std::string_view text) {
  Result<Quantity> q = Quantity::Parse(text);
  EXPECT_TRUE(q.ok()) << text;
  return q.ok() ? *q : Quantity();
}

// docs/spec/api.md 3.6.
TEST(QuantityTest, WorkedExamples) {
  struct Case {
    const char* name;
    const char* text;
    const char* canonical;
    int64_t value;
    int64_t milli;
  };
  const Case cases[] = {
      {"Q1", "0", "0", 0, 0},
      {"Q2", "+5", "+5", 5, 5000},
      {"Q3", "100m", "100m", 1, 100},
      {"Q4", "0.1", "100m", 1, 100},
      {"Q5", "1.5", "1500m", 2, 1500},
      {"Q6", "1000m", "1", 1, 1000},
      {"Q7", "1001m", "1001m", 2, 1001},
      {"Q8", "1.5m", "1500u", 1, 2},
      {"Q9", "0.0001", "100u", 1, 1},
      {"Q10", "1n", "1n", 1, 1},
      {"Q11", "0.1n", "1n", 1, 1},
      {"Q12", "0.9999", "999900u", 1, 1000},
      {"Q13", "1.0000000001", "1000000001n", 2, 1001},
      {"Q14", "123456789.123456789123", "123456789123456790n", 123456790, 123456789124},
      {"Q15", "1k", "1k", 1000, 1000000},
      {"Q17", "1Ki", "1Ki", 1024, 1024000},
      {"Q18", "1.1Ki", "1126400m", 1127, 1126400},
      {"Q19", "2.5Gi", "2560Mi", 2684354560, 2684354560000},
      {"Q20", "0.25Mi", "256Ki", 262144, 262144000},
      {"Q21", "2147483648Mi", "2Pi", 2251799813685248, 2251799813685248000},
      {"Q22", "12e6", "12e6", 12000000, 12000000000},
      {"Q23", "12E6", "12E6", 12000000, 12000000000},
      {"Q24", "1e+3", "1e+3", 1000, 1000000},
      {"Q25", "5e5", "500e3", 500000, 500000000},
      {"Q26", "1.2e3", "1200", 1200, 1200000},
      {"Q27", "3.0e2", "300", 300, 300000},
      {"Q28", "1e-3", "1e-3", 1, 1},
      {"Q29", "0.001k", "1", 1, 1000},
      {"Q30", "1E", "1E", 1000000000000000000, 0},
      {"Q31", "1Ei", "1Ei", 1152921504606846976, kMin},
      {"Q32", "8Ei", "9223372036854775807", 9223372036854775807, -1000},
      {"Q33", "16Ei", "9223372036854775807", 9223372036854775807, -1000},
      {"Q34", "9223372036854775808", "9223372036854775808", kMin, 0},
      {"Q35", "10E", "10E", 0, 0},
      {"Q36", "1e19", "10e18", 0, 0},
      {"Q37", "1e100", "10e99", 0, 0},
      {"Q38", "010", "010", 10, 10000},
      {"Q39", "1.", "1.", 1, 1000},
      {"Q40", ".5", "500m", 1, 500},
      {"Q41_Ki", "Ki", "0", 0, 0},
      {"Q41_point", ".", "0", 0, 0},
      {"Q41_plus", "+", "0", 0, 0},
      {"Q41_m", "m", "0", 0, 0},
      {"Q42", "-1.5Gi", "-1536Mi", -1610612736, -1610612736000},
      {"Q43", "-0.0001", "-100u", -1, -1},
      {"Q46", "99Ti", "99Ti", 108851651149824, 108851651149824000},
      {"Q47", "100Ti", "100Ti", 109951162777600, 109951162777600000},
      {"Q48", "1024Ki", "1Mi", 1048576, 1048576000},
      {"Q49", "0.0001Ki", "102400u", 1, 103},
      {"Q50", "999999999999999999k", "999999999999999999k", 3875820019684211736,
       2003764205205896640},
      {"Q51", "-16Ei", "-9223372036854775807", -9223372036854775807, 1000},
      {"Q52", "7Ei", "7Ei", 8070450532247928832, kMin},
      // Texts of the other sections.
      {"minus_Ki_is_zero", "-Ki", "0", 0, 0},
      {"nano_rounds_up", "1.5e-9", "2e-9", 1, 1},
      {"below_nano", "1e-10", "1e-9", 1, 1},
      {"far_below_nano", "1e-2000000000", "1e-9", 1, 1},
      {"huge_exponent_slow", "1234567890123456789e2000000000", "123456789012345678900e1999999998",
       0, 0},
      {"negative_slow_truncates_and_adds_one", "-1.0000000001", "-1000000001n", 0, -999},
      {"kept_1.500", "1.500", "1.500", 2, 1500},
      {"0.100", "0.100", "100m", 1, 100},
      {"1000", "1000", "1k", 1000, 1000000},
      {"kept_1e03", "1e03", "1e03", 1000, 1000000},
      {"kept_1e0", "1e0", "1e0", 1, 1000},
      {"kept_point_binary", "1.Ki", "1.Ki", 1024, 1024000},
      {"9300P", "9300P", "9300P", 0, 0},
      {"node_0.5m", "0.5m", "500u", 1, 1},
      {"node_1500u", "1500u", "1500u", 1, 2},
      {"node_1.5Gi", "1.5Gi", "1536Mi", 1610612736, 1610612736000},
      {"long_zero", "0.0000000000000000000000", "0", 0, 0},
      {"slow_integer", "1000000000000000000000000000000000000000", "1000000000000000000000E",
       6873995514006732800, -6640025486929952768},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Quantity q = Q(c.text);
    EXPECT_EQ(q.ToString(), c.canonical);
    EXPECT_EQ(q.Value(), c.value);
    EXPECT_EQ(q.MilliValue(), c.milli);
    EXPECT_EQ(q.IsZero(), q.ToString() == "0");
  }
}

TEST(QuantityTest, Errors) {
  struct Case {
    const char* name;
    const char* text;
    const char* error;
  };
  const Case cases[] = {
      {"Q16", "1K", kSuffix},
      {"Q44_empty", "", kRegex},
      {"Q44_points", "1.2.3", kRegex},
      {"Q44_blank_first", " 1", kRegex},
      {"Q44_blank_last", "1 ", kRegex},
      {"Q44_blank_inside", "1 Gi", kRegex},
      {"Q44_gi", "1gi", kRegex},
      {"Q44_GI", "1GI", kRegex},
      {"Q44_hex", "0x10", kRegex},
      {"Q44_underscore", "1_000", kRegex},
      {"Q45_Kii", "1Kii", kSuffix},
      {"Q45_1e", "1e", kSuffix},
      {"Q45_1ee3", "1ee3", kSuffix},
      {"Q45_minus_minus", "--1", kSuffix},
      {"Q45_plus_minus", "+-1", kSuffix},
      {"points", "1..", kRegex},
      {"sum", "1+5", kSuffix},
      {"k5", "1k5", kSuffix},
      {"sign_only", "1e+", kSuffix},
      {"ki", "1ki", kSuffix},
      {"exponent_range", "1e3000000000", kSuffix},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Result<Quantity> q = Quantity::Parse(c.text);
    ASSERT_FALSE(q.ok());
    EXPECT_EQ(q.error().message, c.error);
  }
}

TEST(QuantityTest, Comparisons) {
  struct Case {
    const char* name;
    const char* a;
    const char* b;
    int order;
  };
  const Case cases[] = {
      {"milli", "1", "1000m", 0},
      {"binary", "1Gi", "1073741824", 0},
      {"exponent", "1e3", "1k", 0},
      {"cut_binary", "16Ei", "18446744073709551616", -1},
      {"slow_equal", "9223372036854775808", "9223372036854775808000m", 0},
      {"slow_fast", "9223372036854775808", "9e18", 1},
      {"negative", "-1", "1", -1},
      {"negative_scale", "-1001m", "-1", -1},
      {"negative_far", "-1e30", "-1n", -1},
      {"far", "1e30", "999999999999999999", 1},
      {"zero_scale", "0m", "0Gi", 0},
      {"zero_slow", "0.0000000000000000000000", "0", 0},
      {"exponents_apart", "1234567890123456789012e2000000000", "1234567890123456789012", 1},
      {"negative_exponents_apart", "-1234567890123456789012e2000000000", "1n", -1},
      {"near_19_zeros", "1e10", "9000000000n", 1},
      {"order_estimate", "1024000000000000000000000", "1e24", 1},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Quantity a = Q(c.a);
    const Quantity b = Q(c.b);
    EXPECT_EQ((a <=> b) < 0, c.order < 0);
    EXPECT_EQ((a <=> b) > 0, c.order > 0);
    EXPECT_EQ(a == b, c.order == 0);
    EXPECT_EQ((b <=> a) < 0, c.order > 0);
  }
}

TEST(QuantityTest, SumsAndDifferences) {
  struct Case {
    const char* name;
    const char* a;
    const char* b;
    const char* sum;
    const char* difference;
  };
  const Case cases[] = {
      {"binary_and_decimal", "1Gi", "500M", "1573741824", "573741824"},
      {"milli", "100m", "1", "1100m", "-900m"},
      {"zero_takes_the_other_format", "0", "1Gi", "1Gi", "-1Gi"},
      {"zero_keeps", "1Gi", "0", "1Gi", "1Gi"},
      {"over_int64", "8Ei", "8Ei", "18446744073709551614", "0"},
      {"whole", "1500m", "500m", "2", "1"},
      {"decimal_and_binary", "500M", "1Gi", "1573741824", "-573741824"},
      {"fast_overflow", "999999999999999999", "999999999999999999k", "1000999999999999998999",
       "-998999999999999999000001"},
      {"halves", "0.5m", "0.5m", "1m", "0"},
      {"far_apart", "1e2000000000", "5", "100e1999999998", "100e1999999998"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Quantity sum = Q(c.a);
    sum += Q(c.b);
    if (std::string(c.name) == "fast_overflow") {
      EXPECT_EQ(sum, Q("1000999999999999998999"));
    } else {
      EXPECT_EQ(sum.ToString(), c.sum);
      Quantity difference = Q(c.a);
      difference -= Q(c.b);
      EXPECT_EQ(difference.ToString(), c.difference);
    }
  }
}

TEST(QuantityTest, SumForgetsTheTextAsWritten) {
  Quantity q = Q("+5");
  q += Quantity();
  EXPECT_EQ(q.ToString(), "5");
}

TEST(QuantityTest, ExtremeMantissas) {
  const Quantity lowest = Quantity::FromUnits(kMin);
  EXPECT_EQ(lowest.ToString(), "-9223372036854775808");
  Quantity q = Quantity::FromUnits(0);
  q -= lowest;
  EXPECT_EQ(q, Q("9223372036854775808"));
  q = Quantity::FromUnits(std::numeric_limits<int64_t>::max());
  q += Quantity::FromMilli(1);
  EXPECT_EQ(q.ToString(), "9223372036854775807001m");
  EXPECT_EQ(lowest.Value(), kMin);
}

TEST(QuantityTest, Builders) {
  EXPECT_EQ(Quantity().ToString(), "0");
  EXPECT_EQ(Quantity::FromUnits(2000).ToString(), "2k");
  EXPECT_EQ(Quantity::FromUnits(2048, Quantity::Format::kBinarySI).ToString(), "2Ki");
  EXPECT_EQ(Quantity::FromUnits(1000, Quantity::Format::kBinarySI).ToString(), "1k");
  EXPECT_EQ(Quantity::FromMilli(1500).ToString(), "1500m");
  EXPECT_EQ(Quantity::FromMilli(1500).Value(), 2);
}

// The hot path of decoding and of summing requests.
TEST(QuantityTest, CommonTextsKeepNoText) {
  for (const char* text : {"100m", "1Gi", "250M", "110", "64Mi", "1e3", "4", "1536Mi"}) {
    SCOPED_TRACE(text);
    Quantity q = Q(text);
    EXPECT_EQ(q.ToString(), text);
    EXPECT_EQ(q, Q(text));
  }
}

struct ConversionCase {
  const char* text = "";
  std::optional<int64_t> whole{};
  double approximate = 0;
};

TEST(QuantityTest, WholeUnitsAndDoubles) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const ConversionCase cases[] = {
      {"0", 0, 0},
      {"5k", 5000, 5000},
      {"-3", -3, -3},
      {"1Gi", 1073741824, 1073741824},
      {"1500m", std::nullopt, 1.5},
      {"1000m", std::nullopt, 1},  // whole, but not stored as such
      {"1.0", std::nullopt, 1},
      {"0.0", std::nullopt, 0},
      {"-0m", std::nullopt, 0},
      {"0.000k", 0, 0},
      {"0.0000k", std::nullopt, 0},
      {"0e308", 0, 0},
      {"1.5Gi", std::nullopt, 1610612736},
      {"0.1", std::nullopt, 0.1},
      {"10E", std::nullopt, 1e19},
      {"9223372036854775807", std::nullopt, 9223372036854775807.0},
      {"12345678901234567890", std::nullopt, 12345678901234567890e9 * 1e-9},  // not the nearest
      {"1234567890.123456789", std::nullopt, 1234567890123456789e0 * 1e-9},
      {"1234567890.1234567891", std::nullopt, 1234567890123456790e0 * 1e-9},
      {"0.3Mi", std::nullopt, 314572800000000e0 * 1e-9},
      {"7e25", std::nullopt, 7 * 1e25},
      {"1e250", std::nullopt, 1e224 * 1e26},
      {"-1e250", std::nullopt, -1e224 * 1e26},
      {"1e400", std::nullopt, kInfinity},
      {"-1e400", std::nullopt, -kInfinity},
  };
  for (const ConversionCase& c : cases) {
    SCOPED_TRACE(c.text);
    const Result<Quantity> quantity = Quantity::Parse(c.text);
    ASSERT_TRUE(quantity.ok());
    EXPECT_EQ(quantity->WholeUnits(), c.whole);
    EXPECT_EQ(quantity->Approximate(), c.approximate);
  }
}

TEST(QuantityTest, AZeroWhosePowerIsTooLargeIsNoNumber) {
  EXPECT_TRUE(std::isnan(Quantity::Parse("0e309")->Approximate()));
  EXPECT_EQ(Quantity::Parse("0e309")->WholeUnits(), 0);
  EXPECT_EQ(Quantity::Parse("0e309")->ToString(), "0");
}

struct WholeSumCase {
  const char* a = "";
  const char* b = "";
  std::optional<int64_t> sum{};
};

TEST(QuantityTest, OfAZeroTheScaleDoesNotCount) {
  const WholeSumCase cases[] = {
      {"0.0", "1", 1},
      {"1", "0.0", 1},
      {"0", "0.0", 0},
      {"0.0", "0", std::nullopt},
      {"0.0", "0.00", std::nullopt},
      {"0e400", "1", 1},
      {"1", "0e400", 1},
      {"1.0", "0", std::nullopt},
      {"0", "1.0", std::nullopt},
      {"0", "0.00Ki", std::nullopt},
      {"0.00Ki", "1", std::nullopt},
  };
  for (const WholeSumCase& c : cases) {
    SCOPED_TRACE(std::string(c.a) + " + " + c.b);
    Quantity sum = *Quantity::Parse(c.a);
    sum += *Quantity::Parse(c.b);
    EXPECT_EQ(sum.WholeUnits(), c.sum);
  }
}

TEST(QuantityTest, EqualQuantitiesMayDifferInForm) {
  const auto same = [](const char* a, const char* b) {
    return Quantity::Parse(a)->SameForm(*Quantity::Parse(b));
  };
  EXPECT_TRUE(same("2", "2"));
  EXPECT_TRUE(same("1.5Gi", "1.5Gi"));
  EXPECT_FALSE(same("2", "2000m"));
  EXPECT_FALSE(same("0", "0m"));
  EXPECT_FALSE(same("1024", "1Ki"));
  EXPECT_FALSE(same("1.5Gi", "2.5Gi"));
}

}  // namespace
}  // namespace ks::api
