// SPDX-License-Identifier: Apache-2.0
// What is said beyond DynamicResources' reasons, in small worlds.
#include "inspect/explain_devices.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "config/read/defaults.h"
#include "inspect/cluster_dump.h"
#include "inspect/offline_cluster.h"
#include "plugins/registry.h"

namespace ks::inspect {
namespace {

using Texts = std::vector<std::string>;

constexpr const char* kBig =
    "device.capacity['gpu.example'].memory.compareTo(quantity('80Gi')) >= 0";

std::string Item(const std::string& version, const std::string& kind, const std::string& rest) {
  return "- {apiVersion: " + version + ", kind: " + kind + ", " + rest + "}\n";
}
std::string DeviceItem(const std::string& kind, const std::string& name, const std::string& rest) {
  return Item("resource.k8s.io/v1", kind,
              "metadata: {name: " + name + ", namespace: default, uid: u-" + name +
                  ", resourceVersion: \"1\"}, " + rest);
}
std::string Node(const std::string& name) {
  return Item(
      "v1", "Node",
      "metadata: {name: " + name + "}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 9}}");
}
// Every device of the driver.
std::string Class(const std::string& rest = "") {
  return DeviceItem(
      "DeviceClass", "gpu",
      "spec: {selectors: [{cel: {expression: \"device.driver == 'gpu.example'\"}}]" + rest + "}");
}
std::string Slice(const std::string& node, const std::string& devices,
                  const std::string& driver = "gpu.example", const std::string& name = "s",
                  int count = 1) {
  return DeviceItem("ResourceSlice", name + "-" + node,
                    "spec: {driver: " + driver + ", nodeName: " + node + ", pool: {name: " + node +
                        ", generation: 1, resourceSliceCount: " + std::to_string(count) + "}, " +
                        devices + "}");
}
std::string Devices(const Texts& devices) {
  std::string text = "devices: [";
  for (const std::string& device : devices) text += "{" + device + "}, ";
  return text + "]";
}
std::string Gpu(int number, const std::string& memory, const std::string& rest = "") {
  return "name: gpu-" + std::to_string(number) + ", capacity: {memory: {value: " + memory + "}}" +
         rest;
}
std::string Numa(int number, int numa) {
  return Gpu(number, "40Gi", ", attributes: {numa: {int: " + std::to_string(numa) + "}}");
}
std::string Exactly(int count, const std::string& rest = "") {
  return "deviceClassName: gpu, allocationMode: ExactCount, count: " + std::to_string(count) + rest;
}
std::string Request(const std::string& name, const std::string& exactly) {
  return "{name: " + name + ", exactly: {" + exactly + "}}, ";
}
std::string Selecting(const std::string& expression) {
  return ", selectors: [{cel: {expression: \"" + expression + "\"}}]";
}
std::string Claim(const std::string& name, const std::string& requests,
                  const std::string& rest = "", const std::string& status = "") {
  return DeviceItem(
      "ResourceClaim", name,
      "spec: {devices: {requests: [" + requests + "]" + rest + "}}, status: {" + status + "}");
}
// A claim that has devices of a pool.
std::string Holding(const std::string& name, const std::string& pool, const Texts& devices,
                    const std::string& rest = "", const std::string& selector = "") {
  std::string results;
  for (const std::string& device : devices) {
    results +=
        "{request: gpu, driver: gpu.example, pool: " + pool + ", device: " + device + rest + "}, ";
  }
  return Claim(name, Request("gpu", Exactly(1)), "",
               "allocation: {devices: {results: [" + results + "]}" + selector + "}");
}
std::string Pod(const Texts& claims, const std::string& container = "") {
  std::string text;
  for (const std::string& claim : claims) {
    text += "{name: r-" + claim + ", resourceClaimName: " + claim + "}, ";
  }
  return Item("v1", "Pod",
              "metadata: {name: p}, spec: {containers: [{name: c" + container +
                  "}], resourceClaims: [" + text + "]}");
}
std::string Wanting(const std::string& requests, const std::string& rest = "") {
  return Claim("c", requests, rest) + Pod({"c"});
}

std::vector<ReasonDetail> Details(const std::string& objects, const std::string& only_node = "") {
  ClusterDumpReader reader;
  const auto read = reader.Read("dump", "apiVersion: v1\nkind: List\nitems:\n" + objects);
  EXPECT_TRUE(read.ok()) << read.error().message;
  if (!read.ok()) return {};
  const framework::Registry registry = plugins::InTreeRegistry();
  const auto cluster =
      OfflineCluster::Make(reader.Take(), config::DefaultConfiguration(), registry, nullptr);
  EXPECT_TRUE(cluster.ok());
  const api::PodPtr pod = (*cluster)->FindPod("default/p");
  const framework::Framework& framework = *(*cluster)->ProfileFor(*pod);
  Explanation explanation = Explain(framework, pod);
  ExplainDevices(*pod, (*cluster)->snapshot(), (*cluster)->devices(), framework.handle().gates(),
                 only_node, &explanation);
  if (explanation.details.empty()) ADD_FAILURE() << explanation.message;
  return explanation.details;
}

struct DeviceCase {
  std::string name;
  std::string objects;
  Texts want;
};

std::vector<DeviceCase> DeviceCases() {
  const std::string taint = ", taints: [{key: example.com/broken, effect: NoExecute}]";
  const std::string other = Holding("other", "n1", {"gpu-2"});
  const std::string prefix = "claim default/c, request gpu: needs ";
  return {
      {"groups, the largest first",
       Slice("n1",
             Devices({Gpu(2, "80Gi"), Gpu(0, "40Gi"), Gpu(1, "40Gi"), Gpu(3, "80Gi", taint)})) +
           other + Wanting(Request("gpu", Exactly(2, Selecting(kBig)))),
       {prefix + "2 of class gpu, 0 of 4 devices do: 2 do not match selector \"" + kBig +
        "\" (memory 40Gi); 1 in use (claim default/other); 1 tainted "
        "example.com/broken:NoExecute"}},
      {"values that differ name a device",
       Slice("n1", Devices({Gpu(0, "40Gi"), Gpu(1, "24Gi"), Gpu(2, "80Gi")})) +
           Wanting(Request("gpu", Exactly(2, Selecting(kBig)))),
       {prefix + "2 of class gpu, 1 of 3 devices does: 2 do not match selector \"" + kBig +
        "\" (gpu-0: memory 40Gi)"}},
      {"several selectors, several values",
       Slice("n1", Devices({Numa(0, 7)})) +
           Wanting(Request(
               "gpu", Exactly(1,
                              ", selectors: [{cel: {expression: \"true\"}}, {cel: {expression: "
                              "\"device.attributes['gpu.example'].numa < 2 &&\\n  "
                              "device.driver != ''\"}}]"))),
       {prefix +
        "1 of class gpu, 0 of 1 device does: 1 does not match selector #1 "
        "\"device.attributes['gpu.example'].numa < 2 && device.driver != ''\" (numa 7, driver "
        "gpu.example)"}},
      {"none of the class",
       Slice("n1", Devices({Gpu(0, "1Gi"), Gpu(1, "1Gi")}), "nic.example") +
           Wanting(Request("gpu", Exactly(1))),
       {prefix +
        "1 of class gpu, no device of the node is of the class: 2 do not match selector of the "
        "class \"device.driver == 'gpu.example'\" (driver nic.example)"}},
      {"others of another class are not counted",
       Slice("n1", Devices({Gpu(0, "1Gi")}), "nic.example") +
           Slice("n1", Devices({Gpu(0, "1Gi")}), "gpu.example", "t") +
           Wanting(Request("gpu", Exactly(3))),
       {prefix + "3 of class gpu, 1 of 1 device does"}},
      {"no devices",
       Wanting(Request("gpu", Exactly(1))),
       {prefix + "1 of class gpu, the node has no devices"}},
      {"all of them",
       Slice("n1", Devices({Gpu(1, "80Gi"), Gpu(2, "80Gi")})) + other +
           Wanting(Request("gpu", "deviceClassName: gpu, allocationMode: All")),
       {prefix + "all of class gpu, 1 of 2 devices does: 1 in use (claim default/other)"}},
      {"alternatives",
       Slice("n1", Devices({Gpu(2, "40Gi")})) + other +
           Wanting("{name: gpu, firstAvailable: [{name: big, " + Exactly(1, Selecting(kBig)) +
                   "}, {name: any, " + Exactly(1) + "}]}"),
       {"claim default/c, request gpu/big: needs 1 of class gpu, 0 of 1 device does: 1 does not "
        "match selector \"" +
            std::string(kBig) + "\" (memory 40Gi)",
        "claim default/c, request gpu/any: needs 1 of class gpu, 0 of 1 device does: 1 in use "
        "(claim default/other)"}},
      {"requests that can be met are not told",
       Slice("n1", Devices({Gpu(0, "40Gi")})) +
           Wanting(Request("one", Exactly(1)) + Request("gpu", Exactly(2))),
       {prefix + "2 of class gpu, 1 of 1 device does"}},
  };
}

std::vector<DeviceCase> AmountCases() {
  const std::string prefix = "claim default/c, request gpu: needs 1 of class gpu, ";
  const std::string shared =
      ", shareID: 11111111-2222-3333-4444-555555555555, consumedCapacity: "
      "{memory: 35Gi}";
  const std::string counters = "sharedCounters: [{name: card, counters: {memory: {value: 40Gi}}}]";
  const auto part = [](const std::string& name, const std::string& memory) {
    return "name: " + name +
           ", consumesCounters: [{counterSet: card, counters: {memory: {value: " + memory +
           "}}}], attributes: {kind: {string: " + name + "}}";
  };
  const std::string whole = "device.attributes['gpu.example'].kind == 'whole'";
  return {
      {"less left than asked",
       Slice("n1", Devices({Gpu(0, "40Gi", ", allowMultipleAllocations: true")})) +
           Holding("other", "n1", {"gpu-0"}, shared) +
           Wanting(Request("gpu", Exactly(1, ", capacity: {requests: {memory: 10Gi}}"))),
       {prefix +
        "0 of 1 device does: 1 with too little memory left (10Gi asked, 5Gi left of 40Gi)"}},
      {"less than asked in all",
       Slice("n1", Devices({Gpu(0, "24Gi"), Gpu(1, "40Gi")})) +
           Wanting(Request("gpu", Exactly(1, ", capacity: {requests: {memory: 50Gi}}"))),
       {prefix + "0 of 2 devices do: 2 with too little memory (gpu-1: 50Gi asked, 40Gi in all)"}},
      {"no such capacity",
       Slice("n1", Devices({Gpu(0, "24Gi")})) +
           Wanting(Request("gpu", Exactly(1, ", capacity: {requests: {cores: 5}}"))),
       {prefix + "0 of 1 device does: 1 without capacity cores"}},
      {"counters",
       Slice("n1", counters, "gpu.example", "counters", 2) +
           Slice("n1", Devices({part("whole", "40Gi"), part("half", "20Gi")}), "gpu.example", "s",
                 2) +
           Holding("other", "n1", {"half"}) + Wanting(Request("gpu", Exactly(1, Selecting(whole)))),
       {prefix +
        "0 of 2 devices do: 1 short of counter memory of set card (40Gi asked, 20Gi left); "
        "1 does not match selector \"" +
        whole + "\" (kind half)"}},
  };
}

std::vector<DeviceCase> TogetherCases() {
  const std::string match = ", constraints: [{matchAttribute: gpu.example/numa}]";
  const std::string two = Slice("n1", Devices({Numa(0, 0), Numa(1, 1)}));
  const std::string together = "each request alone fits; together they do not: ";
  return {
      {"one request",
       two + Wanting(Request("gpu", Exactly(2)), match),
       {"enough devices, but not with constraint matchAttribute gpu.example/numa (0 on 1 device, 1 "
        "on 1 device)"}},
      {"two requests",
       two + Wanting(Request("a", Exactly(1)) + Request("b", Exactly(1)), match),
       {together + "constraint matchAttribute gpu.example/numa (0 on 1 device, 1 on 1 device)"}},
      {"two claims",
       two + Claim("c", Request("gpu", Exactly(2)), match) + Claim("d", "") + Pod({"c", "d"}),
       {"enough devices, but not with constraint matchAttribute gpu.example/numa of claim "
        "default/c "
        "(0 on 1 device, 1 on 1 device)"}},
      {"the same device",
       Slice("n1", Devices({Gpu(0, "40Gi")})) +
           Wanting(Request("a", Exactly(1)) + Request("b", Exactly(1))),
       {together + "they need the same devices or counters"}},
  };
}

std::vector<DeviceCase> PoolCases() {
  return {
      {"incomplete",
       Slice("n1", Devices({Gpu(0, "40Gi")}), "gpu.example", "s", 2) +
           Wanting(Request("gpu", Exactly(1))),
       {"claim default/c, request gpu: needs 1 of class gpu, the node has no usable devices",
        "pool gpu.example/n1 is incomplete: 1 of 2 slices"}},
      {"invalid",
       Slice("n1", Devices({Gpu(0, "40Gi"), Gpu(0, "40Gi")})) + Wanting(Request("gpu", Exactly(1))),
       {"claim default/c, request gpu: needs 1 of class gpu, the node has no usable devices",
        "pool gpu.example/n1 is invalid: duplicate device name gpu-0"}},
  };
}

std::vector<DeviceCase> AllocatedCases() {
  const std::string elsewhere =
      ", nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, "
      "values: [n7]}]}]}";
  return {
      {"for other nodes",
       Holding("c", "n7", {"gpu-0"}, "", elsewhere) + Pod({"c"}),
       {"claim default/c is allocated for nodes with metadata.name in (n7)"}},
  };
}

std::vector<DeviceCase> ExtendedCases() {
  return {
      {"of the pod",
       Slice("n1", Devices({Gpu(0, "40Gi")})) +
           Pod({}, ", resources: {requests: {example.com/gpu: 2}, limits: {example.com/gpu: 2}}"),
       {"extended resource example.com/gpu: needs 2 of class gpu, 1 of 1 device does"}},
  };
}

class ExplainDevicesTest : public ::testing::TestWithParam<std::vector<DeviceCase>> {};

TEST_P(ExplainDevicesTest, SaysWhatIsBehindTheReason) {
  for (const DeviceCase& c : GetParam()) {
    SCOPED_TRACE(c.name);
    Texts texts;
    for (const ReasonDetail& detail :
         Details(Node("n1") + Class(", extendedResourceName: example.com/gpu") + c.objects)) {
      texts.push_back(detail.text);
      EXPECT_EQ(detail.plugin, "DynamicResources");
      EXPECT_EQ(detail.node, "n1");
      EXPECT_EQ(detail.nodes, Texts{"n1"});
    }
    EXPECT_EQ(texts, c.want);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ExplainDevicesTest, ::testing::Values(DeviceCases()));
INSTANTIATE_TEST_SUITE_P(Amounts, ExplainDevicesTest, ::testing::Values(AmountCases()));
INSTANTIATE_TEST_SUITE_P(Together, ExplainDevicesTest, ::testing::Values(TogetherCases()));
INSTANTIATE_TEST_SUITE_P(Pools, ExplainDevicesTest, ::testing::Values(PoolCases()));
INSTANTIATE_TEST_SUITE_P(Allocated, ExplainDevicesTest, ::testing::Values(AllocatedCases()));
INSTANTIATE_TEST_SUITE_P(Extended, ExplainDevicesTest, ::testing::Values(ExtendedCases()));

// Which claims are in the way does not make another story.
TEST(ExplainDevices, NodesWithTheSameStory) {
  const std::string objects =
      Node("n1") + Node("n2") + Node("n3") + Class() + Slice("n2", Devices({Gpu(0, "40Gi")})) +
      Slice("n3", Devices({Gpu(0, "40Gi")})) + Holding("other", "n2", {"gpu-0"}) +
      Holding("another", "n3", {"gpu-0"}) + Wanting(Request("gpu", Exactly(1)));
  const std::vector<ReasonDetail> details = Details(objects);
  ASSERT_EQ(details.size(), 2U);
  EXPECT_EQ(details[0].nodes, (Texts{"n2", "n3"}));
  EXPECT_EQ(details[0].node, "n2");
  EXPECT_EQ(details[0].text,
            "claim default/c, request gpu: needs 1 of class gpu, 0 of 1 device does: 1 in use "
            "(claim default/other)");
  EXPECT_EQ(details[1].nodes, (Texts{"n1"}));
  const std::vector<ReasonDetail> of_one = Details(objects, "n3");
  ASSERT_EQ(of_one.size(), 1U);
  EXPECT_EQ(of_one[0].node, "n3");
}

}  // namespace
}  // namespace ks::inspect
