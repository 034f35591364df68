// SPDX-License-Identifier: Apache-2.0
#include "inspect/explain.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "inspect/explain_json.h"
#include "scheduler/algorithm/scheduling_algorithm.h"
#include "testing/builders.h"
#include "testing/fake_snapshot.h"
#include "testing/test_plugins.h"

namespace ks::scheduler {
namespace {

using framework::Code;
using framework::NodeInfo;
using framework::PreFilterResult;
using framework::Status;
using ks::testing::FakeSnapshot;
using ks::testing::Filters;
using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::Normalizes;
using ks::testing::PluginScript;
using ks::testing::PreEnqueues;
using ks::testing::PreFilters;
using ks::testing::PreScores;
using ks::testing::Says;
using ks::testing::Scores;
using ks::testing::TestProfile;

const Status kNo(Code::kUnschedulable, {"no"});
const Status kNever(Code::kUnschedulableAndUnresolvable, {"never", "at all"});

// Nodes "b", "a", "c" in this order, so that a sorted answer is not the snapshot's.
FakeSnapshot ThreeNodes() {
  return FakeSnapshot(
      {MakeNode().Name("b").Obj(), MakeNode().Name("a").Obj(), MakeNode().Name("c").Obj()});
}

// Rejects the named node.
PluginScript Rejecting(std::string name, std::string node, Status status) {
  return {.name = std::move(name), .filter = [node, status](const auto&, const NodeInfo& info) {
            return info.name() == node ? status : Status();
          }};
}

PluginScript Narrowing(std::string name, std::set<std::string> nodes) {
  return {.name = std::move(name),
          .pre_filter = Says(PreFilterResult{.status = {}, .nodes = std::move(nodes)})};
}

// The score is the letter's place in the alphabet, times ten.
PluginScript Alphabetic(std::string name) {
  return {.name = std::move(name), .score = [](const NodeInfo& info, int64_t* score) {
            *score = 10 * (info.name()[0] - 'a' + 1);
            return Status();
          }};
}

struct Case {
  std::string name;
  std::function<void(TestProfile&)> plugins;
  std::string want;  // the JSON behind `{"pod":"ns/p","profile":"default-scheduler",`
  std::string nominated = {};
};

// What every row begins with.
constexpr std::string_view kHead = R"({"pod":"ns/p","profile":"default-scheduler",)";

class ExplainTest : public ::testing::TestWithParam<Case> {};

TEST_P(ExplainTest, Json) {
  TestProfile profile;
  GetParam().plugins(profile);
  const FakeSnapshot snapshot = ThreeNodes();
  const auto framework = profile.Build({.parts = {.snapshot = &snapshot}});
  const api::PodPtr pod = MakePod().Name("p").NominatedNode(GetParam().nominated).Obj();
  const std::string want = std::string(kHead) + GetParam().want + "}";
  EXPECT_EQ(inspect::ExplanationJson(inspect::Explain(*framework, pod)), want);
  EXPECT_EQ(inspect::ExplanationJson(inspect::Explain(*framework, pod)), want) << "the second time";
}

const Case kCases[] = {
    {"ScoresWeightsAndNormalization",
     [](TestProfile& profile) {
       profile.Add<Scores>(Alphabetic("Zed"), 2);
       PluginScript script = Alphabetic("Alpha");
       script.normalize = [](auto scores) {
         for (int64_t& score : scores) score = 100 - score;
         return Status();
       };
       profile.Add<Scores, Normalizes>(script, 3);
     },
     R"("result":"Schedulable","bestNodes":["a"],"nodes":[)"
     R"({"name":"a","feasible":true,"scores":[{"plugin":"Alpha","raw":10,"weighted":270},)"
     R"({"plugin":"Zed","raw":10,"weighted":20}],"total":290},)"
     R"({"name":"b","feasible":true,"scores":[{"plugin":"Alpha","raw":20,"weighted":240},)"
     R"({"plugin":"Zed","raw":20,"weighted":40}],"total":280},)"
     R"({"name":"c","feasible":true,"scores":[{"plugin":"Alpha","raw":30,"weighted":210},)"
     R"({"plugin":"Zed","raw":30,"weighted":60}],"total":270}])"},
    {"WithoutScorersAllTotalsAreOne", [](TestProfile&) {},
     R"("result":"Schedulable","bestNodes":["a","b","c"],"nodes":[)"
     R"({"name":"a","feasible":true,"total":1},{"name":"b","feasible":true,"total":1},)"
     R"({"name":"c","feasible":true,"total":1}])"},
    {"SkippedScorersAreNotThere",
     [](TestProfile& profile) {
       PluginScript script = Alphabetic("S");
       script.pre_score = Says(Status(Code::kSkip, {}));
       profile.Add<Filters>(Rejecting("F", "a", kNo));
       profile.Add<PreScores, Scores>(script);
     },
     R"("result":"Schedulable","unschedulablePlugins":["F"],"bestNodes":["b","c"],"nodes":[)"
     R"({"name":"a","feasible":false,"plugin":"F","code":"Unschedulable","reasons":["no"]},)"
     R"({"name":"b","feasible":true,"total":0},{"name":"c","feasible":true,"total":0}])"},
    {"TheFirstPluginInFilterOrderRejects",
     [](TestProfile& profile) {
       profile.Add<Filters>(Rejecting("Z", "a", kNever));
       profile.Add<Filters>({.name = "A", .filter = Says(kNo)});
     },
     R"("result":"Unschedulable","message":"0/3 nodes are available: 1 at all, 1 never, 2 no.",)"
     R"("unschedulablePlugins":["A","Z"],"nodes":[)"
     R"({"name":"a","feasible":false,"plugin":"Z","code":"UnschedulableAndUnresolvable",)"
     R"("reasons":["never","at all"]},)"
     R"({"name":"b","feasible":false,"plugin":"A","code":"Unschedulable","reasons":["no"]},)"
     R"({"name":"c","feasible":false,"plugin":"A","code":"Unschedulable","reasons":["no"]}])"},
    {"PendingIsARejection",
     [](TestProfile& profile) {
       profile.Add<Filters>({.name = "F", .filter = Says(Status(Code::kPending, {}))});
     },
     R"("result":"Unschedulable","message":"0/3 nodes are available:",)"
     R"("unschedulablePlugins":["F"],"nodes":[)"
     R"({"name":"a","feasible":false,"plugin":"F","code":"Pending"},)"
     R"({"name":"b","feasible":false,"plugin":"F","code":"Pending"},)"
     R"({"name":"c","feasible":false,"plugin":"F","code":"Pending"}])"},
    {"PreFilterRejectsThePod",
     [](TestProfile& profile) {
       profile.Add<PreFilters>({.name = "P", .pre_filter = Says(PreFilterResult{kNever, {}})});
     },
     R"("result":"Unschedulable","message":"0/3 nodes are available: never, at all.",)"
     R"("unschedulablePlugins":["P"],"nodes":[)"
     R"({"name":"a","feasible":false,"plugin":"P","code":"UnschedulableAndUnresolvable",)"
     R"("reasons":["never","at all"]},)"
     R"({"name":"b","feasible":false,"plugin":"P","code":"UnschedulableAndUnresolvable",)"
     R"("reasons":["never","at all"]},)"
     R"({"name":"c","feasible":false,"plugin":"P","code":"UnschedulableAndUnresolvable",)"
     R"("reasons":["never","at all"]}])"},
    {"NodesOutsideTheNodeSetOfASchedulablePod",
     [](TestProfile& profile) {
       profile.Add<PreFilters>(Narrowing("P", {"c", "unknown"}));
     },
     R"("result":"Schedulable","unschedulablePlugins":["P"],"bestNodes":["c"],"nodes":[)"
     R"({"name":"a","feasible":false,"code":"NotInPreFilterResult"},)"
     R"({"name":"b","feasible":false,"code":"NotInPreFilterResult"},)"
     R"({"name":"c","feasible":true,"total":1}])"},
    {"NodesOutsideTheNodeSetOfAnUnschedulablePod",
     [](TestProfile& profile) {
       profile.Add<PreFilters>(Narrowing("P", {"c", "a"}));
       profile.Add<PreFilters>(Narrowing("O", {"c", "b"}));
       profile.Add<Filters>(Rejecting("F", "c", kNo));
     },
     R"("result":"Unschedulable","message":"0/3 nodes are available: 1 no, )"
     R"(2 node(s) didn't satisfy plugin(s) [O P].","unschedulablePlugins":["F","O","P"],"nodes":[)"
     R"({"name":"a","feasible":false,"code":"UnschedulableAndUnresolvable",)"
     R"("reasons":["node(s) didn't satisfy plugin(s) [O P]"]},)"
     R"({"name":"b","feasible":false,"code":"UnschedulableAndUnresolvable",)"
     R"("reasons":["node(s) didn't satisfy plugin(s) [O P]"]},)"
     R"({"name":"c","feasible":false,"plugin":"F","code":"Unschedulable","reasons":["no"]}])"},
    {"NodeSetsThatHaveNothingInCommon",
     [](TestProfile& profile) {
       profile.Add<PreFilters>(Narrowing("P", {"a"}));
       profile.Add<PreFilters>(Narrowing("O", {"b"}));
     },
     R"("result":"Unschedulable","message":"0/3 nodes are available: )"
     R"(node(s) didn't satisfy plugin(s) [O P] simultaneously.",)"
     R"("unschedulablePlugins":["O","P"],"nodes":[)"
     R"({"name":"a","feasible":false,"code":"UnschedulableAndUnresolvable",)"
     R"("reasons":["node(s) didn't satisfy plugin(s) [O P] simultaneously"]},)"
     R"({"name":"b","feasible":false,"code":"UnschedulableAndUnresolvable",)"
     R"("reasons":["node(s) didn't satisfy plugin(s) [O P] simultaneously"]},)"
     R"({"name":"c","feasible":false,"code":"UnschedulableAndUnresolvable",)"
     R"("reasons":["node(s) didn't satisfy plugin(s) [O P] simultaneously"]}])"},
    {"AnErrorAtPreFilter",
     [](TestProfile& profile) {
       profile.Add<PreFilters>(
           {.name = "P", .pre_filter = Says(PreFilterResult{Status::Error("broken"), {}})});
     },
     R"("result":"Error","message":"running PreFilter plugin \"P\": broken","nodes":[])"},
    // In the order of the snapshot b comes before a.
    {"TheFirstErrorAtFilter",
     [](TestProfile& profile) {
       profile.Add<Filters>({.name = "F", .filter = [](const auto&, const NodeInfo& node) {
                               return node.name() == "c" ? Status()
                                                         : Status::Error("broken " + node.name());
                             }});
     },
     R"("result":"Error","message":"running \"F\" filter plugin: broken b","nodes":[])"},
    {"AnErrorAtPreScore",
     [](TestProfile& profile) {
       PluginScript script = Alphabetic("S");
       script.pre_score = Says(Status::Error("broken"));
       profile.Add<PreScores, Scores>(script);
     },
     R"("result":"Error","message":"running PreScore plugin \"S\": broken","nodes":[])"},
    {"ASingleNodeIsScored",
     [](TestProfile& profile) {
       profile.Add<PreFilters>(Narrowing("P", {"b"}));
       profile.Add<Scores>(Alphabetic("S"));
     },
     R"("result":"Schedulable","unschedulablePlugins":["P"],"bestNodes":["b"],"nodes":[)"
     R"({"name":"a","feasible":false,"code":"NotInPreFilterResult"},)"
     R"({"name":"b","feasible":true,"scores":[{"plugin":"S","raw":20,"weighted":20}],"total":20},)"
     R"({"name":"c","feasible":false,"code":"NotInPreFilterResult"}])"},
    {"ASingleNodeThatCannotBeScored",
     [](TestProfile& profile) {
       profile.Add<PreFilters>(Narrowing("P", {"b"}));
       profile.Add<Scores>(
           {.name = "S", .score = [](const auto&, auto*) { return Status::Error("broken"); }});
     },
     R"("result":"Schedulable","unschedulablePlugins":["P"],"bestNodes":["b"],"nodes":[)"
     R"({"name":"a","feasible":false,"code":"NotInPreFilterResult"},)"
     R"({"name":"b","feasible":true,"total":0},)"
     R"({"name":"c","feasible":false,"code":"NotInPreFilterResult"}])"},
    {"AGatedPod",
     [](TestProfile& profile) {
       profile.Add<PreEnqueues>({.name = "G", .pre_enqueue = Says(kNever)});
     },
     R"("result":"Gated","message":"never, at all","nodes":[])"},
    {"AnErrorAtPreEnqueueGates",
     [](TestProfile& profile) {
       profile.Add<PreEnqueues>({.name = "G", .pre_enqueue = Says(Status::Error("broken"))});
     },
     R"("result":"Gated","message":"broken","nodes":[])"},
    // docs/spec/cycle.md 8: PreFilter's node set is not consulted for the nominated node.
    {"ANominatedNodeOutsideTheNodeSetFits",
     [](TestProfile& profile) {
       profile.Add<PreFilters>(Narrowing("P", {"b"}));
       profile.Add<Scores>(Alphabetic("S"));
     },
     R"("result":"Schedulable","unschedulablePlugins":["P"],"bestNodes":["c"],"nodes":[)"
     R"({"name":"a","feasible":false,"code":"NotInPreFilterResult"},)"
     R"({"name":"b","feasible":true,"scores":[{"plugin":"S","raw":20,"weighted":20}],"total":20},)"
     R"({"name":"c","feasible":true,"scores":[{"plugin":"S","raw":30,"weighted":30}],"total":30}])",
     "c"},
    {"ANominatedNodeOutsideTheNodeSetIsRejected",
     [](TestProfile& profile) {
       profile.Add<PreFilters>(Narrowing("P", {"b"}));
       profile.Add<Filters>({.name = "F", .filter = Says(kNo)});
     },
     R"("result":"Unschedulable","message":"0/3 nodes are available: )"
     R"(1 node(s) didn't satisfy plugin(s) [F P], 2 no.","unschedulablePlugins":["F","P"],"nodes":[)"
     R"({"name":"a","feasible":false,"code":"UnschedulableAndUnresolvable",)"
     R"("reasons":["node(s) didn't satisfy plugin(s) [F P]"]},)"
     R"({"name":"b","feasible":false,"plugin":"F","code":"Unschedulable","reasons":["no"]},)"
     R"({"name":"c","feasible":false,"plugin":"F","code":"Unschedulable","reasons":["no"]}])",
     "c"},
    {"WhatFailsBesideANominatedNodeThatFitsDoesNotMatter",
     [](TestProfile& profile) {
       profile.Add<Filters>(Rejecting("F", "a", Status::Error("broken")));
     },
     R"("result":"Schedulable","bestNodes":["b","c"],"nodes":[)"
     R"({"name":"a","feasible":false,"plugin":"F","code":"Error",)"
     R"("reasons":["running \"F\" filter plugin: broken"]},)"
     R"({"name":"b","feasible":true,"total":1},{"name":"c","feasible":true,"total":1}])",
     "c"},
    {"AnUnknownNominatedNode",
     [](TestProfile& profile) { profile.Add<PreFilters>(Narrowing("P", {"b"})); },
     R"("result":"Schedulable","unschedulablePlugins":["P"],"bestNodes":["b"],"nodes":[)"
     R"({"name":"a","feasible":false,"code":"NotInPreFilterResult"},)"
     R"({"name":"b","feasible":true,"total":1},)"
     R"({"name":"c","feasible":false,"code":"NotInPreFilterResult"}])",
     "gone"},
};

INSTANTIATE_TEST_SUITE_P(Spec, ExplainTest, ::testing::ValuesIn(kCases),
                         [](const auto& row) { return row.param.name; });

TEST(ExplainOnNothingTest, WithoutNodes) {
  TestProfile profile;
  profile.Add<Filters>({.name = "F", .filter = Says(kNo)});
  const FakeSnapshot snapshot;
  const auto framework = profile.Build({.parts = {.snapshot = &snapshot}});
  EXPECT_EQ(inspect::ExplanationJson(inspect::Explain(*framework, MakePod().Name("p").Obj())),
            std::string(kHead) +
                R"("result":"Unschedulable","message":"no nodes available to schedule pods",)"
                R"("nodes":[]})");
}

TEST(ExplainNominationTest, OfThePodIsTold) {
  TestProfile profile;
  const FakeSnapshot snapshot = ThreeNodes();
  const auto framework = profile.Build({.parts = {.snapshot = &snapshot}});
  EXPECT_EQ(inspect::Explain(*framework, MakePod().NominatedNode("b").Obj()).nominated_node, "b");
  EXPECT_EQ(inspect::Explain(*framework, MakePod().NominatedNode("x").Obj()).nominated_node, "");
}

TEST(ExplainJsonTest, EscapesWhatJsonNeeds) {
  inspect::Explanation explanation;
  explanation.pod = "a/\"p\"";
  explanation.message = "line\nand \xC3\xA9";
  EXPECT_EQ(inspect::ExplanationJson(explanation),
            "{\"pod\":\"a/\\\"p\\\"\",\"profile\":\"\",\"result\":\"Error\","
            "\"message\":\"line\\nand \xC3\xA9\",\"nodes\":[]}");
}

// Random verdicts of three plugins, as an attempt without sampling sees them and as they are
// explained.
class ExplainAgreementTest : public ::testing::TestWithParam<uint64_t> {};

constexpr size_t kNodes = 12;

Status RandomStatus(Random& random) {
  switch (random.Below(12)) {
    case 0:
      return kNo;
    case 1:
      return kNever;
    case 2:
      return random.Below(10) == 0 ? Status::Error("broken") : kNo;
    default:
      return {};
  }
}

PluginScript RandomPlugin(const std::string& name, Random& random) {
  PluginScript script{.name = name};
  const uint64_t kind = random.Below(8);
  if (kind == 0) {
    script.pre_filter = Says(PreFilterResult{RandomStatus(random), {}});
  } else if (kind <= 2) {
    std::set<std::string> nodes;
    for (size_t i = 0; i < kNodes; ++i) {
      if (random.Below(3) != 0) nodes.insert("n" + std::to_string(i));
    }
    script.pre_filter = Says(PreFilterResult{{}, std::move(nodes)});
  }
  std::vector<Status> statuses;
  std::vector<int64_t> scores;
  for (size_t i = 0; i < kNodes; ++i) {
    statuses.push_back(RandomStatus(random));
    scores.push_back(static_cast<int64_t>(random.Below(4)));
  }
  script.filter = [statuses](const auto&, const NodeInfo& node) { return statuses[node.index()]; };
  script.score = [scores](const NodeInfo& node, int64_t* score) {
    *score = scores[node.index()];
    return Status();
  };
  return script;
}

TEST_P(ExplainAgreementTest, WithAnAttempt) {
  Random random(GetParam());
  TestProfile profile;
  for (const char* name : {"A", "B", "C"}) {
    profile.Add<PreFilters, Filters, Scores>(RandomPlugin(name, random));
  }
  FakeSnapshot snapshot;
  for (size_t i = 0; i < kNodes; ++i) {
    snapshot.Add(MakeNode().Name("n" + std::to_string(i)).Obj());
  }
  const auto framework = profile.Build({.parts = {.snapshot = &snapshot}});
  const std::string nominated =
      random.Below(3) == 0 ? "n" + std::to_string(random.Below(kNodes)) : "";
  const api::PodPtr pod = MakePod().Name("p").NominatedNode(nominated).Obj();

  Parallelizer parallelizer(1);
  SchedulingAlgorithm algorithm(snapshot, parallelizer, 100);
  SearchSpaces spaces;
  Attempt attempt(*framework, pod, spaces);
  algorithm.SchedulePod(attempt);
  const ScheduleResult& result = attempt.result;
  const framework::Diagnosis& diagnosis = attempt.search->diagnosis;
  const inspect::Explanation explanation = inspect::Explain(*framework, pod);

  if (result.status.ok()) {
    EXPECT_EQ(explanation.result, inspect::Verdict::kSchedulable);
    const std::string& node = result.node->name();
    if (!explanation.nominated_node.empty()) {
      EXPECT_EQ(explanation.nominated_node, node);
    } else {
      EXPECT_EQ(std::count(explanation.best_nodes.begin(), explanation.best_nodes.end(), node), 1)
          << node;
      EXPECT_EQ(explanation.unschedulable_plugins, diagnosis.unschedulable_plugins);
    }
  } else if (result.fit_error) {
    EXPECT_EQ(explanation.result, inspect::Verdict::kUnschedulable);
    EXPECT_EQ(explanation.message, diagnosis.Text());
    EXPECT_EQ(explanation.unschedulable_plugins, diagnosis.unschedulable_plugins);
    for (const inspect::NodeVerdict& node : explanation.nodes) {
      const Status& status = diagnosis.nodes.Get(snapshot.Find(node.name)->index());
      EXPECT_EQ(node.reasons, status.reasons()) << node.name;
      EXPECT_EQ(node.plugin, status.plugin()) << node.name;
      EXPECT_EQ(node.code, framework::CodeText(status.code())) << node.name;
    }
  } else {
    EXPECT_EQ(explanation.result, inspect::Verdict::kError);
    EXPECT_EQ(explanation.message, result.status.ErrorText());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ExplainAgreementTest, ::testing::Range<uint64_t>(1, 201));

}  // namespace
}  // namespace ks::scheduler
