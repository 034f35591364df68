// SPDX-License-Identifier: Apache-2.0
// A whole scheduler with extenders that answer when told. Worked examples: docs/spec/cycle.md
// section 24.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "inspect/decision_json.h"
#include "scheduler/rig.h"
#include "testing/fake_extenders.h"
#include "testing/storage_builders.h"
#include "testing/test_plugins.h"

namespace ks::scheduler {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::FakeExtenders;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeNode;
using testing::MakePod;
using ::testing::StartsWith;

constexpr char kResource[] = "example.com/foo";

api::PodPtr Whole(const api::PodPtr& pod) {
  auto whole = std::make_shared<api::Pod>(*pod);
  whole->raw =
      std::make_shared<const std::string>(R"({"metadata":{"name":")" + pod->meta.name + R"("}})");
  return whole;
}
api::NodePtr WholeNode(const std::string& name, const char* cpu = "4") {
  auto node = std::make_shared<api::Node>(
      *MakeNode()
           .Name(name)
           .Allocatable({{"cpu", cpu}, {"memory", "8Gi"}, {"pods", "10"}, {kResource, "10"}})
           .Obj());
  node->raw = std::make_shared<const std::string>(R"({"metadata":{"name":")" + name +
                                                  R"("},"status":{"allocatable":{"cpu":"4",)"
                                                  R"("memory":"8Gi","pods":"10"}}})");
  return node;
}
api::PodPtr Plain(const std::string& name, const char* cpu = "1") {
  return Whole(MakePod().Name(name).Req({{"cpu", cpu}}).Obj());
}
// One that the extender of Managing() is interested in.
api::PodPtr Managed(const std::string& name, const char* cpu = "1", int32_t priority = 0) {
  return Whole(MakePod().Name(name).Priority(priority).Req({{"cpu", cpu}, {kResource, "1"}}).Obj());
}

config::Extender Filtering() {
  config::Extender extender;
  extender.url_prefix = "http://h:1";
  extender.filter_verb = "filter";
  extender.node_cache_capable = true;
  return extender;
}
config::Extender Managing() {
  config::Extender extender = Filtering();
  extender.managed_resources = {{.name = kResource}};
  return extender;
}

class ExtenderAttempt : public ::testing::Test {
 protected:
  void Make(std::vector<config::Extender> extenders, uint64_t seed = 1) {
    Rig::Options options;
    options.configuration.extenders = std::move(extenders);
    options.seed = seed;
    options.extender_transport = [this](const std::vector<config::Extender>&)
        -> Result<std::shared_ptr<framework::ExtenderTransport>> {
      fake_ = std::make_shared<FakeExtenders>();
      return std::shared_ptr<framework::ExtenderTransport>(fake_);
    };
    rig_.emplace(std::move(options));
  }
  void Begin(std::vector<api::NodePtr> nodes, std::vector<api::PodPtr> pods) {
    rig_->Sync(std::move(nodes), std::move(pods));
    rig_->Settle();
  }
  void Answer(size_t i, const std::string& body, int status = 200) {
    fake_->Answer(i, body, status);
    rig_->Settle();
  }
  std::string Reason(const std::string& pod) const {
    std::string reason;
    for (const auto& patch : rig_->api.patches) {
      if (patch.pod->meta.name == pod && patch.change.condition) {
        reason = patch.change.condition->reason;
      }
    }
    return reason;
  }

  std::shared_ptr<FakeExtenders> fake_;
  std::optional<Rig> rig_;
};

// Answers what it was asked at its end only, with an error, as a client does that stops.
class EndsWithAnswers final : public framework::ExtenderTransport {
 public:
  explicit EndsWithAnswers(int* asked) : asked_(*asked) {}
  ~EndsWithAnswers() override {
    for (const Done& done : calls_) done({.error = "over"});
  }
  void Call(framework::ExtenderRequest /*request*/, Done done) override {
    ++asked_;
    calls_.push_back(std::move(done));
  }

 private:
  int& asked_;
  std::vector<Done> calls_;
};

// An ignorable extender's failure makes the round go on to the next one, which must not be asked
// any more.
TEST_F(ExtenderAttempt, TheEndOfTheSchedulerEndsTheRound) {
  config::Extender ignorable = Filtering();
  ignorable.ignorable = true;
  for (const std::string verb : {"filter", "prioritize"}) {
    SCOPED_TRACE(verb);
    config::Extender second = ignorable;
    if (verb == "prioritize") second.filter_verb.clear();
    second.prioritize_verb = "prioritize";
    int asked = 0;
    Rig::Options options;
    options.configuration.extenders = {ignorable, second};
    options.extender_transport = [&asked](const std::vector<config::Extender>&)
        -> Result<std::shared_ptr<framework::ExtenderTransport>> {
      return std::shared_ptr<framework::ExtenderTransport>(new EndsWithAnswers(&asked));
    };
    {
      Rig rig(std::move(options));
      rig.Sync({WholeNode("n1"), WholeNode("n2")}, {Plain("p")});
      rig.Settle();
      EXPECT_EQ(asked, 1);
    }
    EXPECT_EQ(asked, 1);
  }
}

TEST_F(ExtenderAttempt, Example29NothingLeftAndNothingSaid) {
  Make({Filtering()});
  Begin({WholeNode("n1"), WholeNode("n2")}, {Plain("p")});
  ASSERT_EQ(fake_->asked.size(), 1u);
  EXPECT_EQ(fake_->asked[0].request.body,
            R"({"Pod":{"metadata":{"name":"p"}},"Nodes":null,"NodeNames":["n1","n2"]})");
  Answer(0, "{}");
  EXPECT_EQ(rig_->LastMessage("p"),
            "0/2 nodes are available: preemption: 0/2 nodes are available: 2 Preemption is not "
            "helpful for scheduling.");
  EXPECT_EQ(Reason("p"), "Unschedulable");
  EXPECT_THAT(rig_->Bound(), IsEmpty());
}

TEST_F(ExtenderAttempt, DecisionsNameWhoDroppedNodes) {
  config::Extender first = Filtering();
  first.url_prefix = "http://name:secret@h:1/a@b";
  config::Extender second = Filtering();
  second.url_prefix = "http://h:2";
  Make({first, second});
  Begin({WholeNode("n1"), WholeNode("n2"), WholeNode("n3"), WholeNode("n4")}, {Plain("p")});
  Answer(0, R"({"NodeNames":["n2"],"FailedNodes":{"n1":"no dev"},)"
            R"("FailedAndUnresolvableNodes":{"n3":"never"}})");
  Answer(1, R"({"NodeNames":[]})");
  EXPECT_EQ(Reason("p"), "Unschedulable");
  const std::vector<Decision> decisions = rig_->scheduler->context().decisions.Newest(1);
  ASSERT_EQ(decisions.size(), 1U);
  EXPECT_THAT(inspect::DecisionJson(decisions[0]),
              HasSubstr(R"("extenders":[{"extender":"http://h:1/a@b","asked":4,"kept":1,)"
                        R"("unexplained":1},{"extender":"http://h:2","asked":1,"kept":0,)"
                        R"("unexplained":1}])"));
}

TEST_F(ExtenderAttempt, Example30ReasonsOfExtenders) {
  Make({Filtering()});
  Begin({WholeNode("n1"), WholeNode("n2", "500m")}, {Plain("p")});
  Answer(0, R"({"NodeNames":[],"FailedNodes":{"n1":"no dev"}})");
  EXPECT_THAT(rig_->LastMessage("p"),
              StartsWith("0/2 nodes are available: 1 Insufficient cpu, 1 no dev."));
}

TEST_F(ExtenderAttempt, Example31HttpError) {
  Make({Filtering()});
  Begin({WholeNode("n1")}, {Plain("p")});
  Answer(0, "", 500);
  EXPECT_EQ(Reason("p"), "SchedulerError");
  EXPECT_EQ(rig_->LastMessage("p"),
            "failed filter with extender at URL http://h:1/filter, code 500");
}

TEST_F(ExtenderAttempt, NameThatWasNotSent) {
  Make({Filtering()});
  Begin({WholeNode("n1")}, {Plain("p")});
  Answer(0, R"({"NodeNames":["zz"]})");
  EXPECT_EQ(rig_->LastMessage("p"),
            "extender \"http://h:1\" claims a filtered node \"zz\" which is not found in the input "
            "node list");
}

TEST_F(ExtenderAttempt, SlowExtenderDelaysOnlyItsPods) {
  Make({Managing()});
  Begin({WholeNode("n1"), WholeNode("n2")},
        {Managed("slow"), Plain("a"), Managed("behind"), Plain("b")});
  rig_->Bind();
  EXPECT_EQ(rig_->Bound().size(), 2u);
  EXPECT_TRUE(rig_->Bound().contains("a"));
  EXPECT_TRUE(rig_->Bound().contains("b"));
  ASSERT_EQ(fake_->asked.size(), 1u) << "one attempt at a time";
  rig_->Advance(std::chrono::seconds(3));
  Answer(0, R"({"NodeNames":["n2"]})");
  EXPECT_EQ(rig_->Bound().at("slow"), "n2");
  ASSERT_EQ(fake_->asked.size(), 2u);
  EXPECT_THAT(fake_->asked[1].request.body, HasSubstr("behind"));
}

TEST_F(ExtenderAttempt, LineKeepsTheQueuesOrder) {
  Make({Managing()});
  Begin({WholeNode("n1")}, {Managed("first"), Managed("low")});
  rig_->UpsertPod(Managed("high", "1", 100));
  rig_->Settle();
  Answer(0, R"({"NodeNames":["n1"]})");
  ASSERT_EQ(fake_->asked.size(), 2u);
  EXPECT_THAT(fake_->asked[1].request.body, HasSubstr("high"));
}

TEST_F(ExtenderAttempt, ManagingEveryPodLeavesTheQueueAlone) {
  Make({Filtering()});
  Begin({WholeNode("n1")}, {Plain("a"), Plain("b")});
  EXPECT_EQ(rig_->scheduler->context().queue.stores().Pods().size(), 1u);
  Answer(0, R"({"NodeNames":["n1"]})");
  EXPECT_THAT(fake_->Verbs(), ElementsAre("0/filter", "0/filter"));
  Answer(1, R"({"NodeNames":["n1"]})");
  EXPECT_EQ(rig_->Bound().size(), 2u);
}

// Invariant 4 of docs/architecture.md.
TEST_F(ExtenderAttempt, NoPodOnANodeThatWasTakenMeanwhile) {
  Make({Managing()});
  Begin({WholeNode("n1", "1"), WholeNode("n2", "1")}, {Managed("slow")});
  rig_->UpsertPod(Plain("quick"));
  rig_->Settle();
  ASSERT_EQ(rig_->Bound().size(), 1u);
  const std::string taken = rig_->Bound().at("quick");
  const std::string free = taken == "n1" ? "n2" : "n1";
  // The extender kept only the node that is gone; the search begins anew and finds the other one.
  Answer(0, R"({"NodeNames":[")" + taken + R"("]})");
  ASSERT_EQ(fake_->asked.size(), 2u);
  EXPECT_THAT(fake_->asked[1].request.body, HasSubstr(R"("NodeNames":[")" + free + R"("])"));
  Answer(1, R"({"NodeNames":[")" + free + R"("]})");
  EXPECT_EQ(rig_->Bound().at("slow"), free);
}

// What was found for the pod's claim is out of date once somebody else bound it.
TEST_F(ExtenderAttempt, NoPodOnANodeThatItsVolumeLeftMeanwhile) {
  Make({Filtering()});
  rig_->Show<api::StorageClass>(testing::Class());
  rig_->Show<api::PersistentVolumeClaim>(testing::Claim("x"));
  const auto labeled = [](const std::string& name) {
    auto node = std::make_shared<api::Node>(*WholeNode(name));
    node->meta.labels = testing::MakeLabels({{"h", name}});
    return node;
  };
  for (const char* node : {"n1", "n2"}) {
    rig_->Show<api::PersistentVolume>(testing::VolumeOn("pv-" + std::string(node), "10Gi", node));
  }
  Begin({labeled("n1"), labeled("n2")}, {Whole(testing::PodWith({"x"}).Obj())});
  ASSERT_EQ(fake_->asked.size(), 1u);
  EXPECT_THAT(fake_->asked[0].request.body, HasSubstr(R"("NodeNames":["n1","n2"])"));
  auto bound = testing::BoundClaim("x", "pv-n1");
  bound->meta.resource_version = "6";
  rig_->Show<api::PersistentVolumeClaim>(bound);
  auto taken = testing::VolumeOn("pv-n1", "10Gi", "n1");
  taken->meta.resource_version = "8";
  taken->claim_ref = api::ClaimReference{.ns = "ns", .name = "x", .uid = "uid-x"};
  rig_->Show<api::PersistentVolume>(taken);
  rig_->Settle();
  // The extender would have had it on the other node.
  Answer(0, R"({"NodeNames":["n2"]})");
  ASSERT_EQ(fake_->asked.size(), 2u);
  EXPECT_THAT(fake_->asked[1].request.body, HasSubstr(R"("NodeNames":["n1"])"));
  Answer(1, R"({"NodeNames":["n1"]})");
  EXPECT_EQ(rig_->Bound().at("p"), "n1");
}

TEST_F(ExtenderAttempt, NodeThatLeftMeanwhile) {
  Make({Managing()});
  const api::NodePtr leaving = WholeNode("n1");
  Begin({leaving, WholeNode("n2"), WholeNode("n3", "500m")}, {Managed("p")});
  rig_->DeleteNode(leaving);
  rig_->Settle();
  Answer(0, R"({"NodeNames":["n1"]})");
  Answer(1, R"({"NodeNames":[],"FailedNodes":{"n2":"no dev"}})");
  EXPECT_THAT(rig_->LastMessage("p"),
              StartsWith("0/2 nodes are available: 1 Insufficient cpu, 1 no dev."));
}

TEST_F(ExtenderAttempt, PodDeletedMeanwhile) {
  Make({Managing()});
  const api::PodPtr pod = Managed("p");
  Begin({WholeNode("n1")}, {pod});
  rig_->DeletePod(pod);
  rig_->Settle();
  Answer(0, R"({"NodeNames":["n1"]})");
  EXPECT_THAT(rig_->Bound(), IsEmpty());
  EXPECT_THAT(rig_->api.patches, IsEmpty());
  EXPECT_FALSE(rig_->scheduler->context().queue.IsInFlight("uid-p"));
}

TEST_F(ExtenderAttempt, IgnorableOnesGoLastAndAreSkipped) {
  config::Extender ignorable = Filtering();
  ignorable.ignorable = true;
  Make({ignorable, Filtering()});
  Begin({WholeNode("n1"), WholeNode("n2")}, {Plain("p")});
  EXPECT_THAT(fake_->Verbs(), ElementsAre("1/filter"));
  Answer(0, R"({"NodeNames":["n2"]})");
  EXPECT_THAT(fake_->Verbs(), ElementsAre("1/filter", "0/filter"));
  fake_->Fail(1, "gone");
  rig_->Settle();
  EXPECT_EQ(rig_->Bound().at("p"), "n2");
}

TEST_F(ExtenderAttempt, WeightedScoresDecide) {
  config::Extender three = Filtering();
  three.filter_verb.clear();
  three.prioritize_verb = "prioritize";
  three.weight = 3;
  config::Extender one = three;
  one.weight = 1;
  Make({three, one});
  Begin({WholeNode("n1"), WholeNode("n2")}, {Plain("p")});
  EXPECT_THAT(fake_->Verbs(), ElementsAre("0/prioritize", "1/prioritize")) << "side by side";
  Answer(1, R"([{"Host":"n1","Score":20}])");
  EXPECT_THAT(rig_->Bound(), IsEmpty());
  Answer(0, R"([{"Host":"n2","Score":7},{"Host":"zz","Score":1}])");
  EXPECT_EQ(rig_->Bound().at("p"), "n2");
}

TEST_F(ExtenderAttempt, PrioritizeIsNotAskedAboutOneNode) {
  config::Extender extender = Filtering();
  extender.prioritize_verb = "prioritize";
  extender.weight = 1;
  Make({extender});
  Begin({WholeNode("n1"), WholeNode("n2")}, {Plain("p")});
  Answer(0, R"({"NodeNames":["n2"]})");
  EXPECT_THAT(fake_->Verbs(), ElementsAre("0/filter"));
  EXPECT_EQ(rig_->Bound().at("p"), "n2");
}

TEST_F(ExtenderAttempt, FailedPrioritizeGivesNoScore) {
  config::Extender extender = Filtering();
  extender.filter_verb.clear();
  extender.prioritize_verb = "prioritize";
  extender.weight = 1;
  Make({extender});
  Begin({WholeNode("n1"), WholeNode("n2")}, {Plain("p")});
  Answer(0, "", 500);
  EXPECT_EQ(rig_->Bound().at("p"), "n1") << "and ties stay in list order";
}

// n1 gets 80 from a plugin of weight 3 and 7 from an extender of weight 2: 240 + 7 * 2 * 10 = 380.
// n2 gets 100 from the plugin, 300.
TEST_F(ExtenderAttempt, Example18ExtendersScoresCountTenfold) {
  for (const auto& [score_of_n2, want] : {std::pair(3, "n1"), std::pair(5, "n2")}) {
    SCOPED_TRACE(score_of_n2);
    config::Extender extender = Filtering();
    extender.filter_verb.clear();
    extender.prioritize_verb = "prioritize";
    extender.weight = 2;
    Rig::Options options;
    options.configuration.extenders = {extender};
    config::PluginSet& score = options.configuration.profiles[0].plugins.score;
    score.disabled.push_back({"*", 0});
    score.enabled.push_back({"Scorer", 3});
    testing::PluginScript script{.name = "Scorer"};
    script.score = [](const framework::NodeInfo& node, int64_t* value) {
      *value = node.name() == "n1" ? 80 : 100;
      return framework::Status();
    };
    const testing::FactorySlot slot([script](const config::PluginArgs&, framework::Handle&)
                                        -> Result<std::unique_ptr<framework::Plugin>> {
      return std::unique_ptr<framework::Plugin>(new testing::TestPlugin<testing::Scores>(script));
    });
    ASSERT_TRUE(options.registry.Register("Scorer", slot.factory()).ok());
    const auto fake = std::make_shared<FakeExtenders>();
    options.extender_transport = [fake](const std::vector<config::Extender>&)
        -> Result<std::shared_ptr<framework::ExtenderTransport>> {
      return std::shared_ptr<framework::ExtenderTransport>(fake);
    };
    Rig rig(std::move(options));
    rig.Sync({WholeNode("n1"), WholeNode("n2")}, {Plain("p")});
    rig.Settle();
    fake->Answer(0, R"([{"Host":"n1","Score":7},{"Host":"n2","Score":)" +
                        std::to_string(score_of_n2) + "}]");
    rig.Settle();
    EXPECT_EQ(rig.Bound().at("p"), want);
  }
}

// Example 19, trap T6.
TEST_F(ExtenderAttempt, Example19WholeObjectsHideWhatRunsOnTheNodes) {
  config::Extender extender = Filtering();
  extender.node_cache_capable = false;
  std::set<std::string> chosen;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Make({extender}, seed);
    Begin({WholeNode("n1"), WholeNode("n2")},
          {MakePod().Name("load").Node("n1").Req({{"cpu", "3"}}).Obj(), Plain("p", "100m")});
    ASSERT_EQ(fake_->asked.size(), 1u);
    const std::string& body = fake_->asked[0].request.body;
    EXPECT_THAT(body, HasSubstr(R"("NodeNames":null)"));
    const size_t start = body.find(R"("Nodes":)");
    Answer(0, "{" + body.substr(start));
    chosen.insert(rig_->Bound().at("p"));
  }
  EXPECT_EQ(chosen, (std::set<std::string>{"n1", "n2"}));
}

TEST_F(ExtenderAttempt, NominatedNodeIsAskedAboutAlone) {
  Make({Filtering()});
  auto pod = Whole(MakePod().Name("p").Req({{"cpu", "1"}}).NominatedNode("n2").Obj());
  Begin({WholeNode("n1"), WholeNode("n2")}, {pod});
  EXPECT_THAT(fake_->asked[0].request.body, HasSubstr(R"("NodeNames":["n2"])"));
  Answer(0, "", 500);  // only logged
  EXPECT_THAT(fake_->asked[1].request.body, HasSubstr(R"("NodeNames":["n1","n2"])"));
  Answer(1, R"({"NodeNames":["n1"]})");
  EXPECT_EQ(rig_->Bound().at("p"), "n1");
}

TEST_F(ExtenderAttempt, EventsWakePodsThatExtendersRejected) {
  Make({Filtering()});
  Begin({WholeNode("n1")}, {Plain("p")});
  Answer(0, "{}");
  rig_->Advance(std::chrono::seconds(30));
  EXPECT_EQ(fake_->asked.size(), 1u);
  rig_->UpsertNode(WholeNode("n2"));
  rig_->Settle();
  EXPECT_EQ(fake_->asked.size(), 2u);
}

TEST_F(ExtenderAttempt, BindsInTheSchedulersPlace) {
  config::Extender extender = Filtering();
  extender.filter_verb.clear();
  extender.bind_verb = "bind";
  Make({extender});
  Begin({WholeNode("n1")}, {Plain("p")});
  ASSERT_THAT(fake_->Verbs(), ElementsAre("0/bind"));
  EXPECT_FALSE(fake_->asked[0].request.repeatable);
  EXPECT_EQ(fake_->asked[0].request.body,
            R"({"PodName":"p","PodNamespace":"ns","PodUID":"uid-p","Node":"n1"})");
  Answer(0, "{}");
  EXPECT_THAT(rig_->api.binds, IsEmpty());
  ASSERT_EQ(rig_->api.events.size(), 1u);
  EXPECT_EQ(rig_->api.events[0].note, "Successfully assigned ns/p to n1");
}

TEST_F(ExtenderAttempt, FailedBind) {
  config::Extender extender = Filtering();
  extender.filter_verb.clear();
  extender.bind_verb = "bind";
  for (const bool ignorable : {false, true}) {
    SCOPED_TRACE(ignorable);
    extender.ignorable = ignorable;
    Make({extender});
    Begin({WholeNode("n1")}, {Plain("p")});
    Answer(0, R"({"Error":"taken"})");
    EXPECT_EQ(rig_->api.binds.size(), ignorable ? 1u : 0u) << "the plugins' turn";
    EXPECT_EQ(rig_->LastMessage("p"), ignorable ? "" : "taken");
  }
}

TEST_F(ExtenderAttempt, ReloadAsksForWholeObjectsFirst) {
  Make({});
  rig_->Sync({WholeNode("n1")}, {});
  rig_->Settle();
  config::Configuration wanted = rig_->scheduler->context().configuration;
  wanted.extenders = {Managing()};
  EXPECT_EQ(rig_->scheduler->in_force().NeededWholeObjects(), WholeObjects{});
  ASSERT_TRUE(rig_->scheduler->Reload(wanted).ok());
  EXPECT_EQ(rig_->scheduler->in_force().NeededWholeObjects().pods, api::KeepRaw::kPendingPods);
  EXPECT_EQ(rig_->scheduler->in_force().NeededWholeObjects().nodes, api::KeepRaw::kNone);
  rig_->UpsertPod(Managed("p"));
  rig_->UpsertPod(Plain("a"));
  rig_->Settle();
  EXPECT_TRUE(rig_->Bound().contains("a"));
  EXPECT_THAT(fake_->asked, IsEmpty());
  rig_->Sync({WholeNode("n1")}, {Managed("p")});
  rig_->Settle();
  EXPECT_EQ(fake_->asked.size(), 1u);
  // And away with them, while one is asked: the pod goes on without.
  wanted.extenders.clear();
  ASSERT_TRUE(rig_->scheduler->Reload(wanted).ok());
  rig_->Settle();
  EXPECT_EQ(rig_->Bound().at("p"), "n1");
  Answer(0, R"({"NodeNames":["n1"]})");  // nobody listens any more
}

TEST_F(ExtenderAttempt, MissingObjectIsAnErrorAndTriedAgain) {
  Make({Filtering()});
  Begin({WholeNode("n1")}, {MakePod().Name("p").Req({{"cpu", "1"}}).Obj()});
  EXPECT_EQ(Reason("p"), "SchedulerError");
  EXPECT_THAT(rig_->LastMessage("p"), StartsWith("the whole object of pod ns/p is not at hand"));
}

struct PreemptCase {
  const char* name;
  bool ignorable;
  framework::ExtenderReply reply;
  const char* message;    // of the preemptor's condition
  const char* nominated;  // node; empty: none
};

class ExtenderPreemption : public ExtenderAttempt,
                           public ::testing::WithParamInterface<PreemptCase> {};

// Examples P23 and P24 of docs/spec/preemption.md.
TEST_P(ExtenderPreemption, Row) {
  config::Extender extender = Filtering();
  extender.filter_verb.clear();
  extender.preempt_verb = "preempt";
  extender.ignorable = GetParam().ignorable;
  Make({extender});
  Begin({WholeNode("n1", "1")},
        {MakePod().Name("v").Node("n1").Req({{"cpu", "1"}}).Obj(),
         Whole(MakePod().Name("p").Priority(10).Req({{"cpu", "1"}}).Obj())});
  ASSERT_EQ(fake_->asked.size(), 1u);
  EXPECT_EQ(fake_->asked[0].request.body,
            R"({"Pod":{"metadata":{"name":"p"}},"NodeNameToVictims":null,)"
            R"("NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"uid-v"}],"NumPDBViolations":0}}})");
  EXPECT_EQ(Reason("p"), "") << "nothing is decided yet";
  Answer(0, GetParam().reply.body, GetParam().reply.status);
  EXPECT_THAT(rig_->LastMessage("p"), HasSubstr(GetParam().message));
  EXPECT_EQ(rig_->scheduler->context().queue.nominator().NodeOf("uid-p"), GetParam().nominated);
}

// The extender is interested in pods with the resource, and asked about preemption only.
class SlowPreemption : public ExtenderAttempt {
 protected:
  static config::Extender Preempting() {
    config::Extender extender = Managing();
    extender.filter_verb.clear();
    extender.preempt_verb = "preempt";
    return extender;
  }
  static api::PodPtr Victim(const std::string& name, const std::string& node) {
    return MakePod().Name(name).Node(node).Req({{"cpu", "1"}}).Obj();
  }
  std::string Asked(size_t i) const {
    const std::string& body = fake_->asked.at(i).request.body;
    return body.substr(body.find(R"("NodeNameToMetaVictims")"));
  }
  // Leaves these nodes, with the victims that were asked about there.
  void Leave(size_t i, const std::string& node, const std::string& uid) {
    Answer(i,
           R"({"NodeNameToMetaVictims":{")" + node + R"(":{"Pods":[{"UID":")" + uid + R"("}]}}})");
  }
  std::string Nominated() {
    return std::string(rig_->scheduler->context().queue.nominator().NodeOf("uid-vip"));
  }
};

TEST_F(SlowPreemption, DelaysNobodyElse) {
  Make({Preempting()});
  Begin({WholeNode("n1", "1"), WholeNode("n2", "1")},
        {Victim("v1", "n1"), Victim("v2", "n2"), Managed("vip", "1", 10)});
  ASSERT_EQ(fake_->asked.size(), 1u);
  rig_->UpsertNode(WholeNode("n3", "500m"));
  rig_->UpsertPod(Plain("other", "500m"));
  rig_->Settle();
  EXPECT_EQ(rig_->Bound().at("other"), "n3");
  EXPECT_EQ(Reason("vip"), "");
  Leave(0, "n2", "uid-v2");
  EXPECT_EQ(Nominated(), "n2") << "what changed was another node";
  ASSERT_EQ(rig_->api.evictions.size(), 1u);
  EXPECT_EQ(rig_->api.evictions[0].pod->meta.name, "v2");
  EXPECT_EQ(fake_->asked.size(), 1u);
}

TEST_F(SlowPreemption, AsksAnewWhenTheCandidatesChanged) {
  Make({Preempting()});
  const api::PodPtr leaving = Victim("v1", "n1");
  Begin({WholeNode("n1", "1"), WholeNode("n2", "1")},
        {leaving, Victim("v2", "n2"), Managed("vip", "1", 10)});
  EXPECT_THAT(Asked(0), AllOf(HasSubstr("uid-v1"), HasSubstr("uid-v2")));
  rig_->DeletePod(leaving);
  rig_->UpsertPod(Victim("v3", "n1"));
  rig_->Settle();
  Leave(0, "n1", "uid-v1");
  EXPECT_EQ(Nominated(), "") << "v1 has left";
  EXPECT_THAT(rig_->api.evictions, IsEmpty());
  ASSERT_EQ(fake_->asked.size(), 2u);
  EXPECT_THAT(Asked(1), AllOf(HasSubstr("uid-v3"), HasSubstr("uid-v2")));
  Leave(1, "n1", "uid-v3");
  EXPECT_EQ(Nominated(), "n1");
  ASSERT_EQ(rig_->api.evictions.size(), 1u);
  EXPECT_EQ(rig_->api.evictions[0].pod->meta.name, "v3");
}

// Where everything changes all the time, what is still as it was has to do.
TEST_F(SlowPreemption, AskedThreeTimesAboutAll) {
  Make({Preempting()});
  api::PodPtr busy = Victim("b0", "n1");
  Begin({WholeNode("n1", "1"), WholeNode("n2", "1")},
        {busy, Victim("v2", "n2"), Managed("vip", "1", 10)});
  for (size_t round = 0; round < 3; ++round) {
    ASSERT_EQ(fake_->asked.size(), round + 1);
    EXPECT_EQ(Nominated(), "");
    const std::string former = busy->meta.uid;
    rig_->DeletePod(busy);
    busy = Victim("b" + std::to_string(round + 1), "n1");
    rig_->UpsertPod(busy);
    rig_->Settle();
    Answer(round, R"({"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":")" + former +
                      R"("}]},"n2":{"Pods":[{"UID":"uid-v2"}]}}})");
  }
  EXPECT_EQ(fake_->asked.size(), 3u);
  EXPECT_EQ(Nominated(), "n2");
  ASSERT_EQ(rig_->api.evictions.size(), 1u);
  EXPECT_EQ(rig_->api.evictions[0].pod->meta.name, "v2");
}

// The extender fails and is ignored, so that all candidates stay. One victim of the chosen node is
// leaving by now, and is not evicted once more.
TEST_F(SlowPreemption, WhoBeganToLeaveMeanwhileIsNotEvicted) {
  config::Extender ignorable = Preempting();
  ignorable.ignorable = true;
  Make({ignorable});
  const auto victim = [](const char* name, int32_t priority) {
    return MakePod().Name(name).Node("n1").Priority(priority).Req({{"cpu", "1"}});
  };
  Begin({WholeNode("n1", "2")},
        {victim("v1", 1).Obj(), victim("v2", 0).Obj(), Managed("vip", "2", 10)});
  ASSERT_EQ(fake_->asked.size(), 1u);
  rig_->UpsertPod(victim("v1", 1).Terminating().Obj());
  rig_->Settle();
  Answer(0, "no JSON");
  EXPECT_EQ(Nominated(), "n1");
  ASSERT_EQ(rig_->api.evictions.size(), 1u);
  EXPECT_EQ(rig_->api.evictions[0].pod->meta.name, "v2");
}

TEST_F(SlowPreemption, RoomThatCameMeanwhile) {
  Make({Preempting()});
  const api::PodPtr leaving = Victim("v1", "n1");
  Begin({WholeNode("n1", "1")}, {leaving, Managed("vip", "1", 10)});
  rig_->DeletePod(leaving);
  rig_->Settle();
  Leave(0, "n1", "uid-v1");
  EXPECT_THAT(rig_->api.evictions, IsEmpty());
  rig_->Advance(std::chrono::minutes(1));
  EXPECT_EQ(rig_->Bound().at("vip"), "n1") << "the deletion was seen while the pod was in flight";
}

TEST_F(SlowPreemption, PodDeletedMeanwhile) {
  Make({Preempting()});
  const api::PodPtr vip = Managed("vip", "1", 10);
  Begin({WholeNode("n1", "1")}, {Victim("v1", "n1"), vip});
  rig_->DeletePod(vip);
  rig_->Settle();
  Leave(0, "n1", "uid-v1");
  EXPECT_THAT(rig_->api.evictions, IsEmpty());
  EXPECT_THAT(rig_->api.patches, IsEmpty());
  EXPECT_FALSE(rig_->scheduler->context().queue.IsInFlight("uid-vip"));
}

TEST_F(SlowPreemption, OneExtenderAfterAnother) {
  config::Extender second = Preempting();
  second.url_prefix = "http://h:2";
  Make({Preempting(), second});
  Begin({WholeNode("n1", "1"), WholeNode("n2", "1")},
        {Victim("v1", "n1"), Victim("v2", "n2"), Managed("vip", "1", 10)});
  EXPECT_THAT(fake_->Verbs(), ElementsAre("0/preempt"));
  Leave(0, "n2", "uid-v2");
  EXPECT_THAT(fake_->Verbs(), ElementsAre("0/preempt", "1/preempt"));
  EXPECT_THAT(Asked(1), ::testing::Not(HasSubstr("uid-v1")));
  EXPECT_EQ(Nominated(), "");
  Leave(1, "n2", "uid-v2");
  EXPECT_EQ(Nominated(), "n2");
}

TEST_F(SlowPreemption, AReloadBeginsTheAttemptAnew) {
  Make({Preempting()});
  Begin({WholeNode("n1", "1")}, {Victim("v1", "n1"), Managed("vip", "1", 10)});
  const std::shared_ptr<FakeExtenders> former = fake_;
  config::Configuration changed = rig_->scheduler->context().configuration;
  changed.extenders[0].url_prefix = "http://h:9";
  ASSERT_TRUE(rig_->scheduler->Reload(changed).ok());
  rig_->Settle();
  ASSERT_NE(fake_, former);
  ASSERT_EQ(fake_->asked.size(), 1u);
  former->Answer(0, R"({"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"uid-v1"}]}}})");
  rig_->Settle();
  EXPECT_EQ(Nominated(), "") << "the former extender is not heard any more";
  Leave(0, "n1", "uid-v1");
  EXPECT_EQ(Nominated(), "n1");
}

framework::ExtenderReply Meta(const std::string& map) {
  return {.status = 200, .body = R"({"NodeNameToMetaVictims":)" + map + "}"};
}

INSTANTIATE_TEST_SUITE_P(
    Examples, ExtenderPreemption,
    ::testing::Values(
        PreemptCase{"Agrees", false, Meta(R"({"n1":{"Pods":[{"UID":"uid-v"}]}})"),
                    "preempting 1 victims", "n1"},
        PreemptCase{"P23", false, Meta(R"({"n1":{"Pods":[{"UID":"zz"}]}})"),
                    "preemption: extender: http://h:1 claims to preempt pod (UID: &{zz}) on node: "
                    "n1, but the pod is not found on that node",
                    ""},
        PreemptCase{"P23Ignorable", true, Meta(R"({"n1":{"Pods":[{"UID":"zz"}]}})"),
                    "preempting 1 victims", "n1"},
        PreemptCase{"P24", false, Meta(R"({"n1":{"Pods":[]}})"),
                    "preemption: expected at least one victim pod on node \"n1\"", ""},
        PreemptCase{"P24Ignorable", true, Meta(R"({"n1":{"Pods":[]}})"),
                    "preemption: no candidate node for preemption", ""},
        PreemptCase{"NothingLeft", false, Meta("{}"),
                    "preemption: no candidate node for preemption", ""},
        PreemptCase{"HttpError",
                    false,
                    {.status = 500},
                    "preemption: failed preempt with extender at URL http://h:1/preempt, code 500",
                    ""}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace ks::scheduler
