// SPDX-License-Identifier: Apache-2.0
// The same plugin loaded and compiled in decides alike, through the whole runtime.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "framework/runtime/runtime.h"
#include "modules/module_rig.h"
#include "plugins/registry.h"
#include "testing/builders.h"
#include "testing/test_plugins.h"

namespace ks::modules {
namespace {

using framework::Code;
using framework::CycleState;
using framework::NodeInfo;
using framework::Status;
using testing::MakeNode;
using testing::MakePod;

struct Wanted final : framework::StateData {
  explicit Wanted(const Symbol& z) : zone(z) {}
  Symbol zone;
};

// test/modules/zone_only.cc in the framework's own words.
class ZoneOnly final : public framework::Plugin,
                       public framework::PreFilterPlugin,
                       public framework::FilterPlugin,
                       public framework::ScorePlugin,
                       public framework::EnqueueExtensions,
                       public framework::SignPlugin {
 public:
  explicit ZoneOnly(framework::Handle& handle) : slot_(handle.NewStateSlot()) {}

  std::string_view Name() const override { return "ZoneOnly"; }
  framework::PreFilterResult PreFilter(CycleState& state, const api::Pod& pod,
                                       const framework::Snapshot&) override {
    const Symbol* zone = pod.meta.labels.Find(Symbol("zone"));
    if (zone == nullptr) return {Status(Code::kSkip, {}), {}};
    slot_.Write(state, std::make_shared<Wanted>(*zone));
    return {};
  }
  Status Filter(const CycleState& state, const api::Pod&, const NodeInfo& node) const override {
    const Symbol* zone = node.node()->meta.labels.Find(Symbol("topology.kubernetes.io/zone"));
    if (zone != nullptr && *zone == slot_.Read(state)->zone) return {};
    return Status(Code::kUnschedulableAndUnresolvable, {"node is in another zone"}, "ZoneOnly");
  }
  Status Score(const CycleState&, const api::Pod&, const NodeInfo& node,
               int64_t* score) const override {
    *score = std::min<int64_t>(100, static_cast<int64_t>(node.pods().size()));
    return {};
  }
  std::vector<framework::EventRegistration> EventsToRegister() const override {
    return {{{framework::EventResource::kNode,
              framework::kActionAdd | framework::kActionUpdateNodeLabel,
              {}},
             {}}};
  }
  Status Sign(const api::Pod& pod, std::vector<framework::SignFragment>* fragments) const override {
    const Symbol* zone = pod.meta.labels.Find(Symbol("zone"));
    fragments->push_back({"zone", "\"" + (zone == nullptr ? "" : zone->str()) + "\""});
    return {};
  }

 private:
  const framework::StateSlot<Wanted> slot_;
};

Result<std::unique_ptr<framework::Plugin>> NewZoneOnly(const config::PluginArgs&,
                                                       framework::Handle& handle) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<ZoneOnly>(handle));
}

config::Profile ProfileWith(const std::string& plugin) {
  config::Profile profile;
  profile.scheduler_name = "default-scheduler";
  profile.plugins.multi_point.enabled = {
      {"PrioritySort", 0}, {"NodeUnschedulable", 0}, {plugin, 3}, {"DefaultBinder", 0}};
  return profile;
}

// What one attempt comes to: a line a node.
std::vector<std::string> Decide(const framework::Framework& framework, const api::Pod& pod) {
  CycleState state;
  std::vector<std::string> lines;
  const auto pre_filter = framework.RunPreFilterPlugins(state, pod);
  lines.push_back(pre_filter.status.Message() + framework.SignPod(pod).signature);
  std::vector<const NodeInfo*> fits;
  for (const NodeInfo* node : framework.handle().snapshot().nodes()) {
    const Status status = framework.RunFilterPlugins(state, pod, *node);
    lines.push_back(node->name() + " " + std::string(status.plugin()) + " " + status.Message());
    if (status.ok()) fits.push_back(node);
  }
  framework::NodeScores scores;
  EXPECT_TRUE(framework.RunPreScorePlugins(state, pod, fits).ok());
  EXPECT_TRUE(framework.RunScorePlugins(state, pod, fits, &scores).ok());
  for (size_t i = 0; i < fits.size(); ++i) {
    lines.push_back(fits[i]->name() + " " + std::to_string(scores.totals[i]));
  }
  return lines;
}

TEST(ParityTest, LoadedAndCompiledInDecideAlike) {
  constexpr unsigned kSeed = 4711;
  std::mt19937 random(kSeed);
  testing::FakeSnapshot snapshot;
  for (int i = 0; i < 40; ++i) {
    std::vector<api::PodPtr> pods;
    for (unsigned j = 0; j < random() % 5; ++j) {
      pods.push_back(MakePod().Name("held-" + std::to_string(i) + "-" + std::to_string(j)).Obj());
    }
    testing::NodeBuilder node = MakeNode().Name("n" + std::to_string(i));
    if (random() % 4 != 0) node.Zone("z" + std::to_string(random() % 3));
    if (random() % 8 == 0) node.Unschedulable();
    snapshot.Add(node.Obj(), pods);
  }
  const testing::TempDir folder;
  framework::Registry loaded = plugins::InTreeRegistry();
  const auto libraries =
      PluginLibraries::Load({CopyOf(folder, "zone_only", "a.so")}, nullptr, &loaded);
  ASSERT_TRUE(libraries.ok()) << libraries.error().message;
  framework::Registry compiled = plugins::InTreeRegistry();
  ASSERT_TRUE(compiled.Register("ZoneOnly", NewZoneOnly).ok());
  const config::Profile profile = ProfileWith("ZoneOnly");
  const framework::FrameworkOptions options{.parts =
                                                testing::LastingParts({.snapshot = &snapshot})};
  const auto left = framework::Framework::Create(loaded, profile, options);
  ASSERT_TRUE(left.ok()) << left.error().message;
  const auto right = framework::Framework::Create(compiled, profile, options);
  ASSERT_TRUE(right.ok()) << right.error().message;
  for (const char* point : {"PreFilter", "Filter", "Score", "Permit", "Reserve"}) {
    EXPECT_EQ((*left)->plugins().ListPlugins(point), (*right)->plugins().ListPlugins(point));
  }
  for (int i = 0; i < 50; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", pod " + std::to_string(i));
    testing::PodBuilder pod = MakePod().Name("p");
    if (random() % 3 != 0) pod.Labels({{"zone", "z" + std::to_string(random() % 4)}});
    EXPECT_EQ(Decide(**left, *pod.Obj()), Decide(**right, *pod.Obj()));
  }
}

TEST(ParityTest, AScoreOutOfRangeIsUpstreamsError) {
  const testing::TempDir folder;
  framework::Registry registry = plugins::InTreeRegistry();
  const auto libraries =
      PluginLibraries::Load({CopyOf(folder, "misbehaving", "a.so")}, nullptr, &registry);
  ASSERT_TRUE(libraries.ok()) << libraries.error().message;
  config::Profile profile = ProfileWith("Misbehaving");
  profile.plugin_config = {{"Misbehaving", config::RawArgs{"\"score 101\""}}};
  testing::FakeSnapshot snapshot({MakeNode().Name("n").Obj()});
  const auto framework = framework::Framework::Create(
      registry, profile, {.parts = testing::LastingParts({.snapshot = &snapshot})});
  ASSERT_TRUE(framework.ok()) << framework.error().message;
  CycleState state;
  framework::NodeScores scores;
  const Status status =
      (*framework)->RunScorePlugins(state, *MakePod().Obj(), snapshot.nodes(), &scores);
  EXPECT_EQ(status.code(), Code::kError);
  EXPECT_EQ(status.ErrorText(),
            "applying score defaultWeights on Score plugins: plugin \"Misbehaving\" returns an "
            "invalid score 101, it should in the range of [0, 100] after normalizing");
}

TEST(ParityTest, AProfileThatNamesARefusingPluginIsRefusedWithItsReason) {
  const testing::TempDir folder;
  framework::Registry registry = plugins::InTreeRegistry();
  const auto libraries =
      PluginLibraries::Load({CopyOf(folder, "zone_only", "a.so")}, nullptr, &registry);
  ASSERT_TRUE(libraries.ok()) << libraries.error().message;
  config::Profile profile = ProfileWith("ZoneOnly");
  profile.plugin_config = {{"ZoneOnly", config::RawArgs{"\"bad\""}}};
  const auto framework =
      framework::Framework::Create(registry, profile, {.parts = testing::LastingParts()});
  ASSERT_FALSE(framework.ok());
  EXPECT_EQ(framework.error().message, "initializing plugin \"ZoneOnly\": these arguments are bad");
  EXPECT_EQ(framework.error().path, "pluginConfig[0].args");
}

}  // namespace
}  // namespace ks::modules
