// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/device_drivers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apiserver/controlled_service.h"

namespace ks::apiserver {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

const KindInfo& Devices(const char* plural) {
  return *FindResource("resource.k8s.io", "v1", plural);
}

DeviceDriverOptions Options(const std::string& text) {
  DeviceDriverOptions options{.kinds = {}, .ready_delay = milliseconds(500)};
  const Result<void> parsed = ParseDeviceKinds(text, options.kinds);
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  return options;
}

TEST(ParseDeviceKindsTest, CountsNamesAndOptions) {
  const auto kinds = Options("8xgpu,2xnic:shared,1xx4x:binding:shared:tainted").kinds;
  ASSERT_EQ(kinds.size(), 3U);
  EXPECT_EQ(kinds[0].count, 8);
  EXPECT_EQ(kinds[0].name, "gpu");
  EXPECT_EQ(kinds[0].driver(), "gpu.example.com");
  EXPECT_FALSE(kinds[0].binding || kinds[0].shared || kinds[0].tainted);
  EXPECT_EQ(kinds[1].name, "nic");
  EXPECT_TRUE(kinds[1].shared);
  EXPECT_EQ(kinds[2].name, "x4x");
  EXPECT_TRUE(kinds[2].binding && kinds[2].shared && kinds[2].tainted);
}

struct RefusedCase {
  std::string text;
  std::string want;
};

TEST(ParseDeviceKindsTest, ErrorsNamePlaceAndCure) {
  const std::vector<RefusedCase> cases = {
      {"", R"(character 1, "": there is no count and name (write COUNTxNAME, as in 8xgpu))"},
      {"gpu", R"(character 1, "gpu": there is no count and name (write COUNTxNAME, as in 8xgpu))"},
      {"8xgpu,", R"(character 7, "": there is no count and name (write COUNTxNAME, as in 8xgpu))"},
      {"8xgpu,xnic",
       R"(character 7, "xnic": "" is no number of devices from 1 to 128 (write COUNTxNAME, as in 8xgpu))"},
      {"0xgpu",
       R"(character 1, "0xgpu": "0" is no number of devices from 1 to 128 (write COUNTxNAME, as in 8xgpu))"},
      {"129xgpu",
       R"(character 1, "129xgpu": "129" is no number of devices from 1 to 128 (write COUNTxNAME, as in 8xgpu))"},
      {"8xGPU",
       R"(character 1, "8xGPU": "GPU" is no name (lower case letters, digits and dashes, at most 51))"},
      {"8x",
       R"(character 1, "8x": "" is no name (lower case letters, digits and dashes, at most 51))"},
      {"8xgpu:fast",
       R"(character 1, "8xgpu:fast": unknown option "fast" (there are binding, shared and tainted))"},
      {"8xgpu:",
       R"(character 1, "8xgpu:": unknown option "" (there are binding, shared and tainted))"},
      {"65xgpu:tainted",
       R"(character 1, "65xgpu:tainted": of tainted devices a node has at most 64)"},
      {"8xgpu,4xgpu",
       R"(character 7, "4xgpu": gpu is there twice (give each kind a name of its own))"},
  };
  for (const RefusedCase& each : cases) {
    std::vector<DeviceKind> kinds;
    const Result<void> parsed = ParseDeviceKinds(each.text, kinds);
    ASSERT_FALSE(parsed.ok()) << each.text;
    EXPECT_EQ(parsed.error().message, each.want);
  }
}

class DeviceDriversTest : public ::testing::Test {
 protected:
  void Drive(const std::string& text) {
    world_.service.AddController(NewDeviceDrivers(world_.service, Options(text)));
    world_.Run(milliseconds(1));
  }
  void Node(const std::string& name) {
    world_.Create(Core("nodes"), R"({"metadata":{"name":")" + name + R"("}})");
    world_.Run(milliseconds(1));
  }
  std::vector<std::string> Slices() {
    std::vector<std::string> names;
    for (const auto& [key, object] : world_.service.store().objects(Devices("resourceslices"))) {
      names.push_back(object->name);
    }
    return names;
  }
  // Allocated: device `device` of driver gpu.example.com, with a binding condition.
  void Claim(const std::string& name, const std::string& device) {
    world_.Create(Devices("resourceclaims"), R"({"metadata":{"name":")" + name + R"("},"spec":{
        "devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu"}}]}}})");
    world_.Edit(Devices("resourceclaims"), name,
                R"({"status":{"allocation":{"devices":{"results":[
        {"request":"r","driver":"gpu.example.com","pool":"n","device":")" +
                    device + R"(",
         "bindingConditions":["gpu.example.com/ready"],
         "bindingFailureConditions":["gpu.example.com/failed"]}]}}}})");
  }
  Json StatusOf(const std::string& claim) {
    return world_.At(Devices("resourceclaims"), claim, "/status/devices");
  }

  ControlledService world_;
};

TEST_F(DeviceDriversTest, AClassAndASliceOnEachNode) {
  Drive("2xgpu,1xnic");
  Node("a");
  Node("b");
  EXPECT_EQ(world_.At(Devices("deviceclasses"), "gpu", "/spec/selectors/0/cel/expression"),
            R"(device.driver == "gpu.example.com")");
  EXPECT_THAT(Slices(), ElementsAre("a-gpu.example.com", "a-nic.example.com", "b-gpu.example.com",
                                    "b-nic.example.com"));
  const Json slice = world_.Get(Devices("resourceslices"), "a-gpu.example.com");
  EXPECT_EQ(slice["metadata"]["ownerReferences"][0]["name"], "a");
  const Json& spec = slice["spec"];
  EXPECT_EQ(spec["driver"], "gpu.example.com");
  EXPECT_EQ(spec["nodeName"], "a");
  EXPECT_EQ(spec["pool"], Json::parse(R"({"name":"a","generation":1,"resourceSliceCount":1})"));
  EXPECT_EQ(spec["devices"][1], Json::parse(R"({"name":"gpu-1","attributes":{
      "model":{"string":"gpu-v1"},"index":{"int":1},"numa":{"int":1},
      "driverVersion":{"version":"1.0.0"}},"capacity":{"memory":{"value":"40Gi"}}})"));
}

TEST_F(DeviceDriversTest, SlicesFollowTheNodes) {
  Node("a");
  Drive("1xgpu");
  EXPECT_THAT(Slices(), ElementsAre("a-gpu.example.com"));
  world_.Delete(Devices("resourceslices"), "a-gpu.example.com");
  world_.Run(milliseconds(1));
  EXPECT_THAT(Slices(), ElementsAre("a-gpu.example.com"));
  world_.Delete(Core("nodes"), "a");
  world_.Run(milliseconds(1));
  EXPECT_THAT(Slices(), ElementsAre());
}

TEST_F(DeviceDriversTest, OptionsShowInTheDevices) {
  Drive("2xgpu:binding:shared:tainted");
  Node("a");
  const Json slice = world_.Get(Devices("resourceslices"), "a-gpu.example.com");
  ASSERT_TRUE(slice.is_object());
  const Json& devices = slice["spec"]["devices"];
  EXPECT_EQ(devices[0]["bindingConditions"], Json::array({"gpu.example.com/ready"}));
  EXPECT_EQ(devices[0]["bindingFailureConditions"], Json::array({"gpu.example.com/failed"}));
  EXPECT_EQ(devices[0]["allowMultipleAllocations"], true);
  EXPECT_EQ(devices[0]["capacity"]["memory"]["requestPolicy"]["default"], "1Gi");
  EXPECT_FALSE(devices[0].contains("taints"));
  EXPECT_EQ(devices[1]["taints"][0]["key"], "gpu.example.com/unhealthy");
  EXPECT_EQ(devices[1]["taints"][0]["effect"], "NoSchedule");
}

TEST_F(DeviceDriversTest, AllocatedDevicesBecomeReadyAfterAWhile) {
  Drive("2xgpu:binding");
  Claim("c", "gpu-0");
  world_.Run(milliseconds(499));
  EXPECT_TRUE(StatusOf("c").is_null());
  world_.Run(milliseconds(1));
  const Json devices = StatusOf("c");
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0]["device"], "gpu-0");
  EXPECT_EQ(devices[0]["pool"], "n");
  EXPECT_EQ(devices[0]["conditions"][0]["type"], "gpu.example.com/ready");
  EXPECT_EQ(devices[0]["conditions"][0]["status"], "True");
  world_.Run(std::chrono::seconds(5));
  EXPECT_EQ(StatusOf("c"), devices);
}

TEST_F(DeviceDriversTest, WhatTheStatusSaysAlreadyStays) {
  Drive("2xgpu:binding");
  Claim("c", "gpu-0");
  world_.Edit(Devices("resourceclaims"), "c", R"({"status":{"devices":[{"driver":"gpu.example.com",
      "pool":"n","device":"gpu-0","conditions":[{"type":"Heated","status":"True","reason":"R",
      "message":"","lastTransitionTime":"2026-01-02T03:04:05Z"}]}]}})");
  world_.Run(std::chrono::seconds(1));
  ASSERT_EQ(StatusOf("c").size(), 1U);
  EXPECT_EQ(StatusOf("c")[0]["conditions"].size(), 2U);
  EXPECT_EQ(StatusOf("c")[0]["conditions"][0]["type"], "Heated");
}

TEST_F(DeviceDriversTest, NothingIsSaidOfDevicesThatWereGivenBackOrAreSomebodyElses) {
  Drive("2xgpu:binding,1xnic:binding");
  Claim("back", "gpu-0");
  Claim("foreign", "gpu-0");
  world_.Edit(Devices("resourceclaims"), "foreign", R"({"status":{"allocation":{"devices":{
      "results":[{"request":"r","driver":"other.example.com","pool":"n","device":"x",
      "bindingConditions":["other.example.com/ready"]}]}}}})");
  world_.Edit(Devices("resourceclaims"), "back", R"({"status":{"allocation":null}})");
  world_.Run(std::chrono::seconds(1));
  EXPECT_TRUE(StatusOf("back").is_null());
  EXPECT_TRUE(StatusOf("foreign").is_null());
}

}  // namespace
}  // namespace ks::apiserver
