// SPDX-License-Identifier: Apache-2.0
// Random clusters: the plugin and a brute-force reading of the specification must agree on
// everything.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "testing/affinity_random.h"
#include "testing/fake_handle.h"

namespace ks::plugins {
namespace {

using testing::AffinityOptions;
using testing::AffinityRandom;

TEST(InterPodAffinityPropertyTest, AgreesWithTheReference) {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    AffinityRandom random(seed);
    const AffinityOptions options{.hard_weight = static_cast<int32_t>(random.Below(3) * 5),
                                  .ignore_preferred = random.OneIn(3),
                                  .fast_path = random.OneIn(3)};
    testing::FakeHandle handle;
    handle.fake_gates().Set(config::Gate::kInterPodAffinityHostnameFastPath, options.fast_path);
    const auto plugin =
        NewInterPodAffinity(
            config::InterPodAffinityArgs{options.hard_weight, options.ignore_preferred}, handle)
            .value();
    for (int i = 0; i < 2; ++i) handle.fake_owner_listers().Add(random.Namespace());
    // Sparse clusters give the first-pod rule and Skip a chance.
    const uint64_t pods_per_node = 1 + random.Below(4);
    const uint64_t terms = random.Below(3);
    const uint64_t nodes = random.Below(9);
    for (uint64_t n = 0; n < nodes; ++n) {
      std::vector<api::PodPtr> pods;
      for (uint64_t p = random.Below(pods_per_node + 1); p > 0; --p) {
        pods.push_back(
            random.Pod("pod-" + std::to_string(n) + "-" + std::to_string(p), terms).Obj());
      }
      handle.fake_snapshot().Add(random.Node("node-" + std::to_string(n)), pods);
    }
    for (int i = 0; i < 12; ++i) {
      if (random.OneIn(4)) handle.fake_owner_listers().Add(random.Namespace());
      const api::PodPtr pod = random.Pod("incoming", 2).Obj();
      ASSERT_EQ(CompareWithReference(*plugin, handle.snapshot(), handle.owner_listers(), options,
                                     *pod, random),
                "")
          << "seed " << seed << ", pod " << i;
    }
  }
}

}  // namespace
}  // namespace ks::plugins
