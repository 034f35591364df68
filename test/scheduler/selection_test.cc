// SPDX-License-Identifier: Apache-2.0
#include "scheduler/algorithm/selection.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "base/random.h"
#include "framework/runtime/node_ranking.h"
#include "testing/sanitized.h"

namespace ks::scheduler {
namespace {

struct SampleCase {
  std::string name;
  size_t candidates;
  std::optional<int32_t> profile;
  int32_t global;
  size_t want;
};

class NumFeasible : public ::testing::TestWithParam<SampleCase> {};

TEST_P(NumFeasible, IsThatOfTheSpecification) {
  const SampleCase& c = GetParam();
  EXPECT_EQ(NumFeasibleNodesToFind(c.candidates, c.profile, c.global), c.want);
}

// docs/spec/cycle.md, worked examples 1 to 5, and the borders of 9.2.
INSTANTIATE_TEST_SUITE_P(
    WorkedExamples, NumFeasible,
    ::testing::Values(
        SampleCase{"ex1", 10, {}, 0, 10}, SampleCase{"ex2_100", 100, {}, 0, 100},
        SampleCase{"ex2_200", 200, {}, 0, 100}, SampleCase{"ex2_250", 250, {}, 0, 120},
        SampleCase{"ex2_1000", 1000, {}, 0, 420}, SampleCase{"ex2_5000", 5000, {}, 0, 500},
        SampleCase{"ex2_6000", 6000, {}, 0, 300}, SampleCase{"ex3", 1000, 40, 100, 400},
        SampleCase{"ex4", 1000, 0, 40, 420}, SampleCase{"ex5", 500, {}, 30, 150},
        SampleCase{"below_100_ignores_percentage", 99, 5, 5, 99},
        SampleCase{"never_below_100", 120, 5, 0, 100}, SampleCase{"all", 5000, 100, 0, 5000},
        SampleCase{"huge_cluster_stops_at_5_percent", 50000, {}, 0, 2500}),
    [](const auto& row) { return row.param.name; });

struct PickCase {
  std::string name;
  std::vector<int64_t> totals;
  std::vector<uint32_t> want;
};

class Pick : public ::testing::TestWithParam<PickCase> {};

TEST_P(Pick, TakesInHeapOrder) {
  const PickCase& c = GetParam();
  EXPECT_EQ(PickOrder(c.totals), c.want);
  EXPECT_EQ(PickBest(c.totals), c.want.front());
}

// The shortcut against the heap itself, with many ties.
TEST(PickBest, EqualsTheHeapsRoot) {
  Random random(7);
  for (int round = 0; round < 20000; ++round) {
    std::vector<int64_t> totals(1 + random.Below(70));
    for (int64_t& total : totals) total = static_cast<int64_t>(random.Below(1 + random.Below(6)));
    ASSERT_EQ(PickBest(totals), PickOrder(totals).front()) << ::testing::PrintToString(totals);
  }
}

// docs/spec/cycle.md, worked examples 10 to 16; docs/spec/framework.md section 18, example 23.
INSTANTIATE_TEST_SUITE_P(
    WorkedExamples, Pick,
    ::testing::Values(PickCase{"one", {7}, {0}}, PickCase{"ex10", {5, 5, 5}, {0, 2, 1}},
                      PickCase{"ex11", {1, 2, 2}, {1, 2, 0}},
                      PickCase{"ex12", {2, 1, 2}, {0, 2, 1}},
                      PickCase{"ex13", {1, 3, 3, 3}, {1, 3, 2, 0}},
                      PickCase{"ex14", {1, 2, 3, 3, 3}, {3, 4, 2, 1, 0}},
                      PickCase{"ex15", {1, 1, 1, 5, 5, 5, 5}, {3, 6, 4, 5, 1, 0, 2}},
                      PickCase{"ex16", {1, 2, 2, 2, 9, 9, 9, 9, 9}, {7, 8, 4, 6, 5, 1, 3, 2, 0}},
                      PickCase{"fw23_b", {1, 5, 5}, {1, 2, 0}},
                      PickCase{"fw23_c", {1, 3, 5, 5}, {3, 2, 1, 0}},
                      PickCase{"fw23_d", {3, 5, 5, 5, 5}, {1, 4, 3, 2, 0}},
                      PickCase{"fw23_e", {1, 2, 3, 7, 7, 7, 7}, {3, 6, 4, 5, 2, 1, 0}},
                      PickCase{"fw23_f", {5, 5, 5, 5, 5}, {0, 4, 3, 2, 1}}),
    [](const auto& row) { return row.param.name; });

// Ranks of a window are positions in the list of feasible nodes.
class TotalsJudge final : public framework::NodeRanking::Judge {
 public:
  framework::NodeRanking::Leaf Ask(size_t index) override {
    return {.verdict = framework::NodeRanking::kFits, .total = totals[index]};
  }
  uint8_t AskPlaceOf(size_t) override { return framework::NodeRanking::kFits; }
  std::vector<int64_t> totals;
};

TEST(PickBestTest, OfAWindowIsThatOfItsTotals) {
  for (uint64_t seed = 1; seed <= testing::Cases(300); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    TotalsJudge judge;
    const size_t nodes = 1 + random.Below(2000);
    const uint64_t best_percent = std::array<uint64_t, 5>{0, 1, 5, 50, 100}[random.Below(5)];
    for (size_t i = 0; i < nodes; ++i) {
      const bool is_best = random.Below(100) < best_percent;
      judge.totals.push_back(is_best ? 50 : static_cast<int64_t>(random.Below(50)));
    }
    framework::NodeRanking ranking;
    ranking.Reset(nodes, 0);
    const size_t start = random.Below(nodes);
    const size_t wanted = 1 + random.Below(nodes);
    const framework::RankedWindow* window = ranking.Look(start, wanted, judge);
    ASSERT_NE(window, nullptr);
    std::vector<int64_t> totals;
    for (size_t i = 0; i < wanted; ++i) totals.push_back(judge.totals[(start + i) % nodes]);
    EXPECT_EQ(PickBest(*window), PickBest(totals));
  }
}

}  // namespace
}  // namespace ks::scheduler
