// SPDX-License-Identifier: Apache-2.0
#include "framework/device_classes.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ks::framework {
namespace {

DeviceClass Class(std::string name, std::optional<int64_t> created, std::string resource = "") {
  DeviceClass made{.name = std::move(name), .creation_timestamp = {}, .extended_resource_name = {}};
  if (created) made.creation_timestamp = TimePoint(std::chrono::seconds(*created));
  made.extended_resource_name = std::move(resource);
  return made;
}

// The class that serves the resource, "-" for none.
std::string Serving(const DeviceClassLister& classes, const std::string& resource) {
  const std::string* name = classes.ClassServing(Symbol(resource));
  return name == nullptr ? "-" : *name;
}

TEST(DeviceClassTableTest, TheNewerOfTwoClaimsServes) {
  const std::string gpu = "example.com/gpu";
  struct Case {
    std::string name;
    std::vector<DeviceClass> classes;
    std::string want;
  };
  const Case cases[] = {
      {"none", {}, "-"},
      {"no extended name", {Class("a", 1)}, "-"},
      {"another name", {Class("a", 1, "example.com/nic")}, "-"},
      {"one", {Class("a", 1, gpu)}, "a"},
      {"the newer", {Class("a", 1, gpu), Class("b", 2, gpu)}, "b"},
      {"the newer, put first", {Class("b", 2, gpu), Class("a", 1, gpu)}, "b"},
      {"one age: the smaller name", {Class("b", 1, gpu), Class("a", 1, gpu)}, "a"},
      {"three", {Class("c", 2, gpu), Class("a", 1, gpu), Class("b", 2, gpu)}, "b"},
      {"without a time is oldest", {Class("a", std::nullopt, gpu), Class("b", 1, gpu)}, "b"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    DeviceClassTable table;
    for (const DeviceClass& device_class : c.classes) table.Put(device_class);
    EXPECT_EQ(Serving(table, gpu), c.want);
  }
}

TEST(DeviceClassTableTest, EveryClassHasItsImplicitName) {
  DeviceClassTable table;
  table.Put(Class("a", 1, "example.com/gpu"));
  table.Put(Class("b", 2));
  EXPECT_EQ(Serving(table, "deviceclass.resource.kubernetes.io/a"), "a");
  EXPECT_EQ(Serving(table, "deviceclass.resource.kubernetes.io/b"), "b");
  EXPECT_EQ(Serving(table, "deviceclass.resource.kubernetes.io/c"), "-");
  EXPECT_EQ(Serving(NoDeviceClasses(), "deviceclass.resource.kubernetes.io/a"), "-");
}

TEST(DeviceClassTableTest, AChangeTakesTheFormerNames) {
  const DeviceClass former = Class("a", 1, "example.com/gpu");
  DeviceClassTable table;
  table.Put(former);
  const uint64_t before = table.generation();
  table.Put(Class("a", 1, "example.com/nic"), &former);
  EXPECT_NE(table.generation(), before);
  EXPECT_EQ(Serving(table, "example.com/gpu"), "-");
  EXPECT_EQ(Serving(table, "example.com/nic"), "a");
}

// Traps 12 and 13.
TEST(DeviceClassTableTest, WhoLosesHasNoNames) {
  DeviceClassTable table;
  table.Put(Class("b", 2, "example.com/gpu"));
  table.Put(Class("a", 1, "example.com/gpu"));
  EXPECT_EQ(Serving(table, "deviceclass.resource.kubernetes.io/a"), "-");
  table.Remove(Class("b", 2, "example.com/gpu"));
  EXPECT_EQ(Serving(table, "example.com/gpu"), "-");
  EXPECT_EQ(Serving(table, "deviceclass.resource.kubernetes.io/b"), "-");
  table.Put(Class("a", 1, "example.com/gpu"));
  EXPECT_EQ(Serving(table, "example.com/gpu"), "a");
}

}  // namespace
}  // namespace ks::framework
