// SPDX-License-Identifier: Apache-2.0
// A pod with a delayed claim through the whole scheduler (docs/spec/plugins-volume.md section 2).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/rig.h"
#include "testing/storage_builders.h"

namespace ks::scheduler {
namespace {

using ks::testing::MakeNode;
using ::testing::HasSubstr;

class VolumeRig : public Rig {
 public:
  VolumeRig() {
    Show<api::StorageClass>(testing::Class());
    Show<api::PersistentVolume>(testing::VolumeOn("pv1", "10Gi", "n1"));
    Show<api::PersistentVolumeClaim>(testing::Claim("x"));
    const auto node = [](const char* name) {
      return MakeNode().Name(name).Label("h", name).Allocatable({{"pods", "10"}}).Obj();
    };
    Sync({node("n1"), node("n2")});
    Settle();
    UpsertPod(testing::PodWith({"x"}).Obj());
    Settle();
  }
};

TEST(VolumeBindingCycle, FromTheQueueToTheBinding) {
  VolumeRig rig;
  ASSERT_EQ(rig.api.writes.size(), 1u);
  EXPECT_TRUE(rig.api.binds.empty()) << "not before the claim is bound";
  rig.api.AnswerWrite(std::nullopt, "8");
  rig.Settle();
  auto written = std::make_shared<api::PersistentVolume>(*rig.api.writes[0].volume);
  written->meta.resource_version = "8";
  rig.Show<api::PersistentVolume>(written);
  rig.Settle();
  EXPECT_TRUE(rig.api.binds.empty());
  auto bound = testing::BoundClaim("x", "pv1");
  bound->meta.resource_version = "6";
  rig.Show<api::PersistentVolumeClaim>(bound);
  rig.Settle();
  ASSERT_EQ(rig.api.binds.size(), 1u) << "at once, without a second's wait";
  EXPECT_EQ(rig.api.binds[0].node_name, "n1");
  rig.Bind();
}

TEST(VolumeBindingCycle, AConflictBringsThePodBack) {
  VolumeRig rig;
  ASSERT_EQ(rig.api.writes.size(), 1u);
  api::ApiError conflict;
  conflict.code = 409;
  conflict.reason = "Conflict";
  conflict.message = "the object has been modified";
  rig.api.AnswerWrite(conflict);
  rig.Settle();
  EXPECT_THAT(rig.LastMessage("p"),
              HasSubstr("running PreBind plugin \"VolumeBinding\": the object has been modified"));
  EXPECT_TRUE(rig.api.binds.empty());
  rig.Advance(std::chrono::seconds(2));
  ASSERT_EQ(rig.api.writes.size(), 2u) << "the next attempt, after the backoff";
}

}  // namespace
}  // namespace ks::scheduler
