// SPDX-License-Identifier: Apache-2.0
#include "plugins/placeholders/placeholders.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/placeholders/reasons.h"
#include "plugins/plugin_rig.h"

namespace ks::plugins {
namespace {

using testing::MakeNode;
using testing::MakePod;
using testing::PodBuilder;

struct Rejection {
  std::string_view plugin;
  std::string_view reason;
};
using Reasons = std::vector<Rejection>;

constexpr framework::PluginFactory kFactories[] = {NewDynamicResources};

std::vector<std::string> ReasonTexts(const Reasons& reasons) {
  std::vector<std::string> texts;
  for (const Rejection& rejection : reasons) {
    texts.push_back(std::string(rejection.plugin) + ": " + std::string(rejection.reason));
  }
  return texts;
}

PodBuilder WithVolume(api::Volume::Source source) {
  PodBuilder pod = MakePod().Req({});
  api::Volume volume;
  volume.source = source;
  pod.spec().volumes.push_back(volume);
  return pod;
}

// Changes the spec of a plain pod.
template <class Change>
PodBuilder With(Change change) {
  PodBuilder pod = MakePod().Req({});
  change(pod.spec());
  return pod;
}

TEST(PlaceholdersTest, SpecFeatures) {
  struct Case {
    std::string name;
    PodBuilder pod;
    Reasons want;
  };
  const Case cases[] = {
      {"plain", MakePod().Req({{"cpu", "1"}}), {}},
      {"claim", WithVolume(api::Volume::Source::kPersistentVolumeClaim), {}},
      {"resource claim",
       With([](api::PodSpec& s) { s.resource_claims.emplace_back(); }),
       {{"DynamicResources", kNoResourceClaims}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const api::PodPtr pod = c.pod.Obj();
    std::vector<std::string> rejections;
    for (const framework::PluginFactory factory : kFactories) {
      PluginRig rig(factory);
      rig.AddNode(MakeNode());
      const framework::Status status = rig.PreFilter(*pod).status;
      const framework::Status filtered =
          rig.As<framework::FilterPlugin>()->Filter(rig.state, *pod, *rig.nodes()[0]);
      if (status.IsSkip()) {
        EXPECT_TRUE(filtered.ok()) << rig.plugin().Name();
        continue;
      }
      EXPECT_EQ(status.code(), framework::Code::kUnschedulableAndUnresolvable);
      EXPECT_EQ(status.plugin(), rig.plugin().Name());
      EXPECT_EQ(filtered.reasons(), status.reasons());
      for (const std::string& reason : status.reasons()) {
        rejections.push_back(std::string(status.plugin()) + ": " + reason);
      }
    }
    EXPECT_EQ(rejections, ReasonTexts(c.want));
  }
}

TEST(PlaceholdersTest, PodGroupsAreGated) {
  PluginRig rig(NewGangScheduling);
  auto* gate = rig.As<framework::PreEnqueuePlugin>();
  EXPECT_TRUE(gate->PreEnqueue(*MakePod().Obj()).ok());
  const PodBuilder member = With([](api::PodSpec& s) { s.scheduling_group = "gang"; });
  EXPECT_EQ(gate->PreEnqueue(*member.Obj()).Message(), kNoPodGroups);
}

// The runtime calls a placeholder only where it may reject.
TEST(PlaceholdersTest, StandAtUpstreamsPointsAndCostNothing) {
  PluginRig claims(NewDynamicResources);
  EXPECT_NE(claims.As<framework::PostFilterPlugin>(), nullptr);
  EXPECT_EQ(claims.As<framework::PreScorePlugin>(), nullptr);
}

// docs/spec/cycle.md, trap T8: preemption is not tried where another plugin ended PreFilter before.
TEST(PlaceholdersTest, DynamicResourcesMissesWhatItsPreFilterLeaves) {
  PluginRig rig(NewDynamicResources);
  auto* plugin = rig.As<framework::PostFilterPlugin>();
  framework::CycleState state;
  const api::PodPtr pod = MakePod().Obj();
  const framework::NodeStatuses statuses;
  const framework::Status cut_short = plugin->PostFilter(state, pod, statuses).status;
  EXPECT_EQ(cut_short.code(), framework::Code::kError);
  EXPECT_EQ(cut_short.Message(), "not found");
  EXPECT_TRUE(rig.As<framework::PreFilterPlugin>()
                  ->PreFilter(state, *pod, rig.handle.snapshot())
                  .status.IsSkip());
  const framework::PostFilterResult reached = plugin->PostFilter(state, pod, statuses);
  EXPECT_EQ(reached.status.code(), framework::Code::kUnschedulable);
  EXPECT_EQ(reached.status.Message(), "");
  EXPECT_FALSE(reached.nomination.has_value());
}

}  // namespace
}  // namespace ks::plugins
