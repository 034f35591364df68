// SPDX-License-Identifier: Apache-2.0
// PreScore, Score, NormalizeScore: docs/spec/framework.md 3.5, docs/spec/cycle.md 12.1, examples 1
// and 19.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "framework/runtime/runtime.h"
#include "testing/builders.h"
#include "testing/fake_snapshot.h"
#include "testing/test_plugins.h"

namespace ks::framework {
namespace {

using ks::testing::FakeSnapshot;
using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::Normalizes;
using ks::testing::PluginScript;
using ks::testing::PreScores;
using ks::testing::Says;
using ks::testing::Scores;
using ks::testing::ScoresOfNodes;
using ks::testing::TestProfile;

using Texts = std::vector<std::string>;
using Values = std::vector<int64_t>;

const FakeSnapshot& ThreeNodes() {
  static const FakeSnapshot snapshot(
      {MakeNode().Name("n0").Obj(), MakeNode().Name("n1").Obj(), MakeNode().Name("n2").Obj()});
  return snapshot;
}

std::unique_ptr<Framework> Build(TestProfile& profile) {
  return profile.Build({.parts = {.snapshot = &ThreeNodes()}});
}

// Raw scores by node index.
std::function<Status(const NodeInfo&, int64_t*)> Raw(Values values) {
  return [values = std::move(values)](const NodeInfo& node, int64_t* score) {
    *score = values[node.index()];
    return Status();
  };
}

std::function<Status(const NodeInfo&, int64_t*)> FailsAt(const std::string& node_name,
                                                         Status failure) {
  return [node_name, failure](const NodeInfo& node, int64_t* score) {
    *score = 1;
    return node.name() == node_name ? failure : Status();
  };
}

TEST(PreScoreTest, CodesOfOnePlugin) {
  const struct {
    const char* name;
    Status answer;
    Status want;
    PluginMask want_skipped;
  } cases[] = {
      {"Success", Status(), Status(), 0},
      {"Skip", Status(Code::kSkip, {"s"}), Status(), 2},
      {"Error", Status::Error("e"), Status::Error("running PreScore plugin \"B\": e"), 0},
      {"URejectionIsAnError", Status(Code::kUnschedulable, {"u"}),
       Status::Error("running PreScore plugin \"B\": u"), 0},
      {"UU", Status(Code::kUnschedulableAndUnresolvable, {"u"}),
       Status::Error("running PreScore plugin \"B\": u"), 0},
      {"Pending", Status(Code::kPending, {"u"}), Status::Error("running PreScore plugin \"B\": u"),
       0},
      {"Wait", Status(Code::kWait, {"w"}),
       Status::Error("running PreScore plugin \"B\": %!w(<nil>)"), 0},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.name);
    Texts log;
    TestProfile profile;
    profile.Add<PreScores>({.name = "A", .log = &log})
        .Add<PreScores>({.name = "B", .log = &log, .pre_score = Says(test.answer)})
        .Add<PreScores>({.name = "C", .log = &log});
    CycleState state;
    state.skip_score = ~PluginMask{0};
    EXPECT_EQ(
        Build(profile)->RunPreScorePlugins(state, *MakePod().Name("p").Obj(), ThreeNodes().nodes()),
        test.want);
    EXPECT_EQ(state.skip_score, test.want_skipped);
    EXPECT_EQ(log.size(), test.want.ok() ? 3U : 2U);
  }
}

TEST(PreScoreTest, SkippedPluginsAreStoredAlsoOnFailure) {
  TestProfile profile;
  profile.Add<PreScores>({.name = "A", .pre_score = Says(Status(Code::kSkip, {}))})
      .Add<PreScores>({.name = "B", .pre_score = Says(Status::Error("e"))});
  CycleState state;
  EXPECT_FALSE(Build(profile)
                   ->RunPreScorePlugins(state, *MakePod().Name("p").Obj(), ThreeNodes().nodes())
                   .ok());
  EXPECT_EQ(state.skip_score, 1U);
}

struct Scorer {
  std::string name;
  int32_t weight = 0;
  std::function<Status(const NodeInfo&, int64_t*)> score = {};
  std::function<Status(ScoresOfNodes)> normalize = {};
  bool skip = false;
};

struct ScoreCase {
  std::string name;
  std::vector<Scorer> plugins;
  Status want = {};
  Values want_totals = {};  // checked on success
};

std::function<Status(ScoresOfNodes)> Doubles() {
  return [](ScoresOfNodes scores) {
    for (int64_t& score : scores) score *= 2;
    return Status();
  };
}

std::string OutOfRange(const std::string& plugin, int64_t score) {
  return "applying score defaultWeights on Score plugins: plugin \"" + plugin +
         "\" returns an invalid score " + std::to_string(score) +
         ", it should in the range of [0, 100] after normalizing";
}

const std::vector<ScoreCase> kScoreCases = {
    {.name = "WeightedSum",
     .plugins = {{.name = "A", .weight = 3, .score = Raw({1, 2, 100})},
                 {.name = "B", .score = Raw({10, 0, 100})},
                 {.name = "C", .weight = -2, .score = Raw({0, 5, 0})}},
     .want_totals = {13, -4, 400}},
    {.name = "Ex01DefaultScoreList",
     .plugins = {{.name = "TaintToleration", .weight = 3, .score = Raw({100, 0, 0})},
                 {.name = "NodeAffinity", .weight = 2, .score = Raw({9, 9, 9}), .skip = true},
                 {.name = "NodeResourcesFit", .weight = 1, .score = Raw({60, 0, 0})},
                 {.name = "VolumeBinding", .score = Raw({9, 9, 9}), .skip = true},
                 {.name = "PodTopologySpread", .weight = 2, .score = Raw({100, 0, 0})},
                 {.name = "InterPodAffinity", .weight = 2, .score = Raw({9, 9, 9}), .skip = true},
                 {.name = "DynamicResources", .weight = 2, .score = Raw({0, 0, 0})},
                 {.name = "NodeResourcesBalancedAllocation", .score = Raw({75, 0, 0})},
                 {.name = "ImageLocality", .score = Raw({23, 0, 0})}},
     .want_totals = {658, 0, 0}},
    {.name = "AllSkipped",
     .plugins = {{.name = "A", .score = Raw({1, 2, 3}), .skip = true}},
     .want_totals = {0, 0, 0}},
    {.name = "NoPlugins", .plugins = {}, .want_totals = {0, 0, 0}},
    {.name = "NormalizedBeforeTheRangeCheck",
     .plugins = {{.name = "A", .weight = 2, .score = Raw({50, 1, 0}), .normalize = Doubles()},
                 {.name = "B",
                  .score = Raw({1000, 5000, -3}),
                  .normalize =
                      [](ScoresOfNodes scores) {
                        for (int64_t& score : scores) score = score > 999 ? 100 : 0;
                        return Status();
                      }}},
     .want_totals = {300, 104, 0}},
    {.name = "ScoreError",
     .plugins = {{.name = "A", .score = FailsAt("n1", Status::Error("boom"))}},
     .want = Status::Error("running Score plugins: plugin \"A\" failed with: boom")},
    {.name = "ScoreRejectionIsAnError",
     .plugins = {{.name = "A", .score = FailsAt("n1", Status(Code::kUnschedulable, {"x", "y"}))}},
     .want = Status::Error("running Score plugins: plugin \"A\" failed with: x, y")},
    {.name = "ScoreSkipHasNoError",
     .plugins = {{.name = "A", .score = FailsAt("n1", Status(Code::kSkip, {}))}},
     .want = Status::Error("running Score plugins: plugin \"A\" failed with: %!w(<nil>)")},
    {.name = "TheFirstNodeWinsBeforeTheFirstPlugin",
     .plugins = {{.name = "A", .score = FailsAt("n2", Status::Error("a"))},
                 {.name = "B", .score = FailsAt("n1", Status::Error("b"))},
                 {.name = "C", .score = FailsAt("n1", Status::Error("c"))}},
     .want = Status::Error("running Score plugins: plugin \"B\" failed with: b")},
    {.name = "NormalizeError",
     .plugins = {{.name = "A",
                  .score = Raw({1, 1, 1}),
                  .normalize = [](ScoresOfNodes) { return Status::Error("bad"); }},
                 {.name = "B",
                  .score = Raw({1, 1, 1}),
                  .normalize = [](ScoresOfNodes) { return Status::Error("worse"); }}},
     .want = Status::Error("running Normalize on Score plugins: plugin \"A\" failed with: bad")},
    {.name = "AScoreErrorComesBeforeAnEarlierNormalizeError",
     .plugins = {{.name = "A",
                  .score = Raw({1, 1, 1}),
                  .normalize = [](ScoresOfNodes) { return Status::Error("bad"); }},
                 {.name = "B", .score = FailsAt("n2", Status::Error("b"))}},
     .want = Status::Error("running Score plugins: plugin \"B\" failed with: b")},
    {.name = "Ex19",
     .plugins = {{.name = "P", .score = Raw({0, 101, 0})}},
     .want = Status::Error(OutOfRange("P", 101))},
    {.name = "BelowTheRange",
     .plugins = {{.name = "P", .score = Raw({0, 0, -1})}},
     .want = Status::Error(OutOfRange("P", -1))},
    {.name = "TheFirstNodeOutOfRangeWins",
     .plugins = {{.name = "A", .score = Raw({0, 0, 200})},
                 {.name = "B", .score = Raw({0, 300, 0})},
                 {.name = "C", .score = Raw({0, 400, 0})}},
     .want = Status::Error(OutOfRange("B", 300))},
    {.name = "ANormalizeErrorComesBeforeAnEarlierRangeError",
     .plugins = {{.name = "A", .score = Raw({101, 0, 0})},
                 {.name = "B",
                  .score = Raw({1, 1, 1}),
                  .normalize = [](ScoresOfNodes) { return Status::Error("bad"); }}},
     .want = Status::Error("running Normalize on Score plugins: plugin \"B\" failed with: bad")},
};

void AddScorer(TestProfile& profile, const Scorer& scorer) {
  PluginScript script{.name = scorer.name, .score = scorer.score, .normalize = scorer.normalize};
  if (scorer.skip) script.pre_score = Says(Status(Code::kSkip, {}));
  if (scorer.normalize) {
    profile.Add<PreScores, Scores, Normalizes>(script, scorer.weight);
  } else {
    profile.Add<PreScores, Scores>(script, scorer.weight);
  }
}

TEST(ScoreTest, TotalsAndFailures) {
  for (const ScoreCase& test : kScoreCases) {
    SCOPED_TRACE(test.name);
    TestProfile profile;
    for (const Scorer& scorer : test.plugins) AddScorer(profile, scorer);
    const auto framework = Build(profile);
    const auto pod = MakePod().Name("p").Obj();
    CycleState state;
    ASSERT_TRUE(framework->RunPreScorePlugins(state, *pod, ThreeNodes().nodes()).ok());
    NodeScores scores;
    scores.totals = {7};  // of an earlier run
    EXPECT_EQ(framework->RunScorePlugins(state, *pod, ThreeNodes().nodes(), &scores), test.want);
    if (test.want.ok()) {
      EXPECT_EQ(scores.totals, test.want_totals);
    }
    EXPECT_TRUE(scores.details.empty());
  }
}

TEST(ScoreTest, DetailsForExplaining) {
  TestProfile profile;
  AddScorer(profile, {.name = "A", .weight = 3, .score = Raw({1, 2, 3}), .normalize = Doubles()});
  AddScorer(profile, {.name = "Skipped", .score = Raw({9, 9, 9}), .skip = true});
  AddScorer(profile, {.name = "B", .score = Raw({4, 5, 6})});
  const auto framework = Build(profile);
  const auto pod = MakePod().Name("p").Obj();
  CycleState state;
  ASSERT_TRUE(framework->RunPreScorePlugins(state, *pod, ThreeNodes().nodes()).ok());
  NodeScores scores;
  scores.keep_details = true;
  ASSERT_TRUE(framework->RunScorePlugins(state, *pod, ThreeNodes().nodes(), &scores).ok());
  ASSERT_EQ(scores.details.size(), 2U);
  EXPECT_EQ(scores.details[0].plugin, "A");
  EXPECT_EQ(scores.details[0].weight, 3);
  EXPECT_EQ(scores.details[0].raw, (Values{1, 2, 3}));
  EXPECT_EQ(scores.details[0].normalized, (Values{2, 4, 6}));
  EXPECT_EQ(scores.details[1].plugin, "B");
  EXPECT_EQ(scores.details[1].raw, (Values{4, 5, 6}));
  EXPECT_EQ(scores.details[1].normalized, (Values{4, 5, 6}));
  EXPECT_EQ(scores.totals, (Values{10, 17, 24}));
}

// A plugin without PreScore is never skipped (trap 4).
TEST(ScoreTest, APluginWithoutPreScoreAlwaysScores) {
  TestProfile profile;
  AddScorer(profile, {.name = "A", .score = Raw({1, 2, 3}), .skip = true});
  profile.profile().plugins.pre_score.disabled = {{"A"}};
  const auto framework = Build(profile);
  const auto pod = MakePod().Name("p").Obj();
  CycleState state;
  ASSERT_TRUE(framework->RunPreScorePlugins(state, *pod, ThreeNodes().nodes()).ok());
  NodeScores scores;
  ASSERT_TRUE(framework->RunScorePlugins(state, *pod, ThreeNodes().nodes(), &scores).ok());
  EXPECT_EQ(scores.totals, (Values{1, 2, 3}));
}

}  // namespace
}  // namespace ks::framework
