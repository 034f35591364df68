// SPDX-License-Identifier: Apache-2.0
// docs/spec/plugins-node.md 2.9, docs/spec/cache.md 4.3.
#include "framework/host_ports.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "testing/builders.h"

namespace ks::framework {
namespace {

HostPort Port(std::string ip, std::string_view protocol, int32_t port) {
  return {std::move(ip), Symbol(protocol), port};
}

TEST(HostPorts, OfAPod) {
  testing::PodBuilder pod = testing::MakePod().Req({}).HostPort(3).HostPort(4, "UDP", "10.0.0.1");
  pod.InitReq({}).SidecarReq({});
  pod.spec().init_containers[0].ports = {{.host_ip = "", .protocol = "", .host_port = 1}};
  pod.spec().init_containers[1].ports = {{.host_ip = "", .protocol = "", .host_port = 2},
                                         {.host_ip = "", .protocol = "", .host_port = 0}};
  const HostPortSet ports = PodHostPorts(*pod.Obj());
  EXPECT_EQ(ports.size(), 3U);
  for (const HostPort& port :
       {Port("0.0.0.0", "TCP", 2), Port("0.0.0.0", "TCP", 3), Port("10.0.0.1", "UDP", 4)}) {
    SCOPED_TRACE(port.port);
    EXPECT_TRUE(ports.ConflictsWith(HostPortSet({port})));
  }
  EXPECT_FALSE(ports.ConflictsWith(HostPortSet({Port("10.0.0.2", "UDP", 4)})));
}

TEST(HostPorts, Conflicts) {
  struct Case {
    std::string name;
    std::vector<HostPort> used;
    std::vector<HostPort> wanted;
    bool want;
  };
  const Case cases[] = {
      {"other address", {Port("127.0.0.2", "TCP", 8080)}, {Port("127.0.0.1", "TCP", 8080)}, false},
      {"used by all", {Port("0.0.0.0", "TCP", 8080)}, {Port("127.0.0.1", "TCP", 8080)}, true},
      {"other protocol", {Port("0.0.0.0", "UDP", 8080)}, {Port("127.0.0.1", "TCP", 8080)}, false},
      {"other port", {Port("0.0.0.0", "TCP", 8081)}, {Port("127.0.0.1", "TCP", 8080)}, false},
      {"wanted for all", {Port("127.0.0.2", "TCP", 8080)}, {Port("0.0.0.0", "TCP", 8080)}, true},
      {"the IPv6 wildcard is an address",
       {Port("::", "TCP", 8080)},
       {Port("fd00::1", "TCP", 8080)},
       false},
      {"nothing used", {}, {Port("0.0.0.0", "TCP", 8080)}, false},
      {"nothing wanted", {Port("0.0.0.0", "TCP", 8080)}, {}, false},
      {"the last of several",
       {Port("10.0.0.1", "TCP", 1), Port("10.0.0.1", "TCP", 3)},
       {Port("10.0.0.1", "TCP", 2), Port("10.0.0.1", "TCP", 3)},
       true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(HostPortSet(c.used).ConflictsWith(HostPortSet(c.wanted)), c.want);
  }
}

// Against lists that are searched from their beginning.
TEST(HostPorts, AreASet) {
  constexpr uint64_t kSeed = 62;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  const std::array<std::string, 3> addresses = {"0.0.0.0", "10.0.0.1", "127.0.0.1"};
  const std::array<std::string_view, 2> protocols = {"UDP", "TCP"};
  const auto some = [&](uint64_t most) {
    std::vector<HostPort> ports(random.Below(most + 1));
    for (HostPort& port : ports) {
      port = Port(addresses[random.Below(3)], protocols[random.Below(2)],
                  static_cast<int32_t>(1 + random.Below(40)));
    }
    return ports;
  };
  const auto holds = [](const std::vector<HostPort>& ports, const HostPort& port) {
    return std::find(ports.begin(), ports.end(), port) != ports.end();
  };
  int conflicts = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<HostPort> list;
    HostPortSet set;
    for (int step = 0; step < 4; ++step) {
      const std::vector<HostPort> change = some(6);
      if (random.Below(3) == 0) {
        std::erase_if(list, [&](const HostPort& port) { return holds(change, port); });
        set.Remove(HostPortSet(change));
      } else {
        for (const HostPort& port : change) {
          if (!holds(list, port)) list.push_back(port);
        }
        set.Add(HostPortSet(change));
      }
      ASSERT_EQ(set.size(), list.size());
    }
    const std::vector<HostPort> wanted = some(4);
    const bool want = std::any_of(wanted.begin(), wanted.end(), [&](const HostPort& port) {
      return std::any_of(list.begin(), list.end(), [&](const HostPort& used) {
        return used.port == port.port && used.protocol == port.protocol &&
               (used.ip == port.ip || used.ip == addresses[0] || port.ip == addresses[0]);
      });
    });
    ASSERT_EQ(set.ConflictsWith(HostPortSet(wanted)), want);
    conflicts += want ? 1 : 0;
  }
  EXPECT_GT(conflicts, 200);
  EXPECT_LT(conflicts, 1800);
}

}  // namespace
}  // namespace ks::framework
