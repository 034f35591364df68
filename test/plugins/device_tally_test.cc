// SPDX-License-Identifier: Apache-2.0
#include "plugins/kit/resource_score/device_tally.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/dynamic_resources/device_objects.h"
#include "testing/builders.h"
#include "testing/deltas.h"
#include "testing/fake_handle.h"

namespace ks::plugins {
namespace {

const std::string kGpu = "example.com/gpu";

struct DeviceTallyTest : ::testing::Test {
  DeviceTallyTest() {
    handle.fake_device_classes().Put(
        {.name = "gpu", .creation_timestamp = {}, .extended_resource_name = kGpu});
    PutClass("drv.example");
    AddSlice("a", "'nodeName':'n1'", "{'name':'d0'},{'name':'d1'}");
    AddSlice("b", "'nodeName':'n2'", "{'name':'d0'}");
    AddSlice("c", "'allNodes':true", "{'name':'x0'}");
  }

  // `driver`: whose devices the class selects; empty: its expression is nonsense.
  void PutClass(const std::string& driver) {
    auto device_class = std::make_shared<api::DeviceClass>();
    device_class->meta.name = "gpu";
    device_class->selectors = {driver.empty() ? "nonsense" : "device.driver == '" + driver + "'"};
    handle.fake_devices().Apply(std::vector{testing::Upsert<api::DeviceClass>(device_class)});
  }
  void AddSlice(const std::string& name, const std::string& nodes, const std::string& devices) {
    Show<api::ResourceSlice>(handle.fake_devices(),
                             "{'metadata':{'name':'" + name + "'},'spec':{'driver':'drv.example'," +
                                 nodes + ",'pool':{'name':'" + name +
                                 "','generation':1,'resourceSliceCount':1},'devices':[" + devices +
                                 "]}}");
  }
  std::string Count(DeviceTally& tally, const std::string& node) {
    tally.CatchUp();
    const DeviceCount count = tally.Count(Symbol(kGpu), *testing::MakeNode().Name(node).Obj());
    return std::to_string(count.in_use) + "/" + std::to_string(count.devices);
  }

  testing::FakeHandle handle;
};

TEST_F(DeviceTallyTest, CountsTheDevicesOfANode) {
  const std::vector<ScoredResource> resources = ScoredResources({{.name = kGpu, .weight = 1}});
  DeviceTally tally(handle, resources);
  EXPECT_EQ(Count(tally, "n1"), "0/3");
  EXPECT_EQ(Count(tally, "n2"), "0/2");
  EXPECT_EQ(Count(tally, "n3"), "0/1");

  const uint64_t before = tally.Version();
  const auto claim = Show<api::ResourceClaim>(
      handle.fake_devices(),
      "{'metadata':{'name':'c','namespace':'ns','uid':'u','resourceVersion':'1'},'spec':{},"
      "'status':{'allocation':{'devices':{'results':[{'request':'r','driver':'drv.example',"
      "'pool':'a','device':'d1'}]}}}}");
  EXPECT_NE(tally.Version(), before);
  EXPECT_EQ(Count(tally, "n1"), "1/3");
  Remove(handle.fake_devices(), claim);
  EXPECT_EQ(Count(tally, "n1"), "0/3");

  AddSlice("a", "'nodeName':'n1'", "{'name':'d0'}");
  EXPECT_EQ(Count(tally, "n1"), "0/2") << "the slice changed";
  PutClass("other");
  EXPECT_EQ(Count(tally, "n1"), "0/0");
  PutClass("");
  EXPECT_EQ(Count(tally, "n1"), "0/0");
}

TEST_F(DeviceTallyTest, CostsNothingWhereNoExtendedResourceIsScoredBy) {
  const std::vector<ScoredResource> resources = ScoredResources({{.name = "cpu", .weight = 1}});
  DeviceTally tally(handle, resources);
  EXPECT_EQ(Count(tally, "n1"), "0/0");
  EXPECT_EQ(tally.Version(), 0);
  EXPECT_TRUE(tally.NeededKinds().empty());
}

}  // namespace
}  // namespace ks::plugins
