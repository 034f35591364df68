// SPDX-License-Identifier: Apache-2.0
// Rows 92 to 95 of docs/spec/plugins-node.md 7.6 (ex92 to Ex95), and traps 17, 18 and 27.
#include "plugins/node_ports/node_ports.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/plugin_rig.h"

namespace ks::plugins {
namespace {

using testing::MakeNode;
using testing::MakePod;
using testing::PodBuilder;

const std::string kConflict =
    "Unschedulable: node(s) didn't have free ports for the requested pod ports";
const std::string kSuccess = "Success";

PodBuilder Port(std::string_view ip, std::string_view protocol = "") {
  return MakePod().HostPort(8080, protocol, ip);
}

struct PortsCase {
  std::string name;
  PodBuilder wanted;
  PodBuilder used;
  std::string want;
};

TEST(NodePortsTest, Filters) {
  const PortsCase cases[] = {
      {"ex92 other address", Port("127.0.0.1", "TCP"), Port("127.0.0.2"), kSuccess},
      {"ex92 all addresses", Port("127.0.0.1", "TCP"), Port("0.0.0.0"), kConflict},
      {"ex92 other protocol", Port("127.0.0.1", "TCP"), Port("", "UDP"), kSuccess},
      {"ex93", Port(""), Port("127.0.0.2"), kConflict},
      {"ex94 address", Port("::"), Port("127.0.0.2"), kSuccess},
      {"ex94 all", Port("::"), Port("0.0.0.0"), kConflict},
      {"ex94 IPv6", Port("fd00::1"), Port("::"), kSuccess},
      {"trap18 the same", Port("::"), Port("::"), kConflict},
      {"nothing used", Port(""), MakePod(), kSuccess},
  };
  for (const PortsCase& c : cases) {
    SCOPED_TRACE(c.name);
    PluginRig rig(NewNodePorts);
    rig.AddNode(MakeNode(), {c.used.Obj()});
    EXPECT_EQ(rig.FilterAll(*c.wanted.Obj()), std::vector<std::string>{c.want});
  }
}

// Trap 17: in the signature all the same.
TEST(NodePortsTest, Ex95PlainInitContainersDoNotCount) {
  PluginRig rig(NewNodePorts);
  PodBuilder pod = MakePod().Req({}).InitReq({});
  pod.spec().init_containers[0].ports = {{.host_ip = "", .protocol = "", .host_port = 8080}};
  EXPECT_EQ(Describe(rig.PreFilter(*pod.Obj()).status), "Skip");
  EXPECT_EQ(rig.Signature(*pod.HostPort(80).HostPort(8080).Obj()),
            std::vector<std::string>{"v1.Pod.Spec.HostPorts()=[80,8080]"});
}

// Trap 27.
TEST(NodePortsTest, NeedsItsPreFilter) {
  PluginRig rig(NewNodePorts);
  rig.AddNode(MakeNode());
  EXPECT_EQ(Describe(rig.As<framework::FilterPlugin>()->Filter(rig.state, *Port("").Obj(),
                                                               *rig.nodes()[0])),
            "Error: reading \"PreFilterNodePorts\" from cycleState: not found");
}

TEST(NodePortsTest, Events) {
  EXPECT_EQ(PluginRig(NewNodePorts).Events(),
            (std::vector<std::string>{"AssignedPod/2", "Node/1"}));
}

}  // namespace
}  // namespace ks::plugins
