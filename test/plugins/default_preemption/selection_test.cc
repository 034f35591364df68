// SPDX-License-Identifier: Apache-2.0
// Which pod is more important, which eviction violates a budget, which node is taken
// (docs/spec/preemption.md sections 6, 7 and 9; P4 to P7, P10, P28).
#include "plugins/default_preemption/selection.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "plugins/default_preemption/budgets.h"
#include "plugins/default_preemption/importance.h"
#include "testing/builders.h"
#include "testing/fake_owner_listers.h"

namespace ks::plugins {
namespace {

using ks::testing::FakeOwnerListers;
using ks::testing::MakeBudget;
using ks::testing::MakePod;
using ks::testing::PodBuilder;

constexpr int kNow = 9000;
TimePoint At(int seconds) { return TimePoint(std::chrono::seconds(seconds)); }

PodBuilder Pod(const std::string& name, int32_t priority, std::optional<int> start = 1000) {
  PodBuilder pod = MakePod().Name(name).Priority(priority);
  if (start) pod.pod().status.start_time = At(*start);
  return pod;
}

struct Victim {
  int32_t priority;
  std::optional<int> start = 1000;
};

struct PickCase {
  std::string name;
  struct Node {
    std::vector<Victim> victims;
    int64_t violations = 0;
  };
  std::vector<Node> nodes;
  size_t want;
};

TEST(SelectionTest, TakesTheBestByEachCriterionInTurn) {
  const PickCase cases[] = {
      {"P4_fewer_violations_before_priority", {{{{1}}, 1}, {{{9}}, 0}}, 1},
      {"P5_lower_first_victim", {{{{5}}}, {{{3}, {3}, {3}}}}, 1},
      {"P6_smaller_sum", {{{{5}, {1}}}, {{{5}, {2}}}}, 0},
      {"P7_later_start", {{{{5, 1000}}}, {{{5, 2000}}}}, 1},
      {"fewer_victims_win_by_the_sum", {{{{5}, {-2000}}}, {{{5}}}}, 1},
      {"only_the_most_important_victims_start_counts",
       {{{{5, 3000}, {1, 10}}}, {{{5, 2000}, {1, 2500}}}},
       0},
      {"the_earliest_of_the_most_important",
       {{{{5, 9000}, {5, 1000}}}, {{{5, 2000}, {5, 2000}}}},
       1},
      {"no_start_time_is_now", {{{{5, 2000}}}, {{{5, std::nullopt}}}}, 1},
      {"the_first_of_equal_ones", {{{{6}}}, {{{5}}}, {{{5}}}}, 1},
      {"negative_priorities", {{{{-10}}}, {{{-11}}}}, 1},
  };
  for (const PickCase& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<Candidate> candidates;
    for (const PickCase::Node& node : c.nodes) {
      Candidate& candidate = candidates.emplace_back();
      candidate.node = std::to_string(candidates.size() - 1);
      candidate.victims.pdb_violations = node.violations;
      for (const Victim& victim : node.victims) {
        candidate.victims.pods.push_back(Pod("v", victim.priority, victim.start).Obj());
      }
    }
    EXPECT_EQ(PickCandidate(candidates, At(kNow)).node, std::to_string(c.want));
  }
}

std::vector<framework::PodInfoPtr> Infos(const std::vector<PodBuilder>& pods) {
  std::vector<framework::PodInfoPtr> infos;
  for (const PodBuilder& pod : pods)
    infos.push_back(std::make_shared<framework::PodInfo>(pod.Obj()));
  return infos;
}

std::string Names(const std::vector<PotentialVictim>& victims) {
  std::string names;
  for (const PotentialVictim& victim : victims) {
    names += (names.empty() ? "" : " ") + victim.info->pod().meta.name;
  }
  return names;
}

TEST(ImportanceTest, PriorityThenStart) {
  std::vector<PotentialVictim> victims = PotentialVictims(
      Infos({Pod("new", 5, 2000), Pod("none", 5, std::nullopt), Pod("same", 9, 100),
             Pod("old", 5, 1000), Pod("high", 6, 9999), Pod("none2", 5, std::nullopt),
             Pod("new2", 5, 2000), Pod("low", -7, 1)}),
      9);
  EXPECT_EQ(Names(victims), "new none old high none2 new2 low");
  SortByImportance(&victims);
  EXPECT_EQ(Names(victims), "high old new new2 none none2 low");
}

TEST(ImportanceTest, ManyEqualPodsKeepTheirOrder) {
  std::vector<PodBuilder> pods;
  std::string want;
  for (int i = 0; i < 40; ++i) {
    pods.push_back(Pod("p" + std::to_string(i), 1));
    want += (i == 0 ? "p" : " p") + std::to_string(i);
  }
  std::vector<PotentialVictim> victims = PotentialVictims(Infos(pods), 2);
  SortByImportance(&victims);
  EXPECT_EQ(Names(victims), want);
}

api::LabelSelectorSpec Selector(const std::string& key) {
  return {.match_labels = {{key, "yes"}}, .match_expressions = {}};
}
api::LabelSelectorSpec Invalid() {
  return {.match_labels = {}, .match_expressions = {{.key = "x", .op = "Wrong", .values = {}}}};
}

struct BudgetCase {
  std::string name;
  std::vector<PodBuilder> pods;  // most important first
  std::vector<api::PodDisruptionBudgetPtr> budgets;
  std::string want_violating;
  std::string want_others;
};

TEST(BudgetsTest, AreSpentInOrderOfImportance) {
  const auto x = [](const std::string& name) { return Pod(name, 5).Labels({{"x", "yes"}}); };
  const auto y = [](const std::string& name) { return Pod(name, 5).Labels({{"y", "yes"}}); };
  const auto both = [](const std::string& name) {
    return Pod(name, 5).Labels({{"x", "yes"}, {"y", "yes"}});
  };
  const auto budget_x = MakeBudget("ns", "x", Selector("x"), 0);
  const auto budget_y = MakeBudget("ns", "y", Selector("y"), 1);
  const BudgetCase cases[] = {
      {"P10", {x("a"), x("b")}, {MakeBudget("ns", "pdb", Selector("x"), 1)}, "b", "a"},
      {"P28_forbidden_before_spent", {both("a"), y("b")}, {budget_x, budget_y}, "a", "b"},
      {"P28_spent_before_forbidden", {both("a"), y("b")}, {budget_y, budget_x}, "a b", ""},
      {"no_labels", {Pod("a", 5)}, {MakeBudget("ns", "pdb", Selector("x"), 0)}, "", "a"},
      {"other_namespace", {x("a")}, {MakeBudget("other", "pdb", Selector("x"), 0)}, "", "a"},
      {"empty_selector", {x("a")}, {MakeBudget("ns", "p", api::LabelSelectorSpec(), 0)}, "", "a"},
      {"null_selector", {x("a")}, {MakeBudget("ns", "pdb", std::nullopt, 0)}, "", "a"},
      {"invalid_selector", {x("a")}, {MakeBudget("ns", "pdb", Invalid(), 0)}, "", "a"},
      {"disrupted_already",
       {x("a"), x("b")},
       {MakeBudget("ns", "pdb", Selector("x"), 0, {"a"})},
       "b",
       "a"},
      {"no_budget", {x("a"), x("b")}, {}, "", "a b"},
  };
  for (const BudgetCase& c : cases) {
    SCOPED_TRACE(c.name);
    FakeOwnerListers listers;
    for (const auto& budget : c.budgets) listers.Add(budget);
    const BudgetSplit split = SplitByBudgets(PotentialVictims(Infos(c.pods), 10), listers);
    EXPECT_EQ(Names(split.violating), c.want_violating);
    EXPECT_EQ(Names(split.others), c.want_others);
  }
}

}  // namespace
}  // namespace ks::plugins
