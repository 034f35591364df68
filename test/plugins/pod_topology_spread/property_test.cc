// SPDX-License-Identifier: Apache-2.0
// PodTopologySpread against the reference, on random clusters.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plugins/pod_topology_spread/spread_rig.h"
#include "testing/spread_cases.h"

namespace ks::plugins {
namespace {

using ks::testing::MakeLabels;
using ks::testing::MakeService;

const Texts kService = {{"app", "web"}};

void AddRandomNodes(PluginRig& rig, testing::SpreadCases& cases) {
  const uint64_t nodes = cases.random.Below(12);
  int next_pod = 0;
  for (uint64_t i = 0; i < nodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    std::vector<api::PodPtr> pods;
    for (uint64_t k = cases.random.Below(5); k > 0; --k) {
      pods.push_back(cases.Existing("p" + std::to_string(next_pod++), name).Obj());
    }
    rig.AddNode(cases.Node(name), pods);
  }
}

TEST(SpreadPropertyTest, EqualsTheReferenceOnRandomClusters) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    testing::SpreadCases cases(seed);
    SpreadRig rig;
    AddRandomNodes(rig, cases);
    rig.handle.fake_owner_listers().Add(MakeService("ns", "web", kService));
    for (int i = 0; i < 10; ++i) {
      const api::PodPtr pod = cases.Incoming().Obj();
      const Symbol* app = pod->meta.labels.Find(Symbol("app"));
      const bool selected = app != nullptr && app->view() == "web";
      cases.Compare(rig.plugin(), rig.handle.snapshot(), *pod,
                    selected ? MakeLabels(kService) : api::LabelMap());
      ASSERT_FALSE(HasFatalFailure());
    }
  }
}

}  // namespace
}  // namespace ks::plugins
