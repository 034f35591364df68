// SPDX-License-Identifier: Apache-2.0
#include "plugins/placeholders/placeholders.h"

#include <gtest/gtest.h>

#include "plugins/placeholders/reasons.h"
#include "plugins/plugin_rig.h"

namespace ks::plugins {
namespace {

using testing::MakePod;
using testing::PodBuilder;

// Changes the spec of a plain pod.
template <class Change>
PodBuilder With(Change change) {
  PodBuilder pod = MakePod().Req({});
  change(pod.spec());
  return pod;
}

TEST(PlaceholdersTest, PodGroupsAreGated) {
  PluginRig rig(NewGangScheduling);
  auto* gate = rig.As<framework::PreEnqueuePlugin>();
  EXPECT_TRUE(gate->PreEnqueue(*MakePod().Obj()).ok());
  const PodBuilder member = With([](api::PodSpec& s) { s.scheduling_group = "gang"; });
  EXPECT_EQ(gate->PreEnqueue(*member.Obj()).Message(), kNoPodGroups);
}

}  // namespace
}  // namespace ks::plugins
