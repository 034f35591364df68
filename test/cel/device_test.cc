// SPDX-License-Identifier: Apache-2.0
#include "cel/device.h"

#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cel/program.h"

namespace ks::cel {
namespace {

struct Names {
  const char* path;
  const char* on_the_way;  // the same, not as a constant path
};
constexpr Names kNames[] = {
    {"device.attributes['d.io'].a", "device.attributes[dyn('d.io')].a"},
    {"device.attributes['d.io'].b", "device.attributes[dyn('d.io')].b"},
    {"device.attributes['drv'].a", "device.attributes[dyn('drv')].a"},
    {"device.capacity['drv'].a", "device.capacity[dyn('drv')].a"},
};

// Some of six names, with numbers, texts and versions of few values and of many.
DeviceContent RandomContent(std::mt19937& random) {
  DeviceContent content{.driver = random() % 4 == 0 ? "other" : "drv"};
  for (const char* name : {"d.io/a", "d.io/b", "a", "drv/a", "z"}) {
    const std::string number = std::to_string(random() % 12);
    switch (random() % 6) {
      case 0:
        content.attributes.push_back({name, int64_t{7}});
        break;
      case 1:
        content.attributes.push_back({name, "text-" + number});
        break;
      case 2:
        content.attributes.push_back({name, VersionText{"1." + number + ".0-rc.1"}});
        break;
      case 3:
        content.attributes.push_back({name, std::vector<std::string>{number, "b"}});
        break;
      default:
        break;
    }
  }
  if (random() % 2 == 0) {
    content.capacity.push_back({"a", *api::Quantity::Parse(std::to_string(random() % 12) + "Gi")});
  }
  return content;
}

std::shared_ptr<const Program> MustCompile(const std::string& text) {
  const auto program = Program::Compile(text, Program::Wanted::kAny);
  EXPECT_TRUE(program.ok()) << text;
  return *program;
}

TEST(CelDeviceTest, PathsFindWhatTheMapHolds) {
  constexpr int kRounds = 2000;
  std::mt19937 random(1);
  std::vector<std::shared_ptr<const Program>> paths;
  std::vector<std::shared_ptr<const Program>> maps;
  for (const Names& names : kNames) {
    paths.push_back(MustCompile(names.path));
    maps.push_back(MustCompile(names.on_the_way));
  }
  std::vector<std::shared_ptr<const Device>> devices(40);  // others come in their place
  for (int round = 0; round < kRounds; ++round) {
    auto& device = devices[random() % devices.size()];
    if (device == nullptr || random() % 4 == 0) device = Device::Make(RandomContent(random));
    const size_t i = random() % paths.size();
    Context one(device.get(), {});
    Context other(device.get(), {});
    const Value path = paths[i]->Run(one);
    const Value map = maps[i]->Run(other);
    ASSERT_EQ(path.kind, map.kind) << kNames[i].path;
    if (path.is_error()) {
      ASSERT_EQ(path.view(), map.view());
    } else {
      ASSERT_TRUE(Equal(path, map).is_true()) << kNames[i].path;
    }
  }
}

TEST(CelDeviceTest, MoreValuesThanAreShared) {
  const auto text = MustCompile("device.attributes['d'].s");
  const auto size = MustCompile("device.capacity['d'].c.asInteger()");
  std::vector<std::shared_ptr<const Device>> devices;
  for (int i = 0; i < 20; ++i) {
    devices.push_back(Device::Make(
        {.driver = "d",
         .attributes = {{"s", "long enough for memory of its own: " + std::to_string(i % 10)}},
         .capacity = {{"c", api::Quantity::FromUnits(i % 10)}}}));
  }
  devices.erase(devices.begin(), devices.begin() + 10);
  for (int i = 0; i < 10; ++i) {
    Context context(devices[static_cast<size_t>(i)].get(), {});
    EXPECT_TRUE(text->Run(context).view().ends_with(": " + std::to_string(i)));
    EXPECT_EQ(size->Run(context).integer, i);
  }
}

TEST(CelDeviceTest, OneTextIsSharedByDevicesOfOneShape) {
  const auto text = MustCompile("device.attributes['d'].s");
  const DeviceContent content{.driver = "d", .attributes = {{"s", std::string("model")}}};
  const auto one = Device::Make(content);
  const auto other = Device::Make(content);
  Context first(one.get(), {});
  Context second(other.get(), {});
  EXPECT_EQ(text->Run(first).text, text->Run(second).text);
}

TEST(CelDeviceTest, TheLastOfTwoNamesForOneCounts) {
  const auto number = MustCompile("device.attributes['d'].n");
  const auto device =
      Device::Make({.driver = "d", .attributes = {{"n", int64_t{1}}, {"d/n", int64_t{2}}}});
  Context context(device.get(), {});
  EXPECT_EQ(number->Run(context).integer, 2);
}

TEST(CelDeviceTest, MemoHoldsPairsOfPrograms) {
  Device::Memo memo;
  memo.Store(16, true);
  memo.Store(17, false);
  EXPECT_EQ(memo.Find(16), true);
  EXPECT_EQ(memo.Find(17), false);
  memo.Store(32, false);  // takes 16's place, which takes 17's
  EXPECT_EQ(memo.Find(32), false);
  EXPECT_EQ(memo.Find(16), true);
  EXPECT_EQ(memo.Find(17), std::nullopt);
  memo.Store(uint32_t{1} << 30, true);
  EXPECT_EQ(memo.Find(uint32_t{1} << 30), std::nullopt);
}

}  // namespace
}  // namespace ks::cel
