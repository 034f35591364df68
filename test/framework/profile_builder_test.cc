// SPDX-License-Identifier: Apache-2.0
// From configuration to lists: docs/spec/framework.md 5.3 to 5.8 and its examples 2 to 13,
// docs/spec/config.md 5.8 (rows M1 to M27).
#include "framework/runtime/profile_builder.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/read/defaults.h"
#include "framework/runtime/profiles.h"
#include "testing/test_plugins.h"

namespace ks::framework {
namespace {

using config::Plugins;
using ks::testing::Binds;
using ks::testing::Filters;
using ks::testing::PreFilters;
using ks::testing::QueueSorts;
using ks::testing::Scores;
using ks::testing::TestRegistry;

using Lists = std::map<std::string, std::string>;  // point -> names joined by one space

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

const Lists& DefaultLists() {
  static const Lists lists = {
      {"PreEnqueue", "SchedulingGates DynamicResources DefaultPreemption"},
      {"QueueSort", "PrioritySort"},
      {"PreFilter",
       "NodeName NodeUnschedulable TaintToleration NodeAffinity NodePorts NodeResourcesFit "
       "VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "
       "InterPodAffinity DynamicResources NodeDeclaredFeatures"},
      {"Filter",
       "NodeName NodeUnschedulable TaintToleration NodeAffinity NodePorts NodeResourcesFit "
       "VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "
       "InterPodAffinity DynamicResources NodeDeclaredFeatures"},
      {"PostFilter", "DynamicResources DefaultPreemption"},
      {"PodGroupPostFilter", "DynamicResources DefaultPreemption"},
      {"PreScore",
       "TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread "
       "InterPodAffinity NodeResourcesBalancedAllocation"},
      {"Score",
       "TaintToleration 3 NodeAffinity 2 NodeResourcesFit 1 VolumeBinding 1 PodTopologySpread 2 "
       "InterPodAffinity 2 DynamicResources 2 NodeResourcesBalancedAllocation 1 ImageLocality 1"},
      {"Reserve", "VolumeBinding DynamicResources"},
      {"Permit", ""},
      {"PreBind", "VolumeBinding DynamicResources"},
      {"Bind", "DefaultBinder"},
      {"PostBind", ""},
      {"PlacementGenerate", ""},
      {"PlacementScore", "NodeResourcesFit 1"},
  };
  return lists;
}

// A registry with the default plugins and the out-of-tree ones that the examples use.
class BuilderTest : public ::testing::Test {
 protected:
  BuilderTest() {
    ks::testing::AddFakeDefaultPlugins(registry_);
    registry_.Add<Filters, QueueSorts>({.name = "Foo"});
    registry_.Add<QueueSorts>({.name = "OOTQueueSort"});
    registry_.AddFactory("Broken",
                         [](const config::PluginArgs&, Handle&) -> Result<std::unique_ptr<Plugin>> {
                           return Error{"no such device"};
                         });
    registry_.Add<Scores>({.name = "RealName"}, "Renamed");
  }

  static config::Profile MakeProfile(const Plugins& user) {
    config::Profile profile;
    profile.scheduler_name = "default-scheduler";
    profile.plugins = config::MergePlugins(ks::testing::UpstreamDefaultPlugins(), user);
    return profile;
  }
  Result<std::unique_ptr<Framework>> Create(const Plugins& user) const {
    return Framework::Create(registry_.registry(), MakeProfile(user),
                             {.parts = testing::LastingParts()});
  }

  TestRegistry registry_;
};

struct ListCase {
  std::string name;
  Plugins user;
  Lists want;         // the points that differ from the defaults
  bool only = false;  // points that `want` does not name are empty
};

const std::string kFilters = DefaultLists().at("Filter");
const std::string kFiltersNameLast = kFilters.substr(std::string("NodeName ").size()) + " NodeName";
const std::string kFiltersWithoutIpa =
    "NodeName NodeUnschedulable TaintToleration NodeAffinity NodePorts NodeResourcesFit "
    "VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "
    "DynamicResources NodeDeclaredFeatures";
const std::string kScoreWithoutIpa =
    "TaintToleration 3 NodeAffinity 2 NodeResourcesFit 1 VolumeBinding 1 PodTopologySpread 2 "
    "DynamicResources 2 NodeResourcesBalancedAllocation 1 ImageLocality 1";
const std::string kPreScoreWithoutIpa =
    "TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread "
    "NodeResourcesBalancedAllocation";
const std::vector<ListCase> kListCases = {
    {.name = "Defaults", .user = {}, .want = {}},
    {.name = "Ex02_OverridesFirstDisabledGone",
     .user = {.score = {.enabled = {{"ImageLocality", 9}, {"NodeAffinity", 7}},
                        .disabled = {{"PodTopologySpread"}}}},
     .want = {{"Score",
               "ImageLocality 9 NodeAffinity 7 TaintToleration 3 NodeResourcesFit 1 "
               "VolumeBinding 1 InterPodAffinity 2 DynamicResources 2 "
               "NodeResourcesBalancedAllocation 1"}}},
    {.name = "Ex03_DisabledAndEnabledIsLast",
     .user = {.score = {.enabled = {{"NodeAffinity", 7}}, .disabled = {{"NodeAffinity"}}}},
     .want = {{"Score",
               "TaintToleration 3 NodeResourcesFit 1 VolumeBinding 1 PodTopologySpread 2 "
               "InterPodAffinity 2 DynamicResources 2 NodeResourcesBalancedAllocation 1 "
               "ImageLocality 1 NodeAffinity 7"}}},
    {.name = "Ex04_M5_MissingWeightIsOne",
     .user = {.score = {.enabled = {{"TaintToleration"}}}},
     .want = {{"Score",
               "TaintToleration 1 NodeAffinity 2 NodeResourcesFit 1 VolumeBinding 1 "
               "PodTopologySpread 2 InterPodAffinity 2 DynamicResources 2 "
               "NodeResourcesBalancedAllocation 1 ImageLocality 1"}}},
    {.name = "Ex05_StarKeepsTheExplicitList",
     .user = {.score = {.enabled = {{"NodeResourcesFit", 2}}, .disabled = {{"*"}}}},
     .want = {{"Score", "NodeResourcesFit 2"}}},
    {.name = "Ex06_MultiPointStar",
     .user = {.multi_point = {.enabled = {{"NodeResourcesFit", 4},
                                          {"DefaultBinder"},
                                          {"PrioritySort"},
                                          {"NodeName"}},
                              .disabled = {{"*"}}}},
     .want = {{"PreFilter", "NodeResourcesFit NodeName"},
              {"Filter", "NodeResourcesFit NodeName"},
              {"PreScore", "NodeResourcesFit"},
              {"Score", "NodeResourcesFit 4"},
              {"PlacementScore", "NodeResourcesFit 4"},
              {"Bind", "DefaultBinder"},
              {"QueueSort", "PrioritySort"}},
     .only = true},
    {.name = "Ex07_MultiPointAddsAndReweights",
     .user = {.multi_point = {.enabled = {{"Foo"}, {"TaintToleration", 50}, {"NodePorts"}}},
              .queue_sort = {.disabled = {{"Foo"}}}},
     .want = {{"Filter", kFilters + " Foo"},
              {"Score",
               "TaintToleration 50 NodeAffinity 2 NodeResourcesFit 1 VolumeBinding 1 "
               "PodTopologySpread 2 InterPodAffinity 2 DynamicResources 2 "
               "NodeResourcesBalancedAllocation 1 ImageLocality 1"}}},
    {.name = "Ex08_M19_MultiPointDisabledAndEnabledIsLast",
     .user = {.multi_point = {.enabled = {{"NodeName"}}, .disabled = {{"NodeName"}}}},
     .want = {{"PreFilter", kFiltersNameLast}, {"Filter", kFiltersNameLast}}},
    {.name = "Ex09_PointKeepsWhatMultiPointDisabled",
     .user = {.multi_point = {.disabled = {{"NodeAffinity"}}},
              .filter = {.enabled = {{"NodeAffinity"}}}},
     .want = {{"PreFilter",
               "NodeName NodeUnschedulable TaintToleration NodePorts NodeResourcesFit "
               "VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "
               "InterPodAffinity DynamicResources NodeDeclaredFeatures"},
              {"Filter",
               "NodeName NodeUnschedulable TaintToleration NodePorts NodeResourcesFit "
               "VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "
               "InterPodAffinity DynamicResources NodeDeclaredFeatures NodeAffinity"},
              {"PreScore",
               "TaintToleration NodeResourcesFit VolumeBinding PodTopologySpread "
               "InterPodAffinity NodeResourcesBalancedAllocation"},
              {"Score",
               "TaintToleration 3 NodeResourcesFit 1 VolumeBinding 1 PodTopologySpread 2 "
               "InterPodAffinity 2 DynamicResources 2 NodeResourcesBalancedAllocation 1 "
               "ImageLocality 1"}}},
    {.name = "Ex11_RepeatedInMultiPointButExplicit",
     .user = {.multi_point = {.enabled = {{"ImageLocality"}, {"ImageLocality"}}},
              .score = {.enabled = {{"ImageLocality", 5}}}},
     .want = {{"Score",
               "ImageLocality 5 TaintToleration 3 NodeAffinity 2 NodeResourcesFit 1 "
               "VolumeBinding 1 PodTopologySpread 2 InterPodAffinity 2 DynamicResources 2 "
               "NodeResourcesBalancedAllocation 1"}}},
    {.name = "Ex12_NegativeWeightLast",
     .user = {.multi_point = {.enabled = {{"PrioritySort"},
                                          {"DefaultBinder"},
                                          {"ImageLocality", 3},
                                          {"NodeAffinity", -2}},
                              .disabled = {{"*"}}}},
     .want = {{"QueueSort", "PrioritySort"},
              {"Bind", "DefaultBinder"},
              {"PreFilter", "NodeAffinity"},
              {"Filter", "NodeAffinity"},
              {"PreScore", "NodeAffinity"},
              {"Score", "ImageLocality 3 NodeAffinity -2"}},
     .only = true},
    {.name = "Ex12_NegativeTotalAtTheEndIsFine",
     .user = {.multi_point = {.enabled = {{"PrioritySort"},
                                          {"DefaultBinder"},
                                          {"ImageLocality", 3},
                                          {"NodeAffinity", -5}},
                              .disabled = {{"*"}}}},
     .want = {{"QueueSort", "PrioritySort"},
              {"Bind", "DefaultBinder"},
              {"PreFilter", "NodeAffinity"},
              {"Filter", "NodeAffinity"},
              {"PreScore", "NodeAffinity"},
              {"Score", "ImageLocality 3 NodeAffinity -5"}},
     .only = true},
    {.name = "M1",
     .user = {.score = {.disabled = {{"ImageLocality"}}}},
     .want = {{"Score",
               "TaintToleration 3 NodeAffinity 2 NodeResourcesFit 1 VolumeBinding 1 "
               "PodTopologySpread 2 InterPodAffinity 2 DynamicResources 2 "
               "NodeResourcesBalancedAllocation 1"}}},
    {.name = "M2", .user = {.score = {.disabled = {{"*"}}}}, .want = {{"Score", ""}}},
    {.name = "M3",
     .user = {.score = {.enabled = {{"NodeResourcesFit", 5}, {"ImageLocality"}},
                        .disabled = {{"*"}}}},
     .want = {{"Score", "NodeResourcesFit 5 ImageLocality 1"}}},
    {.name = "M4",
     .user = {.score = {.enabled = {{"NodeResourcesFit", 5}}}},
     .want = {{"Score",
               "NodeResourcesFit 5 TaintToleration 3 NodeAffinity 2 VolumeBinding 1 "
               "PodTopologySpread 2 InterPodAffinity 2 DynamicResources 2 "
               "NodeResourcesBalancedAllocation 1 ImageLocality 1"}}},
    {.name = "M6",
     .user = {.multi_point = {.enabled = {{"NodeResourcesFit", 5}}}},
     .want = {{"Score",
               "TaintToleration 3 NodeAffinity 2 NodeResourcesFit 5 VolumeBinding 1 "
               "PodTopologySpread 2 InterPodAffinity 2 DynamicResources 2 "
               "NodeResourcesBalancedAllocation 1 ImageLocality 1"},
              {"PlacementScore", "NodeResourcesFit 5"}}},
    {.name = "M8",
     .user = {.multi_point = {.enabled = {{"NodeResourcesFit", 5}}},
              .score = {.enabled = {{"NodeResourcesFit", 7}}}},
     .want = {{"Score",
               "NodeResourcesFit 7 TaintToleration 3 NodeAffinity 2 VolumeBinding 1 "
               "PodTopologySpread 2 InterPodAffinity 2 DynamicResources 2 "
               "NodeResourcesBalancedAllocation 1 ImageLocality 1"},
              {"PlacementScore", "NodeResourcesFit 5"}}},
    {.name = "M9",
     .user = {.multi_point = {.disabled = {{"InterPodAffinity"}}}},
     .want = {{"PreFilter", kFiltersWithoutIpa},
              {"Filter", kFiltersWithoutIpa},
              {"PreScore", kPreScoreWithoutIpa},
              {"Score", kScoreWithoutIpa}}},
    {.name = "M10",
     .user = {.multi_point = {.disabled = {{"InterPodAffinity"}}},
              .pre_filter = {.enabled = {{"InterPodAffinity"}}},
              .filter = {.enabled = {{"InterPodAffinity"}}}},
     .want = {{"PreFilter", kFiltersWithoutIpa + " InterPodAffinity"},
              {"Filter", kFiltersWithoutIpa + " InterPodAffinity"},
              {"PreScore", kPreScoreWithoutIpa},
              {"Score", kScoreWithoutIpa}}},
    {.name = "M12",
     .user = {.filter = {.enabled = {{"NodeName"}}, .disabled = {{"NodeName"}}}},
     .want = {{"Filter", kFiltersNameLast}}},
    {.name = "M13",
     .user = {.filter = {.enabled = {{"NodeResourcesFit"}, {"NodeName"}}, .disabled = {{"*"}}}},
     .want = {{"Filter", "NodeResourcesFit NodeName"}}},
    {.name = "M14",
     .user = {.pre_score = {.disabled = {{"NodeResourcesBalancedAllocation"}}}},
     .want = {{"PreScore",
               "TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread "
               "InterPodAffinity"}}},
    {.name = "M16",
     .user = {.multi_point = {.enabled = {{"GangScheduling"}}}},
     .want = {{"PreEnqueue", "SchedulingGates DynamicResources DefaultPreemption GangScheduling"},
              {"Permit", "GangScheduling"}}},
    {.name = "M17",
     .user = {.multi_point = {.disabled = {{"*"}}},
              .queue_sort = {.enabled = {{"PrioritySort"}}},
              .filter = {.enabled = {{"NodeName"}}},
              .bind = {.enabled = {{"DefaultBinder"}}}},
     .want = {{"QueueSort", "PrioritySort"}, {"Bind", "DefaultBinder"}, {"Filter", "NodeName"}},
     .only = true},
    {.name = "M18",
     .user = {.multi_point = {.enabled = {{"NodeAffinity", 9}}}, .score = {.disabled = {{"*"}}}},
     .want = {{"Score", ""}}},
    {.name = "M21",
     .user = {.multi_point = {.disabled = {{"NodeResourcesFit"}}},
              .pre_score = {.enabled = {{"NodeResourcesFit"}}},
              .score = {.enabled = {{"NodeResourcesFit"}}}},
     .want = {{"PreFilter",
               "NodeName NodeUnschedulable TaintToleration NodeAffinity NodePorts "
               "VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "
               "InterPodAffinity DynamicResources NodeDeclaredFeatures"},
              {"Filter",
               "NodeName NodeUnschedulable TaintToleration NodeAffinity NodePorts "
               "VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "
               "InterPodAffinity DynamicResources NodeDeclaredFeatures"},
              {"PreScore",
               "TaintToleration NodeAffinity VolumeBinding PodTopologySpread InterPodAffinity "
               "NodeResourcesBalancedAllocation NodeResourcesFit"},
              {"Score",
               "TaintToleration 3 NodeAffinity 2 VolumeBinding 1 PodTopologySpread 2 "
               "InterPodAffinity 2 DynamicResources 2 NodeResourcesBalancedAllocation 1 "
               "ImageLocality 1 NodeResourcesFit 1"},
              {"PlacementScore", ""}}},
    {.name = "M23",
     .user =
         {.multi_point = {.enabled = {{"PrioritySort"}, {"DefaultBinder"}, {"NodeResourcesFit", 3}},
                          .disabled = {{"*"}}},
          .score = {.enabled = {{"ImageLocality", 2}}}},
     .want = {{"QueueSort", "PrioritySort"},
              {"Bind", "DefaultBinder"},
              {"PreFilter", "NodeResourcesFit"},
              {"Filter", "NodeResourcesFit"},
              {"PreScore", "NodeResourcesFit"},
              {"Score", "NodeResourcesFit 3 ImageLocality 2"},
              {"PlacementScore", "NodeResourcesFit 3"}},
     .only = true},
    {.name = "M24", .user = {.score = {.disabled = {{"imagelocality"}}}}, .want = {}},
    {.name = "M25",
     .user = {.placement_score = {.enabled = {{"NodeResourcesFit", 4}}}},
     .want = {{"PlacementScore", "NodeResourcesFit 4"}}},
    {.name = "M26",
     .user = {.multi_point = {.enabled = {{"TopologyPlacementGenerator"},
                                          {"PodGroupPodsCount", 3}}}},
     .want = {{"PlacementGenerate", "TopologyPlacementGenerator"},
              {"PlacementScore", "NodeResourcesFit 1 PodGroupPodsCount 3"}}},
    {.name = "M27",
     .user = {.score = {.enabled = {{"InterPodAffinity", 10}, {"TaintToleration", 10}}}},
     .want = {{"Score",
               "InterPodAffinity 10 TaintToleration 10 NodeAffinity 2 NodeResourcesFit 1 "
               "VolumeBinding 1 PodTopologySpread 2 DynamicResources 2 "
               "NodeResourcesBalancedAllocation 1 ImageLocality 1"}}},
};

TEST_F(BuilderTest, ListsOfEveryPoint) {
  for (const ListCase& test : kListCases) {
    SCOPED_TRACE(test.name);
    const auto framework = Create(test.user);
    ASSERT_TRUE(framework.ok()) << framework.error().message;
    for (const auto& [point, by_default] : DefaultLists()) {
      const auto changed = test.want.find(point);
      const std::string want = changed != test.want.end() ? changed->second
                               : test.only                ? std::string()
                                                          : by_default;
      EXPECT_EQ(Joined((*framework)->plugins().ListPlugins(point)), want) << point;
    }
  }
}

struct ErrorCase {
  std::string name;
  Plugins user;
  std::string want;
};

const std::vector<ErrorCase> kErrorCases = {
    {.name = "Ex07_TwoQueueSorts",
     .user = {.multi_point = {.enabled = {{"Foo"}}}},
     .want = "only one queue sort plugin required for profile with scheduler name "
             "\"default-scheduler\", but got 2"},
    {.name = "Ex10_UnknownInMultiPoint",
     .user = {.multi_point = {.enabled = {{"Nope"}}}},
     .want = "PreFilterPlugin \"Nope\" does not exist"},
    {.name = "Ex10_UnknownReportedAtTheFirstOpenPoint",
     .user = {.multi_point = {.enabled = {{"Nope"}}}, .pre_filter = {.disabled = {{"*"}}}},
     .want = "FilterPlugin \"Nope\" does not exist"},
    {.name = "UnknownAtAPoint",
     .user = {.score = {.enabled = {{"Nope"}}}},
     .want = "ScorePlugin \"Nope\" does not exist"},
    {.name = "Ex10_DoesNotExtend",
     .user = {.score = {.enabled = {{"NodeName"}}}},
     .want = "plugin \"NodeName\" does not extend ScorePlugin plugin"},
    {.name = "Ex10_TwiceAtAPoint",
     .user = {.score = {.enabled = {{"NodeAffinity"}, {"NodeAffinity"}}}},
     .want = "plugin \"NodeAffinity\" already registered as \"ScorePlugin\""},
    {.name = "Ex10_M20_TwiceInMultiPoint",
     .user = {.multi_point = {.enabled = {{"NodeAffinity", 4}, {"NodeAffinity", 6}}}},
     .want = "plugin \"NodeAffinity\" already registered as \"PreFilterPlugin\""},
    {.name = "Ex10_NoBind",
     .user = {.bind = {.disabled = {{"*"}}}},
     .want = "at least one bind plugin is needed for profile with scheduler name "
             "\"default-scheduler\""},
    {.name = "Ex10_NoQueueSort",
     .user = {.multi_point = {.disabled = {{"PrioritySort"}}}},
     .want = "only one queue sort plugin required for profile with scheduler name "
             "\"default-scheduler\", but got 0"},
    {.name = "Ex12_NegativeTotalBeforeAnother",
     .user = {.score = {.enabled = {{"NodeAffinity", 0}, {"ImageLocality", -5}}}},
     .want = "score plugins: total score of Score plugins could overflow"},
    {.name = "PlacementWeights",
     .user = {.placement_score = {.enabled = {{"PodGroupPodsCount", -5}}}},
     .want = "placement score plugins: total score of Score plugins could overflow"},
    {.name = "WeightUnderAnotherName",
     .user = {.score = {.enabled = {{"Renamed", 2}}}},
     .want = "score plugin \"RealName\" is not configured with weight"},
    {.name = "FactoryFails",
     .user = {.filter = {.enabled = {{"Broken"}}}},
     .want = "initializing plugin \"Broken\": no such device"},
    {.name = "ExplicitListsComeFirst",
     .user = {.multi_point = {.enabled = {{"Nope"}}}, .post_bind = {.enabled = {{"NodeName"}}}},
     .want = "plugin \"NodeName\" does not extend PostBindPlugin plugin"},
};

TEST_F(BuilderTest, Errors) {
  for (const ErrorCase& test : kErrorCases) {
    SCOPED_TRACE(test.name);
    const auto framework = Create(test.user);
    ASSERT_FALSE(framework.ok());
    EXPECT_EQ(framework.error().message, test.want);
  }
}

// Each fault once, and nothing that only follows from one.
TEST_F(BuilderTest, AllFaultsAtOnce) {
  registry_.AddFactory("Bind2",
                       [](const config::PluginArgs&, Handle&) -> Result<std::unique_ptr<Plugin>> {
                         return Error{"no", "a"};
                       });
  config::Profile profile =
      MakeProfile({.multi_point = {.enabled = {{"NodeNam"}, {"ImageLocality"}, {"Foo"}, {"Foo"}},
                                   .disabled = {{"DefaultBinder"}, {"PrioritySort"}}},
                   .filter = {.enabled = {{"Broken"}, {"Nope"}, {"NodeName"}, {"NodeName"}}},
                   .bind = {.enabled = {{"Bind2"}}},
                   .post_bind = {.enabled = {{"NodeName"}}}});
  profile.plugin_config = {{"Bind2", {}}, {"Bind2", {}}};
  std::vector<Error> faults;
  const auto framework =
      Framework::Create(registry_.registry(), profile, {.parts = testing::LastingParts()}, &faults);
  ASSERT_FALSE(framework.ok());
  EXPECT_EQ(framework.error().message, faults[0].message);
  std::string told;
  for (const Error& fault : faults) told += fault.path + ": " + fault.message + "\n";
  const auto merged = [&profile](size_t from_end) {
    return "plugins.multiPoint.enabled[" +
           std::to_string(profile.plugins.multi_point.enabled.size() - from_end) + "].name: ";
  };
  EXPECT_EQ(told,
            "pluginConfig[1]: repeated config for plugin Bind2\n"
            ": initializing plugin \"Broken\": no such device\n"
            "pluginConfig[0].args.a: initializing plugin \"Bind2\": no\n"
            "plugins.filter.enabled[1].name: FilterPlugin \"Nope\" does not exist\n"
            "plugins.filter.enabled[3].name: plugin \"NodeName\" already registered as "
            "\"FilterPlugin\"\n"
            "plugins.postBind.enabled[0].name: plugin \"NodeName\" does not extend "
            "PostBindPlugin plugin\n" +
                merged(3) + "PreFilterPlugin \"NodeNam\" does not exist\n" + merged(1) +
                "plugin \"Foo\" already registered as \"FilterPlugin\"\n");
}

TEST_F(BuilderTest, TwoPlacementGenerators) {
  registry_.Add<ks::testing::PlacementGenerates>({.name = "Second"});
  const auto framework =
      Create({.placement_generate = {.enabled = {{"TopologyPlacementGenerator"}, {"Second"}}}});
  ASSERT_FALSE(framework.ok());
  EXPECT_EQ(framework.error().message,
            "at most one placement generate plugin is allowed for profile with scheduler name "
            "\"default-scheduler\"");
}

TEST_F(BuilderTest, TooManyPluginsForTheMasks) {
  Plugins user;
  user.multi_point.disabled = {{"*"}};
  user.multi_point.enabled = {{"PrioritySort"}, {"DefaultBinder"}};
  for (int i = 0; i < 63; ++i) {
    registry_.Add<Filters>({.name = "Extra" + std::to_string(i)});
    user.multi_point.enabled.push_back({"Extra" + std::to_string(i)});
  }
  const auto framework = Create(user);
  ASSERT_FALSE(framework.ok());
  EXPECT_EQ(framework.error().message,
            "too many plugins: a profile can have 64, remove some of the enabled ones");
  user.multi_point.enabled.pop_back();
  EXPECT_TRUE(Create(user).ok());
}

TEST_F(BuilderTest, ArgumentsReachTheFactoryOnce) {
  std::vector<std::string> seen;
  registry_.AddFactory(
      "Takes",
      [&seen](const config::PluginArgs& args, Handle& handle) -> Result<std::unique_ptr<Plugin>> {
        seen.push_back((std::holds_alternative<config::RawArgs>(args)
                            ? std::get<config::RawArgs>(args).json
                            : "null") +
                       " for " + handle.ProfileName());
        return std::unique_ptr<Plugin>(
            new ks::testing::TestPlugin<PreFilters, Filters>({.name = "Takes"}));
      });
  config::Profile profile =
      MakeProfile({.multi_point = {.enabled = {{"Takes"}}}, .filter = {.enabled = {{"Takes"}}}});
  ASSERT_TRUE(
      Framework::Create(registry_.registry(), profile, {.parts = testing::LastingParts()}).ok());
  profile.plugin_config = {{"Takes", config::RawArgs{R"({"a":[1]})"}},
                           {"NotEnabled", config::RawArgs{"{}"}}};
  ASSERT_TRUE(
      Framework::Create(registry_.registry(), profile, {.parts = testing::LastingParts()}).ok());
  EXPECT_EQ(seen, (std::vector<std::string>{"null for default-scheduler",
                                            "{\"a\":[1]} for default-scheduler"}));

  profile.plugin_config = {{"Takes", {}}, {"Takes", {}}};
  const auto repeated =
      Framework::Create(registry_.registry(), profile, {.parts = testing::LastingParts()});
  ASSERT_FALSE(repeated.ok());
  EXPECT_EQ(repeated.error().message, "repeated config for plugin Takes");
}

TEST(RegistryTest, NamesAreUnique) {
  const auto factory = [](const config::PluginArgs&, Handle&) -> Result<std::unique_ptr<Plugin>> {
    return Error{"never called"};
  };
  Registry registry;
  for (const char* name : {"B", "A", "C"}) EXPECT_TRUE(registry.Register(name, factory).ok());
  EXPECT_EQ(registry.Register("A", factory).error().message, "a plugin named A already exists");
  EXPECT_NE(registry.Find("B"), nullptr);
  EXPECT_EQ(registry.Find("D"), nullptr);
  EXPECT_TRUE(registry.Unregister("B").ok());
  EXPECT_EQ(registry.Find("B"), nullptr);
  EXPECT_EQ(registry.Unregister("B").error().message, "no plugin named B exists");
}

TEST(MergeTest, RepeatedNameTheLastReplacesTheFirstStays) {
  const config::PluginSet merged = config::MergePluginSet(
      {.enabled = {{"A", 1}, {"B", 2}}}, {.enabled = {{"B", 3}, {"B", 4}}, .disabled = {{"C"}}});
  ASSERT_EQ(merged.enabled.size(), 3U);
  EXPECT_EQ(merged.enabled[1].name, "B");
  EXPECT_EQ(merged.enabled[1].weight, 4);
  EXPECT_EQ(merged.enabled[2].name, "B");
  EXPECT_EQ(merged.enabled[2].weight, 3);
  ASSERT_EQ(merged.disabled.size(), 1U);
  EXPECT_EQ(merged.disabled[0].name, "C");
}

class ProfilesTest : public BuilderTest {
 protected:
  static config::Profile Named(const std::string& name, const Plugins& user = {}) {
    config::Profile profile = MakeProfile(user);
    profile.scheduler_name = name;
    return profile;
  }
  static Plugins WithOwnQueueSort() {
    return {.multi_point = {.enabled = {{"OOTQueueSort"}}, .disabled = {{"PrioritySort"}}}};
  }
};

TEST_F(ProfilesTest, SeveralProfiles) {
  const auto profiles = BuildProfiles(registry_.registry(), {.profiles = {Named("b"), Named("a")}},
                                      {.parts = testing::LastingParts()});
  ASSERT_TRUE(profiles.ok()) << profiles.error().message;
  ASSERT_EQ(profiles->size(), 2U);
  EXPECT_EQ(profiles->at("a")->ProfileName(), "a");
  EXPECT_EQ(profiles->at("b")->plugins().QueueSortPluginName(), "PrioritySort");
}

TEST_F(ProfilesTest, Errors) {
  config::Profile with_args = Named("b");
  with_args.plugin_config = {{"PrioritySort", config::RawArgs{"{}"}}};
  const struct {
    const char* name;
    std::vector<config::Profile> profiles;
    const char* want;
  } cases[] = {
      {"None", {}, "at least one profile is required"},
      {"E36_Broken",
       {Named("default-scheduler", {.queue_sort = {.disabled = {{"*"}}}})},
       "creating profile for scheduler name default-scheduler: only one queue sort plugin required "
       "for profile with scheduler name \"default-scheduler\", but got 0"},
      {"E39_Overflow",
       {Named("default-scheduler", {.score = {.enabled = {{"ImageLocality", -5}}}})},
       "creating profile for scheduler name default-scheduler: score plugins: total score of Score "
       "plugins could overflow"},
      {"NoName", {Named("")}, "scheduler name is needed"},
      {"Duplicate", {Named("a"), Named("a")}, "duplicate profile with scheduler name \"a\""},
      {"Ex13_QueueSorts",
       {Named("a"), Named("b", WithOwnQueueSort())},
       "different queue sort plugins for profile \"b\": \"OOTQueueSort\", first: \"PrioritySort\""},
      {"QueueSortArgs",
       {Named("a"), with_args},
       "different queue sort plugin args for profile \"b\""},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.name);
    const auto profiles = BuildProfiles(registry_.registry(), {.profiles = test.profiles},
                                        {.parts = testing::LastingParts()});
    ASSERT_FALSE(profiles.ok());
    EXPECT_EQ(profiles.error().message, std::string("initializing profiles: ") + test.want);
  }
}

}  // namespace
}  // namespace ks::framework
