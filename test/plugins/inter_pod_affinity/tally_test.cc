// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/tally.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "testing/builders.h"
#include "testing/fake_snapshot.h"

namespace ks::plugins {
namespace {

// From a few places to many, where a tally is an array, and back.
TEST(TallyTest, AgreesWithAMap) {
  for (const int32_t places : {3, 40, 1000}) {
    Random random(static_cast<uint64_t>(places));
    Tally tally;
    std::map<int32_t, int64_t> want;
    std::vector<std::pair<int32_t, int64_t>> added;
    for (int step = 0; step < 6000; ++step) {
      // First mostly more, then mostly fewer.
      const bool add = added.empty() || random.Below(3) != (step < 3000 ? 0U : 1U);
      if (add && step < 3000) {
        const auto place = static_cast<int32_t>(random.Below(static_cast<uint64_t>(places)));
        const int64_t amount = static_cast<int64_t>(random.Below(5)) - 2;
        tally.Add(place, amount, 1);
        want[place] += amount;
        added.emplace_back(place, amount);
      } else if (!added.empty()) {
        std::swap(added[random.Below(added.size())], added.back());
        tally.Add(added.back().first, added.back().second, -1);
        want[added.back().first] -= added.back().second;
        added.pop_back();
      }
      if (step % 500 != 0) continue;
      ASSERT_EQ(tally.entries(), static_cast<int64_t>(added.size()));
      std::vector<int64_t> sums(2, 1000);
      tally.AddTo(&sums);
      for (int32_t place = 0; place < places + 3; ++place) {
        ASSERT_EQ(tally.At(place), want[place]) << places << " places, step " << step;
        const int64_t before = place < 2 ? 1000 : 0;
        const auto at = static_cast<size_t>(place);
        ASSERT_EQ(at < sums.size() ? sums[at] : 0, before + want[place]);
      }
    }
    EXPECT_EQ(tally.At(kNoDomain), 0);
  }
}

TEST(TallySumTest, AddsUpAnyNumberOfTallies) {
  testing::FakeSnapshot snapshot;
  for (const char* zone : {"z1", "z2", "z1"}) {
    snapshot.Add(
        testing::MakeNode().Name("n" + std::to_string(snapshot.slots())).Label("zone", zone).Obj());
  }
  snapshot.Add(testing::MakeNode().Name("bare").Obj());
  Topology topology{Symbol("zone")};
  topology.Refresh(snapshot);
  std::vector<Tally> tallies(9);
  TallySum by_domain(topology, false);
  TallySum by_node(topology, true);
  for (size_t i = 0; i < tallies.size(); ++i) {
    tallies[i].Add(0, 1, 1);   // z1, or the first node
    tallies[i].Add(1, 10, 1);  // z2, or the second node
    tallies[i].Add(3, 100, 1);
    by_domain.Add(tallies[i]);
    by_node.Add(tallies[i]);
  }
  std::vector<int64_t> domains;
  std::vector<int64_t> nodes;
  for (const framework::NodeInfo* node : snapshot.nodes()) {
    domains.push_back(by_domain.At(*node));
    nodes.push_back(by_node.At(*node));
  }
  EXPECT_EQ(domains, (std::vector<int64_t>{9, 90, 9, 0}));
  EXPECT_EQ(nodes, (std::vector<int64_t>{9, 90, 0, 0})) << "the last one lacks the key";
}

}  // namespace
}  // namespace ks::plugins
