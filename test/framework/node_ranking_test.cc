// SPDX-License-Identifier: Apache-2.0
// A window that is ranked by blocks is the one that a search node by node finds.
#include "framework/runtime/node_ranking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "testing/sanitized.h"

namespace ks::framework {
namespace {

using Leaf = NodeRanking::Leaf;

constexpr size_t kFilters = 3;

// Says what the test has written down, and counts the questions.
class Sheet final : public NodeRanking::Judge {
 public:
  Leaf Ask(size_t index) override {
    ++asked;
    return leaves[index];
  }
  std::vector<Leaf> leaves;
  size_t asked = 0;
};

Leaf RandomLeaf(Random& random, uint64_t fit_percent, uint64_t totals) {
  if (random.Below(100) >= fit_percent) {
    return {.verdict = static_cast<uint8_t>(NodeRanking::kRejected + random.Below(kFilters)),
            .marks = 7,
            .total = 1000};
  }
  return {.verdict = NodeRanking::kFits,
          .marks = static_cast<uint8_t>(random.Below(20) == 0 ? 1U << random.Below(3) : 0),
          .total = static_cast<int64_t>(random.Below(totals)) - 5};
}

// The same, node by node.
struct Expected {
  std::vector<size_t> feasible;
  std::array<uint32_t, kFilters> rejected{};
  bool is_cut = false;
  uint8_t marks = 0;

  Expected(const std::vector<Leaf>& leaves, size_t start, size_t wanted) {
    for (size_t i = 0; i < leaves.size(); ++i) {
      const size_t index = (start + i) % leaves.size();
      const Leaf& leaf = leaves[index];
      if (leaf.verdict != NodeRanking::kFits) {
        ++rejected[leaf.verdict - NodeRanking::kRejected];
        continue;
      }
      is_cut = feasible.size() == wanted;
      if (is_cut) return;
      feasible.push_back(index);
      marks |= leaf.marks;
    }
  }
};

void Compare(const RankedWindow& window, const std::vector<Leaf>& leaves, const Expected& want,
             Random& random) {
  ASSERT_EQ(window.feasible(), want.feasible.size());
  EXPECT_EQ(window.rejected(), want.rejected[0] + want.rejected[1] + want.rejected[2]);
  EXPECT_EQ(window.is_cut(), want.is_cut);
  EXPECT_EQ(window.marks(), want.marks);
  std::array<uint32_t, kFilters> rejected{};
  window.CountRejections(rejected);
  EXPECT_EQ(rejected, want.rejected);

  std::vector<size_t> feasible;
  window.ForEachFeasible([&feasible](size_t index) { feasible.push_back(index); });
  EXPECT_EQ(feasible, want.feasible);
  if (feasible.empty()) return;
  std::vector<int64_t> totals;
  for (size_t rank = 0; rank < want.feasible.size(); ++rank) {
    totals.push_back(leaves[want.feasible[rank]].total);
    ASSERT_EQ(window.AtRank(rank), want.feasible[rank]);
  }
  const int64_t most = *std::max_element(totals.begin(), totals.end());
  for (int i = 0; i < 20; ++i) {
    const size_t begin = random.Below(totals.size());
    const size_t end = begin + 1 + random.Below(totals.size() - begin);
    const std::span<const int64_t> between = std::span(totals).subspan(begin, end - begin);
    ASSERT_EQ(window.HasBest(begin, end), std::ranges::find(between, most) != between.end())
        << begin << " to " << end;
  }
  EXPECT_EQ(window.best(), most);

  std::vector<size_t> order = want.feasible;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return leaves[a].total > leaves[b].total; });
  std::array<RankedWindow::Ranked, 3> three{};
  const size_t count = window.FindBest(three);
  ASSERT_EQ(count, std::min<size_t>(3, order.size()));
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(three[i].index, order[i]);
    EXPECT_EQ(three[i].total, leaves[order[i]].total);
  }
}

TEST(NodeRankingTest, IsASearchNodeByNode) {
  for (uint64_t seed = 1; seed <= testing::Cases(150); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const size_t nodes = 1 + random.Below(random.Below(2) == 0 ? 40 : 1500);
    const uint64_t fit_percent = std::array<uint64_t, 5>{0, 2, 50, 97, 100}[random.Below(5)];
    const uint64_t totals = std::array<uint64_t, 3>{1, 4, 10'000}[random.Below(3)];
    Sheet sheet;
    for (size_t i = 0; i < nodes; ++i) {
      sheet.leaves.push_back(RandomLeaf(random, fit_percent, totals));
    }
    NodeRanking ranking;
    ranking.Reset(nodes, kFilters);
    size_t start = 0;
    for (int look = 0; look < 40; ++look) {
      for (uint64_t changes = random.Below(4); changes > 0; --changes) {
        const size_t changed = random.Below(nodes);
        sheet.leaves[changed] = RandomLeaf(random, fit_percent, totals);
        ranking.Forget(changed);
      }
      const size_t wanted = 1 + random.Below(nodes + 1);
      const RankedWindow* window = ranking.Look(start, wanted, sheet);
      ASSERT_NE(window, nullptr);
      Compare(*window, sheet.leaves, Expected(sheet.leaves, start, wanted), random);
      if (::testing::Test::HasFatalFailure()) return;
      start = random.Below(2) == 0 ? random.Below(nodes)
                                   : (start + window->feasible() + window->rejected()) % nodes;
    }
  }
}

TEST(NodeRankingTest, AsksOncePerChange) {
  Sheet sheet;
  sheet.leaves.assign(1000, {.verdict = NodeRanking::kFits, .marks = 0, .total = 3});
  NodeRanking ranking;
  ranking.Reset(1000, 0);
  ASSERT_NE(ranking.Look(900, 200, sheet), nullptr);
  const size_t met = sheet.asked;
  EXPECT_GE(met, 200U);
  EXPECT_LE(met, 200U + 3 * NodeRanking::kBlockNodes);
  ranking.Forget(950);
  ranking.Forget(500);  // not in the window
  ASSERT_NE(ranking.Look(900, 200, sheet), nullptr);
  EXPECT_EQ(sheet.asked, met + 1);
}

TEST(NodeRankingTest, FailsWithItsJudge) {
  Sheet sheet;
  sheet.leaves.assign(300, {.verdict = NodeRanking::kFits, .marks = 0, .total = 3});
  sheet.leaves[200] = {};
  NodeRanking ranking;
  ranking.Reset(300, 0);
  EXPECT_NE(ranking.Look(0, 100, sheet), nullptr);
  EXPECT_EQ(ranking.Look(0, 250, sheet), nullptr);
  sheet.leaves[200] = {.verdict = NodeRanking::kFits, .marks = 0, .total = 4};
  const RankedWindow* window = ranking.Look(0, 250, sheet);
  ASSERT_NE(window, nullptr);
  EXPECT_EQ(window->best(), 4);
}

}  // namespace
}  // namespace ks::framework
