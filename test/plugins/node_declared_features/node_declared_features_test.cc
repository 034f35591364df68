// SPDX-License-Identifier: Apache-2.0
// docs/spec/plugins-node.md 4.11 and row 98 of 7.6, whose node side is in
// test/framework/node_info_test.cc, too.
#include "plugins/node_declared_features/node_declared_features.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/plugin_rig.h"

namespace ks::plugins {
namespace {

using testing::MakeNode;
using testing::MakePod;
using testing::NodeBuilder;
using testing::PodBuilder;

const std::string kSuccess = "Success";
const std::string kMismatch =
    "UnschedulableAndUnresolvable: node(s) didn't match Pod's required features";
constexpr char kRestart[] = "RestartAllContainersOnContainerExits";
constexpr char kHostNetwork[] = "UserNamespacesHostNetworkSupport";
constexpr char kMounts[] = "VolumeBindMountOptions";

NodeBuilder Declares(const std::vector<std::string>& features) {
  NodeBuilder node = MakeNode();
  node.node().declared_features = features;
  return node;
}

PodBuilder Plain() { return MakePod().Req({}); }
// Changes the spec of a plain pod.
template <class Change>
PodBuilder With(Change change) {
  PodBuilder pod = Plain();
  change(pod.spec());
  return pod;
}
PodBuilder RestartsAll() {
  return With([](api::PodSpec& s) { s.containers[0].restarts_all_containers = true; });
}
PodBuilder HostUsers(bool host_network, std::optional<bool> host_users) {
  return With([&](api::PodSpec& s) {
    s.host_network = host_network;
    s.host_users = host_users;
  });
}

struct FeaturesCase {
  std::string name;
  PodBuilder pod;
  std::vector<std::string> declared;
  std::string want;
  std::string want_bits;
};

class NodeDeclaredFeaturesTest : public ::testing::TestWithParam<FeaturesCase> {};

TEST_P(NodeDeclaredFeaturesTest, FiltersAndSigns) {
  const FeaturesCase& c = GetParam();
  PluginRig rig(NewNodeDeclaredFeatures);
  rig.AddNode(Declares(c.declared));
  const api::PodPtr pod = c.pod.Obj();
  EXPECT_EQ(rig.FilterAll(*pod), std::vector<std::string>{c.want});
  EXPECT_EQ(rig.PreFilter(*pod).status.IsSkip(), c.want_bits == "000000000");
  EXPECT_EQ(rig.Signature(*pod),
            std::vector<std::string>{"v1.Pod.Spec.RequiredFeatures()=\"" + c.want_bits + '"'});
}

const FeaturesCase kCases[] = {
    {"nothing_required", Plain(), {}, kSuccess, "000000000"},
    {"restart_of_all", RestartsAll(), {kRestart}, kSuccess, "000000100"},
    {"restart_of_all_not_declared", RestartsAll(), {kHostNetwork, kMounts}, kMismatch, "000000100"},
    {"user_namespace_on_the_host_network",
     HostUsers(true, false),
     {kHostNetwork},
     kSuccess,
     "000000010"},
    {"user_namespace_not_declared",
     HostUsers(true, false),
     {kRestart, kMounts},
     kMismatch,
     "000000010"},
    {"host_network_alone", HostUsers(true, std::nullopt), {}, kSuccess, "000000000"},
    {"host_users_on_the_host_network", HostUsers(true, true), {}, kSuccess, "000000000"},
    {"user_namespace_alone", HostUsers(false, false), {}, kSuccess, "000000000"},
    {"mount_options_of_a_container",
     With([](api::PodSpec& s) { s.containers[0].has_bind_mount_options = true; }),
     {kMounts},
     kSuccess,
     "000000001"},
    {"mount_options_of_an_ephemeral_container",
     With([](api::PodSpec& s) { s.ephemeral_bind_mount_options = true; }),
     {kRestart},
     kMismatch,
     "000000001"},
    {"one_of_two_missing",
     With([](api::PodSpec& s) {
       s.containers[0].restarts_all_containers = true;
       s.ephemeral_bind_mount_options = true;
     }),
     {kRestart},
     kMismatch,
     "000000101"},
    // A merge of sorted lists: the second name is out of order and missed.
    {"ex98_has_the_first", HostUsers(true, false), {kHostNetwork, kRestart}, kSuccess, "000000010"},
    {"ex98_misses_the_second", RestartsAll(), {kHostNetwork, kRestart}, kMismatch, "000000100"},
};

INSTANTIATE_TEST_SUITE_P(Rows, NodeDeclaredFeaturesTest, ::testing::ValuesIn(kCases),
                         [](const auto& row) { return row.param.name; });

TEST(NodeDeclaredFeaturesTest, InitContainersCount) {
  PluginRig rig(NewNodeDeclaredFeatures);
  rig.AddNode(MakeNode());
  PodBuilder pod = Plain().InitReq({});
  pod.spec().init_containers[0].restarts_all_containers = true;
  EXPECT_EQ(rig.FilterAll(*pod.Obj()), std::vector<std::string>{kMismatch});
  pod.spec().init_containers[0].restarts_all_containers = false;
  pod.spec().init_containers[0].has_bind_mount_options = true;
  EXPECT_EQ(rig.FilterAll(*pod.Obj()), std::vector<std::string>{kMismatch});
}

TEST(NodeDeclaredFeaturesTest, NeedsItsPreFilter) {
  PluginRig rig(NewNodeDeclaredFeatures);
  rig.AddNode(MakeNode());
  EXPECT_EQ(Describe(rig.As<framework::FilterPlugin>()->Filter(rig.state, *RestartsAll().Obj(),
                                                               *rig.nodes()[0])),
            "Error: error reading \"PreFilterNodeDeclaredFeatures\" from cycle-state: not found");
}

TEST(NodeDeclaredFeaturesTest, Events) {
  EXPECT_EQ(PluginRig(NewNodeDeclaredFeatures).Events(),
            (std::vector<std::string>{"Node/129", "TargetPod/32764"}));
}

}  // namespace
}  // namespace ks::plugins
