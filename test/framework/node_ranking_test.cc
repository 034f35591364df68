// SPDX-License-Identifier: Apache-2.0
// A window that is ranked by blocks is the one that a search node by node finds.
#include "framework/runtime/node_ranking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "testing/sanitized.h"

namespace ks::framework {
namespace {

using Leaf = NodeRanking::Leaf;

constexpr size_t kFilters = 5;  // the last two reject places
constexpr size_t kNodeFilters = 3;

// Says what the test has written down, and counts the questions.
class Sheet final : public NodeRanking::Judge {
 public:
  struct Place {
    uint8_t verdict = NodeRanking::kFits;
    int64_t added = 0;
  };

  Leaf Ask(size_t index) override {
    ++asked;
    return leaves[index];
  }
  uint8_t AskPlaceOf(size_t index) override {
    EXPECT_EQ(leaves[index].verdict, NodeRanking::kFits);
    ++asked_places;
    return PlaceOf(index).verdict;
  }
  const Place& PlaceOf(size_t index) const { return places[leaves[index].place]; }
  uint8_t VerdictOf(size_t index) const {
    const bool fits = leaves[index].verdict == NodeRanking::kFits;
    return fits ? PlaceOf(index).verdict : leaves[index].verdict;
  }
  int64_t TotalOf(size_t index) const { return leaves[index].total + PlaceOf(index).added; }

  std::vector<Leaf> leaves;
  std::vector<Place> places{1};
  size_t asked = 0;
  size_t asked_places = 0;
};

struct Mix {
  uint64_t fit_percent;
  uint64_t totals;
  size_t places;
  uint8_t most_have;         // marks
  uint64_t others_have_one;  // of so many nodes one
};

Leaf RandomLeaf(Random& random, const Mix& mix) {
  if (random.Below(100) >= mix.fit_percent) {
    return {.verdict = static_cast<uint8_t>(NodeRanking::kRejected + random.Below(kNodeFilters)),
            .marks = 7,
            .total = 1000};
  }
  return {.verdict = NodeRanking::kFits,
          .marks = random.Below(mix.others_have_one) == 0
                       ? static_cast<uint8_t>(1U << random.Below(3))
                       : mix.most_have,
          .place = static_cast<uint8_t>(random.Below(mix.places)),
          .total = static_cast<int64_t>(random.Below(mix.totals)) - 5};
}

// What places say in one attempt.
std::vector<Sheet::Place> RandomPlaces(Random& random, size_t count) {
  std::vector<Sheet::Place> places(count);
  if (count == 1) return places;
  const uint64_t rejected_percent = std::array<uint64_t, 3>{0, 30, 90}[random.Below(3)];
  for (Sheet::Place& place : places) {
    place.added = static_cast<int64_t>(random.Below(7)) * 50;
    if (random.Below(100) >= rejected_percent) continue;
    place.verdict = static_cast<uint8_t>(NodeRanking::kRejected + kNodeFilters + random.Below(2));
  }
  return places;
}

// The same, node by node.
struct Expected {
  std::vector<size_t> feasible;
  std::array<uint32_t, kFilters> rejected{};
  bool is_cut = false;
  uint8_t marks = 0;

  Expected(const Sheet& sheet, size_t start, size_t wanted) {
    const size_t nodes = sheet.leaves.size();
    for (size_t i = 0; i < nodes; ++i) {
      const size_t index = (start + i) % nodes;
      const uint8_t verdict = sheet.VerdictOf(index);
      if (verdict != NodeRanking::kFits) {
        ++rejected[verdict - NodeRanking::kRejected];
        continue;
      }
      is_cut = feasible.size() == wanted;
      if (is_cut) return;
      feasible.push_back(index);
      marks |= sheet.leaves[index].marks;
    }
  }
};

void ComparePlaces(const std::vector<RankedWindow::Place>& places, const Sheet& sheet,
                   const Expected& want) {
  std::vector<size_t> fits(sheet.places.size());
  for (const size_t index : want.feasible) ++fits[sheet.leaves[index].place];
  for (const RankedWindow::Place& place : places) {
    EXPECT_EQ(place.fits, fits[place.number]);
    EXPECT_EQ(sheet.leaves[place.index].place, place.number);
    EXPECT_EQ(sheet.VerdictOf(place.index), NodeRanking::kFits);
    EXPECT_GT(std::exchange(fits[place.number], 0), 0U);
  }
  EXPECT_EQ(std::ranges::count(fits, 0U), static_cast<std::ptrdiff_t>(fits.size()));
}

void Compare(const RankedWindow& window, const Sheet& sheet, const Expected& want, Random& random) {
  ASSERT_EQ(window.feasible(), want.feasible.size());
  EXPECT_EQ(window.rejected(), std::accumulate(want.rejected.begin(), want.rejected.end(), 0U));
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
    totals.push_back(sheet.TotalOf(want.feasible[rank]));
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
                   [&](size_t a, size_t b) { return sheet.TotalOf(a) > sheet.TotalOf(b); });
  std::array<RankedWindow::Ranked, 3> three{};
  const size_t count = window.FindBest(three);
  ASSERT_EQ(count, std::min<size_t>(3, order.size()));
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(three[i].index, order[i]);
    EXPECT_EQ(three[i].total, sheet.TotalOf(order[i]));
  }
}

// A look that fails if it meets the node.
void LookWithoutKnowing(size_t node, size_t start, size_t wanted, NodeRanking& ranking,
                        Sheet& sheet) {
  const Leaf leaf = std::exchange(sheet.leaves[node], {});
  ranking.Forget(node);
  (void)ranking.Look(start, wanted, sheet);
  sheet.leaves[node] = leaf;
}

TEST(NodeRankingTest, IsASearchNodeByNode) {
  for (uint64_t seed = 1; seed <= testing::Cases(150); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    // Of the largest, windows span districts.
    const size_t most = std::array<size_t, 4>{40, 40, 1500, 7000}[random.Below(4)];
    const size_t nodes = 1 + random.Below(most);
    const int looks = most == 7000 ? 12 : 40;
    const Mix mix{.fit_percent = std::array<uint64_t, 5>{0, 2, 50, 97, 100}[random.Below(5)],
                  .totals = std::array<uint64_t, 3>{1, 4, 10'000}[random.Below(3)],
                  .places = std::array<size_t, 4>{1, 3, 20, 255}[random.Below(4)],
                  .most_have = std::array<uint8_t, 3>{0, 2, 6}[random.Below(3)],
                  .others_have_one = std::array<uint64_t, 2>{20, 2000}[random.Below(2)]};
    Mix of_changes = mix;
    of_changes.others_have_one = 5;
    const size_t neighbours = random.Below(nodes);
    Sheet sheet;
    for (size_t i = 0; i < nodes; ++i) sheet.leaves.push_back(RandomLeaf(random, mix));
    NodeRanking ranking;
    ranking.Reset(nodes, kNodeFilters);
    size_t start = 0;
    for (int look = 0; look < looks; ++look) {
      for (uint64_t changes = random.Below(4); changes > 0; --changes) {
        const size_t changed =
            random.Below(2) == 0 ? (neighbours + random.Below(8)) % nodes : random.Below(nodes);
        sheet.leaves[changed] = RandomLeaf(random, of_changes);
        ranking.Forget(changed);
      }
      const size_t wanted = 1 + random.Below(nodes + 1);
      sheet.places = RandomPlaces(random, mix.places);
      if (random.Below(8) == 0) {
        LookWithoutKnowing(random.Below(nodes), start, wanted, ranking, sheet);
      }
      sheet.asked_places = 0;
      const RankedWindow* window = ranking.Look(start, wanted, sheet);
      ASSERT_NE(window, nullptr);
      EXPECT_LE(sheet.asked_places, mix.places);
      const Expected want(sheet, start, wanted);
      std::vector<RankedWindow::Place> places;
      window->FindPlaces(&places);
      ComparePlaces(places, sheet, want);
      std::vector<int64_t> added;
      for (const RankedWindow::Place& place : places) {
        added.push_back(sheet.places[place.number].added);
      }
      if (mix.places > 1) ranking.ScorePlaces(places, added);
      Compare(*window, sheet, want, random);
      if (::testing::Test::HasFatalFailure()) return;
      start = random.Below(2) == 0 ? random.Below(nodes)
                                   : (start + window->feasible() + window->rejected()) % nodes;
    }
  }
}

TEST(NodeRankingTest, AsksOncePerChange) {
  Sheet sheet;
  sheet.leaves.assign(1000, {.verdict = NodeRanking::kFits, .total = 3});
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

TEST(NodeRankingTest, AsksNoMoreWhereTheWindowSpansDistricts) {
  constexpr size_t kWanted = 3 * NodeRanking::kDistrictNodes;
  Sheet sheet;
  sheet.leaves.assign(5 * NodeRanking::kDistrictNodes + 77,
                      {.verdict = NodeRanking::kFits, .total = 3});
  NodeRanking ranking;
  ranking.Reset(sheet.leaves.size(), 0);
  ASSERT_NE(ranking.Look(700, kWanted, sheet), nullptr);
  const size_t met = sheet.asked;
  EXPECT_GE(met, kWanted);
  EXPECT_LE(met, kWanted + 3 * NodeRanking::kBlockNodes);
  const size_t within = 2 * NodeRanking::kDistrictNodes + 5;
  ranking.Forget(within);
  sheet.leaves[within].total = 4;
  const RankedWindow* window = ranking.Look(700, kWanted, sheet);
  ASSERT_NE(window, nullptr);
  EXPECT_EQ(sheet.asked, met + 1);
  EXPECT_EQ(window->best(), 4);
  std::array<RankedWindow::Ranked, 1> best{};
  ASSERT_EQ(window->FindBest(best), 1U);
  EXPECT_EQ(best[0].index, within);
}

TEST(NodeRankingTest, FailsWithItsJudgeOfPlaces) {
  Sheet sheet;
  sheet.leaves.assign(300, {.verdict = NodeRanking::kFits, .total = 3});
  sheet.leaves[200].place = 1;
  sheet.places = {{}, {.verdict = NodeRanking::kUnknown}};
  NodeRanking ranking;
  ranking.Reset(300, 0);
  EXPECT_NE(ranking.Look(0, 100, sheet), nullptr);
  EXPECT_EQ(ranking.Look(0, 250, sheet), nullptr);
  sheet.places[1] = {.verdict = NodeRanking::kFits};
  EXPECT_NE(ranking.Look(0, 250, sheet), nullptr);
}

TEST(NodeRankingTest, FailsWithItsJudge) {
  Sheet sheet;
  sheet.leaves.assign(300, {.verdict = NodeRanking::kFits, .total = 3});
  sheet.leaves[200] = {};
  NodeRanking ranking;
  ranking.Reset(300, 0);
  EXPECT_NE(ranking.Look(0, 100, sheet), nullptr);
  EXPECT_EQ(ranking.Look(0, 250, sheet), nullptr);
  sheet.leaves[200] = {.verdict = NodeRanking::kFits, .total = 4};
  const RankedWindow* window = ranking.Look(0, 250, sheet);
  ASSERT_NE(window, nullptr);
  EXPECT_EQ(window->best(), 4);
}

}  // namespace
}  // namespace ks::framework
