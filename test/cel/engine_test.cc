// SPDX-License-Identifier: Apache-2.0
#include "cel/engine.h"

#include <string>

#include <gtest/gtest.h>

#include "cel/evaluation.h"

namespace ks::cel {
namespace {

TEST(EngineTest, CompilesATextOnce) {
  Engine engine;
  const auto first = engine.Compile("device.driver == 'a'");
  const auto second = engine.Compile("device.driver == 'a'");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->get(), second->get());
  EXPECT_EQ(engine.programs(), 1u);
}

TEST(EngineTest, RemembersErrors) {
  Engine engine;
  const auto first = engine.Compile("device.foo");
  const auto second = engine.Compile("device.foo");
  ASSERT_FALSE(first.ok());
  EXPECT_TRUE(first.error().message.starts_with("compilation failed: ERROR: <input>:1:7: "));
  EXPECT_EQ(second.error().message, first.error().message);
}

TEST(EngineTest, ForgetsProgramsBeyondItsBytes) {
  Engine engine(size_t{64} << 10);
  const auto kept = engine.Compile("device.driver == 'kept'");
  ASSERT_TRUE(kept.ok());
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(engine.Compile("device.driver == '" + std::to_string(i) + "'").ok());
  }
  EXPECT_LT(engine.programs(), 100u);
  EXPECT_FALSE((*kept)->EvaluateAnew(*Device::Make(SampleDevice())).matches);  // outlives its place
}

TEST(EngineTest, EqualContentsAreOneDevice) {
  Engine engine;
  const auto first = engine.Intern(SampleDevice());
  EXPECT_EQ(first, engine.Intern(SampleDevice()));
  DeviceContent other = SampleDevice();
  other.attributes[0].value = int64_t{43};
  EXPECT_NE(first, engine.Intern(other));
  EXPECT_EQ(engine.devices(), 1u);  // nobody keeps the other one
}

TEST(EngineTest, ContentsOfAnotherTypeDiffer) {
  Engine engine;
  const auto text = engine.Intern({.driver = "d", .attributes = {{"a", std::string("1.2.3")}}});
  const auto version = engine.Intern({.driver = "d", .attributes = {{"a", VersionText{"1.2.3"}}}});
  EXPECT_NE(text, version);
}

TEST(EngineTest, VerdictsAreRemembered) {
  Engine engine;
  const auto device = engine.Intern(SampleDevice());
  const auto yes = engine.Compile("device.driver == 'gpu.example.com'");
  const auto no = engine.Compile("device.driver == 'other'");
  ASSERT_TRUE(yes.ok() && no.ok());
  EXPECT_GT((*yes)->Evaluate(*device).cost, 0u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE((*yes)->Evaluate(*device).matches);
    EXPECT_FALSE((*no)->Evaluate(*device).matches);
  }
  EXPECT_EQ((*yes)->Evaluate(*device).cost, 0u);
}

TEST(EngineTest, MoreProgramsThanTheMemoHolds) {
  Engine engine;
  const auto device = engine.Intern(SampleDevice());
  std::vector<std::shared_ptr<const Program>> programs;
  for (int i = 0; i < 100; ++i) {
    const auto program = engine.Compile("device.attributes['d.io'].i == " + std::to_string(i));
    ASSERT_TRUE(program.ok());
    programs.push_back(*program);
  }
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < programs.size(); ++i) {
      EXPECT_EQ(programs[i]->Evaluate(*device).matches, i == 42);
    }
  }
}

TEST(EngineTest, ErrorsAreNotRemembered) {
  Engine engine;
  const auto device = engine.Intern(SampleDevice());
  const auto program = engine.Compile("device.attributes['d.io'].zz");
  ASSERT_TRUE(program.ok());
  EXPECT_FALSE((*program)->Evaluate(*device).ok());
  EXPECT_FALSE((*program)->Evaluate(*device).ok());
}

}  // namespace
}  // namespace ks::cel
