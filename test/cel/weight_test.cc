// SPDX-License-Identifier: Apache-2.0
#include "cel/weight.h"

#include <string>

#include <gtest/gtest.h>

#include "cel/program.h"

namespace ks::cel {
namespace {

size_t WeightOfText(const std::string& text) {
  const auto program = Program::Compile(text, Program::Wanted::kAny);
  EXPECT_TRUE(program.ok()) << text << (program.ok() ? "" : program.error().message);
  return program.ok() ? (*program)->weight() : 0;
}

TEST(WeightTest, IsTheNumberOfNodes) {
  EXPECT_EQ(WeightOfText("true"), 1U);
  EXPECT_EQ(WeightOfText("device.driver == 'a'"), 4U);  // device, .driver, 'a', ==
  EXPECT_EQ(WeightOfText("device.driver in ['a', 'b']"), 6U);
  EXPECT_EQ(WeightOfText("{'a': 1, 'b': 2}.size() == 2"), 8U);
}

TEST(WeightTest, WhatIsBounded) {
  for (const std::string text : {
           "device.attributes['d.example'].model == 'a' && !(1 < 2) || -3 * 4 >= 5 % 6",
           "device.capacity['d.example'].memory.compareTo(quantity('1Gi')) >= 0",
           "device.attributes['d.example'].version.isGreaterThan(semver('1.2.3'))",
           "has(device.attributes) ? device.driver.startsWith('a') : device.driver.endsWith('b')",
           "device.attributes[?'d.example'].hasValue()",
           "device.attributes['d.example'].?numa.orValue(0) == 1",
       }) {
    EXPECT_LT(WeightOfText(text), 40U) << text;
  }
}

TEST(WeightTest, WhatIsNot) {
  for (const std::string text : {
           "[1, 2].all(a, a > 0)",
           "device.driver.contains('b')",
           "device.driver + 'b' == 'b'",
           "[1, 2].exists(a, a > 0) && device.driver == 'a'",
           "[[1, 2].map(a, a * 2)] == []",
           "{'a': [1].filter(a, true)} == {}",
           "device.driver.matches('^a+$')",
           "'aaa'.replace('a', 'aaaa') == ''",
           "(1 < 2 ? [1].size() : [3].map(a, a).size()) == 1",
           "device.attributes['d.example'].?numa.optMap(v, v + 1).orValue(0) == 1",
           "lists.range(10) == []",
           "cel.bind(a, 1, a + a) == 2",
       }) {
    EXPECT_EQ(WeightOfText(text), kUnbounded) << text;
  }
}

TEST(WeightTest, LongTexts) {
  EXPECT_EQ(WeightOfText("device.driver == '" + std::string(1024, 'a') + "'"), 4U);
  EXPECT_EQ(WeightOfText("device.driver == '" + std::string(1025, 'a') + "'"), kUnbounded);
  EXPECT_EQ(WeightOfText("b'" + std::string(1025, 'a') + "' == b''"), kUnbounded);
}

TEST(WeightTest, Sums) {
  EXPECT_EQ(AddWeights(1, 2), 3U);
  EXPECT_EQ(AddWeights(kUnbounded, 0), kUnbounded);
  EXPECT_EQ(AddWeights(kUnbounded, kUnbounded), kUnbounded);
  EXPECT_EQ(AddWeights(kUnbounded - 1, 5), kUnbounded);
}

}  // namespace
}  // namespace ks::cel
