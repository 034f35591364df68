// SPDX-License-Identifier: Apache-2.0
// Corner cases with the outcomes that the reference gave (docs/testing.md), so that they are known
// without it and under sanitizers, too.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>

#include "cel/compare/literals.h"
#include "cel/compare/outcome.h"
#include "cel/compare/subject.h"

namespace ks::cel::compare {
namespace {

TEST(Outcomes, AreTheReferences) {
  std::ifstream file(KS_CEL_DATA "/outcomes.txt");
  ASSERT_TRUE(file);
  const Subject subject(kDevices);
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    const size_t tab = line.rfind('\t');
    ASSERT_NE(tab, std::string::npos) << line;
    const std::string expression = line.substr(0, tab);
    EXPECT_EQ(OutcomeText(subject.Answer({expression, Mode::kValue})), line.substr(tab + 1))
        << expression;
  }
  EXPECT_GT(lines, 600);
}

TEST(Outcomes, OnlyTheDevicesWholeMapsMayBeWrittenInAnotherOrder) {
  constexpr std::string_view kOurs =
      "key {driver: d, attributes: {a: {x: [1, 2], y: 3}, b: {}}, capacity: {}} already exists";
  EXPECT_TRUE(
      IsSameError("key {attributes: {{b: {}, a: {y: 3, x: [1, 2]}} 0xc000a1}, capacity: {{} "
                  "0xc000b2}, driver: d} "
                  "already exists",
                  kOurs));
  EXPECT_FALSE(
      IsSameError("key {attributes: {{b: {}, a: {y: 3, x: [2, 1]}} 0xc000a1}, capacity: {{} "
                  "0xc000b2}, driver: d} "
                  "already exists",
                  kOurs));
  EXPECT_FALSE(IsSameError("key {{a: 1} 0xc000a1} exists", "key {a: 2} exists"));
  EXPECT_FALSE(IsSameError("key {a: 1, b: 2} exists", "key {b: 2, a: 1} exists"));
  EXPECT_TRUE(IsSameError("key {a: 1, b: 2} exists", "key {a: 1, b: 2} exists"));
}

}  // namespace
}  // namespace ks::cel::compare
