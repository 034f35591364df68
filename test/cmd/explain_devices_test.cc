// SPDX-License-Identifier: Apache-2.0
// What explain shows of pods with claims of devices: the table and the JSON form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "kubeschedctl/explain/explain.h"
#include "kubeschedctl/explain/explain_table.h"
#include "kubeschedctl/explain/explanation_reader.h"
#include "testing/temp_dir.h"

namespace ks::ctl {
namespace {

using ::testing::HasSubstr;

std::string Node(const std::string& name) {
  return "- {apiVersion: v1, kind: Node, metadata: {name: " + name +
         "}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 9}}}\n";
}
std::string Slice(const std::string& node, int devices) {
  std::string list;
  for (int i = 0; i < devices; ++i) list += "{name: gpu-" + std::to_string(i) + "}, ";
  return "- {apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s-" + node +
         "}, spec: {driver: drv.example, nodeName: " + node + ", pool: {name: " + node +
         ", generation: 1, resourceSliceCount: 1}, devices: [" + list + "]}}\n";
}
std::string World(int wanted) {
  return Node("n1") + Node("n2") + Node("n3") + Slice("n1", 2) + Slice("n2", 1) + Slice("n3", 1) +
         "- {apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {}}\n"
         "- {apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: c, namespace: "
         "default, uid: u, resourceVersion: \"1\"}, spec: {devices: {requests: [{name: r, exactly: "
         "{deviceClassName: gpu, allocationMode: ExactCount, count: " +
         std::to_string(wanted) +
         "}}]}}}\n"
         "- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: x}], "
         "resourceClaims: [{name: r, resourceClaimName: c}]}}\n";
}

std::string Explained(const std::string& objects, bool json = false) {
  const testing::TempDir dir;
  Result<inspect::ClusterDump> read =
      ReadDump({dir.Write("dump.yaml", "apiVersion: v1\nkind: List\nitems:\n" + objects)});
  if (!read.ok()) return read.error().message;
  std::string output;
  const ExplainSinks sinks{.out = [&](std::string_view text) { output += text; },
                           .warn = [](const std::string&) {}};
  const Result<void> explained =
      ExplainDump(std::move(read).value(), {.pod = "p", .node = "", .json = json}, sinks);
  return explained.ok() ? output : explained.error().message;
}

// As of a daemon's answer.
std::string TableOfJson(const std::string& json) {
  return ExplanationTable(
      ReadExplanation(nlohmann::json::parse(json)),
      [](const auto&, const auto&) { return std::nullopt; }, "");
}

constexpr const char* kRejected = R"(default/p: Unschedulable
  0/3 nodes are available: 3 cannot allocate all claims.

  NODES  PLUGIN            REASON                      FOR EXAMPLE
      3  DynamicResources  cannot allocate all claims  n2
                           n2 and 1 alike: claim default/c, request r: needs 3 of class gpu, 1 of 1 device does
                           n1: claim default/c, request r: needs 3 of class gpu, 2 of 2 devices do
)";

TEST(ExplainDevicesTable, EachKindOfNodeHasItsLine) {
  EXPECT_EQ(Explained(World(3)), kRejected);
  EXPECT_EQ(TableOfJson(Explained(World(3), true)), kRejected);
}

TEST(ExplainDevicesTable, DetailsAreInTheJsonForm) {
  EXPECT_THAT(Explained(World(3), true),
              HasSubstr(R"("reason":"cannot allocate all claims","node":"n2","text":"claim )"
                        R"(default/c, request r: needs 3 of class gpu, 1 of 1 device does",)"
                        R"("nodes":["n2","n3"]})"));
}

TEST(ExplainDevicesTable, BestNodesShowTheDevices) {
  const std::string line = "    claim c: gpu-0, gpu-1 (drv.example, pool n1)\n";
  EXPECT_THAT(Explained(World(2)), HasSubstr(line));
  EXPECT_THAT(TableOfJson(Explained(World(2), true)), HasSubstr(line));
}

// gpu-0 has room for two shares, of which another claim has one.
std::string SharedWorld() {
  std::string world = World(1);
  const std::string device = "{name: gpu-0}, {name: gpu-1}";
  world.replace(
      world.find(device), device.size(),
      "{name: gpu-0, allowMultipleAllocations: true, capacity: {memory: {value: 40Gi, "
      "requestPolicy: {default: 15Gi}}, cores: {value: 8, requestPolicy: {default: 2}}}}");
  return world +
         "- {apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: other, "
         "namespace: default, uid: v, resourceVersion: \"2\"}, spec: {}, status: {allocation: "
         "{devices: {results: [{request: r, driver: drv.example, pool: n1, device: gpu-0, shareID: "
         "s, consumedCapacity: {memory: 10Gi}}]}}}}\n";
}

TEST(ExplainDevicesTable, SharesShowAmounts) {
  const std::string line =
      "    claim c: gpu-0 [cores 2, 8 of 8 free; memory 15Gi, 30Gi of 40Gi free] (drv.example, "
      "pool n1)\n";
  EXPECT_THAT(Explained(SharedWorld()), HasSubstr(line));
  const std::string json = Explained(SharedWorld(), true);
  EXPECT_THAT(json, HasSubstr(R"("shares":[{"result":0,"capacity":{"cores":{"asked":"2",)"
                              R"("free":"8","total":"8"},"memory":{"asked":"15Gi",)"
                              R"("free":"30Gi","total":"40Gi"}}}])"));
  EXPECT_THAT(TableOfJson(json), HasSubstr(line));
}

TEST(ExplainDevicesTable, DevicesOfOneClaimHaveNoShares) {
  EXPECT_THAT(Explained(World(2), true), ::testing::Not(HasSubstr("\"shares\"")));
}

}  // namespace
}  // namespace ks::ctl
