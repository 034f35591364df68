// SPDX-License-Identifier: Apache-2.0
// How many nodes are tried, in which order, and what is said about them
// (docs/spec/preemption.md sections 4, 5 and 8; P2, P21, P23 to P27).
#include "plugins/default_preemption/candidates.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plugins/default_preemption/ask_extenders.h"
#include "testing/builders.h"
#include "testing/fake_clock.h"
#include "testing/fake_owner_listers.h"
#include "testing/fake_snapshot.h"
#include "testing/test_plugins.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::NodeInfo;
using framework::Status;
using ks::testing::MakeBudget;
using ks::testing::MakeNode;
using ks::testing::MakePod;

TEST(WantedCandidatesTest, Formula) {
  const struct {
    size_t nodes;
    int32_t percentage;
    int32_t absolute;
    size_t want;
  } cases[] = {{60, 10, 100, 60}, {500, 10, 100, 100}, {5000, 10, 100, 500}, {10, 0, 1, 1},
               {10, 100, 0, 10},  {3, 10, 0, 0},       {19, 10, 0, 1}};
  for (const auto& c : cases) {
    EXPECT_EQ(WantedCandidates(c.nodes, {.min_candidate_nodes_percentage = c.percentage,
                                         .min_candidate_nodes_absolute = c.absolute}),
              c.want)
        << c.nodes;
  }
}

// Nodes with one pod each; a plugin that lets a pod have an empty node.
class Search {
 public:
  explicit Search(uint64_t seed = 1) : random_(seed) {}

  testing::PluginScript script{.name = "test-plugin"};

  // A pod with labels is covered by a budget that allows nothing.
  void AddNode(int32_t priority, bool budgeted = false) {
    const std::string name = std::to_string(snapshot_.nodes().size());
    auto pod = MakePod().Name("v" + name).Priority(priority);
    if (budgeted) pod.Labels({{"x", "yes"}});
    snapshot_.Add(MakeNode().Name(name).Obj(), {pod.Obj()});
  }

  Candidates Find(config::DefaultPreemptionArgs args, const std::string& preemptor = "p") {
    if (!script.filter) {
      script.filter = [](const framework::CycleState&, const NodeInfo& node) {
        return node.pods().empty() ? Status() : Status(Code::kUnschedulable, {"full"});
      };
    }
    script.log = &log_;
    listers_.Add(MakeBudget(
        "ns", "pdb",
        api::LabelSelectorSpec{.match_labels = {{"x", "yes"}}, .match_expressions = {}}, 0));
    testing::TestProfile profile;
    profile.Add<testing::PreFilters, testing::Hooks, testing::Filters>(script);
    const auto framework = profile.Build({.parts = {.snapshot = &snapshot_,
                                                    .owner_listers = &listers_,
                                                    .clock = &clock_,
                                                    .random = &random_}});
    CandidateSearch search(framework->handle(), args);
    framework::NodeStatuses statuses;
    statuses.Reset(snapshot_.nodes().size());
    statuses.set_absent(Status(Code::kUnschedulable, {"full"}));
    const api::PodPtr pod = MakePod().Name(preemptor).Priority(10).Obj();
    framework::CycleState state;
    return search.Find(state, *pod, statuses, nullptr);
  }
  // Nodes in the order of their first evaluation.
  std::vector<std::string> Evaluated() const {
    std::vector<std::string> nodes;
    std::set<std::string> seen;
    for (const std::string& line : log_) {
      if (!line.starts_with("Filter ")) continue;
      const std::string node = line.substr(line.rfind(' ') + 1);
      if (seen.insert(node).second) nodes.push_back(node);
    }
    return nodes;
  }

 private:
  testing::FakeSnapshot snapshot_;
  testing::FakeOwnerListers listers_;
  testing::FakeClock clock_;
  Random random_;
  std::vector<std::string> log_;
};

std::vector<std::string> NodesOf(const Candidates& candidates) {
  std::vector<std::string> nodes;
  for (const Candidate& candidate : candidates.found) nodes.push_back(candidate.node);
  return nodes;
}

// A seed whose first number below `bound` is `want`.
uint64_t SeedFor(uint64_t bound, uint64_t want) {
  for (uint64_t seed = 0;; ++seed) {
    if (Random(seed).Below(bound) == want) return seed;
  }
}

TEST(CandidatesTest, P25) {
  Search search(SeedFor(250, 240));
  for (int i = 0; i < 250; ++i) search.AddNode(1);
  const Candidates candidates = search.Find({});
  std::vector<std::string> want;
  for (int i = 240; i < 250; ++i) want.push_back(std::to_string(i));
  for (int i = 0; i < 90; ++i) want.push_back(std::to_string(i));
  EXPECT_EQ(NodesOf(candidates), want);
  EXPECT_EQ(search.Evaluated(), want);
}

TEST(CandidatesTest, P26) {
  Search search(SeedFor(2, 0));
  search.AddNode(1, /*budgeted=*/true);
  search.AddNode(1);
  const Candidates candidates =
      search.Find({.min_candidate_nodes_percentage = 0, .min_candidate_nodes_absolute = 1});
  EXPECT_EQ(NodesOf(candidates), (std::vector<std::string>{"1", "0"}));
  EXPECT_EQ(candidates.found[1].victims.pdb_violations, 1);
}

TEST(CandidatesTest, P27) {
  Search search(SeedFor(4, 0));
  search.AddNode(1, /*budgeted=*/true);
  search.AddNode(1, /*budgeted=*/true);
  search.AddNode(1);
  search.AddNode(1);
  const Candidates candidates =
      search.Find({.min_candidate_nodes_percentage = 0, .min_candidate_nodes_absolute = 2});
  EXPECT_EQ(NodesOf(candidates), (std::vector<std::string>{"2", "0", "1"}));
  EXPECT_EQ(search.Evaluated(), (std::vector<std::string>{"0", "1", "2"}));
}

// Violating candidates beyond C are lost (T21).
TEST(CandidatesTest, EachListKeepsC) {
  Search search(SeedFor(3, 0));
  for (int i = 0; i < 3; ++i) search.AddNode(3 - i, /*budgeted=*/true);
  const Candidates candidates =
      search.Find({.min_candidate_nodes_percentage = 0, .min_candidate_nodes_absolute = 1});
  EXPECT_EQ(NodesOf(candidates), (std::vector<std::string>{"0"}));
  EXPECT_EQ(search.Evaluated().size(), 3U);
}

TEST(CandidatesTest, NoneWantedNoneKept) {
  Search search;
  for (int i = 0; i < 3; ++i) search.AddNode(1);
  const Candidates candidates =
      search.Find({.min_candidate_nodes_percentage = 10, .min_candidate_nodes_absolute = 0});
  EXPECT_TRUE(candidates.found.empty());
  EXPECT_EQ(candidates.fit_error,
            "0/3 nodes are available: 3 Preemption is not helpful for scheduling.");
}

// Nodes with nobody of lower priority are not even looked at.
TEST(CandidatesTest, NodesWithoutLowerPodsCostNothing) {
  Search search;
  search.AddNode(10);
  search.AddNode(11);
  const Candidates candidates = search.Find({});
  EXPECT_TRUE(search.Evaluated().empty());
  EXPECT_EQ(candidates.fit_error,
            "0/2 nodes are available: 2 No preemption victims found for incoming pod.");
}

TEST(CandidatesTest, P21) {
  Search search;
  search.AddNode(1);
  search.script.remove_pod = [](const framework::PodInfo&, const NodeInfo&) {
    return Status::Error("failed to remove pod: p");
  };
  const Candidates candidates = search.Find({});
  EXPECT_TRUE(candidates.found.empty());
  EXPECT_EQ(candidates.errors,
            std::vector<std::string>{R"(running RemovePod on PreFilter plugin "test-plugin": )"
                                     "failed to remove pod: p"});
}

TEST(CandidatesTest, ErrorsAreToldOnceEach) {
  Search search;
  for (int i = 0; i < 3; ++i) search.AddNode(1);
  search.script.add_pod = [](const framework::PodInfo& pod, const NodeInfo&) {
    return Status::Error(pod.pod().meta.name == "v2" ? "b" : "a");
  };
  EXPECT_EQ(search.Find({}).errors,
            (std::vector<std::string>{R"(running AddPod on PreFilter plugin "test-plugin": a)",
                                      R"(running AddPod on PreFilter plugin "test-plugin": b)"}));
}

TEST(CandidatesTest, EverybodyReprievedIsAnError) {
  Search search;
  search.AddNode(1);
  search.script.filter = [](const framework::CycleState&, const NodeInfo&) { return Status(); };
  EXPECT_EQ(search.Find({}).errors,
            std::vector<std::string>{R"(expected at least one victim pod on node "0")"});
}

// What an extender answers, and what it was asked.
struct Script {
  bool ignorable = false;
  bool supports = true;
  bool interested = true;
  std::string error = {};
  framework::MetaVictimsByNode answer = {};
  size_t asked_nodes = 0;
};

class FakeExtender final : public framework::PreemptionExtender {
 public:
  explicit FakeExtender(Script& script) : script_(script) {}
  const std::string& Name() const override { return name_; }
  bool IsIgnorable() const override { return script_.ignorable; }
  bool SupportsPreemption() const override { return script_.supports; }
  bool IsInterested(const api::Pod&) const override { return script_.interested; }
  void ProcessPreemption(const api::Pod&, const framework::VictimsByNode& victims,
                         Answered answered) override {
    script_.asked_nodes = victims.size();
    if (script_.error.empty()) {
      answered(script_.answer);
    } else {
      answered(Error{script_.error});
    }
  }

 private:
  const std::string name_ = "http://ext";
  Script& script_;
};

struct ExtenderCase {
  std::string name;
  std::vector<Script> extenders;
  std::string want;                // "node:victims/violations …", or "error: …"
  std::vector<size_t> want_asked;  // nodes sent to each extender
};

std::string AskAll(std::vector<Script>& scripts) {
  testing::FakeSnapshot snapshot;
  snapshot.Add(MakeNode().Name("n1").Obj(), {MakePod().Name("a").Obj(), MakePod().Name("b").Obj()});
  snapshot.Add(MakeNode().Name("n2").Obj(), {MakePod().Name("c").Obj()});
  std::vector<Candidate> candidates(1);
  candidates[0].node = "n1";
  candidates[0].victims.pods = {MakePod().Name("a").Obj()};
  std::vector<std::unique_ptr<FakeExtender>> extenders;
  std::vector<framework::PreemptionExtender*> pointers;
  for (Script& script : scripts) {
    pointers.push_back(extenders.emplace_back(std::make_unique<FakeExtender>(script)).get());
  }
  const api::PodPtr pod = MakePod().Name("p").Obj();
  if (!AnyoneToAsk(pointers, *pod)) return "nobody is asked";
  const auto inquiry = std::make_shared<framework::PreemptionInquiry>();
  inquiry->candidates = ByNode(candidates);
  auto left = AskExtenders(pointers, snapshot, *pod, inquiry, nullptr);
  while (left.ok() && !left->has_value()) {
    left = AskExtenders(pointers, snapshot, *pod, inquiry, nullptr);
  }
  if (!left.ok()) return "error: " + left.error().message;
  std::string text;
  for (const Candidate& candidate : **left) {
    text += (text.empty() ? "" : " ") + candidate.node + ":";
    for (const api::PodPtr& pod : candidate.victims.pods) text += pod->meta.name;
    text += "/" + std::to_string(candidate.victims.pdb_violations);
  }
  return text;
}

TEST(AskExtendersTest, Answers) {
  const framework::MetaVictimsByNode all = {{"n1", {{"uid-b", "uid-a"}, 2}},
                                            {"n2", {{"uid-c"}, 0}}};
  ExtenderCase cases[] = {
      {"none_asked", {{.supports = false}, {.interested = false}}, "nobody is asked", {0, 0}},
      {"answer_replaces_the_candidates", {{.answer = all}}, "n1:ba/2 n2:c/0", {1}},
      {"one_after_another",
       {{.answer = all}, {.answer = {{"n2", {{"uid-c"}, 1}}}}},
       "n2:c/1",
       {1, 2}},
      {"P23",
       {{.answer = {{"n1", {{"zz"}, 0}}}}},
       "error: extender: http://ext claims to preempt pod (UID: &{zz}) on node: n1, but the pod "
       "is not found on that node",
       {1}},
      {"P23_ignorable", {{.ignorable = true, .answer = {{"n1", {{"zz"}, 0}}}}}, "n1:a/0", {1}},
      {"P24",
       {{.answer = {{"n1", {}}}}},
       R"(error: expected at least one victim pod on node "n1")",
       {1}},
      {"P24_ignorable", {{.ignorable = true, .answer = {{"n1", {}}}}, {}}, "", {1, 0}},
      {"unknown_node",
       {{.answer = {{"n9", {{"uid-a"}, 0}}}}},
       R"(error: nodeinfo not found for node name "n9")",
       {1}},
      {"error", {{.error = "boom"}, {}}, "error: boom", {1, 0}},
      {"ignorable_error", {{.ignorable = true, .error = "boom"}}, "n1:a/0", {1}},
      {"nothing_left", {{}, {.answer = all}}, "", {1, 0}},
  };
  for (ExtenderCase& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(AskAll(c.extenders), c.want);
    for (size_t i = 0; i < c.extenders.size(); ++i) {
      EXPECT_EQ(c.extenders[i].asked_nodes, c.want_asked[i]) << i;
    }
  }
}

}  // namespace
}  // namespace ks::plugins
