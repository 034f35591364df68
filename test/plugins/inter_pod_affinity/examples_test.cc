// SPDX-License-Identifier: Apache-2.0
// The worked examples of docs/spec/plugins-crosspod.md section 5: rows 1 to 16 (filtering) and 30
// to 35 (scores), under their numbers.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/plugin_rig.h"
#include "testing/affinity_builders.h"

namespace ks::plugins {
namespace {

using config::Gate;
using testing::AffinePod;
using testing::MakeNode;
using testing::NodeBuilder;
using testing::Term;
using testing::Texts;

const std::string S = "Success";
const std::string U1 = "UnschedulableAndUnresolvable: node(s) didn't match pod affinity rules";
const std::string U2 = "Unschedulable: node(s) didn't match pod anti-affinity rules";
const std::string U3 = "Unschedulable: node(s) didn't satisfy existing pods anti-affinity rules";

struct NodeRow {
  NodeBuilder node;
  std::vector<AffinePod> pods;
};

NodeRow Node(std::string_view name, const Texts& labels, std::vector<AffinePod> pods = {}) {
  NodeRow row{MakeNode().Name(name), std::move(pods)};
  for (const auto& [key, value] : labels) row.node.Label(key, value);
  return row;
}
AffinePod Pod(std::string_view name, const Texts& labels, std::string_view ns = "default") {
  AffinePod pod;
  pod.Name(name).Namespace(ns).Labels(labels);
  return pod;
}

using Cluster = std::vector<NodeRow>;
using Results = std::vector<std::string>;

void Fill(PluginRig& rig, const Cluster& cluster) {
  for (const NodeRow& row : cluster) {
    std::vector<api::PodPtr> pods;
    for (const AffinePod& pod : row.pods) pods.push_back(pod.Obj());
    rig.AddNode(row.node, pods);
  }
}

struct FilterCase {
  std::string name;
  Cluster cluster;
  AffinePod pod;
  Results want;
  std::vector<std::pair<std::string, Texts>> namespaces = {};
};

class InterPodAffinityExamplesTest : public ::testing::TestWithParam<FilterCase> {};

TEST_P(InterPodAffinityExamplesTest, Filters) {
  const FilterCase& c = GetParam();
  PluginRig rig(NewInterPodAffinity);
  Fill(rig, c.cluster);
  for (const auto& [name, labels] : c.namespaces) {
    rig.handle.fake_owner_listers().Add(testing::MakeNamespace(name, labels));
  }
  const api::PodPtr pod = c.pod.Obj();
  EXPECT_EQ(rig.FilterAll(*pod), c.want);
  EXPECT_EQ(rig.FilterAll(*pod), c.want) << "from what is kept";
}

const std::vector<std::pair<std::string, Texts>> kTeams = {
    {"default", {{"team", "a"}}}, {"n2", {{"team", "b"}}}, {"n3", {{"team", "c"}}}};

Cluster AppsInNamespaces(std::string_view third) {
  return {Node("a", {{"zone", "z1"}}, {Pod("e1", {{"app", "x"}})}),
          Node("b", {{"zone", "z2"}}, {Pod("e2", {{"app", "x"}}, "n2")}),
          Node("c", {{"zone", "z3"}}, {Pod("e3", {{"app", "x"}}, third)})};
}
AffinePod AppNearApp() { return Pod("p", {{"app", "x"}}).Near(Term("zone").App("x")); }
Term HostWith(std::string key) { return Term("host").Labels({{std::move(key), "1"}}); }
Term ZoneWith(std::string key) { return Term("zone").Labels({{std::move(key), "1"}}); }

const FilterCase kCases[] = {
    {"ex1", {Node("a", {{"zone", "z1"}}), Node("b", {})}, AppNearApp(), {S, U1}},
    {"ex2",
     {Node("a", {{"zone", "z1"}}), Node("b", {{"host", "b"}}, {Pod("e", {{"app", "x"}})})},
     AppNearApp(),
     {S, U1}},
    {"ex3",
     {Node("a", {{"zone", "z1"}}, {Pod("e", {{"app", "x"}})}), Node("a2", {{"zone", "z1"}}),
      Node("b", {{"zone", "z2"}})},
     AppNearApp(),
     {S, S, U1}},
    {"ex4",
     {Node("a", {{"zone", "z1"}, {"host", "a"}},
           {Pod("e1", {{"x", "1"}}), Pod("e2", {{"w", "1"}})})},
     Pod("p", {}).Near(ZoneWith("x")).Near(HostWith("w")),
     {U1}},
    {"ex5",
     {Node("n1", {{"zone", "z1"}}, {Pod("e1", {{"x", "1"}, {"w", "1"}})}),
      Node("n2", {{"host", "h1"}}, {Pod("e2", {{"x", "1"}, {"w", "1"}})}),
      Node("n3", {{"zone", "z1"}, {"host", "h1"}}), Node("n4", {{"zone", "z1"}, {"host", "h4"}})},
     Pod("p", {}).Near(ZoneWith("x")).Near(HostWith("w")),
     {U1, U1, S, U1}},
    {"ex6",
     {Node("n1", {{"zone", "z1"}}, {Pod("e1", {{"x", "1"}})}),
      Node("n3", {{"zone", "z2"}, {"host", "h1"}})},
     Pod("p", {{"x", "1"}}).Near(ZoneWith("x")).Near(HostWith("x")),
     {U1, U1}},
    {"ex7",
     {Node("a", {{"zone", "z1"}}, {Pod("e", {{"app", "x"}})}), Node("b", {{"zone", "z2"}}),
      Node("c", {{"host", "c"}}, {Pod("e2", {{"app", "x"}})})},
     Pod("p", {{"app", "x"}}).Far(Term("zone").App("x")),
     {U2, S, S}},
    {"ex8",
     {Node("a", {{"zone", "z1"}}, {Pod("e", {}).Far(Term("zone").App("x"))}),
      Node("b", {{"zone", "z1"}}), Node("c", {{"zone", "z2"}})},
     Pod("p", {{"app", "x"}}),
     {U3, U3, S}},
    {"ex9",
     {Node("a", {{"zone", "z1"}}, {Pod("e", {{"app", "x"}}).Far(Term("zone").App("x"))})},
     Pod("p", {{"app", "x"}}).Near(Term("zone").App("q")).Far(Term("zone").App("x")),
     {U1}},
    {"ex9_without_affinity",
     {Node("a", {{"zone", "z1"}}, {Pod("e", {{"app", "x"}}).Far(Term("zone").App("x"))})},
     Pod("p", {{"app", "x"}}).Far(Term("zone").App("x")),
     {U2}},
    {"ex10",
     AppsInNamespaces("n3"),
     Pod("p", {}).Far(Term("zone").App("x").InNamespacesWith({{"team", "b"}})),
     {S, U2, S},
     kTeams},
    {"ex11",
     AppsInNamespaces("unknown"),
     Pod("p", {}).Far(Term("zone").App("x").InNamespacesWith({})),
     {U2, U2, U2},
     kTeams},
    {"ex12",
     AppsInNamespaces("n3"),
     Pod("p", {}).Far(Term("zone").App("x").In({"n3"}).InNamespacesWith({{"team", "b"}})),
     {S, U2, U2},
     kTeams},
    {"ex13",
     {Node("a", {{"zone", "z1"}},
           {Pod("e1", {}, "n2")
                .Far(Term("zone").Everything().InNamespacesWith({},
                                                                {{"team", "DoesNotExist", {}}}))})},
     Pod("p", {}),
     {U3}},
    {"ex13_known_with_the_label",
     {Node("a", {{"zone", "z1"}},
           {Pod("e1", {}, "n2")
                .Far(Term("zone").Everything().InNamespacesWith({},
                                                                {{"team", "DoesNotExist", {}}}))})},
     Pod("p", {}),
     {S},
     kTeams},
    {"ex14",
     {Node("a", {{"zone", "z1"}}, {Pod("e1", {{"app", "x"}})})},
     Pod("p", {}).Far(Term("zone")),
     {S}},
    {"ex15",
     {Node("a", {{"zone", "z1"}}, {Pod("e", {{"app", "x"}})}), Node("b", {{"zone", "z2"}})},
     AppNearApp(),
     {S, U1}},
    {"ex15_terminating",
     {Node("a", {{"zone", "z1"}}, {AffinePod(Pod("e", {{"app", "x"}}).Terminating())}),
      Node("b", {{"zone", "z2"}})},
     AppNearApp(),
     {S, U1}},
};
INSTANTIATE_TEST_SUITE_P(Rows, InterPodAffinityExamplesTest, ::testing::ValuesIn(kCases),
                         [](const auto& row) { return row.param.name; });

// What the nodes say in a clone of the state from which the first node's first pod was removed.
Results WithoutFirstPod(PluginRig& rig, const api::Pod& pod) {
  framework::CycleState clone = rig.state.Clone();
  const framework::NodeInfo& node = *rig.nodes()[0];
  EXPECT_TRUE(
      rig.As<framework::PreFilterExtensions>()->RemovePod(clone, pod, *node.pods()[0], node).ok());
  Results results;
  for (const framework::NodeInfo* each : rig.nodes()) {
    results.push_back(Describe(rig.As<framework::FilterPlugin>()->Filter(clone, pod, *each)));
  }
  return results;
}

TEST(InterPodAffinityExamples, Ex8AfterRemovePod) {
  PluginRig rig(NewInterPodAffinity);
  Fill(rig, {Node("a", {{"zone", "z1"}}, {Pod("e", {}).Far(Term("zone").App("x"))}),
             Node("b", {{"zone", "z1"}}), Node("c", {{"zone", "z2"}})});
  const api::PodPtr pod = Pod("p", {{"app", "x"}}).Obj();
  EXPECT_EQ(rig.FilterAll(*pod), (Results{U3, U3, S}));
  EXPECT_EQ(WithoutFirstPod(rig, *pod), (Results{S, S, S}));
}

TEST(InterPodAffinityExamples, Ex15AfterRemovePod) {
  PluginRig rig(NewInterPodAffinity);
  Fill(rig, {Node("a", {{"zone", "z1"}}, {Pod("e", {{"app", "x"}})}), Node("b", {{"zone", "z2"}})});
  const api::PodPtr pod = AppNearApp().Obj();
  EXPECT_EQ(rig.FilterAll(*pod), (Results{S, U1}));
  EXPECT_EQ(WithoutFirstPod(rig, *pod), (Results{S, S}));
}

// A rig with the gate of section 3.9. The plugin reads gates when it is made.
class FastPathRig {
 public:
  explicit FastPathRig(bool on) {
    rig_.handle.fake_gates().Set(Gate::kInterPodAffinityHostnameFastPath, on);
    plugin_ = NewInterPodAffinity({}, rig_.handle).value();
  }
  template <class Point>
  Point& As() {
    return dynamic_cast<Point&>(*plugin_);
  }
  PluginRig& rig() { return rig_; }
  framework::Status PreFilter(const api::Pod& pod) {
    rig_.state.Reset();
    return As<framework::PreFilterPlugin>()
        .PreFilter(rig_.state, pod, rig_.handle.snapshot())
        .status;
  }
  Results FilterAll(const api::Pod& pod) {
    const framework::Status before = PreFilter(pod);
    Results results;
    for (const framework::NodeInfo* node : rig_.nodes()) {
      results.push_back(
          before.IsSkip() ? "Skip"
                          : Describe(As<framework::FilterPlugin>().Filter(rig_.state, pod, *node)));
    }
    return results;
  }

 private:
  PluginRig rig_{NewInterPodAffinity};
  std::unique_ptr<framework::Plugin> plugin_;
};

constexpr std::string_view kHostname = "kubernetes.io/hostname";

TEST(InterPodAffinityFastPath, Ex16) {
  for (const bool on : {true, false}) {
    FastPathRig rig(on);
    Fill(rig.rig(), {Node("a", {{std::string(kHostname), "a"}}),
                     Node("b", {{"zone", "z2"}}, {Pod("e", {{"app", "x"}})})});
    const api::PodPtr pod = Pod("p", {{"app", "x"}}).Near(Term(kHostname).App("x")).Obj();
    EXPECT_EQ(rig.FilterAll(*pod), on ? (Results{U1, U1}) : (Results{S, U1}));
    // Without the pod that blocks the first-pod rule.
    framework::CycleState clone = rig.rig().state.Clone();
    const framework::NodeInfo& node = *rig.rig().nodes()[1];
    ASSERT_TRUE(rig.As<framework::PreFilterExtensions>()
                    .RemovePod(clone, *pod, *node.pods()[0], node)
                    .ok());
    EXPECT_EQ(
        Describe(rig.As<framework::FilterPlugin>().Filter(clone, *pod, *rig.rig().nodes()[0])), S);
  }
}

// Difference (b) of section 3.9: two nodes of one hostname are two domains.
TEST(InterPodAffinityFastPath, NodesOfOneNameAreTwoDomains) {
  const Texts same = {{std::string(kHostname), "same"}};
  const Cluster clusters[] = {
      {Node("a", same, {Pod("e", {{"app", "x"}})}), Node("b", same)},
      {Node("a", same, {Pod("e", {}).Far(Term(kHostname).App("x"))}), Node("b", same)},
  };
  const api::PodPtr far = Pod("p", {{"app", "x"}}).Far(Term(kHostname).App("x")).Obj();
  const api::PodPtr near = Pod("p", {{"app", "x"}}).Near(Term(kHostname).App("x")).Obj();
  const api::PodPtr plain = Pod("p", {{"app", "x"}}).Obj();
  for (const bool on : {true, false}) {
    SCOPED_TRACE(on);
    FastPathRig own(on);
    Fill(own.rig(), clusters[0]);
    EXPECT_EQ(own.FilterAll(*far), (Results{U2, on ? S : U2}));
    EXPECT_EQ(own.FilterAll(*near), (Results{S, on ? U1 : S}));
    FastPathRig existing(on);
    Fill(existing.rig(), clusters[1]);
    EXPECT_EQ(existing.FilterAll(*plain), (Results{U3, on ? S : U3}));
  }
}

// With a term of another key, table A is built from all terms as without the gate.
TEST(InterPodAffinityFastPath, MixedAffinityIsAsWithoutIt) {
  const Texts same = {{std::string(kHostname), "same"}, {"zone", "z1"}};
  const api::PodPtr pod =
      Pod("p", {{"app", "x"}}).Near(Term(kHostname).App("x")).Near(Term("zone").App("x")).Obj();
  for (const bool on : {true, false}) {
    FastPathRig rig(on);
    Fill(rig.rig(), {Node("a", same, {Pod("e", {{"app", "x"}})}), Node("b", same)});
    EXPECT_EQ(rig.FilterAll(*pod), (Results{S, S}));
  }
}

// Difference (c): a hostname term that matches nobody prevents Skip.
TEST(InterPodAffinityFastPath, FewerSkips) {
  const api::PodPtr pod = Pod("p", {{"app", "x"}}).Obj();
  for (const bool on : {true, false}) {
    FastPathRig rig(on);
    Fill(rig.rig(), {Node("a", {}, {Pod("e", {}).Far(Term(kHostname).App("other"))})});
    EXPECT_EQ(rig.FilterAll(*pod), (Results{on ? S : "Skip"}));
  }
}

struct ScoreCase {
  std::string name;
  std::string args;
  Cluster cluster;
  AffinePod pod;
  std::vector<int64_t> want_raw;  // empty: PreScore skips
  std::vector<int64_t> want_final;
};

class InterPodAffinityScoresTest : public ::testing::TestWithParam<ScoreCase> {};

TEST_P(InterPodAffinityScoresTest, Scores) {
  const ScoreCase& c = GetParam();
  PluginRig rig(NewInterPodAffinity, c.args);
  Fill(rig, c.cluster);
  const api::PodPtr pod = c.pod.Obj();
  if (c.want_raw.empty()) {
    EXPECT_TRUE(rig.PreScore(*pod).IsSkip());
    return;
  }
  const std::vector<int64_t> raw = rig.ScoreAll(*pod);
  EXPECT_EQ(raw, c.want_raw);
  EXPECT_EQ(rig.Normalized(*pod, raw), c.want_final);
}

Cluster Hosts(const std::vector<std::vector<AffinePod>>& pods) {
  Cluster cluster;
  for (size_t i = 0; i < pods.size(); ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    cluster.push_back(Node(name, {{"host", name}}, pods[i]));
  }
  return cluster;
}
std::string Weight(int weight) {
  return "{\"hardPodAffinityWeight\": " + std::to_string(weight) + "}";
}
const std::string kIgnore = R"({"ignorePreferredTermsOfExistingPods": true})";
const Term kZoneP = Term("zone").App("p");

Cluster Ex30() {
  return {
      Node("a", {{"zone", "z1"}, {"host", "a"}}, {Pod("e1", {{"app", "x"}})}),
      Node("b", {{"zone", "z1"}, {"host", "b"}},
           {Pod("e3", {{"app", "z"}}).PrefersFar(4, Term("host").App("p")),
            Pod("e4", {{"app", "z"}}).Near(kZoneP)}),
      Node("c", {{"zone", "z2"}, {"host", "c"}},
           {Pod("e2", {}).PrefersNear(7, Term("host").App("p"))}),
  };
}
Cluster Ex33() {
  return {Node("a", {{"zone", "z1"}}, {Pod("e1", {}).Near(kZoneP), Pod("e2", {}).Near(kZoneP)}),
          Node("b", {{"zone", "z2"}}, {Pod("e3", {}).Near(kZoneP)}), Node("c", {{"zone", "z3"}}),
          Node("d", {})};
}
Cluster Ex34() {
  return Hosts(
      {{Pod("e1", {}).PrefersNear(50, Term("host").App("p"))}, {Pod("e2", {{"app", "w"}})}});
}

const ScoreCase kScoreCases[] = {
    {"ex30",
     "{}",
     Ex30(),
     Pod("p", {{"app", "p"}})
         .PrefersNear(10, Term("zone").App("x"))
         .PrefersFar(3, Term("host").App("z")),
     {11, 1, 7},
     {100, 0, 60}},
    {"ex31",
     "{}",
     Hosts({{Pod("e1", {{"app", "one"}})},
            {Pod("e2", {{"app", "two"}})},
            {Pod("e3", {{"app", "three"}})},
            {}}),
     Pod("p", {})
         .PrefersNear(100, Term("host").App("one"))
         .PrefersNear(29, Term("host").App("two"))
         .PrefersNear(57, Term("host").App("three")),
     {100, 29, 57, 0},
     {100, 28, 56, 0}},
    {"ex32",
     "{}",
     Hosts({{Pod("e1", {{"app", "x"}}), Pod("e2", {{"app", "x"}}), Pod("e3", {{"app", "x"}})},
            {Pod("e4", {{"app", "x"}})},
            {}}),
     Pod("p", {}).PrefersFar(5, Term("host").App("x")),
     {-15, -5, 0},
     {0, 66, 100}},
    {"ex33", Weight(10), Ex33(), Pod("p", {{"app", "p"}}), {20, 10, 0, 0}, {100, 50, 0, 0}},
    {"ex33_weight_0", Weight(0), Ex33(), Pod("p", {{"app", "p"}}), {}, {}},
    {"ex34",
     kIgnore,
     Ex34(),
     Pod("p", {{"app", "p"}}).PrefersNear(10, Term("host").App("w")),
     {50, 10},
     {100, 0}},
    {"ex34_no_own_terms", kIgnore, Ex34(), Pod("p", {{"app", "p"}}), {}, {}},
    {"ex34_required_terms_do_not_count",
     kIgnore,
     Ex34(),
     Pod("p", {{"app", "p"}}).Near(Term("host").App("w")),
     {},
     {}},
    {"ex35",
     "{}",
     Hosts({{Pod("e1", {{"app", "x"}})}, {}}),
     Pod("p", {}).PrefersNear(10, Term("host").App("x")).PrefersFar(10, Term("host").App("x")),
     {0, 0},
     {0, 0}},
    {"ex35_of_existing_pods",
     "{}",
     Hosts({{Pod("e1", {})
                 .PrefersNear(10, Term("host").App("p"))
                 .PrefersFar(10, Term("host").App("p"))},
            {}}),
     Pod("p", {{"app", "p"}}),
     {0, 0},
     {0, 0}},
    {"no_entry",
     "{}",
     Hosts({{Pod("e1", {{"app", "x"}})}, {}}),
     Pod("p", {}).PrefersNear(10, Term("host").App("y")),
     {},
     {}},
    {"no_entry_without_the_key",
     "{}",
     {Node("a", {{"other", "1"}}, {Pod("e1", {}).Near(kZoneP)})},
     Pod("p", {{"app", "p"}}),
     {},
     {}},
    {"required_anti_affinity_does_not_score",
     "{}",
     Hosts({{Pod("e1", {{"app", "x"}}).Far(Term("host").App("p"))}, {}}),
     Pod("p", {{"app", "p"}}).Far(Term("host").App("x")),
     {},
     {}},
};
INSTANTIATE_TEST_SUITE_P(Rows, InterPodAffinityScoresTest, ::testing::ValuesIn(kScoreCases),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace ks::plugins
