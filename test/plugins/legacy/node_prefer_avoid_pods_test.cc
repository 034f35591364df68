// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/node_prefer_avoid_pods/node_prefer_avoid_pods.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plugins/plugin_rig.h"

namespace ks::plugins {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;

api::PodPtr OwnedBy(const std::string& kind, const std::string& uid, bool controller = true) {
  ks::testing::PodBuilder pod = MakePod();
  pod.pod().meta.owner_references.Mutable() = {
      {.api_version = "v1", .kind = kind, .name = "x", .uid = uid, .controller = controller}};
  return pod.Obj();
}

std::string Entry(const std::string& kind, const std::string& uid) {
  return R"({"podSignature":{"podController":{"apiVersion":"v1","kind":")" + kind +
         R"(","name":"x","uid":")" + uid + R"("}},"reason":"r"})";
}
std::string Avoid(const std::string& entries) { return R"({"preferAvoidPods":[)" + entries + "]}"; }

struct Case {
  std::string name;
  api::PodPtr pod;
  std::string annotation;  // empty: none
  int64_t want_score = 100;
};

class NodePreferAvoidPodsTest : public ::testing::TestWithParam<Case> {};

TEST_P(NodePreferAvoidPodsTest, Score) {
  PluginRig rig(NewNodePreferAvoidPods);
  ks::testing::NodeBuilder node = MakeNode();
  if (!GetParam().annotation.empty()) {
    node.node().meta.annotations.Set(Symbol("scheduler.alpha.kubernetes.io/preferAvoidPods"),
                                     GetParam().annotation);
  }
  rig.AddNode(node);
  EXPECT_EQ(rig.ScoreAll(*GetParam().pod), (std::vector<int64_t>{GetParam().want_score}));
}

const std::string kRc = Entry("ReplicationController", "u1");
const std::string kRs = Entry("ReplicaSet", "u1");

INSTANTIATE_TEST_SUITE_P(
    Annotations, NodePreferAvoidPodsTest,
    ::testing::Values(
        Case{"ReplicationController", OwnedBy("ReplicationController", "u1"), Avoid(kRc), 0},
        Case{"ReplicaSet", OwnedBy("ReplicaSet", "u1"), Avoid(kRs), 0},
        Case{"SecondEntry", OwnedBy("ReplicaSet", "u1"), Avoid(kRc + "," + kRs), 0},
        Case{"NoAnnotation", OwnedBy("ReplicaSet", "u1"), "", 100},
        Case{"OtherUid", OwnedBy("ReplicaSet", "u2"), Avoid(kRs), 100},
        Case{"OtherKind", OwnedBy("ReplicaSet", "u1"), Avoid(kRc), 100},
        Case{"KindThatIsNotAsked", OwnedBy("StatefulSet", "u1"), Avoid(Entry("StatefulSet", "u1")),
             100},
        Case{"NoController", OwnedBy("ReplicaSet", "u1", false), Avoid(kRs), 100},
        Case{"NoOwner", MakePod().Obj(), Avoid(kRs), 100},
        Case{"NoEntries", OwnedBy("ReplicaSet", "u1"), "{}", 100},
        Case{"NullEntries", OwnedBy("ReplicaSet", "u1"), R"({"preferAvoidPods":null})", 100},
        Case{"EmptyEntry", OwnedBy("ReplicaSet", "u1"), Avoid("{},null," + kRs), 0},
        Case{"NoJson", OwnedBy("ReplicaSet", "u1"), Avoid(kRs) + "}", 100},
        Case{"NoObject", OwnedBy("ReplicaSet", "u1"), "[" + kRs + "]", 100},
        Case{"EntriesAreNoList", OwnedBy("ReplicaSet", "u1"), R"({"preferAvoidPods":{}})", 100},
        Case{"OneWrongEntrySpoilsAll", OwnedBy("ReplicaSet", "u1"), Avoid(kRs + ",7"), 100},
        Case{"WrongTypeBelow", OwnedBy("ReplicaSet", "u1"),
             Avoid(R"({"podSignature":{"podController":{"kind":1}}},)" + kRs), 100}),
    [](const auto& row) { return row.param.name; });

TEST(NodePreferAvoidPodsPointsTest, ScoreOnly) {
  PluginRig rig(NewNodePreferAvoidPods);
  EXPECT_EQ(rig.As<framework::ScoreNormalizer>(), nullptr);
  EXPECT_EQ(rig.As<framework::FilterPlugin>(), nullptr);
}

TEST(NodePreferAvoidPodsArgsTest, TakesNone) {
  EXPECT_EQ(PluginRig::FactoryError(NewNodePreferAvoidPods, R"({"kind":"x"})"), "");
  EXPECT_EQ(PluginRig::FactoryError(NewNodePreferAvoidPods, R"({"a":1})"),
            "unknown field \"a\"; this plugin has no arguments: remove them");
}

}  // namespace
}  // namespace ks::plugins
