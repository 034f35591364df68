// SPDX-License-Identifier: Apache-2.0
// PodTopologySpread: PreFilter, Filter, AddPod and RemovePod.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plugins/pod_topology_spread/spread_rig.h"

namespace ks::plugins {
namespace {

using Nodes = std::vector<SpreadNode>;

struct FilterCase {
  std::string name;
  Nodes nodes;
  PodBuilder pod;
  std::string want;
};

class SpreadFilterTest : public ::testing::TestWithParam<FilterCase> {};

TEST_P(SpreadFilterTest, Letters) {
  SpreadRig rig(GetParam().nodes);
  EXPECT_EQ(rig.Letters(GetParam().pod.Obj()), GetParam().want);
}

const api::LabelSelectorSpec kEverything;
const Texts kRev1 = {{"foo", ""}, {"rev", "1"}};
const Texts kRev2 = {{"foo", ""}, {"rev", "2"}};

Nodes TwoZones(int in_a, int in_b) {
  return {{"a", {{"zone", "z1"}}, Existing(in_a)}, {"b", {{"zone", "z2"}}, Existing(in_b)}};
}

Nodes Example23() {
  return {{"a", {{"zone", "z1"}, {"node", "a"}}, Existing(1)},
          {"b", {{"zone", "z1"}, {"node", "b"}}},
          {"x", {{"zone", "z2"}}, Existing(1)},
          {"w", {{"zone", "z2"}, {"node", "w"}}, Existing(1)}};
}

Nodes Example24() {
  return {SpreadNode("a", {{"zone", "z1"}}, Existing(1)),
          SpreadNode("b", {{"zone", "z2"}}).Taint("NoSchedule"),
          SpreadNode("c", {{"zone", "z3"}}, Existing(1)).Taint("PreferNoSchedule")};
}
Nodes FirstTwo(Nodes nodes) {
  nodes.erase(nodes.begin() + 2, nodes.end());
  return nodes;
}

Nodes Example25() {
  return {{"a", {{"zone", "z1"}, {"d", "1"}}, Existing(1)}, {"b", {{"zone", "z2"}}}};
}

Nodes Example26() {
  return {{"a", {{"zone", "z1"}}, Existing(2, kRev1)}, {"b", {{"zone", "z2"}}, Existing(1, kRev2)}};
}
Nodes Example27() { return {{"a", {{"zone", "z1"}}, Existing(2, kRev2)}, {"b", {{"zone", "z2"}}}}; }

Nodes Example29() {
  return {{"a", {{"zone", "z1"}}, Existing(1)},
          {"b", {{"zone", "z2"}}, Existing(1, {{"bar", ""}})}};
}

Pods OneTerminatingOneElsewhere() {
  return {MakePod().Labels(kFoo).Terminating(), MakePod().Labels(kFoo).Namespace("other")};
}

const FilterCase kExamples[] = {
    {"e17", TwoZones(2, 1), Incoming({Spread("zone")}), "KS"},
    {"e17_without_foo", TwoZones(2, 1), Incoming({Spread("zone")}, {}), "SS"},
    {"e18", TwoZones(2, 1), Incoming({Spread("zone", 2).MinDomains(3)}), "KS"},
    {"e18_enough_domains", TwoZones(2, 1), Incoming({Spread("zone", 2).MinDomains(2)}), "SS"},
    {"e20_before",
     {{"a", {{"zone", "z1"}}, Existing(1)},
      {"b", {{"zone", "z2"}}, Existing(2)},
      {"c", {{"zone", "z3"}}, Existing(3)}},
     Incoming({Spread("zone")}),
     "SKK"},
    {"e21_empty_selector", TwoZones(2, 0), Incoming({Spread("zone").Selector(kEverything)}), "SS"},
    {"e22_null_selector", TwoZones(5, 0), Incoming({Spread("zone").Selector({})}), "SS"},
    {"e23", Example23(), Incoming({Spread("zone"), Spread("node")}), "KSLK"},
    {"e24", Example24(), Incoming({Spread("zone").Taints("Honor")}), "SSS"},
    {"e24_ignored", FirstTwo(Example24()), Incoming({Spread("zone").Taints("Ignore")}), "KS"},
    {"e24_tolerated", FirstTwo(Example24()),
     Incoming({Spread("zone").Taints("Honor")}).Toleration("t", "Exists", "", ""), "KS"},
    {"e25", Example25(), Incoming({Spread("zone")}).NodeSelector({{"d", "1"}}), "SS"},
    {"e25_ignored", Example25(),
     Incoming({Spread("zone").Affinity("Ignore")}).NodeSelector({{"d", "1"}}), "KS"},
    {"e25_by_affinity", Example25(),
     Incoming({Spread("zone").Affinity("Honor")}).RequiredTerm({{"d", "In", {"1"}}}), "SS"},
    {"e26", Example26(), Incoming({Spread("zone").LabelKeys({"rev", "absent"})}, kRev2), "SK"},
    {"e27_null", Example27(), Incoming({Spread("zone").Selector({}).LabelKeys({"rev"})}, kRev2),
     "SS"},
    {"e27_everything", Example27(),
     Incoming({Spread("zone").Selector(kEverything).LabelKeys({"rev"})}, kRev2), "KS"},
    {"e28", TwoZones(0, 0), Incoming({Spread("rack")}), "LL"},
    {"e29", Example29(),
     Incoming({Spread("zone"), Spread("zone").Selector(Exists("bar"))}, {{"foo", ""}, {"bar", ""}}),
     "KK"},
};

const FilterCase kMore[] = {
    // Section 4.4.
    {"cordoned_nodes_count",
     {{"a", {{"zone", "z1"}}, Existing(1)}, SpreadNode("b", {{"zone", "z2"}}).Taint("NoExecute")},
     Incoming({Spread("zone").Taints("Honor")}),
     "SS"},
    {"affinity_without_terms_matches_no_node", TwoZones(3, 0),
     [] {
       PodBuilder pod = Incoming({Spread("zone", 3)});
       pod.spec().node_affinity.emplace().required.emplace();
       return pod;
     }(),
     // No domain exists, so that nothing was counted.
     "SS"},
    {"malformed_affinity_term_matches_no_node", TwoZones(3, 0),
     Incoming({Spread("zone", 3)}).RequiredTerm({{"d", "In", {}}}), "SS"},
    // T6, T16: terminating pods and pods of other namespaces do not count.
    {"t16",
     {{"a", {{"zone", "z1"}}, OneTerminatingOneElsewhere()}, {"b", {{"zone", "z2"}}}},
     Incoming({Spread("zone")}),
     "SS"},
    // T12: in hard constraints the hostname is an ordinary key.
    {"t12",
     {{"a", {{kHostname, "h"}}, Existing(1)},
      {"b", {{kHostname, "h"}}, Existing(1)},
      {"c", {{kHostname, "i"}}}},
     Incoming({Spread(kHostname)}),
     "KKS"},
    // T13: the keys of soft constraints say nothing here.
    {"t13", TwoZones(2, 0), Incoming({Spread("zone"), Spread("rack").Soft()}), "KS"},
    // T14: a pod of one's own constraints, even if only soft ones, takes no defaults.
    {"t14", TwoZones(2, 0), Incoming({Spread("rack").Soft()}), "Skip"},
    // T23: one key twice, with different limits.
    {"t23", TwoZones(2, 1), Incoming({Spread("zone", 5), Spread("zone", 1)}), "KS"},
    // T24: an empty value is a domain, a missing label is none.
    {"t24",
     {{"a", {{"zone", ""}}, Existing(1)}, {"b", {{"zone", "z2"}}}, {"c", {}}},
     Incoming({Spread("zone")}),
     "KSL"},
    {"neither_action", TwoZones(2, 0), Incoming({Spread("zone").Action("Other")}), "Skip"},
    {"no_constraints", TwoZones(2, 0), Incoming({}), "Skip"},
    {"wrong_selector", TwoZones(2, 0),
     Incoming({Spread("zone"), Spread("zone").Selector(api::LabelSelectorSpec{
                                   .match_labels = {}, .match_expressions = {{"a", "Huh", {}}}})}),
     "Error: get constraints from pod: obtaining pod's hard topology spread constraints: "
     "\"Huh\" is not a valid label selector operator"},
    {"wrong_soft_selector_does_not_matter", TwoZones(2, 0),
     Incoming({Spread("zone"), Spread("zone").Soft().Selector(api::LabelSelectorSpec{
                                   .match_labels = {}, .match_expressions = {{"a", "Huh", {}}}})}),
     "KS"},
};

std::string NameOf(const ::testing::TestParamInfo<FilterCase>& row) { return row.param.name; }
INSTANTIATE_TEST_SUITE_P(Examples, SpreadFilterTest, ::testing::ValuesIn(kExamples), NameOf);
INSTANTIATE_TEST_SUITE_P(More, SpreadFilterTest, ::testing::ValuesIn(kMore), NameOf);

PodBuilder FooPod() { return MakePod().Labels(kFoo); }

TEST(SpreadWhatIfTest, Example19RemovingAPodThatWasNotCounted) {
  SpreadRig rig(
      {{"a", {{"zone", "z1"}}, {FooPod().Terminating()}}, {"b", {{"zone", "z2"}}, Existing(1)}});
  const api::PodPtr pod = Incoming({Spread("zone", 2)}).Obj();
  EXPECT_EQ(rig.Letters(pod), "SS");
  rig.Simulate(*pod, -1, FooPod().Terminating(), 0);
  EXPECT_EQ(rig.Filters(*pod), "SK");
}

TEST(SpreadWhatIfTest, Example20TheMinimumThatUpstreamRemembers) {
  SpreadRig rig({{"a", {{"zone", "z1"}}, Existing(1)},
                 {"b", {{"zone", "z2"}}, Existing(2)},
                 {"c", {{"zone", "z3"}}, Existing(3)}});
  const api::PodPtr pod = Incoming({Spread("zone")}).Obj();
  EXPECT_EQ(rig.Letters(pod), "SKK");
  for (int i = 0; i < 3; ++i) rig.Simulate(*pod, 1, FooPod(), 0);
  for (int i = 0; i < 2; ++i) rig.Simulate(*pod, 1, FooPod(), 1);
  EXPECT_EQ(rig.Filters(*pod), "SSS");
}

TEST(SpreadWhatIfTest, Example21AnEmptySelectorCountsWhatIsAdded) {
  SpreadRig rig(TwoZones(2, 0));
  const api::PodPtr pod = Incoming({Spread("zone").Selector(kEverything)}).Obj();
  EXPECT_EQ(rig.Letters(pod), "SS");
  rig.Simulate(*pod, 1, MakePod().Namespace("other"), 0);
  EXPECT_EQ(rig.Filters(*pod), "SS");
  rig.Simulate(*pod, 1, MakePod(), 0);
  EXPECT_EQ(rig.Filters(*pod), "KS");
}

TEST(SpreadWhatIfTest, ClonesDoNotDisturbOneAnother) {
  SpreadRig rig(TwoZones(1, 1));
  const api::PodPtr pod = Incoming({Spread("zone")}).Obj();
  ASSERT_EQ(rig.Letters(pod), "SS");
  framework::CycleState original = std::move(rig.state);
  rig.state = original.Clone();
  rig.Simulate(*pod, 1, FooPod(), 0);
  EXPECT_EQ(rig.Filters(*pod), "KS");
  framework::CycleState second = rig.state.Clone();
  rig.Simulate(*pod, -1, FooPod(), 0);
  EXPECT_EQ(rig.Filters(*pod), "SS");
  rig.state = std::move(second);
  EXPECT_EQ(rig.Filters(*pod), "KS");
  rig.state = std::move(original);
  EXPECT_EQ(rig.Filters(*pod), "SS");
}

TEST(SpreadWhatIfTest, NodesThatTakeNoPartAreLeftOut) {
  SpreadRig rig({SpreadNode("a", {{"zone", "z1"}, {"d", "1"}}), SpreadNode("b", {{"zone", "z1"}}),
                 SpreadNode("c", {{"zone", "z2"}, {"d", "1"}}), SpreadNode("d", {{"d", "1"}})});
  const api::PodPtr pod = Incoming({Spread("zone")}).NodeSelector({{"d", "1"}}).Obj();
  ASSERT_EQ(rig.Letters(pod), "SSSL");
  rig.Simulate(*pod, 1, FooPod(), 1);   // excluded by the affinity policy
  rig.Simulate(*pod, 1, FooPod(), 3);   // has no zone
  rig.Simulate(*pod, 1, MakePod(), 0);  // has not the label
  EXPECT_EQ(rig.Filters(*pod), "SSSL");
  rig.Simulate(*pod, 1, FooPod(), 0);
  EXPECT_EQ(rig.Filters(*pod), "KKSL");
}

// With too few domains the minimum stays 0 whatever is simulated.
TEST(SpreadWhatIfTest, MinDomainsAfterAdding) {
  SpreadRig rig(TwoZones(0, 0));
  const api::PodPtr pod = Incoming({Spread("zone").MinDomains(3)}).Obj();
  ASSERT_EQ(rig.Letters(pod), "SS");
  rig.Simulate(*pod, 1, FooPod(), 0);
  rig.Simulate(*pod, 1, FooPod(), 1);
  EXPECT_EQ(rig.Filters(*pod), "KK");
}

TEST(SpreadWhatIfTest, AnEmptyValueIsADomainOfItsOwn) {
  SpreadRig rig({{"a", {{"zone", ""}}}, {"b", {{"zone", "z2"}}}});
  const api::PodPtr pod = Incoming({Spread("zone")}).Obj();
  ASSERT_EQ(rig.Letters(pod), "SS");
  rig.Simulate(*pod, 1, FooPod(), 0);
  EXPECT_EQ(rig.Filters(*pod), "KS");
  rig.Simulate(*pod, 1, FooPod(), 1);
  EXPECT_EQ(rig.Filters(*pod), "SS");
}

TEST(SpreadWhatIfTest, WithoutPreFilter) {
  SpreadRig rig(TwoZones(0, 0));
  const std::string want =
      "Error: reading \"PreFilterPodTopologySpread\" from cycleState: not found";
  const api::PodPtr pod = Incoming({Spread("zone")}).Obj();
  const framework::PodInfo other(FooPod().Obj());
  const framework::NodeInfo& node = *rig.nodes()[0];
  auto* extensions = rig.As<framework::PreFilterExtensions>();
  EXPECT_EQ(Describe(rig.As<framework::FilterPlugin>()->Filter(rig.state, *pod, node)), want);
  EXPECT_EQ(Describe(extensions->AddPod(rig.state, *pod, other, node)), want);
  EXPECT_EQ(Describe(extensions->RemovePod(rig.state, *pod, other, node)), want);
}

// A pod joins the node, and another pod's PreFilter makes the counters follow.
void Join(SpreadRig& rig, size_t node, const api::Pod& pod) {
  auto& snapshot = rig.handle.fake_snapshot();
  const auto joined =
      std::make_shared<framework::PodInfo>(MakePod().Name("joined").Labels(kFoo).Obj());
  const framework::NodeInfo* info = rig.nodes()[node];
  const_cast<framework::NodeInfo*>(info)->AddPod(joined);  // the fake's own
  snapshot.log().Append(framework::Change::Kind::kPodAdded, info->slot(), joined);
  framework::CycleState other;
  rig.As<framework::PreFilterPlugin>()->PreFilter(other, pod, snapshot);
}

TEST(SpreadFixedState, StaysWhatItWas) {
  SpreadRig rig(TwoZones(1, 1));
  const api::PodPtr pod = Incoming({Spread("zone")}).Obj();
  ASSERT_EQ(rig.Letters(pod), "SS");
  const framework::CycleState following = rig.state.Clone();
  rig.state.Fix(*rig.nodes()[0]);
  Join(rig, 0, *pod);
  EXPECT_EQ(rig.Filters(*pod), "SS");
  rig.state = following.Clone();
  EXPECT_EQ(rig.Filters(*pod), "KS") << "the counters have moved";
}

TEST(SpreadFixedState, CanBeSimulatedOn) {
  SpreadRig rig(TwoZones(1, 1));
  const api::PodPtr pod = Incoming({Spread("zone")}).Obj();
  ASSERT_EQ(rig.Letters(pod), "SS");
  rig.state.Fix(*rig.nodes()[0]);
  Join(rig, 1, *pod);
  rig.Simulate(*pod, 1, MakePod().Labels(kFoo), 0);
  EXPECT_EQ(rig.Filters(*pod), "KS");
  rig.Simulate(*pod, -1, MakePod().Labels(kFoo), 0);
  EXPECT_EQ(rig.Filters(*pod), "SS");
}

TEST(SpreadFixedState, KeepsWhatWasSimulatedBefore) {
  SpreadRig rig(TwoZones(1, 1));
  const api::PodPtr pod = Incoming({Spread("zone")}).Obj();
  ASSERT_EQ(rig.Letters(pod), "SS");
  rig.Simulate(*pod, 1, MakePod().Labels(kFoo), 0);
  rig.state.Fix(*rig.nodes()[0]);
  EXPECT_EQ(rig.Filters(*pod), "KS");
}

}  // namespace
}  // namespace ks::plugins
