// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/pod_group_controller.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "apiserver/controlled_service.h"

namespace ks::apiserver {
namespace {

constexpr Duration kMoment = std::chrono::milliseconds(10);

const KindInfo& Groups() { return *FindResource("scheduling.k8s.io", "v1beta1", "podgroups"); }

class PodGroupControllerTest : public ::testing::Test {
 protected:
  PodGroupControllerTest() { world_.service.AddController(NewPodGroupController(world_.service)); }

  void Group(const std::string& name, const std::string& metadata = "") {
    world_.Create(Groups(), R"({"metadata":{"name":")" + name + '"' + metadata +
                                R"(},"spec":{"schedulingPolicy":{"basic":{}}}})");
    world_.Run(kMoment);
  }
  void Pod(const std::string& name, const std::string& group) {
    world_.Create(Core("pods"), R"({"metadata":{"name":")" + name + R"("},"spec":{
        "containers":[{"name":"c","image":"i"}],"schedulingGroup":{"podGroupName":")" +
                                    group + R"("}}})");
    world_.Run(kMoment);
  }
  void Delete(const KindInfo& kind, const std::string& name) {
    const auto deleted =
        world_.service.registry().Delete(kind, "default", name, {.grace_period_seconds = 0});
    ASSERT_TRUE(deleted.ok()) << deleted.failure().message;
    world_.Run(kMoment);
  }
  bool Exists(const std::string& group) { return !world_.Get(Groups(), group).is_null(); }

  ControlledService world_;
};

TEST_F(PodGroupControllerTest, AGroupWithoutPodsGoesAtOnce) {
  Group("g");
  EXPECT_TRUE(Exists("g")) << "nobody deleted it";
  Delete(Groups(), "g");
  EXPECT_FALSE(Exists("g"));
}

TEST_F(PodGroupControllerTest, AGroupStaysUntilItsLastPodIsGone) {
  Group("g");
  Pod("a", "g");
  Pod("b", "g");
  Pod("c", "other");
  Delete(Groups(), "g");
  EXPECT_TRUE(Exists("g"));
  Delete(Core("pods"), "a");
  EXPECT_TRUE(Exists("g"));
  Delete(Core("pods"), "b");
  EXPECT_FALSE(Exists("g"));
}

TEST_F(PodGroupControllerTest, PodsThatHaveEndedDoNotKeepIt) {
  Group("g");
  Pod("a", "g");
  Pod("b", "g");
  world_.Edit(Core("pods"), "a", R"({"status":{"phase":"Succeeded"}})");
  world_.Run(kMoment);
  Delete(Groups(), "g");
  EXPECT_TRUE(Exists("g"));
  world_.Edit(Core("pods"), "b", R"({"status":{"phase":"Failed"}})");
  world_.Run(kMoment);
  EXPECT_FALSE(Exists("g"));
}

TEST_F(PodGroupControllerTest, OtherFinalizersStay) {
  Group("g", R"(,"finalizers":["example.com/x"])");
  Delete(Groups(), "g");
  ASSERT_TRUE(Exists("g"));
  EXPECT_EQ(world_.At(Groups(), "g", "/metadata/finalizers"), Json::array({"example.com/x"}));
}

TEST_F(PodGroupControllerTest, WhatWasThereBeforeIsSeen) {
  ControlledService world;
  world.Create(Groups(), R"({"metadata":{"name":"g"},"spec":{"schedulingPolicy":{"basic":{}}}})");
  world.Create(Groups(), R"({"metadata":{"name":"h"},"spec":{"schedulingPolicy":{"basic":{}}}})");
  world.Create(Core("pods"), R"({"metadata":{"name":"p"},"spec":{
      "containers":[{"name":"c","image":"i"}],"schedulingGroup":{"podGroupName":"g"}}})");
  for (const char* name : {"g", "h"}) {
    ASSERT_TRUE(world.service.registry().Delete(Groups(), "default", name, {}).ok());
  }
  world.service.AddController(NewPodGroupController(world.service));
  world.Run(kMoment);
  EXPECT_FALSE(world.Get(Groups(), "g").is_null());
  EXPECT_TRUE(world.Get(Groups(), "h").is_null());
}

}  // namespace
}  // namespace ks::apiserver
