// SPDX-License-Identifier: Apache-2.0
// What is kept of expressions and sets of them, and what is forgotten.
#include "plugins/dynamic_resources/selectors.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "plugins/dynamic_resources/expression.h"

namespace ks::plugins {
namespace {

constexpr auto kSelector = cel::Program::Wanted::kSelector;

// A text whose program takes some hundreds of kilobytes.
std::string Long(int number) {
  std::string text = "device.driver != 'y" + std::to_string(number) + "'";
  for (int i = 0; i < 200; ++i) text += " && device.driver != 'x'";
  return text;
}

std::shared_ptr<const cel::Device> DeviceOf(const std::string& driver) {
  return cel::Device::Make({.driver = driver});
}

TEST(ExpressionTest, SmallOnesAreKept) {
  cel::Engine engine(1);
  const Expression small(engine, "device.driver == 'a'", kSelector);
  const std::weak_ptr<const cel::Program> program = small.program();
  ASSERT_TRUE(engine.Compile("true").ok());
  ASSERT_NE(program.lock(), nullptr);
  EXPECT_EQ(small.program(), program.lock());
  EXPECT_EQ(small.left_bytes(), 0U);
  EXPECT_GT(small.bytes(), small.program()->bytes());
}

TEST(ExpressionTest, LargeOnesAreLeftToTheEngine) {
  cel::Engine engine(1);  // it keeps the last one
  const Expression large(engine, Long(1), kSelector);
  std::weak_ptr<const cel::Program> program = large.program();
  EXPECT_EQ(large.program(), program.lock());
  EXPECT_EQ(large.left_bytes(), large.program()->bytes());
  EXPECT_LT(large.bytes(), large.left_bytes() / 10);
  EXPECT_EQ(large.weight(), large.program()->weight());

  ASSERT_TRUE(engine.Compile("true").ok());
  EXPECT_EQ(program.lock(), nullptr) << "forgotten";
  program = large.program();
  EXPECT_TRUE(large.program()->Evaluate(*DeviceOf("z")).matches);
  EXPECT_FALSE(large.program()->Evaluate(*DeviceOf("y1")).matches);
  EXPECT_EQ(large.program(), program.lock()) << "once more remembered";
}

TEST(ExpressionTest, WhatDoesNotCompile) {
  cel::Engine engine;
  const Expression wrong(engine, "device.foo", kSelector);
  EXPECT_EQ(wrong.program(), nullptr);
  EXPECT_NE(wrong.error(), "");
  EXPECT_EQ(wrong.weight(), 0U);
}

TEST(SelectorSetsTest, OneForTheSameTexts) {
  cel::Engine engine;
  SelectorSets sets(engine);
  const api::DeviceSelector a = "1 == 1";
  const api::DeviceSelector b = "2 == 2";
  EXPECT_EQ(sets.Find({a}, {b}), nullptr);
  const auto set = sets.Get({a}, {b});
  EXPECT_EQ(sets.Find({a}, {b}), set);
  EXPECT_EQ(sets.Get({a}, {b}), set);
  EXPECT_NE(sets.Get({b}, {a}), set);
  EXPECT_NE(sets.Get({a, b}, {})->number(), set->number());
}

TEST(SelectorSetsTest, ForgetBeyondTheirBytes) {
  cel::Engine engine;
  SelectorSets sets(engine);
  std::weak_ptr<const SelectorSet> first = sets.Get({}, {"device.driver == 'first'"});
  EXPECT_EQ(first.lock(), sets.Get({}, {"device.driver == 'first'"}));
  const std::string long_text = "device.driver != '" + std::string(size_t{1} << 20, 'x');
  const auto bytes = sets.Get({}, {long_text + "'"})->bytes();
  for (size_t i = 0; i < (size_t{64} << 20) / bytes + 1; ++i) {
    sets.Get({}, {long_text + std::to_string(i) + "'"});
  }
  EXPECT_EQ(first.lock(), nullptr);
}

}  // namespace
}  // namespace ks::plugins
