// SPDX-License-Identifier: Apache-2.0
#include "config/yaml_scalar.h"

#include <gtest/gtest.h>

#include <string>

#include "config/nearest_name.h"

namespace ks::config {
namespace {

TEST(YamlScalar, Resolves) {
  using Kind = Scalar::Kind;
  struct Case {
    std::string text;
    Kind kind;
    int64_t integer = 0;
  };
  const Case cases[] = {
      {"", Kind::kNull},
      {"~", Kind::kNull},
      {"Null", Kind::kNull},
      {"nUll", Kind::kString},
      {"y", Kind::kBool},
      {"Off", Kind::kBool},
      {"tRue", Kind::kString},
      {"12", Kind::kInteger, 12},
      {"+12", Kind::kInteger, 12},
      {"-12", Kind::kInteger, -12},
      {"1_000", Kind::kInteger, 1000},
      {"0b101", Kind::kInteger, 5},
      {"020", Kind::kInteger, 16},
      {"0o20", Kind::kInteger, 16},
      {"0", Kind::kInteger, 0},
      {"09", Kind::kInteger, 9},  // not octal: the float 9, which is integral
      {"1.6e+1", Kind::kInteger, 16},
      {"1e3", Kind::kInteger, 1000},
      {".5", Kind::kFloat},
      {"5.", Kind::kInteger, 5},
      {"9223372036854775807", Kind::kInteger, INT64_MAX},
      {"-9223372036854775808", Kind::kInteger, INT64_MIN},
      {"9223372036854775808", Kind::kFloat},
      {"1e400", Kind::kFloat},
      {".NaN", Kind::kFloat},
      {"nan", Kind::kString},
      {"inf", Kind::kString},
      {"1:30", Kind::kString},
      {"1.2.3", Kind::kString},
      {"2020-01-01", Kind::kString},
      {"-", Kind::kString},
      {"+", Kind::kString},
      {".", Kind::kString},
      {"e", Kind::kString},
      {"0x", Kind::kString},
      {"--1", Kind::kString},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.text);
    const Scalar scalar = ResolvePlainScalar(test.text, Syntax::kYaml);
    EXPECT_EQ(scalar.kind, test.kind);
    EXPECT_EQ(scalar.integer, test.integer);
  }
  EXPECT_EQ(ResolvePlainScalar("5.0", Syntax::kJson).kind, Kind::kFloat);
  EXPECT_EQ(ResolvePlainScalar("5", Syntax::kJson).integer, 5);
}

TEST(NearestName, Suggests) {
  constexpr std::string_view kNames[] = {"parallelism", "profiles", "kubeconfig"};
  struct Case {
    std::string name;
    std::string want;
  };
  const Case cases[] = {
      {"paralelism", "parallelism"},
      {"PROFILES", "profiles"},
      {"profile", "profiles"},
      {"kubconfig", "kubeconfig"},
      {"foo", ""},
      {"", ""},
      {std::string(1000, 'p'), ""},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    EXPECT_EQ(NearestName(test.name, kNames), test.want);
  }
}

}  // namespace
}  // namespace ks::config
