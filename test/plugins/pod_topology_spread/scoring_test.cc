// SPDX-License-Identifier: Apache-2.0
// PodTopologySpread: PreScore, Score and NormalizeScore.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plugins/pod_topology_spread/spread_rig.h"

namespace ks::plugins {
namespace {

using ks::testing::MakeService;
using ks::testing::MakeSet;
using Nodes = std::vector<SpreadNode>;
using Indices = std::vector<size_t>;
using Scores = std::vector<int64_t>;

struct ScoreCase {
  std::string name;
  Nodes nodes;
  Indices feasible;
  PodBuilder pod;
  Scores raw;
  Scores final;
};

class SpreadScoreTest : public ::testing::TestWithParam<ScoreCase> {};

TEST_P(SpreadScoreTest, RawAndFinal) {
  SpreadRig rig(GetParam().nodes);
  const SpreadRig::Scores scores = rig.ScoresOf(GetParam().pod.Obj(), GetParam().feasible);
  EXPECT_EQ(scores.raw, GetParam().raw);
  EXPECT_EQ(scores.final, GetParam().final);
}

Texts Host(const std::string& name) { return {{kHostname, name}}; }
Texts ZoneHost(const std::string& zone, const std::string& host) {
  return {{"zone", zone}, {kHostname, host}};
}

Nodes Example37() {
  return {{"a", ZoneHost("z1", "a"), Existing(2)},
          {"b", ZoneHost("z1", "b"), Existing(1)},
          {"c", ZoneHost("z2", "c")},
          {"d", ZoneHost("z2", "d"), Existing(3)}};
}
Nodes Example38() {
  return {{"a", ZoneHost("z1", "a"), Existing(2)},
          {"b", ZoneHost("z1", "b"), Existing(1)},
          {"c", Host("c"), Existing(1)},
          {"d", ZoneHost("z2", "d"), Existing(3)}};
}
Nodes Example39() { return {{"a", {{"zone", "z1"}}}, {"b", {{"zone", "z2"}}}, {"c", {}}}; }
Nodes Example44() {
  return {{"a", {{"zone", "z1"}}, Existing(3)},
          {"b", {{"zone", "z2"}}, Existing(5)},
          {"c", {{"zone", "z3"}}, Existing(1)}};
}
Nodes Example45() {
  return {SpreadNode("a", {{"zone", "z1"}}, Existing(2)).Taint("NoSchedule"),
          SpreadNode("b", {{"zone", "z1"}}, Existing(1)),
          SpreadNode("c", {{"zone", "z2"}}, Existing(1))};
}
Nodes Example46() {
  return {{"a", Host("a"), {MakePod().Labels(kFoo), MakePod().Labels(kFoo).Terminating()}},
          {"b", Host("b"), {MakePod().Labels(kFoo), MakePod().Labels(kFoo).Namespace("other")}},
          {"c", Host("c")}};
}

Spread Soft(const char* key, int32_t max_skew = 1) { return Spread(key, max_skew).Soft(); }

const ScoreCase kExamples[] = {
    {"e36",
     {{"a", Host("a"), Existing(2)},
      {"b", Host("b"), Existing(1)},
      {"c", Host("c")},
      {"d", Host("d"), Existing(3)}},
     {0, 1, 2, 3},
     Incoming({Soft(kHostname)}),
     {4, 2, 0, 5},
     {20, 60, 100, 0}},
    {"e37",
     Example37(),
     {0, 1, 2, 3},
     Incoming({Soft("zone"), Soft(kHostname)}),
     {8, 6, 4, 10},
     {60, 80, 100, 40}},
    {"e38",
     Example38(),
     {0, 2, 3},
     Incoming({Soft("zone"), Soft(kHostname, 2)}),
     {8, 0, 9},
     {100, 0, 88}},
    {"e39", Example39(), {0, 1, 2}, Incoming({Soft("zone")}), {0, 0, 0}, {100, 100, 0}},
    {"e39_max_skew", Example39(), {0, 1, 2}, Incoming({Soft("zone", 4)}), {3, 3, 0}, {100, 100, 0}},
    {"e44", Example44(), {0, 1, 2}, Incoming({Soft("zone", 2)}), {6, 9, 3}, {66, 33, 100}},
    {"e45", Example45(), {1, 2}, Incoming({Soft("zone").Taints("Honor")}), {1, 1}, {100, 100}},
    {"e45_ignored", Example45(), {1, 2}, Incoming({Soft("zone")}), {4, 1}, {25, 100}},
    {"e46", Example46(), {0, 1, 2}, Incoming({Soft(kHostname)}), {2, 2, 0}, {0, 0, 100}},
};

const ScoreCase kTraps[] = {
    // T6: an empty selector counts nothing.
    {"t6",
     Example44(),
     {0, 1},
     Incoming({Soft("zone").Selector(api::LabelSelectorSpec{})}),
     {0, 0},
     {100, 100}},
    // T9: equal scores.
    {"t9", Example44(), {1}, Incoming({Soft("zone")}), {5}, {100}},
    // T10: pods on nodes without all keys count nowhere, not even for the zone that they have.
    {"t10",
     {{"a", {{"zone", "z1"}, {"rack", "r"}}, Existing(1)},
      {"b", {{"zone", "z1"}}, Existing(8)},
      {"c", {{"zone", "z2"}, {"rack", "r"}}}},
     {0, 1, 2},
     Incoming({Soft("zone"), Soft("rack")}),
     // w = ln4, ln3: 1.39 + 1.10; 0 + 1.10
     {2, 0, 1},
     {50, 0, 100}},
    // T12: the hostname's pods are those of the node, whatever the policies and other nodes of that
    // name.
    {"t12",
     {SpreadNode("a", Host("h"), Existing(1)).Taint("NoSchedule"),
      SpreadNode("b", Host("h"), Existing(3))},
     {0, 1},
     Incoming({Soft(kHostname).Taints("Honor")}),
     // w = ln4
     {1, 4},
     {100, 25}},
    {"t12_without_the_label",
     {{"a", Host("a"), Existing(1)}, {"b", {}, Existing(3)}},
     {0, 1},
     Incoming({Soft(kHostname)}),
     {1, 0},
     {100, 0}},
    // T13: the keys of hard constraints say nothing here.
    {"t13",
     Example39(),
     {0, 1, 2},
     Incoming({Spread("rack"), Soft("zone")}),
     {0, 0, 0},
     {100, 100, 0}},
    // T23: the same key twice.
    {"t23",
     Example44(),
     {0, 2},
     Incoming({Soft("zone"), Soft("zone")}),
     // w = ln4: 2 * 3 * 1.39, 2 * 1.39
     {8, 3},
     {37, 100}},
    // T24: an empty value is a domain.
    {"t24",
     {{"a", {{"zone", ""}}, Existing(2)}, {"b", {{"zone", "z"}}}, {"c", {}, Existing(9)}},
     {0, 1, 2},
     Incoming({Soft("zone")}),
     {3, 0, 0},
     {0, 100, 0}},
    // T26: what maxSkew adds is the same for all nodes.
    {"t26", Example44(), {0, 2}, Incoming({Soft("zone", 101)}), {104, 101}, {97, 100}},
    {"min_domains_has_no_effect",
     Example44(),
     {0, 2},
     Incoming({Soft("zone").MinDomains(9)}),
     {4, 1},
     {25, 100}},
    // A node of an excluded node's zone: the zone is known and counts nothing.
    {"affinity",
     Example44(),
     {0, 1},
     Incoming({Soft("zone")}).NodeSelector({{"zone", "z1"}}),
     {4, 0},
     {0, 100}},
    {"two_selectors_on_the_hostname",
     Example37(),
     {0, 1},
     Incoming({Soft("zone"), Soft(kHostname).Selector(Exists("bar"))}),
     // w = ln3, no pod has bar
     {3, 3},
     {100, 100}},
    // Scores below 0 need a maxSkew that the API server refuses. -1 ends as ignored nodes do.
    {"minus_one", Example39(), {0, 1, 2}, Incoming({Soft("zone", 0)}), {-1, -1, 0}, {0, 0, 0}},
    {"minus_one_is_the_minimum",
     {{"a", {{"zone", "z1"}}},
      {"b", {{"zone", "z2"}}, Existing(1)},
      {"c", {{"zone", "z3"}}, Existing(2)}},
     {0, 1, 2},
     Incoming({Soft("zone", 0)}),
     {-1, 1, 2},
     {0, 0, -50}},
    {"all_below_0",
     Example44(),
     {0, 1, 2},
     Incoming({Soft("zone", -10)}),
     {-6, -3, -9},
     {100, 100, 100}},
    {"wrong_hard_selector_does_not_matter",
     Example44(),
     {0, 2},
     Incoming({Soft("zone"), Spread("zone").Selector(api::LabelSelectorSpec{
                                 .match_labels = {}, .match_expressions = {{"a", "Huh", {}}}})}),
     {4, 1},
     {25, 100}},
};

std::string NameOf(const ::testing::TestParamInfo<ScoreCase>& row) { return row.param.name; }
INSTANTIATE_TEST_SUITE_P(Examples, SpreadScoreTest, ::testing::ValuesIn(kExamples), NameOf);
INSTANTIATE_TEST_SUITE_P(Traps, SpreadScoreTest, ::testing::ValuesIn(kTraps), NameOf);

void AddService(SpreadRig& rig, const Texts& selector) {
  rig.handle.fake_owner_listers().Add(MakeService("ns", "service", selector));
}

Texts Standard(const std::string& zone, const std::string& host) {
  Texts labels = Host(host);
  if (!zone.empty()) labels.emplace_back(kZone, zone);
  return labels;
}

api::OwnerReference Controller(const char* api_version, const char* kind) {
  return {
      .api_version = api_version, .kind = kind, .name = "owner", .uid = "u", .controller = true};
}

TEST(SpreadDefaultsTest, Example40SystemDefaultsAreLenient) {
  SpreadRig rig({{"a", Standard("z1", "a"), Existing(2)},
                 {"b", Standard("z2", "b"), Existing(1)},
                 {"c", Standard("", "c"), Existing(1)},
                 {"d", Standard("", "d"), Existing(2)}});
  AddService(rig, kFoo);
  const SpreadRig::Scores scores = rig.ScoresOf(Incoming({}).Obj(), {0, 1, 2, 3});
  EXPECT_EQ(scores.raw, (Scores{13, 9, 4, 6}));
  EXPECT_EQ(scores.final, (Scores{30, 61, 100, 84}));
}

// A node with the empty zone shares the domain of those without, but is scored by it.
TEST(SpreadDefaultsTest, TheEmptyZone) {
  SpreadRig rig({{"a", Standard("z1", "a"), Existing(1)},
                 {"b", {{kHostname, "b"}, {kZone, ""}}, Existing(1)},
                 {"c", Standard("", "c"), Existing(2)}});
  AddService(rig, kFoo);
  // Hostname ln5, zones {z1, ""} ln4: a ln5+2+ln4+4 = 9.00, b ln5+2+3*ln4+4 = 11.77, c 2*ln5+2.
  EXPECT_EQ(rig.ScoresOf(Incoming({}).Obj(), {0, 1, 2}).raw, (Scores{9, 12, 5}));
}

struct Example41Case {
  std::string name;
  const char* api_version;
  Scores raw;
  Scores final;
};
class Example41Test : public ::testing::TestWithParam<Example41Case> {};

TEST_P(Example41Test, OwnerAndService) {
  const Texts with_h = {{"foo", "bar"}, {"h", "1"}};
  SpreadRig rig({{"a", Standard("z1", "a"), Existing(2, {{"foo", "bar"}})},
                 {"b", Standard("z2", "b"), Existing(1, with_h)}});
  AddService(rig, {{"foo", "bar"}});
  api::LabelSelectorSpec selector;
  selector.match_labels = {{"h", "1"}};
  rig.handle.fake_owner_listers().Add(MakeSet<api::ReplicaSet>("ns", "owner", selector));
  PodBuilder pod = Incoming({}, with_h);
  pod.pod().meta.owner_references.Mutable() = {Controller(GetParam().api_version, "ReplicaSet")};
  const SpreadRig::Scores scores = rig.ScoresOf(pod.Obj(), {0, 1});
  EXPECT_EQ(scores.raw, GetParam().raw);
  EXPECT_EQ(scores.final, GetParam().final);
}

const Example41Case kExample41[] = {
    {"e41", "apps/v1", {6, 9}, {100, 66}},
    {"e41_old_api", "extensions/v1beta1", {12, 9}, {75, 100}},
};
INSTANTIATE_TEST_SUITE_P(Examples, Example41Test, ::testing::ValuesIn(kExample41),
                         [](const ::testing::TestParamInfo<Example41Case>& row) {
                           return row.param.name;
                         });

TEST(SpreadDefaultsTest, Example42NobodySelectsThePod) {
  SpreadRig rig({{"a", Standard("z1", "a"), Existing(2)}});
  AddService(rig, {{"other", ""}});
  const api::PodPtr pod = Incoming({}).Obj();
  EXPECT_EQ(rig.Letters(pod), "Skip");
  EXPECT_TRUE(rig.PreScore(*pod).IsSkip());
}

constexpr const char* kList43 = R"({"defaultingType": "List", "defaultConstraints": [
    {"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1},
    {"topologyKey": "rack", "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 2}]})";

TEST(SpreadDefaultsTest, Example43ListDefaults) {
  SpreadRig rig({{"a", {{"zone", "z1"}, {"rack", "r1"}}, Existing(1)},
                 {"b", {{"zone", "z2"}, {"rack", "r2"}}},
                 {"c", {{"zone", "z2"}}}},
                kList43);
  const api::PodPtr pod = Incoming({}).Obj();
  EXPECT_EQ(rig.Letters(pod), "Skip");  // nobody selects the pod yet
  AddService(rig, kFoo);
  EXPECT_EQ(rig.Letters(pod), "KSS");
  const SpreadRig::Scores scores = rig.ScoresOf(pod, {1, 2});
  EXPECT_EQ(scores.raw, (Scores{1, 0}));
  EXPECT_EQ(scores.final, (Scores{100, 0}));
}

// T15: the derived selector may exclude the pod itself.
TEST(SpreadDefaultsTest, ThePodNeedNotMatchItsOwnersSelector) {
  SpreadRig rig({{"a", {{"zone", "z1"}}, Existing(1, {{"h", "1"}})}, {"b", {{"zone", "z2"}}}},
                kList43);
  api::LabelSelectorSpec selector;
  selector.match_labels = {{"h", "1"}};
  rig.handle.fake_owner_listers().Add(MakeSet<api::StatefulSet>("ns", "owner", selector));
  PodBuilder pod = Incoming({}, {{"h", "2"}});
  pod.pod().meta.owner_references.Mutable() = {Controller("apps/v1", "StatefulSet")};
  EXPECT_EQ(rig.Letters(pod.Obj()), "SS");
  pod.Labels({{"h", "1"}});
  EXPECT_EQ(rig.Letters(pod.Obj()), "KS");
}

// T14, and what 4.2 says of the selector: it replaces all that a default has of its own.
TEST(SpreadDefaultsTest, OwnConstraintsReplaceAllDefaults) {
  SpreadRig rig({{"a", {{"zone", "z1"}}, Existing(1)}, {"b", {{"zone", "z2"}}}}, kList43);
  AddService(rig, kFoo);
  EXPECT_EQ(rig.Letters(Incoming({Soft("zone")}).Obj()), "Skip");
  EXPECT_TRUE(rig.PreScore(*Incoming({Spread("zone")}).Obj()).IsSkip());
}

TEST(SpreadDefaultsTest, NoDefaults) {
  SpreadRig rig({{"a", Standard("z1", "a"), Existing(1)}}, R"({"defaultingType": "List"})");
  AddService(rig, kFoo);
  EXPECT_EQ(rig.Letters(Incoming({}).Obj()), "Skip");
  EXPECT_TRUE(rig.PreScore(*Incoming({}).Obj()).IsSkip());
}

TEST(SpreadScoreStateTest, NoNodes) {
  SpreadRig rig;
  EXPECT_TRUE(rig.PreScore(*Incoming({Soft("zone")}).Obj()).IsSkip());
}

TEST(SpreadScoreStateTest, WrongSelector) {
  SpreadRig rig({{"a", {{"zone", "z1"}}}});
  const api::PodPtr pod =
      Incoming({Soft("zone").Selector(api::LabelSelectorSpec{
                   .match_labels = {}, .match_expressions = {{"a", "In", {}}}})})
          .Obj();
  EXPECT_EQ(Describe(rig.PreScore(*pod)),
            "Error: calculating preScoreState: obtaining pod's soft topology spread constraints: "
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty");
}

TEST(SpreadScoreStateTest, WithoutPreScore) {
  SpreadRig rig({{"a", {{"zone", "z1"}}}});
  const api::PodPtr pod = Incoming({Soft("zone")}).Obj();
  int64_t score = 0;
  EXPECT_EQ(
      Describe(rig.As<framework::ScorePlugin>()->Score(rig.state, *pod, *rig.nodes()[0], &score)),
      "Error: error reading \"PreScorePodTopologySpread\" from cycleState: not found");
}

}  // namespace
}  // namespace ks::plugins
