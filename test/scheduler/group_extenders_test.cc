// SPDX-License-Identifier: Apache-2.0
// Groups of pods whose members extenders manage: asked within the cycle, one member after the
// other, each question about the view with those who were tried before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "config/gates/feature_gates.h"
#include "scheduler/rig.h"
#include "testing/deltas.h"
#include "testing/fake_extenders.h"
#include "testing/no_objects.h"

namespace ks::scheduler {
namespace {

using framework::ExtenderReply;
using framework::ExtenderRequest;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeNode;
using testing::MakePod;

constexpr char kUnit[] = "example.com/unit";  // what the extenders manage

// What a test's extenders say about one pod and the nodes that they are sent, by verb.
using Answers = std::function<json(const std::string& pod, const std::vector<std::string>& nodes)>;
struct Says {
  Answers filter{};  // empty: keeps all
  Answers prioritize{};
  std::string fails{};  // every call about this pod
  bool silent = false;  // nothing will come
};

std::vector<std::string> NodesOf(const json& request) {
  if (request["NodeNames"].is_array()) return request["NodeNames"].get<std::vector<std::string>>();
  std::vector<std::string> names;
  for (const json& node : request["Nodes"]["items"]) names.push_back(node["metadata"]["name"]);
  return names;
}

json Keeps(const std::vector<std::string>& names, const json& failed = json::object()) {
  return {{"NodeNames", names}, {"FailedNodes", failed}};
}

config::Extender AnExtender() {
  config::Extender extender;
  extender.url_prefix = "http://h:1";
  extender.filter_verb = "filter";
  extender.node_cache_capable = true;
  extender.weight = 1;
  extender.managed_resources = {{.name = kUnit}};
  return extender;
}
config::Extender Ignorable() {
  config::Extender extender = AnExtender();
  extender.ignorable = true;
  return extender;
}
config::Extender Scoring() {
  config::Extender extender = AnExtender();
  extender.prioritize_verb = "prioritize";
  extender.weight = 100;
  return extender;
}
config::Extender WithWholeNodes() {
  config::Extender extender = Scoring();
  extender.node_cache_capable = false;
  return extender;
}
config::Extender Binding() {
  config::Extender extender = AnExtender();
  extender.bind_verb = "bind";
  return extender;
}

api::NodePtr NodeOf(const std::string& name, const std::string& cpu = "2") {
  auto node = std::make_shared<api::Node>(
      *MakeNode().Name(name).Allocatable({{"cpu", cpu}, {kUnit, "9"}, {"pods", "110"}}).Obj());
  node->raw = std::make_shared<const std::string>(json({{"metadata", {{"name", name}}}}).dump());
  return node;
}

// Answers on a thread of its own, when told to or never.
class Elsewhere final : public framework::ExtenderTransport {
 public:
  ~Elsewhere() override {
    for (std::thread& thread : threads_) thread.join();
  }
  void Call(ExtenderRequest request, Done done) override {
    MutexLock lock(mutex_);
    calls_.emplace_back(std::move(request), std::move(done));
    asked_.NotifyAll();
  }
  // Each of these calls, the last one first.
  void AnswerInReverse(size_t calls) {
    threads_.emplace_back([this, calls] {
      std::vector<std::pair<ExtenderRequest, Done>> taken;
      {
        MutexLock lock(mutex_);
        while (calls_.size() < calls) asked_.Wait(mutex_);
        taken = std::exchange(calls_, {});
      }
      while (!taken.empty()) {
        auto [request, done] = std::move(taken.back());
        taken.pop_back();
        done({.error = {}, .status = 200, .body = request.verb});
      }
    });
  }
  void AwaitCalls(size_t calls) {
    MutexLock lock(mutex_);
    while (calls_.size() < calls) asked_.Wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar asked_;
  std::vector<std::pair<ExtenderRequest, Done>> calls_ KS_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

class GroupExtenders : public ::testing::Test {
 protected:
  void Start(const std::vector<config::Extender>& extenders, const std::vector<api::NodePtr>& nodes,
             Says says) {
    says_ = std::move(says);
    gates_ = std::make_unique<config::FeatureGates>(
        config::FeatureGates::Make({.feature_gates = {"GenericWorkload=true"}}, nullptr).value());
    Rig::Options options;
    options.configuration = config::DefaultConfiguration(*gates_);
    options.configuration.extenders = extenders;
    options.gates = gates_.get();
    options.extender_transport = [this](const std::vector<config::Extender>&)
        -> Result<std::shared_ptr<framework::ExtenderTransport>> {
      return transport == nullptr ? fake : transport;
    };
    fake->at_once = [this](const ExtenderRequest& request) { return Reply(request); };
    rig = std::make_unique<Rig>(std::move(options));
    testing::PostNoGroups(*rig->scheduler);
    rig->Sync(nodes);
    rig->Settle();
  }
  // Without a number: policy basic.
  void ShowGroup(std::optional<int32_t> min_count, const std::string& name = "g") {
    auto group = std::make_shared<api::PodGroup>();
    group->meta.ns = Symbol("ns");
    group->meta.name = name;
    group->meta.uid = "pg-" + name;
    group->meta.resource_version = "1";
    group->min_count = min_count;
    rig->scheduler->Post(
        GroupDeltas(std::vector<api::Delta<api::PodGroup>>{testing::Upsert<api::PodGroup>(group)}));
    rig->Settle();
  }
  static testing::PodBuilder Pod(const std::string& name, const std::string& cpu,
                                 const std::string& group) {
    auto pod = MakePod().Name(name).Req({{"cpu", cpu}, {kUnit, "1"}});
    if (!group.empty()) pod.spec().scheduling_group = group;
    return pod;
  }
  static api::PodPtr Whole(const api::PodPtr& pod) {
    auto whole = std::make_shared<api::Pod>(*pod);
    whole->raw = std::make_shared<const std::string>(
        json({{"metadata", {{"name", pod->meta.name}}}}).dump());
    return whole;
  }
  void Add(const std::string& name, const std::string& cpu, const std::string& group = "g") {
    rig->UpsertPod(Whole(Pod(name, cpu, group).Obj()));
  }
  std::string Bound() const {
    std::string text;
    for (const auto& [pod, node] : rig->Bound()) {
      text += (text.empty() ? "" : " ") + pod + "→" + node;
    }
    return text;
  }
  std::string Condition() const {
    if (rig->api.group_patches.empty()) return "";
    const api::Condition& condition = rig->api.group_patches.back().second;
    return condition.status + " " + condition.reason + ": " + condition.message;
  }
  // "filter a: n1 n2", of the calls so far.
  std::vector<std::string> Asked() const {
    std::vector<std::string> calls;
    for (const auto& call : fake->asked) {
      const json body = json::parse(call.request.body);
      std::string text = call.request.verb;
      if (!body.contains("Pod")) {
        text += " " + body["PodName"].get<std::string>() + ": " + body["Node"].get<std::string>();
      } else {
        text += " " + body["Pod"]["metadata"]["name"].get<std::string>() + ":";
        for (const std::string& node : NodesOf(body)) text += " " + node;
      }
      calls.push_back(text);
    }
    return calls;
  }

  std::shared_ptr<testing::FakeExtenders> fake = std::make_shared<testing::FakeExtenders>();
  std::shared_ptr<framework::ExtenderTransport> transport;  // null: the fake
  std::unique_ptr<Rig> rig;

 private:
  std::optional<ExtenderReply> Reply(const ExtenderRequest& request) {
    if (says_.silent) return std::nullopt;
    const json body = json::parse(request.body);
    const std::string pod = body["Pod"]["metadata"]["name"];
    if (pod == says_.fails) return ExtenderReply{.error = "no answer about " + pod};
    const bool filters = request.verb == "filter";
    const Answers& answers = filters ? says_.filter : says_.prioritize;
    json answer =
        filters ? json{{"NodeNames", body["NodeNames"]}, {"Nodes", body["Nodes"]}} : json::array();
    if (answers) answer = answers(pod, NodesOf(body));
    return ExtenderReply{.error = {}, .status = 200, .body = answer.dump()};
  }

  Says says_;
  std::unique_ptr<config::FeatureGates> gates_;
};

// ---- what an attempt comes to, two members and two nodes of two cpu each ----

using Calls = std::vector<std::string>;

struct Case {
  const char* name;
  std::vector<config::Extender> extenders;
  std::optional<int32_t> min_count;
  std::string cpu;  // of each member
  Says says;

  std::string want_bound;
  std::string want_condition;
  std::string want_of_a{};  // messages
  std::string want_of_b{};
  std::optional<Calls> want_asked{};  // absent: not looked at
};

constexpr char kNoVictims[] =
    ", pod group preemption: No preemption victims found for incoming preemptor";

const Case kCases[] = {
    {.name = "ASecondMemberIsAskedAboutWhatTheFirstLeaves",
     .extenders = {AnExtender()},
     .min_count = 2,
     .cpu = "2",
     .says = {},
     .want_bound = "a→n1 b→n2",
     .want_condition = "True Scheduled: ",
     .want_asked = Calls{"filter a: n1 n2", "filter b: n2"}},
    {.name = "AFilterTakesTheNodeOfTheQuorum",
     .extenders = {AnExtender()},
     .min_count = 2,
     .cpu = "2",
     .says = {.filter =
                  [](const std::string& pod, const std::vector<std::string>& nodes) {
                    return pod == "b" ? Keeps({}, {{"n2", "no unit"}}) : Keeps(nodes);
                  }},
     .want_bound = "",
     .want_condition = std::string("False Unschedulable: minCount (2) cannot be satisfied: 1 "
                                   "scheduled, 0 remaining") +
                       kNoVictims,
     .want_of_a = std::string("pod group is unschedulable, minCount (2) cannot be satisfied: 1 "
                              "scheduled, 0 remaining") +
                  kNoVictims,
     .want_of_b = "0/2 nodes are available: 1 Insufficient cpu, 1 no unit."},
    {.name = "ABasicGroupGoesWithoutTheOneThatIsRefused",
     .extenders = {AnExtender()},
     .min_count = std::nullopt,
     .cpu = "1",
     .says = {.filter =
                  [](const std::string& pod, const std::vector<std::string>& nodes) {
                    return pod == "a" ? Keeps({}, {{"n1", "no unit"}, {"n2", "no unit"}})
                                      : Keeps(nodes);
                  }},
     .want_bound = "b→n1",
     .want_condition = "True Scheduled: ",
     .want_of_a = "0/2 nodes are available: 2 no unit."},
    {.name = "PrioritizeDecides",
     .extenders = {Scoring()},
     .min_count = 2,
     .cpu = "1",
     .says = {.prioritize =
                  [](const std::string& pod, const std::vector<std::string>&) {
                    return json::array({{{"Host", pod == "a" ? "n2" : "n1"}, {"Score", 10}}});
                  }},
     .want_bound = "a→n2 b→n1",
     .want_condition = "True Scheduled: ",
     .want_asked =
         Calls{"filter a: n1 n2", "prioritize a: n1 n2", "filter b: n1 n2", "prioritize b: n1 n2"}},
    {.name = "APrioritizeThatFailsScoresNothing",
     .extenders = {Ignorable(), Scoring()},
     .min_count = 2,
     .cpu = "2",
     .says = {.prioritize = [](const std::string&,
                               const std::vector<std::string>&) { return json("what?"); }},
     .want_bound = "a→n1 b→n2",
     .want_condition = "True Scheduled: "},
    {.name = "WholeNodes",
     .extenders = {WithWholeNodes()},
     .min_count = 2,
     .cpu = "2",
     .says = {.prioritize =
                  [](const std::string&, const std::vector<std::string>&) {
                    return json::array({{{"Host", "n2"}, {"Score", 10}}});
                  }},
     .want_bound = "a→n2 b→n1",
     .want_condition = "True Scheduled: ",
     .want_asked = Calls{"filter a: n1 n2", "prioritize a: n1 n2", "filter b: n1"}},
    {.name = "AFailureEndsTheAttemptOfTheGroup",
     .extenders = {AnExtender()},
     .min_count = 1,
     .cpu = "1",
     .says = {.fails = "b"},
     .want_bound = "",
     .want_condition = "False SchedulerError: failed to schedule other pod from a pod group: no "
                       "answer about b",
     .want_of_a = "failed to schedule other pod from a pod group: no answer about b",
     .want_of_b = "no answer about b"},
    {.name = "AFailureThatMayBeIgnored",
     .extenders = {Ignorable()},
     .min_count = 2,
     .cpu = "2",
     .says = {.fails = "b"},
     .want_bound = "a→n1 b→n2",
     .want_condition = "True Scheduled: "},
    {.name = "NobodyIsAskedWhereNothingFits",
     .extenders = {AnExtender()},
     .min_count = 2,
     .cpu = "3",
     .says = {},
     .want_bound = "",
     .want_condition = std::string("False Unschedulable: minCount (2) cannot be satisfied: 0 "
                                   "scheduled, 1 remaining") +
                       kNoVictims,
     .want_of_a = "0/2 nodes are available: 2 Insufficient cpu.",
     .want_of_b = "minCount (2) cannot be satisfied: 0 scheduled, 1 remaining",
     .want_asked = Calls()},
};

class GroupExtendersCases : public GroupExtenders, public ::testing::WithParamInterface<Case> {};

TEST_P(GroupExtendersCases, ComesTo) {
  const Case& test = GetParam();
  Start(test.extenders, {NodeOf("n1"), NodeOf("n2")}, test.says);
  ShowGroup(test.min_count);
  Add("a", test.cpu);
  Add("b", test.cpu);
  rig->Settle();
  EXPECT_EQ(Bound(), test.want_bound);
  EXPECT_EQ(Condition(), test.want_condition);
  EXPECT_EQ(rig->LastMessage("a"), test.want_of_a);
  EXPECT_EQ(rig->LastMessage("b"), test.want_of_b);
  if (test.want_asked) {
    EXPECT_EQ(Asked(), *test.want_asked);
  }
  // Nothing of what was tried stays but what was bound.
  EXPECT_EQ(rig->scheduler->context().cluster.cache.counts().assumed_pods, rig->Bound().size());
}

INSTANTIATE_TEST_SUITE_P(Group, GroupExtendersCases, ::testing::ValuesIn(kCases),
                         [](const auto& param) { return std::string(param.param.name); });

// ---- other ways ----

TEST_F(GroupExtenders, AMemberIsBoundByItsExtender) {
  Start({Binding()}, {NodeOf("n1")}, {});
  ShowGroup(2);
  Add("a", "1");
  rig->UpsertPod(Whole([] {
    auto pod = MakePod().Name("b").Req({{"cpu", "1"}});
    pod.spec().scheduling_group = "g";
    return pod.Obj();
  }()));
  rig->Settle();
  EXPECT_THAT(Asked(), ElementsAre("filter a: n1", "bind a: n1"));
  EXPECT_EQ(Bound(), "b→n1");
  ASSERT_EQ(fake->unanswered(), 1U);
  fake->AnswerAll("{}");
  rig->Settle();
  EXPECT_EQ(rig->scheduler->context().stats.bound, 1U);
}

TEST_F(GroupExtenders, TheNominatedNodeAloneFirst) {
  Start({Scoring()}, {NodeOf("n1"), NodeOf("n2")},
        {.filter = [](const std::string& pod, const std::vector<std::string>& nodes) {
          return pod == "b" && nodes.size() == 1 ? Keeps({}) : Keeps(nodes);
        }});
  ShowGroup(2);
  rig->UpsertPod(Whole(Pod("a", "1", "g").NominatedNode("n2").Obj()));
  rig->UpsertPod(Whole(Pod("b", "1", "g").NominatedNode("n2").Obj()));
  rig->Settle();
  EXPECT_THAT(Asked(), ElementsAre("filter a: n2", "filter b: n2", "filter b: n1 n2",
                                   "prioritize b: n1 n2"));
  EXPECT_THAT(Bound(), HasSubstr("a→n2"));
}

// What would be without the victims is asked, too.
TEST_F(GroupExtenders, PreemptionAsksAboutTheRoomThatItMakes) {
  Start({AnExtender()}, {NodeOf("n1")}, {});
  rig->UpsertPod(MakePod().Name("low").Node("n1").Priority(-1).Req({{"cpu", "2"}}).Obj());
  ShowGroup(1);
  Add("a", "2");
  rig->Settle();
  EXPECT_THAT(Asked(), ElementsAre("filter a: n1"));
  ASSERT_EQ(rig->api.evictions.size(), 1U);
  EXPECT_EQ(rig->api.evictions[0].pod->meta.name, "low");
}

// The scheduler ends while it waits: nobody is told anything.
TEST_F(GroupExtenders, AWaitThatIsGivenUpLeavesNothing) {
  Start({AnExtender()}, {NodeOf("n1"), NodeOf("n2")}, {.silent = true});
  ShowGroup(2);
  Add("a", "2");
  Add("b", "2");
  rig->Settle();
  EXPECT_EQ(Bound(), "");
  EXPECT_TRUE(rig->api.group_patches.empty());
  EXPECT_TRUE(rig->api.patches.empty());
  EXPECT_TRUE(rig->api.events.empty());
  EXPECT_EQ(rig->scheduler->context().cluster.cache.counts().assumed_pods, 0U);
  EXPECT_EQ(rig->scheduler->context().cluster.cache.Find("n1")->requested().milli_cpu, 0);
  EXPECT_TRUE(rig->scheduler->context().queue.IsInFlight(Pod("a", "2", "g").Obj()->meta.uid));
}

TEST_F(GroupExtenders, AGroupDoesNotOvertakeTheLine) {
  Start({AnExtender()}, {NodeOf("n1"), NodeOf("n2")}, {});
  Add("single", "2", "");
  rig->Settle();
  ASSERT_THAT(Asked(), ElementsAre("filter single: n1 n2"));
  // No member is managed: it need not wait.
  ShowGroup(1, "others");
  auto other = MakePod().Name("other").Req({{"cpu", "100m"}});
  other.spec().scheduling_group = "others";
  rig->UpsertPod(other.Obj());
  rig->Settle();
  EXPECT_EQ(Bound(), "other→n1");
  ShowGroup(1);
  Add("a", "2");
  rig->Settle();
  EXPECT_EQ(fake->asked.size(), 1U);
  fake->AnswerAll(Keeps({"n2"}).dump());
  rig->Settle();
  EXPECT_EQ(Bound(), "other→n1 single→n2");
  EXPECT_EQ(fake->asked.size(), 1U);  // n1 is too small by now
  EXPECT_EQ(rig->LastMessage("a"), "0/2 nodes are available: 2 Insufficient cpu.");
}

// ---- over threads ----

TEST_F(GroupExtenders, StopEndsTheWait) {
  const auto elsewhere = std::make_shared<Elsewhere>();
  transport = elsewhere;
  Start({AnExtender()}, {NodeOf("n1"), NodeOf("n2")}, {});
  ShowGroup(2);
  Add("a", "2");
  Add("b", "2");
  std::thread running([this] { rig->scheduler->Run(Duration::zero()); });
  elsewhere->AwaitCalls(1);
  rig->scheduler->Stop();
  running.join();
  EXPECT_EQ(Bound(), "");
  EXPECT_TRUE(rig->api.group_patches.empty());
  EXPECT_TRUE(rig->api.events.empty());
  EXPECT_EQ(rig->scheduler->context().cluster.cache.counts().assumed_pods, 0U);
}

TEST(CallAndWait, RepliesInTheOrderOfTheRequests) {
  Elsewhere transport;
  transport.AnswerInReverse(3);
  const auto replies = transport.CallAndWait(
      {{.verb = "x", .body = {}}, {.verb = "y", .body = {}}, {.verb = "z", .body = {}}}, {});
  ASSERT_TRUE(replies);
  ASSERT_EQ(replies->size(), 3U);
  EXPECT_EQ((*replies)[0].body, "x");
  EXPECT_EQ((*replies)[2].body, "z");
}

TEST(CallAndWait, EndsWhenItIsToStop) {
  Elsewhere transport;
  std::stop_source stop;
  std::optional<std::vector<ExtenderReply>> replies(std::in_place);
  std::thread waiting(
      [&] { replies = transport.CallAndWait({{.verb = "x", .body = {}}}, stop.get_token()); });
  transport.AwaitCalls(1);
  stop.request_stop();
  waiting.join();
  EXPECT_FALSE(replies);
  transport.AnswerInReverse(1);  // too late, to nobody
}

TEST(CallAndWait, AsksNobodyAfterTheStop) {
  Elsewhere transport;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(transport.CallAndWait({{.verb = "x", .body = {}}}, stop.get_token()));
}

}  // namespace
}  // namespace ks::scheduler
