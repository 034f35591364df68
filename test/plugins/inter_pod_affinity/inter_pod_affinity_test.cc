// SPDX-License-Identifier: Apache-2.0
// Arguments, error texts, hints, signature and the traps of docs/spec/plugins-crosspod.md.
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plugins/plugin_rig.h"
#include "testing/affinity_builders.h"

namespace ks::plugins {
namespace {

using framework::QueueingHint;
using testing::AffinePod;
using testing::MakeNode;
using testing::MakePod;
using testing::Term;
using testing::Texts;

const std::string kSuccess = "Success";
const std::string kAffinity =
    "UnschedulableAndUnresolvable: node(s) didn't match pod affinity rules";
const std::string kAntiAffinity = "Unschedulable: node(s) didn't match pod anti-affinity rules";
const std::string kExisting =
    "Unschedulable: node(s) didn't satisfy existing pods anti-affinity rules";

AffinePod Pod(const Texts& labels = {}, std::string_view ns = "default") {
  AffinePod pod;
  pod.Name("p").Namespace(ns).Labels(labels);
  return pod;
}
AffinePod Other(const std::string& name, const Texts& labels = {}) {
  AffinePod pod = Pod(labels);
  pod.Name(name);
  return pod;
}
Term Zone(const std::string& app) { return Term("zone").App(app); }
Term Malformed() { return Zone("x").Expression("app", "Bogus"); }
testing::NodeBuilder InZone(const std::string& name, const std::string& zone) {
  return MakeNode().Name(name).Label("zone", zone);
}

TEST(InterPodAffinityArgsTest, OutOfRangeIsRefused) {
  for (const char* weight : {"-1", "101"}) {
    const auto loaded = config::ParseConfiguration(
        R"({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",)"
        R"("profiles": [{"pluginConfig": [{"name": "InterPodAffinity", "args": )"
        R"({"hardPodAffinityWeight": )" +
        std::string(weight) + "}}]}]}");
    const auto* faults = std::get_if<config::Faults>(&loaded);
    ASSERT_NE(faults, nullptr);
    EXPECT_NE(faults->text.find("hardPodAffinityWeight: Invalid value: " + std::string(weight) +
                                ": not in valid range [0, 100]"),
              std::string::npos)
        << faults->text;
  }
}

TEST(InterPodAffinityArgsTest, WithoutArgumentsTheDefaults) {
  PluginRig rig(NewInterPodAffinity);
  rig.AddNode(InZone("a", "z1"), {Other("e").Near(Zone("p")).Obj()});
  EXPECT_EQ(rig.ScoreAll(*Pod({{"app", "p"}}).Obj()), std::vector<int64_t>{1});
}

TEST(InterPodAffinityTest, NeedsNamespacesOnly) {
  PluginRig rig(NewInterPodAffinity);
  EXPECT_EQ(rig.As<framework::OptionalKindReader>()->NeededKinds(),
            framework::OptionalKinds{framework::OptionalKind::kNamespace});
}

// Section 2.3.
TEST(InterPodAffinityTest, MalformedTermsOfTheIncomingPod) {
  const std::string bogus = "\"Bogus\" is not a valid label selector operator";
  struct Case {
    std::string name;
    AffinePod pod;
    std::string want;
  };
  const Case cases[] = {
      {"required affinity", Pod().Near(Malformed()), "requiredAffinityTerms: " + bogus},
      {"required anti-affinity", Pod().Far(Malformed()), "requiredAntiAffinityTerms: " + bogus},
      {"preferred affinity", Pod().PrefersNear(1, Malformed()), "preferredAffinityTerms: " + bogus},
      {"preferred anti-affinity", Pod().PrefersFar(1, Malformed()),
       "preferredAntiAffinityTerms: " + bogus},
      {"namespace selector", Pod().Near(Zone("x").InNamespacesWith({}, {{"team", "Bogus", {}}})),
       "requiredAffinityTerms: " + bogus},
      {"one of several terms", Pod().Near(Zone("x")).Near(Malformed()),
       "requiredAffinityTerms: " + bogus},
      {"several lists", Pod().PrefersFar(1, Malformed()).Far(Malformed()),
       "[requiredAntiAffinityTerms: " + bogus + ", preferredAntiAffinityTerms: " + bogus + "]"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PluginRig rig(NewInterPodAffinity);
    rig.AddNode(InZone("a", "z1"));
    const api::PodPtr pod = c.pod.Obj();
    EXPECT_EQ(Describe(rig.PreFilter(*pod).status),
              "UnschedulableAndUnresolvable: parsing pod: " + c.want);
    // Where PreFilter is disabled.
    const framework::Status scoring = rig.PreScore(*pod);
    EXPECT_EQ(scoring.code(), framework::Code::kError);
    EXPECT_EQ(scoring.ErrorText(), "failed to parse pod: " + c.want);
  }
}

// Trap T17.
TEST(InterPodAffinityTest, MalformedListsOfExistingPodsAreEmpty) {
  PluginRig rig(NewInterPodAffinity);
  rig.AddNode(InZone("a", "z1"),
              {Other("e").Far(Zone("p")).Far(Malformed()).PrefersNear(7, Zone("p")).Obj()});
  const api::PodPtr pod = Pod({{"app", "p"}}).Obj();
  EXPECT_TRUE(rig.PreFilter(*pod).status.IsSkip());
  EXPECT_EQ(rig.ScoreAll(*pod), std::vector<int64_t>{7});
}

TEST(InterPodAffinityTest, WithoutPreparation) {
  PluginRig rig(NewInterPodAffinity);
  const framework::NodeInfo& node = rig.AddNode(InZone("a", "z1"), {Other("e").Obj()});
  const api::PodPtr pod = Pod().Obj();
  const std::string not_found =
      "error reading \"PreFilterInterPodAffinity\" from cycleState: not found";
  const auto* filter = rig.As<framework::FilterPlugin>();
  EXPECT_EQ(filter->Filter(rig.state, *pod, node).ErrorText(), not_found);
  const auto* hooks = rig.As<framework::PreFilterExtensions>();
  EXPECT_EQ(hooks->AddPod(rig.state, *pod, *node.pods()[0], node).ErrorText(), not_found);
  EXPECT_EQ(hooks->RemovePod(rig.state, *pod, *node.pods()[0], node).ErrorText(), not_found);
  int64_t score = 0;
  EXPECT_EQ(rig.As<framework::ScorePlugin>()->Score(rig.state, *pod, node, &score).ErrorText(),
            "failed to read \"PreScoreInterPodAffinity\" from cycleState: not found");
}

// Section 3.2 and trap T1: what decides is table E, on nodes that have the key.
TEST(InterPodAffinityTest, PreFilterSkips) {
  struct Case {
    std::string name;
    AffinePod existing;
    AffinePod pod;
    bool want;
  };
  const Case cases[] = {
      {"nobody has terms", Other("e"), Pod({{"app", "x"}}), true},
      {"preferred terms only", Other("e"), Pod().PrefersNear(1, Zone("x")), true},
      {"terms without lists", Other("e"),
       [] {
         AffinePod pod = Pod();
         pod.Affinity();
         pod.AntiAffinity();
         return pod;
       }(),
       true},
      {"required affinity", Other("e"), Pod().Near(Zone("x")), false},
      {"required anti-affinity", Other("e"), Pod().Far(Zone("x")), false},
      {"repelled", Other("e").Far(Zone("x")), Pod({{"app", "x"}}), false},
      {"other labels", Other("e").Far(Zone("y")), Pod({{"app", "x"}}), true},
      {"other namespace", Other("e").Far(Zone("x")), Pod({{"app", "x"}}, "n2"), true},
      {"the node lacks the key", Other("e").Far(Term("rack").App("x")), Pod({{"app", "x"}}), true},
      {"existing affinity", Other("e").Near(Zone("x")), Pod({{"app", "x"}}), true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PluginRig rig(NewInterPodAffinity);
    rig.AddNode(InZone("a", "z1"), {c.existing.Obj()});
    EXPECT_EQ(rig.PreFilter(*c.pod.Obj()).status.IsSkip(), c.want);
  }
}

TEST(InterPodAffinityTest, DeferredPodsPassUnderTheGate) {
  for (const bool on : {false, true}) {
    testing::FakeHandle handle;
    handle.fake_gates().Set(config::Gate::kInPlacePodVerticalScalingSchedulerPreemption, on);
    const framework::NodeInfo& node = handle.fake_snapshot().Add(InZone("a", "z1").Obj());
    const auto plugin = NewInterPodAffinity({}, handle).value();
    AffinePod builder = Pod().Near(Zone("x"));
    builder.Condition({.type = "PodResizePending", .status = "True", .reason = "Deferred"});
    const api::PodPtr pod = builder.Obj();
    framework::CycleState state;
    const auto before = dynamic_cast<framework::PreFilterPlugin&>(*plugin).PreFilter(
        state, *pod, handle.snapshot());
    EXPECT_EQ(before.status.IsSkip(), on);
    EXPECT_EQ(Describe(dynamic_cast<framework::FilterPlugin&>(*plugin).Filter(state, *pod, node)),
              on ? kSuccess : kAffinity);
  }
}

// Trap T2: an entry that a simulation drives below 0 keeps the table from being empty.
TEST(InterPodAffinityTest, NegativeEntriesKeepTheFirstPodOut) {
  PluginRig rig(NewInterPodAffinity);
  rig.AddNode(InZone("a", "z1"));
  rig.AddNode(InZone("b", "z2"));
  const api::PodPtr pod = Pod({{"app", "x"}}).Near(Zone("x")).Obj();
  EXPECT_EQ(rig.FilterAll(*pod), (std::vector<std::string>{kSuccess, kSuccess}));
  const framework::PodInfo other(Other("e", {{"app", "x"}}).Obj());
  const auto* hooks = rig.As<framework::PreFilterExtensions>();
  const auto* filter = rig.As<framework::FilterPlugin>();
  framework::CycleState clone = rig.state.Clone();
  ASSERT_TRUE(hooks->RemovePod(clone, *pod, other, *rig.nodes()[0]).ok());
  EXPECT_EQ(Describe(filter->Filter(clone, *pod, *rig.nodes()[0])), kAffinity);
  EXPECT_EQ(Describe(filter->Filter(clone, *pod, *rig.nodes()[1])), kAffinity);
  ASSERT_TRUE(hooks->AddPod(clone, *pod, other, *rig.nodes()[0]).ok());
  EXPECT_EQ(Describe(filter->Filter(clone, *pod, *rig.nodes()[1])), kSuccess);
  ASSERT_TRUE(hooks->AddPod(clone, *pod, other, *rig.nodes()[0]).ok());
  EXPECT_EQ(Describe(filter->Filter(clone, *pod, *rig.nodes()[0])), kSuccess);
  EXPECT_EQ(Describe(filter->Filter(clone, *pod, *rig.nodes()[1])), kAffinity);
  // The cycle's own state is as before.
  EXPECT_EQ(Describe(filter->Filter(rig.state, *pod, *rig.nodes()[1])), kSuccess);
}

// A nominated pod repels by a key that no existing pod's terms have.
TEST(InterPodAffinityTest, AddPodWithTermsOfANewKey) {
  PluginRig rig(NewInterPodAffinity);
  rig.AddNode(InZone("a", "z1").Label("rack", "r1"));
  rig.AddNode(InZone("b", "z1").Label("rack", "r2"));
  const api::PodPtr pod = Pod({{"app", "x"}}).Far(Zone("x")).Obj();
  EXPECT_EQ(rig.FilterAll(*pod), (std::vector<std::string>{kSuccess, kSuccess}));
  const framework::PodInfo other(Other("e").Far(Term("rack").App("x")).Obj());
  framework::CycleState clone = rig.state.Clone();
  ASSERT_TRUE(
      rig.As<framework::PreFilterExtensions>()->AddPod(clone, *pod, other, *rig.nodes()[0]).ok());
  const auto* filter = rig.As<framework::FilterPlugin>();
  EXPECT_EQ(Describe(filter->Filter(clone, *pod, *rig.nodes()[0])), kExisting);
  EXPECT_EQ(Describe(filter->Filter(clone, *pod, *rig.nodes()[1])), kSuccess);
}

// Trap T24, and the own namespace of trap T5.
TEST(InterPodAffinityTest, EmptyLabelValuesAreDomains) {
  PluginRig rig(NewInterPodAffinity);
  rig.AddNode(InZone("a", ""), {Other("e", {{"app", "x"}}).Obj()});
  rig.AddNode(InZone("b", ""));
  rig.AddNode(MakeNode().Name("c"));
  EXPECT_EQ(rig.FilterAll(*Pod().Far(Zone("x")).Obj()),
            (std::vector<std::string>{kAntiAffinity, kAntiAffinity, kSuccess}));
  EXPECT_EQ(rig.FilterAll(*Pod().Far(Zone("x").In({"n2"})).Obj()),
            (std::vector<std::string>{kSuccess, kSuccess, kSuccess}));
}

// What a namespace selector meant is found anew when namespaces change.
TEST(InterPodAffinityTest, NamespacesChange) {
  PluginRig rig(NewInterPodAffinity);
  auto& namespaces = rig.handle.fake_owner_listers();
  namespaces.Add(testing::MakeNamespace("default", {}));
  rig.AddNode(InZone("a", "z1"), {Other("e", {{"app", "x"}}).Obj()});
  const api::PodPtr pod = Pod().Far(Zone("x").InNamespacesWith({{"team", "b"}})).Obj();
  EXPECT_EQ(rig.FilterAll(*pod), std::vector<std::string>{kSuccess});
  namespaces.Add(testing::MakeNamespace("default", {{"team", "b"}}));
  EXPECT_EQ(rig.FilterAll(*pod), std::vector<std::string>{kAntiAffinity});
}

// More groups of terms for one key than are asked one by one.
TEST(InterPodAffinityTest, ManyDifferentTermsRepel) {
  PluginRig rig(NewInterPodAffinity);
  std::vector<api::PodPtr> pods;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "e" + std::to_string(i);
    pods.push_back(Other(name)
                       .Far(Term("zone").Expression("app", "NotIn", {name}))
                       .PrefersNear(1, Term("zone").Expression("app", "NotIn", {name}))
                       .Obj());
  }
  rig.AddNode(InZone("a", "z1"), pods);
  rig.AddNode(InZone("b", "z2"));
  const api::PodPtr pod = Pod({{"app", "e3"}}).Obj();
  EXPECT_EQ(rig.FilterAll(*pod), (std::vector<std::string>{kExisting, kSuccess}));
  EXPECT_EQ(rig.ScoreAll(*pod), (std::vector<int64_t>{19, 0}));
}

TEST(InterPodAffinityTest, NormalizeDividesFirst) {
  PluginRig rig(NewInterPodAffinity);
  for (const char* name : {"a", "b", "c", "d", "e"}) rig.AddNode(MakeNode().Name(name));
  const api::PodPtr pod = Pod().Obj();
  EXPECT_EQ(rig.Normalized(*pod, {0, 29, 57, 58, 100}), (std::vector<int64_t>{0, 28, 56, 57, 100}));
  EXPECT_EQ(rig.Normalized(*pod, {0, 29, 50, 0, 0}), (std::vector<int64_t>{0, 57, 100, 0, 0}));
  EXPECT_EQ(rig.Normalized(*pod, {7, 7, 7, 7, 7}), (std::vector<int64_t>{0, 0, 0, 0, 0}));
  EXPECT_EQ(rig.Normalized(*pod, {}), std::vector<int64_t>{});
}

// Section 3.8.
TEST(InterPodAffinityTest, Signature) {
  const std::string ignore = R"({"ignorePreferredTermsOfExistingPods": true})";
  const api::PodPtr plain = Pod({{"b", "2"}, {"a", "1"}}).Obj();
  PluginRig rig(NewInterPodAffinity);
  EXPECT_EQ(rig.Signature(*plain), std::vector<std::string>{R"(v1.Pod.Labels={"a":"1","b":"2"})"});
  EXPECT_EQ(rig.Signature(*Pod().Obj()), std::vector<std::string>{"v1.Pod.Labels={}"});
  PluginRig ignoring(NewInterPodAffinity, ignore);
  EXPECT_TRUE(ignoring.Signature(*plain).empty());
  AffinePod empty_affinity = Pod();
  empty_affinity.Affinity();
  AffinePod empty_anti_affinity = Pod();
  empty_anti_affinity.AntiAffinity();
  for (const AffinePod& pod : {empty_affinity, empty_anti_affinity}) {
    for (PluginRig* each : {&rig, &ignoring}) {
      std::vector<framework::SignFragment> fragments;
      EXPECT_EQ(Describe(each->As<framework::SignPlugin>()->Sign(*pod.Obj(), &fragments)),
                "Unschedulable: pods with InterPodAffinity are not signable");
    }
  }
}

// Section 3.10; queue.md 10.13.
class InterPodAffinityHintsTest : public ::testing::Test {
 protected:
  using Hint = Result<QueueingHint>;

  static bool Queues(const Hint& hint) {
    return !hint.ok() || hint.value() == QueueingHint::kQueue;
  }
  bool PodEvent(const AffinePod& pod, const api::PodPtr& before, const api::PodPtr& after) {
    return Queues(registrations_[0].hint(*pod.Obj(), Object(before), Object(after)));
  }
  bool NodeEvent(const AffinePod& pod, const api::NodePtr& before, const api::NodePtr& after) {
    return Queues(registrations_[2].hint(*pod.Obj(), Object(before), Object(after)));
  }

  bool NamespaceEvent(const AffinePod& pod, const api::NamespacePtr& before,
                      const api::NamespacePtr& after) {
    return Queues(registrations_[3].hint(*pod.Obj(), Object(before), Object(after)));
  }

  PluginRig rig_{NewInterPodAffinity};
  const std::vector<framework::EventRegistration> registrations_ =
      rig_.As<framework::EnqueueExtensions>()->EventsToRegister();

 private:
  template <class T>
  static framework::EventObject Object(const T& pointer) {
    if (pointer == nullptr) return {};
    return pointer;
  }
};

api::PodPtr Placed(const Texts& labels, std::string_view ns = "default") {
  AffinePod pod = Pod(labels, ns);
  pod.Node("n");
  return pod.Obj();
}
const api::PodPtr kPlacedX = Placed({{"app", "x"}});
const api::PodPtr kPlacedY = Placed({{"app", "y"}});

TEST_F(InterPodAffinityHintsTest, Registrations) {
  EXPECT_EQ(rig_.Events(), (std::vector<std::string>{"AssignedPod/515", "TargetPod/512", "Node/9",
                                                     "Namespace/32767"}));
  EXPECT_FALSE(registrations_[1].hint) << "the pod's own labels always count";
}

TEST_F(InterPodAffinityHintsTest, PodAdded) {
  const AffinePod near = Pod().Near(Zone("x"));
  EXPECT_TRUE(PodEvent(near, nullptr, kPlacedX));
  EXPECT_FALSE(PodEvent(near, nullptr, kPlacedY));
  EXPECT_FALSE(PodEvent(Pod().Near(Zone("x")).Near(Term("host").App("y")), nullptr, kPlacedX));
  EXPECT_FALSE(PodEvent(Pod(), nullptr, kPlacedX));
  EXPECT_FALSE(PodEvent(Pod().Far(Zone("x")), nullptr, kPlacedX));
  EXPECT_FALSE(PodEvent(near, nullptr, Pod({{"app", "x"}}).Obj()))
      << "neither placed nor nominated";
  AffinePod nominated = Pod({{"app", "x"}});
  nominated.NominatedNode("n");
  EXPECT_TRUE(PodEvent(near, nullptr, nominated.Obj()));
  EXPECT_TRUE(PodEvent(Pod().Near(Malformed()), nullptr, kPlacedX)) << "an error queues";
}

// What is remembered of such specs is not taken for another one's at the same address.
TEST_F(InterPodAffinityHintsTest, SpecsOfManyTerms) {
  AffinePod sound = Pod();
  for (int i = 0; i < 40; ++i) sound.Near(Zone("y")).PrefersFar(1, Zone("z"));
  AffinePod unsound = sound;
  unsound.PrefersNear(1, Malformed());
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(PodEvent(sound, nullptr, kPlacedX));
    EXPECT_TRUE(PodEvent(sound, nullptr, kPlacedY));
    EXPECT_TRUE(PodEvent(unsound, nullptr, kPlacedX)) << "an error queues";
  }
  const api::PodPtr waits = sound.Obj();
  for (int i = 0; i < 3; ++i) {
    const Hint hint = registrations_[0].hint(*waits, {}, framework::EventObject(kPlacedX));
    EXPECT_FALSE(Queues(hint));
  }
}

TEST_F(InterPodAffinityHintsTest, PodDeleted) {
  EXPECT_TRUE(PodEvent(Pod().Far(Zone("x")), kPlacedX, nullptr));
  EXPECT_FALSE(PodEvent(Pod().Far(Zone("x")), kPlacedY, nullptr));
  EXPECT_FALSE(PodEvent(Pod().Near(Zone("x")), kPlacedX, nullptr));
  AffinePod repelling = Other("e").Far(Zone("x"));
  EXPECT_FALSE(PodEvent(Pod({{"app", "x"}}), repelling.Obj(), nullptr)) << "was nowhere";
  repelling.Node("n");
  EXPECT_TRUE(PodEvent(Pod({{"app", "x"}}), repelling.Obj(), nullptr));
  EXPECT_FALSE(PodEvent(Pod({{"app", "y"}}), repelling.Obj(), nullptr));
}

TEST_F(InterPodAffinityHintsTest, PodLabelsUpdated) {
  EXPECT_TRUE(PodEvent(Pod().Near(Zone("x")), kPlacedY, kPlacedX));
  EXPECT_FALSE(PodEvent(Pod().Near(Zone("x")), kPlacedX, kPlacedY));
  EXPECT_FALSE(PodEvent(Pod().Near(Zone("x")), kPlacedX, kPlacedX));
  EXPECT_TRUE(PodEvent(Pod().Far(Zone("x")), kPlacedX, kPlacedY));
  EXPECT_FALSE(PodEvent(Pod().Far(Zone("x")), kPlacedY, kPlacedX));
  EXPECT_FALSE(PodEvent(Pod().Far(Zone("x")).Far(Zone("y")), kPlacedX, kPlacedY))
      << "still matches some term";
  EXPECT_FALSE(PodEvent(Pod(), kPlacedX, kPlacedY));
}

// Trap T25: selectors for namespaces meet a namespace without labels.
TEST_F(InterPodAffinityHintsTest, NamespaceSelectorsAreNotExpanded) {
  rig_.handle.fake_owner_listers().Add(testing::MakeNamespace("default", {{"team", "b"}}));
  const auto near = [](Term term) { return Pod({}, "n2").Near(term); };
  EXPECT_FALSE(PodEvent(near(Zone("x").InNamespacesWith({{"team", "b"}})), nullptr, kPlacedX));
  EXPECT_TRUE(PodEvent(near(Zone("x").In({"default"}).InNamespacesWith({{"team", "b"}})), nullptr,
                       kPlacedX));
  EXPECT_TRUE(PodEvent(near(Zone("x").InNamespacesWith({})), nullptr, kPlacedX));
  EXPECT_TRUE(PodEvent(near(Zone("x").InNamespacesWith({}, {{"team", "DoesNotExist", {}}})),
                       nullptr, kPlacedX));
  EXPECT_FALSE(PodEvent(near(Zone("x")), nullptr, kPlacedX));
}

// Not upstream's.
TEST_F(InterPodAffinityHintsTest, Namespaces) {
  const api::NamespacePtr a = testing::MakeNamespace("n2", {{"team", "a"}});
  const api::NamespacePtr b = testing::MakeNamespace("n2", {{"team", "b"}});
  const auto of_team = [](const std::string& team) {
    return Zone("x").InNamespacesWith({{"team", team}});
  };
  for (const AffinePod& pod : {Pod().Near(of_team("b")), Pod().Far(of_team("b")),
                               Pod().Far(Zone("y")).Far(of_team("b"))}) {
    EXPECT_TRUE(NamespaceEvent(pod, a, b));
    EXPECT_TRUE(NamespaceEvent(pod, b, a));
    EXPECT_TRUE(NamespaceEvent(pod, nullptr, b));
    EXPECT_TRUE(NamespaceEvent(pod, b, nullptr));
    EXPECT_FALSE(NamespaceEvent(pod, nullptr, a)) << "selected neither before nor after";
    EXPECT_FALSE(NamespaceEvent(pod, a, nullptr)) << "selected neither before nor after";
  }
  EXPECT_FALSE(NamespaceEvent(Pod().Near(of_team("c")), a, b));
  EXPECT_FALSE(NamespaceEvent(Pod().Near(Zone("x").InNamespacesWith({})), a, b)) << "any will do";
  EXPECT_FALSE(NamespaceEvent(Pod().Near(Zone("x").In({"n2"})), a, b)) << "by name";
  EXPECT_FALSE(NamespaceEvent(Pod().PrefersNear(1, of_team("b")), a, b)) << "does not reject";
  EXPECT_TRUE(NamespaceEvent(Pod({}, "n2"), a, b)) << "others may repel pods of this team";
  EXPECT_TRUE(NamespaceEvent(Pod().Far(Malformed()), a, b)) << "an error queues";
  EXPECT_TRUE(NamespaceEvent(Pod(), nullptr, nullptr)) << "of an unknown namespace";
}

TEST_F(InterPodAffinityHintsTest, Nodes) {
  const api::NodePtr z1 = InZone("n", "z1").Obj();
  const api::NodePtr z2 = InZone("n", "z2").Obj();
  const api::NodePtr bare = MakeNode().Name("n").Obj();
  const AffinePod near = Pod().Near(Term("rack").App("x")).Near(Zone("x"));
  EXPECT_TRUE(NodeEvent(near, nullptr, z1)) << "has some key";
  EXPECT_FALSE(NodeEvent(near, nullptr, bare));
  EXPECT_TRUE(NodeEvent(near, bare, z1));
  EXPECT_TRUE(NodeEvent(near, z1, z2));
  EXPECT_FALSE(NodeEvent(near, z1, z1));
  EXPECT_FALSE(NodeEvent(near, z1, bare));
  const AffinePod far = Pod().Far(Zone("x"));
  EXPECT_TRUE(NodeEvent(far, nullptr, bare)) << "any new node may do";
  EXPECT_FALSE(NodeEvent(far, bare, z1));
  EXPECT_TRUE(NodeEvent(far, z1, z2));
  EXPECT_FALSE(NodeEvent(far, z1, z1));
  EXPECT_TRUE(NodeEvent(far, z1, bare));
  EXPECT_FALSE(NodeEvent(Pod(), nullptr, z1)) << "repelled by existing pods only";
  EXPECT_TRUE(NodeEvent(Pod().Far(Malformed()), z1, z1)) << "an error queues";
}

struct FixCase {
  std::string name;
  AffinePod incoming;
  AffinePod joins;  // node a, after the state was fixed
  std::string before;
  std::string after;  // where nothing was fixed
};

std::vector<FixCase> FixCases() {
  return {
      {"affinity", Pod().Near(Zone("x")), Other("j", {{"app", "x"}}), kAffinity, kSuccess},
      {"affinity, matches itself", Pod({{"app", "x"}}).Near(Zone("x")), Other("j", {{"app", "x"}}),
       kSuccess, kSuccess},
      {"anti-affinity", Pod().Far(Zone("x")), Other("j", {{"app", "x"}}), kSuccess, kAntiAffinity},
      {"anti-affinity of another", Pod({{"app", "p"}}), Other("j").Far(Zone("p")), kSuccess,
       kExisting},
  };
}

TEST(InterPodAffinityFixedState, StaysWhatItWas) {
  for (const FixCase& c : FixCases()) {
    SCOPED_TRACE(c.name);
    PluginRig rig(NewInterPodAffinity);
    // Somebody who asks, so that there is something to count.
    framework::NodeInfo& node =
        rig.AddNode(InZone("a", "z1"), {Other("e").Far(Zone("none")).Obj()});
    rig.AddNode(InZone("b", "z2"), {Other("f", {{"app", "p"}}).Far(Zone("p")).Obj()});
    const api::PodPtr pod = AffinePod(c.incoming).Obj();
    ASSERT_EQ(rig.FilterAll(*pod)[0], c.before);
    framework::CycleState following = rig.state.Clone();
    rig.state.Fix(node);
    const auto joined = std::make_shared<framework::PodInfo>(AffinePod(c.joins).Obj());
    node.AddPod(joined);
    rig.handle.fake_snapshot().log().Append(framework::Change::Kind::kPodAdded, node.slot(),
                                            joined);
    framework::CycleState other;
    auto* filter = rig.As<framework::FilterPlugin>();
    rig.As<framework::PreFilterPlugin>()->PreFilter(other, *pod, rig.handle.snapshot());
    EXPECT_EQ(Describe(filter->Filter(rig.state, *pod, node)), c.before);
    EXPECT_EQ(Describe(filter->Filter(following, *pod, node)), c.after);
  }
}

// The pod that matches its own terms passes as long as nobody else does anywhere.
TEST(InterPodAffinityFixedState, CountsOnForSimulations) {
  PluginRig rig(NewInterPodAffinity);
  framework::NodeInfo& a = rig.AddNode(InZone("a", "z1"));
  framework::NodeInfo& b = rig.AddNode(InZone("b", "z2"));
  const api::PodPtr pod = Pod({{"app", "x"}}).Near(Zone("x")).Obj();
  ASSERT_EQ(rig.FilterAll(*pod)[0], kSuccess);
  rig.state.Fix(a);
  const framework::PodInfo other(Other("o", {{"app", "x"}}).Obj());
  auto* extensions = rig.As<framework::PreFilterExtensions>();
  auto* filter = rig.As<framework::FilterPlugin>();
  ASSERT_TRUE(extensions->AddPod(rig.state, *pod, other, b).ok());
  EXPECT_EQ(Describe(filter->Filter(rig.state, *pod, a)), kAffinity);
  ASSERT_TRUE(extensions->RemovePod(rig.state, *pod, other, b).ok());
  EXPECT_EQ(Describe(filter->Filter(rig.state, *pod, a)), kSuccess);
}

}  // namespace
}  // namespace ks::plugins
