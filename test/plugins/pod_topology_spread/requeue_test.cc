// SPDX-License-Identifier: Apache-2.0
// PodTopologySpread: events, hints, signature, gates, and which objects it needs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plugins/pod_topology_spread/spread_rig.h"

namespace ks::plugins {
namespace {

using framework::EventObject;
using ks::testing::MakeService;

constexpr size_t kAssignedPod = 0;
constexpr size_t kTargetPod = 1;
constexpr size_t kNode = 2;

std::string Hint(SpreadRig& rig, size_t registration, const api::Pod& pod,
                 const EventObject& old_object, const EventObject& new_object) {
  const auto registrations = rig.As<framework::EnqueueExtensions>()->EventsToRegister();
  const Result<framework::QueueingHint> hint =
      registrations[registration].hint(pod, old_object, new_object);
  if (!hint.ok()) return hint.error().message;
  return *hint == framework::QueueingHint::kQueue ? "Queue" : "Skip";
}

TEST(SpreadRequeueTest, Events) {
  SpreadRig rig;
  EXPECT_EQ(rig.Events(),
            (std::vector<std::string>{"AssignedPod/515", "TargetPod/4608", "Node/27"}));
}

EventObject Pod(PodBuilder pod) { return pod.Obj(); }
const EventObject kNone;

PodBuilder Other(const Texts& labels) { return MakePod().Name("other").Labels(labels).Node("n"); }

struct PodHintCase {
  std::string name;
  EventObject old_object;
  EventObject new_object;
  std::string want;
};
class SpreadPodHintTest : public ::testing::TestWithParam<PodHintCase> {};

const Texts kBar = {{"bar", ""}};
const Texts kBoth = {{"foo", ""}, {"bar", ""}};

TEST_P(SpreadPodHintTest, AssignedPod) {
  SpreadRig rig;
  const api::PodPtr pod = Incoming({Spread("zone"), Spread("rack").Selector(Exists("bar")),
                                    Spread("zone").Soft().Selector(Exists("soft"))})
                              .Obj();
  EXPECT_EQ(Hint(rig, kAssignedPod, *pod, GetParam().old_object, GetParam().new_object),
            GetParam().want);
}

const PodHintCase kPodHints[] = {
    {"added", kNone, Pod(Other(kFoo)), "Queue"},
    {"added_second_constraint", kNone, Pod(Other(kBar)), "Queue"},
    {"added_soft_constraint", kNone, Pod(Other({{"soft", ""}})), "Skip"},
    {"added_no_match", kNone, Pod(Other({{"x", ""}})), "Skip"},
    {"added_other_namespace", kNone, Pod(Other(kFoo).Namespace("two")), "Skip"},
    {"added_nowhere", kNone, Pod(Other(kFoo).Node("")), "Skip"},
    {"added_nominated", kNone, Pod(Other(kFoo).Node("").NominatedNode("n")), "Queue"},
    {"deleted", Pod(Other(kFoo)), kNone, "Queue"},
    {"deleted_no_match", Pod(Other({{"x", ""}})), kNone, "Skip"},
    {"deleted_other_namespace", Pod(Other(kFoo).Namespace("two")), kNone, "Skip"},
    {"label_gained", Pod(Other(kFoo)), Pod(Other(kBoth)), "Queue"},
    {"label_lost", Pod(Other(kBoth)), Pod(Other(kBar)), "Queue"},
    {"label_same", Pod(Other(kFoo)), Pod(Other(kFoo)), "Skip"},
    {"label_without_meaning", Pod(Other(kFoo)), Pod(Other({{"foo", ""}, {"x", ""}})), "Skip"},
    {"label_other_namespace", Pod(Other(kFoo).Namespace("two")), Pod(Other(kBoth).Namespace("two")),
     "Skip"},
};
INSTANTIATE_TEST_SUITE_P(Hints, SpreadPodHintTest, ::testing::ValuesIn(kPodHints),
                         [](const ::testing::TestParamInfo<PodHintCase>& row) {
                           return row.param.name;
                         });

TEST(SpreadRequeueTest, OwnChange) {
  SpreadRig rig;
  const api::PodPtr plain = Incoming({Spread("zone")}).Obj();
  const api::PodPtr honoring = Incoming({Spread("zone").Taints("Honor")}).Obj();
  const EventObject before = Pod(Incoming({}));
  const EventObject tolerant = Pod(Incoming({}).Toleration("t", "Exists", "", ""));
  const EventObject without = Pod(Incoming({}, {}));
  const EventObject relabeled = Pod(Incoming({}, {{"foo", "other"}}));
  EXPECT_EQ(Hint(rig, kTargetPod, *plain, before, tolerant), "Skip");
  EXPECT_EQ(Hint(rig, kTargetPod, *honoring, before, tolerant), "Queue");
  EXPECT_EQ(Hint(rig, kTargetPod, *honoring, before, before), "Skip");
  EXPECT_EQ(Hint(rig, kTargetPod, *plain, before, without), "Queue");
  EXPECT_EQ(Hint(rig, kTargetPod, *honoring, before, without), "Queue");
  EXPECT_EQ(Hint(rig, kTargetPod, *plain, before, relabeled), "Skip");
}

EventObject Node(const Texts& labels, const char* taint = "") {
  NodeBuilder node = MakeNode();
  for (const auto& [key, value] : labels) node.Label(key, value);
  if (*taint != '\0') node.Taint(taint, "", "NoSchedule");
  return node.Obj();
}

struct NodeHintCase {
  std::string name;
  EventObject old_object;
  EventObject new_object;
  std::string want;
};
class SpreadNodeHintTest : public ::testing::TestWithParam<NodeHintCase> {};

TEST_P(SpreadNodeHintTest, TwoKeys) {
  SpreadRig rig;
  const api::PodPtr pod = Incoming({Spread("zone"), Spread("rack"), Spread("soft").Soft()}).Obj();
  EXPECT_EQ(Hint(rig, kNode, *pod, GetParam().old_object, GetParam().new_object), GetParam().want);
}

const Texts kKeys = {{"zone", "z"}, {"rack", "r"}};
const Texts kOneKey = {{"zone", "z"}};
const NodeHintCase kNodeHints[] = {
    {"added", kNone, Node(kKeys), "Queue"},
    {"added_key_missing", kNone, Node(kOneKey), "Skip"},
    {"deleted", Node(kKeys), kNone, "Queue"},
    {"deleted_key_missing", Node(kOneKey), kNone, "Skip"},
    {"key_gained", Node(kOneKey), Node(kKeys), "Queue"},
    {"key_lost", Node(kKeys), Node(kOneKey), "Queue"},
    {"value_changed", Node(kKeys), Node({{"zone", "z"}, {"rack", "other"}}), "Queue"},
    {"value_changed_key_missing", Node(kOneKey), Node({{"zone", "other"}}), "Skip"},
    {"other_label", Node(kKeys), Node({{"zone", "z"}, {"rack", "r"}, {"soft", "s"}}), "Skip"},
    {"taints_changed", Node(kKeys), Node(kKeys, "t"), "Queue"},
    {"taints_changed_key_missing", Node(kOneKey), Node(kOneKey, "t"), "Skip"},
    {"taints_same", Node(kKeys, "t"), Node(kKeys, "t"), "Skip"},
};
INSTANTIATE_TEST_SUITE_P(Hints, SpreadNodeHintTest, ::testing::ValuesIn(kNodeHints),
                         [](const ::testing::TestParamInfo<NodeHintCase>& row) {
                           return row.param.name;
                         });

TEST(SpreadRequeueTest, WithoutConstraintsEveryNodeWillDo) {
  SpreadRig rig;
  const api::PodPtr pod = Incoming({Spread("soft").Soft()}).Obj();
  EXPECT_EQ(Hint(rig, kNode, *pod, kNone, Node({})), "Queue");
  EXPECT_EQ(Hint(rig, kAssignedPod, *pod, kNone, Pod(Other(kFoo))), "Skip");
}

TEST(SpreadRequeueTest, WrongSelector) {
  SpreadRig rig;
  api::LabelSelectorSpec wrong;
  wrong.match_expressions = {{"a", "Huh", {}}};
  const api::PodPtr pod = Incoming({Spread("zone").Selector(wrong)}).Obj();
  EXPECT_EQ(Hint(rig, kNode, *pod, kNone, Node({})),
            "obtaining pod's hard topology spread constraints: "
            "\"Huh\" is not a valid label selector operator");
}

constexpr const char* kHardDefault = R"({"defaultingType": "List", "defaultConstraints": [
    {"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1}]})";
constexpr const char* kNoDefaults = R"({"defaultingType": "List"})";

TEST(SpreadRequeueTest, DefaultConstraints) {
  SpreadRig rig({}, kHardDefault);
  const api::PodPtr pod = Incoming({}).Obj();
  EXPECT_EQ(Hint(rig, kAssignedPod, *pod, kNone, Pod(Other(kFoo))), "Skip");
  rig.handle.fake_owner_listers().Add(MakeService("ns", "service", kFoo));
  EXPECT_EQ(Hint(rig, kAssignedPod, *pod, kNone, Pod(Other(kFoo))), "Queue");
  EXPECT_EQ(Hint(rig, kAssignedPod, *pod, kNone, Pod(Other(kBar))), "Skip");
}

std::string Signability(const std::string& args, const api::PodPtr& pod) {
  SpreadRig rig({}, args);
  std::vector<framework::SignFragment> fragments;
  const std::string text = Describe(rig.As<framework::SignPlugin>()->Sign(*pod, &fragments));
  EXPECT_TRUE(fragments.empty());
  return text;
}

TEST(SpreadSignatureTest, OnlyWithoutAnyConstraint) {
  const api::PodPtr plain = Incoming({}).Obj();
  const api::PodPtr own = Incoming({Spread("zone").Soft()}).Obj();
  const std::string by_own = "Unschedulable: pods with topology constraints are not signable";
  const std::string by_default =
      "Unschedulable: pods with default topology constraints are not signable";
  EXPECT_EQ(Signability("null", own), by_own);
  EXPECT_EQ(Signability("null", plain), by_default);
  EXPECT_EQ(Signability(kHardDefault, plain), by_default);
  EXPECT_EQ(Signability(kNoDefaults, own), by_own);
  EXPECT_EQ(Signability(kNoDefaults, plain), "Success");
}

TEST(SpreadOwnersTest, OnlyForDefaults) {
  using framework::OptionalKind;
  const framework::OptionalKinds all = {OptionalKind::kService,
                                        OptionalKind::kReplicationController,
                                        OptionalKind::kReplicaSet, OptionalKind::kStatefulSet};
  EXPECT_EQ(SpreadRig().As<framework::OptionalKindReader>()->NeededKinds(), all);
  EXPECT_EQ(SpreadRig({}, kHardDefault).As<framework::OptionalKindReader>()->NeededKinds(), all);
  EXPECT_TRUE(
      SpreadRig({}, kNoDefaults).As<framework::OptionalKindReader>()->NeededKinds().empty());
}

// A plugin whose gates were set before it was made.
class GatedSpread {
 public:
  GatedSpread(config::Gate gate, bool on) {
    handle_.fake_gates().Set(gate, on);
    plugin_ = NewPodTopologySpread({}, handle_).value();
    const auto foo = [](int i) {
      return MakePod().Name("p" + std::to_string(i)).Labels({{"foo", ""}, {"rev", "1"}}).Obj();
    };
    handle_.fake_snapshot().Add(MakeNode().Name("a").Label("zone", "z1").Obj(), {foo(1), foo(2)});
    handle_.fake_snapshot().Add(
        MakeNode().Name("b").Label("zone", "z2").Taint("t", "5", "NoSchedule").Obj());
  }
  framework::Status PreFilter(const api::Pod& pod) {
    return dynamic_cast<framework::PreFilterPlugin*>(plugin_.get())
        ->PreFilter(state_, pod, handle_.snapshot())
        .status;
  }
  framework::Status FirstNode(const api::Pod& pod) {
    return dynamic_cast<framework::FilterPlugin*>(plugin_.get())
        ->Filter(state_, pod, *handle_.snapshot().nodes()[0]);
  }

 private:
  testing::FakeHandle handle_;
  framework::CycleState state_;
  std::unique_ptr<framework::Plugin> plugin_;
};

TEST(SpreadGatesTest, MatchLabelKeys) {
  const api::PodPtr pod =
      Incoming({Spread("zone").LabelKeys({"rev"})}, {{"foo", ""}, {"rev", "2"}}).Obj();
  for (const bool on : {false, true}) {
    GatedSpread spread(config::Gate::kMatchLabelKeysInPodTopologySpread, on);
    ASSERT_TRUE(spread.PreFilter(*pod).ok());
    EXPECT_EQ(spread.FirstNode(*pod).ok(), on);
  }
}

TEST(SpreadGatesTest, DeferredPods) {
  const api::PodPtr pod =
      Incoming({Spread("zone")})
          .Condition(
              {.type = "PodResizePending", .status = "True", .reason = "Deferred", .message = {}})
          .Obj();
  for (const bool on : {false, true}) {
    GatedSpread spread(config::Gate::kInPlacePodVerticalScalingSchedulerPreemption, on);
    EXPECT_EQ(spread.PreFilter(*pod).IsSkip(), on);
    EXPECT_EQ(spread.FirstNode(*pod).ok(), on);
  }
}

// The domain of the tainted node counts only where the toleration may compare numbers.
TEST(SpreadGatesTest, TolerationOperators) {
  const api::PodPtr pod =
      Incoming({Spread("zone").Taints("Honor")}).Toleration("t", "Gt", "4", "").Obj();
  for (const bool on : {false, true}) {
    GatedSpread spread(config::Gate::kTaintTolerationComparisonOperators, on);
    ASSERT_TRUE(spread.PreFilter(*pod).ok());
    EXPECT_EQ(spread.FirstNode(*pod).ok(), !on);
  }
}

}  // namespace
}  // namespace ks::plugins
