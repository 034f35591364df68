// SPDX-License-Identifier: Apache-2.0
// Operations of the queue that the worked examples leave out: docs/spec/queue.md sections 6, 7, 12.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "queue_fixture.h"
#include "testing/storage_builders.h"

namespace ks::queue::testing {
namespace {

using framework::QueuedPodPtr;
using ks::testing::MakePod;

api::PodPtr Named(const std::string& name) { return MakePod().Name(name).Obj(); }

using SchedulingQueueTest = QueueTest;

TEST_F(SchedulingQueueTest, PodsAddedAtOneReadingKeepTheirOrder) {
  SchedulingQueue& queue = Make();
  std::vector<std::string> want;
  for (int i = 0; i < 20; ++i) {
    want.push_back("p" + std::to_string(i));
    queue.Add(Named(want.back()));
  }
  EXPECT_EQ(Stored("p19").timestamp - Stored("p0").timestamp, Duration(19));
  for (const std::string& name : want) PopNamed(name);
  EXPECT_EQ(queue.Pop().pod, nullptr);
}

TEST_F(SchedulingQueueTest, PriorityFirst) {
  SchedulingQueue& queue = Make();
  for (const int32_t priority : {1, 9, -5, 9}) {
    queue.Add(
        MakePod().Name("p" + std::to_string(queue.pending().active)).Priority(priority).Obj());
  }
  for (const char* name : {"p1", "p3", "p0", "p2"}) PopNamed(name);
}

TEST_F(SchedulingQueueTest, UpdateOfAStoredPodReplacesItAndRestoresTheOrder) {
  SchedulingQueue& queue = Make();
  queue.Add(Named("a"));
  queue.Add(Named("b"));
  const api::PodPtr higher = MakePod().Name("b").Priority(5).Obj();
  queue.Update(Named("b"), higher);
  const QueuedPodPtr popped = PopNamed("b");
  EXPECT_EQ(popped->pod(), higher);
  EXPECT_EQ(popped->attempts, 1);
  Fail(popped, {"X"});
  Send(kNodeAdd);
  queue.Update(higher, MakePod().Name("b").Priority(7).Obj());
  EXPECT_EQ(StoreOf("b"), Store::kBackoff);
  EXPECT_EQ(Stored("b").Priority(), 7);
}

TEST_F(SchedulingQueueTest, UpdateOfAnUnknownPodAddsIt) {
  SchedulingQueue& queue = Make();
  queue.Update(Named("p"), Named("p"));
  EXPECT_EQ(StoreOf("p"), Store::kActive);
}

TEST_F(SchedulingQueueTest, UpdateWithAnotherUidIsDeleteAndAdd) {
  SchedulingQueue& queue = Make();
  const api::PodPtr first = MakePod().Name("p").Uid("1").NominatedNode("n").Obj();
  const api::PodPtr second = MakePod().Name("p").Uid("2").Obj();
  queue.Add(first);
  PopAndFail("p", {"X"});
  queue.Update(first, second);
  EXPECT_EQ(StoreOf("p"), Store::kActive);
  EXPECT_EQ(Stored("p").unschedulable_count, 0);
  EXPECT_EQ(Stored("p").pod(), second);
  EXPECT_EQ(queue.stores().Pods().size(), 1U);
  EXPECT_FALSE(queue.nominator().HasNominatedPods());
  EXPECT_EQ(Rejections(), "");
}

TEST_F(SchedulingQueueTest, StatusUpdateDoesNotUnpark) {
  SchedulingQueue& queue = Make();
  queue.Add(Named("p"));
  PopAndFail("p", {"X"});
  queue.Update(Named("p"), Named("p"));
  EXPECT_EQ(StoreOf("p"), Store::kUnschedulable);
}

TEST_F(SchedulingQueueTest, DeleteFromEveryStore) {
  SchedulingQueue& queue = Make();
  for (const char* name : {"error", "backoff", "parked"}) {
    queue.Add(Named(name));
    PopAndFail(name,
               std::string(name) == "error" ? std::set<std::string>{} : std::set<std::string>{"X"});
    if (std::string(name) == "backoff") Send(kNodeAdd);
  }
  queue.Add(Named("active"));
  queue.Add(MakePod().Name("gated").Gates({"x"}).Obj());
  EXPECT_EQ(queue.pending().Summary(), "activeQ:1; backoffQ:2; unschedulableEntities:2");
  EXPECT_EQ(Rejections(), "SchedulingGates=1 X=2");
  EXPECT_EQ(queue.stores().Pods().size(), 5U);
  for (const char* name : {"error", "backoff", "parked", "active", "gated", "unknown"}) {
    queue.Delete(*Named(name));
    EXPECT_EQ(StoreOf(name), Store::kNone);
  }
  EXPECT_EQ(queue.pending().Summary(), "activeQ:0; backoffQ:0; unschedulableEntities:0");
  EXPECT_EQ(queue.pending().gated, 0U);
  EXPECT_EQ(Rejections(), "");
}

TEST_F(SchedulingQueueTest, ReturnOfAPodThatIsStored) {
  const struct {
    const char* where;
    std::string want;
  } cases[] = {
      {"active", "Pod ns/p is already present in the active queue"},
      {"backoff", "Pod ns/p is already present in the backoff queue"},
      {"unschedulable", "Pod ns/p is already present in unschedulable queue"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.where);
    SchedulingQueue& queue = Make();
    queue.Add(MakePod().Name("p").Uid("1").Obj());
    const QueuedPodPtr popped = PopNamed("p");
    queue.Add(MakePod().Name("p").Uid("2").Obj());
    if (std::string(c.where) != "active") PopAndFail("p", {"X"});
    if (std::string(c.where) == "backoff") Send(kNodeAdd);
    const Store before = StoreOf("p");
    popped->unschedulable_plugins = {"X"};
    const Result<void> returned = queue.AddUnschedulableIfNotPresent(popped);
    ASSERT_FALSE(returned.ok());
    EXPECT_EQ(returned.error().message, c.want);
    EXPECT_EQ(StoreOf("p"), before);
    EXPECT_EQ(popped->unschedulable_count, 0);
    EXPECT_FALSE(queue.IsInFlight("1"));
  }
}

TEST_F(SchedulingQueueTest, ReturnWithoutAMarkerGoesToBackoff) {
  SchedulingQueue& queue = Make();
  queue.Add(Named("p"));
  const QueuedPodPtr popped = PopNamed("p");
  queue.Done("uid-p");
  queue.Done("uid-p");
  Fail(popped, {"X"});
  EXPECT_EQ(StoreOf("p"), Store::kBackoff);
}

TEST_F(SchedulingQueueTest, EventsBeforeThePopDoNotCount) {
  SchedulingQueue& queue = Make();
  queue.Add(Named("first"));
  queue.Add(Named("p"));
  const QueuedPodPtr first = PopNamed("first");
  Send(kNodeAdd);
  PopAndFail("p", {"X"});
  EXPECT_EQ(StoreOf("p"), Store::kUnschedulable);
  EXPECT_EQ(Logged(), "NodeAdd PodPopped");
  Fail(first, {"X"});
  EXPECT_EQ(StoreOf("first"), Store::kBackoff);
}

TEST_F(SchedulingQueueTest, ReturnClearsWhatBelongsToOneWait) {
  SchedulingQueue& queue = Make();
  queue.Add(Named("p"));
  PopAndFail("p", {"X"});
  At(400);
  queue.FlushUnschedulableLeftover();
  const QueuedPodPtr popped = PopNamed("p");
  EXPECT_TRUE(popped->was_flushed_from_unschedulable);
  Fail(popped, {"X"});
  EXPECT_FALSE(popped->was_flushed_from_unschedulable);
  EXPECT_FALSE(popped->flush_timestamp.has_value());
  EXPECT_DOUBLE_EQ(Seconds(popped->timestamp), 400);
  EXPECT_DOUBLE_EQ(Seconds(*popped->initial_attempt_timestamp), 0);
}

TEST_F(SchedulingQueueTest, LeftoverFlushTouchesPodsInFlight) {
  SchedulingQueue& queue = Make();
  queue.Add(Named("parked"));
  PopAndFail("parked", {"X"});
  queue.Add(Named("flying"));
  const QueuedPodPtr flying = PopNamed("flying");
  At(400);
  queue.FlushUnschedulableLeftover();
  EXPECT_EQ(Logged(), "PodPopped UnschedulableTimeout");
  Fail(flying, {"X"});
  EXPECT_EQ(StoreOf("flying"), Store::kBackoff);
}

TEST_F(SchedulingQueueTest, GatedPodsArePassedOverUnlessTheirGateListens) {
  Registrations registrations = DefaultRegistrations();
  registrations["SchedulingGates"].push_back({kVolumeAdd, Says(QueueingHint::kQueue)});
  SchedulingQueue& queue = Make(std::move(registrations));
  const api::PodPtr gated = MakePod().Name("g").Gates({"x"}).Obj();
  queue.Add(gated);
  Send(kNodeAdd);
  EXPECT_EQ(Counts(queue.stats().unschedulable.pods), "UnscheduledPodAdd=1");
  Send(kVolumeAdd);
  EXPECT_EQ(Counts(queue.stats().unschedulable.pods), "PersistentVolumeAdd=1 UnscheduledPodAdd=1");
  EXPECT_EQ(Counts(queue.stats().unschedulable.entities),
            "PersistentVolumeAdd=1 UnscheduledPodAdd=1");
  queue.Activate({gated});
  EXPECT_EQ(StoreOf("g"), Store::kUnschedulable);
  EXPECT_EQ(Counts(queue.stats().unschedulable.pods), "PersistentVolumeAdd=1 UnscheduledPodAdd=1")
      << "it never left the map";
  EXPECT_EQ(pre_enqueue_first_, "SchedulingGates");
  EXPECT_EQ(Rejections(), "SchedulingGates=1");
}

TEST_F(SchedulingQueueTest, AnErrorOfPreEnqueueGatesToo) {
  SchedulingQueue& queue = Make();
  gate_ = [](const api::Pod&) { return framework::Status::Error("boom").WithPlugin("G"); };
  queue.Add(Named("p"));
  EXPECT_EQ(StoreOf("p"), Store::kUnschedulable);
  EXPECT_EQ(Stored("p").gating_plugin.view(), "G");
  EXPECT_FALSE(Stored("p").initial_attempt_timestamp.has_value());
}

TEST_F(SchedulingQueueTest, ActivationFromBackoffSkipsPreEnqueue) {
  SchedulingQueue& queue = Make();
  queue.Add(Named("p"));
  PopAndFail("p", {});
  gate_ = [](const api::Pod&) {
    return framework::Status(framework::Code::kUnschedulable, {}, "G");
  };
  queue.Activate({Named("p"), Named("unknown")});
  EXPECT_EQ(StoreOf("p"), Store::kActive);
  EXPECT_EQ(Stored("p").consecutive_errors_count, 1) << "counters stay";
}

TEST_F(SchedulingQueueTest, APodIsLookedAtAgainWhateverRejectedIt) {
  SchedulingQueue& queue = Make();
  queue.Add(Named("p"));
  queue.Add(Named("q"));
  PopAndFail("p", {"Skipper"});
  PopAndFail("q", {"Skipper"});
  EXPECT_EQ(StoreOf("p"), Store::kUnschedulable);
  queue.LookAgain(Named("unknown"), framework::kLabelNominatedNodeLost);
  queue.LookAgain(Named("p"), framework::kLabelNominatedNodeLost);
  EXPECT_EQ(StoreOf("p"), Store::kBackoff);
  EXPECT_EQ(StoreOf("q"), Store::kUnschedulable);
  const EventEffect& effect =
      queue.stats().effects.find(framework::kLabelNominatedNodeLost)->second;
  EXPECT_EQ(effect.events, 1);
  EXPECT_EQ(effect.woken, 1);
}

// It comes back to backoff, and others in flight do not.
TEST_F(SchedulingQueueTest, APodInFlightIsLookedAtAgain) {
  SchedulingQueue& queue = Make();
  queue.Add(Named("p"));
  queue.Add(Named("q"));
  const framework::QueuedPodPtr p = PopNamed("p");
  const framework::QueuedPodPtr q = PopNamed("q");
  queue.LookAgain(Named("p"), framework::kLabelNominatedNodeLost);
  for (const framework::QueuedPodPtr& pod : {p, q}) {
    pod->unschedulable_plugins = {"Skipper"};
    EXPECT_TRUE(queue.AddUnschedulableIfNotPresent(pod).ok());
  }
  EXPECT_EQ(StoreOf("p"), Store::kBackoff);
  EXPECT_EQ(StoreOf("q"), Store::kUnschedulable);
}

// With no pending plugin nothing can follow that is better than backoff.
TEST_F(SchedulingQueueTest, EventsInFlightAreAskedUntilTheAnswerIsFinal) {
  const struct {
    std::set<std::string> pending;
    int want_runs;
  } cases[] = {{{}, 1}, {{"Skipper"}, 2}};
  for (const auto& c : cases) {
    int runs = 0;
    const auto count = [&runs](const api::Pod&, const EventObject&,
                               const EventObject&) -> Result<QueueingHint> {
      ++runs;
      return QueueingHint::kQueue;
    };
    Registrations registrations = DefaultRegistrations();
    registrations["Counter"] = {{kNodeAdd, count}};
    Make(std::move(registrations)).Add(Named("p"));
    const QueuedPodPtr popped = PopNamed("p");
    Send(kNodeAdd);
    Send(kNodeAdd);
    Fail(popped, {"Counter"}, c.pending);
    EXPECT_EQ(StoreOf("p"), Store::kBackoff);
    EXPECT_EQ(runs, c.want_runs);
  }
}

TEST_F(SchedulingQueueTest, EffectOfThePodsOwnChanges) {
  const ClusterEvent relabeled = TargetPod(framework::kActionUpdatePodLabel);
  SchedulingQueue& queue = Make({{"Skipper", {{relabeled, Says(QueueingHint::kSkip)}}}});
  queue.Add(Named("p"));
  PopAndFail("p", {"Skipper"});
  for (const char* value : {"a", "b", "c"}) {
    queue.Update(Stored("p").pod(), MakePod().Name("p").Labels({{"app", value}}).Obj());
  }
  const EventEffect& effect = queue.stats().effects.at(relabeled.Label());
  EXPECT_EQ(effect.events, 3);
  EXPECT_EQ(effect.woken, 0);
  EXPECT_EQ(effect.hint_runs, 3);
}

TEST_F(SchedulingQueueTest, GateOffDoesNotPopFromBackoff) {
  SchedulingQueue& queue = Make(DefaultRegistrations(), [](SchedulingQueueOptions& options) {
    options.pop_from_backoff = false;
  });
  At(10.3);
  queue.Add(Named("p"));
  PopAndFail("p", {"X"});
  gate_ = [](const api::Pod&) {
    return framework::Status(framework::Code::kUnschedulable, {}, "G");
  };
  Send(kNodeAdd);
  EXPECT_EQ(StoreOf("p"), Store::kBackoff) << "PreEnqueue is not run on the way into backoff";
  EXPECT_EQ(queue.Pop().pod, nullptr);
  EXPECT_DOUBLE_EQ(Seconds(*Stored("p").backoff_expiration), 11.3);
  At(12.0);
  queue.FlushBackoffCompleted();
  EXPECT_EQ(StoreOf("p"), Store::kUnschedulable) << "but on the way out";
  EXPECT_EQ(queue.pending().gated, 1U);
}

TEST_F(SchedulingQueueTest, BackoffOff) {
  SchedulingQueue& queue = Make(DefaultRegistrations(), [](SchedulingQueueOptions& options) {
    options.backoff_max = Duration(0);
  });
  queue.Add(Named("p"));
  PopAndFail("p", {"X"});
  Send(kNodeAdd);
  EXPECT_EQ(StoreOf("p"), Store::kActive);
  PopAndFail("p", {});
  EXPECT_EQ(StoreOf("p"), Store::kActive);
}

TEST_F(SchedulingQueueTest, Timers) {
  SchedulingQueue& queue = Make();
  EXPECT_FALSE(queue.NextTimer().has_value()) << "a standby has no timers";
  At(10.3);
  queue.StartTimers();
  EXPECT_DOUBLE_EQ(Seconds(*queue.NextTimer()), 10.3);
  queue.RunTimers();
  EXPECT_DOUBLE_EQ(Seconds(*queue.NextTimer()), 40.3);
  queue.Add(Named("p"));
  PopAndFail("p", {});
  EXPECT_DOUBLE_EQ(Seconds(*queue.NextTimer()), 12.0);
  At(12.0);
  queue.RunTimers();
  EXPECT_EQ(StoreOf("p"), Store::kActive);
  EXPECT_DOUBLE_EQ(Seconds(*queue.NextTimer()), 40.3);
  PopAndFail("p", {"X"});
  At(330);
  queue.RunTimers();
  EXPECT_EQ(StoreOf("p"), Store::kActive);
  EXPECT_DOUBLE_EQ(Seconds(*queue.NextTimer()), 360);
  queue.Close();
  EXPECT_FALSE(queue.NextTimer().has_value());
  PopNamed("p");
}

TEST_F(SchedulingQueueTest, MoveExaminesOnlyPodsThatItMayHelp) {
  Registrations registrations = DefaultRegistrations();
  int asked = 0;
  registrations["Counter"] = {
      {kNodeAdd,
       [&asked](const api::Pod&, const EventObject&, const EventObject&) -> Result<QueueingHint> {
         ++asked;
         return QueueingHint::kSkip;
       }}};
  SchedulingQueue& queue = Make(std::move(registrations));
  std::set<std::string> checked;
  const auto check = [&checked](const framework::QueuedPod& pod) {
    checked.insert(pod.pod()->meta.name);
    return pod.pod()->meta.name != "p1";
  };
  for (int i = 0; i < 10; ++i) {
    const std::string name = "p" + std::to_string(i);
    queue.Add(Named(name));
    PopAndFail(name, {i < 3 ? "Counter" : "Deaf"});
  }
  Send(kNodeAdd, check);
  EXPECT_EQ(checked, (std::set<std::string>{"p0", "p1", "p2"}));
  EXPECT_EQ(asked, 2);
  checked.clear();
  Send(kVolumeAdd, check);
  EXPECT_TRUE(checked.empty()) << "nobody registered it";
}

// docs/spec/queue.md 6.1: runs of PreEnqueue by move.
TEST_F(SchedulingQueueTest, PreEnqueueByMove) {
  for (const bool gate : {true, false}) {
    SCOPED_TRACE(gate ? "pop from backoff" : "no pop from backoff");
    int runs = 0;
    SchedulingQueue& queue =
        Make(DefaultRegistrations(), [&runs, gate](SchedulingQueueOptions& options) {
          options.pop_from_backoff = gate;
          options.observers.pre_enqueue = [&runs](std::string_view, Duration) { ++runs; };
        });
    const auto runs_of = [&runs](auto move) {
      runs = 0;
      move();
      return runs;
    };
    for (const char* name : {"p", "q"}) {
      EXPECT_EQ(runs_of([&] { queue.Add(Named(name)); }), 1);
      EXPECT_EQ(runs_of([&] { PopAndFail(name, {"X"}); }), 0) << "parking";
    }
    EXPECT_EQ(runs_of([&] { Send(kNodeAdd); }), gate ? 2 : 0) << "into backoff";
    EXPECT_EQ(StoreOf("p"), Store::kBackoff);
    EXPECT_EQ(runs_of([&] { queue.Activate({Named("p")}); }), gate ? 0 : 1);
    EXPECT_EQ(StoreOf("p"), Store::kActive);
    clock_.Advance(std::chrono::seconds(3));
    EXPECT_EQ(runs_of([&] { queue.FlushBackoffCompleted(); }), gate ? 0 : 1);
    EXPECT_EQ(StoreOf("q"), Store::kActive);
    clock_.Advance(std::chrono::seconds(57));
  }
}

// One answer serves all pods that agree in what the hint looks at.
TEST_F(SchedulingQueueTest, HintsRunOncePerSpecOrLabels) {
  const struct {
    framework::HintScope scope;
    int want_runs;
  } cases[] = {{framework::HintScope::kSpec, 2},
               {framework::HintScope::kLabels, 5},
               {framework::HintScope::kPod, 12}};
  for (const auto& c : cases) {
    int runs = 0;
    const auto count = [&runs](const api::Pod& pod, const EventObject&,
                               const EventObject&) -> Result<QueueingHint> {
      ++runs;
      return pod.Priority() == 1 ? QueueingHint::kQueue : QueueingHint::kSkip;
    };
    SchedulingQueue& queue = Make({{"Counter", {{kNodeAdd, count, c.scope}}}});
    const api::PodPtr templates[] = {MakePod().Obj(), MakePod().Priority(1).Obj()};
    for (int i = 0; i < 12; ++i) {
      // Namespaces count as labels do.
      auto pod = std::make_shared<api::Pod>(
          *MakePod().Name("p" + std::to_string(i)).Namespace(i == 0 ? "other" : "ns").Obj());
      pod->spec = templates[i % 2]->spec;
      if (i >= 6) pod->meta.labels.Set(Symbol("app"), Symbol("a"));
      queue.Add(pod);
      Fail(queue.Pop().pod, {"Counter"});
    }
    Send(kNodeAdd);
    EXPECT_EQ(runs, c.want_runs);
    EXPECT_EQ(queue.pending().unschedulable, 6U);
    const EventEffect& effect = queue.stats().effects.at("NodeAdd");
    EXPECT_EQ(effect.events, 1);
    EXPECT_EQ(effect.woken, 6);
    EXPECT_EQ(effect.hint_runs, c.want_runs);
  }
}

TEST_F(SchedulingQueueTest, AResourceClaimConcernsItsUsersUnlessItFreesDevices) {
  std::string asked;
  const auto hint = [&asked](const api::Pod& pod, const EventObject&,
                             const EventObject&) -> Result<QueueingHint> {
    asked += pod.meta.name + ' ';
    return QueueingHint::kSkip;
  };
  const ClusterEvent update{framework::EventResource::kResourceClaim, framework::kActionUpdate, {}};
  SchedulingQueue& queue = Make({{"Devices", {{update, hint, framework::HintScope::kClaims}}}});
  const auto add = [&](const std::string& name, const api::PodResourceClaim& entry,
                       const char* generated) {
    ks::testing::PodBuilder pod = MakePod().Name(name).Namespace("ns");
    pod.spec().resource_claims.push_back(entry);
    if (generated != nullptr) {
      pod.pod().status.claims.Mutable().resource_claims.push_back({entry.name, generated});
    }
    queue.Add(pod.Obj());
    Fail(queue.Pop().pod, {"Devices"});
  };
  const auto claim = [](const char* name, bool allocated) {
    auto made = std::make_shared<api::ResourceClaim>();
    made->meta.ns = Symbol("ns");
    made->meta.name = name;
    if (allocated) made->allocation = std::make_shared<api::ClaimAllocation>();
    return api::ResourceClaimPtr(made);
  };
  const auto say = [&](const char* name, bool was_allocated, bool is_allocated) {
    asked.clear();
    queue.MoveAllToActiveOrBackoff(update, claim(name, was_allocated), claim(name, is_allocated));
    return asked;
  };
  add("a", {"x", "one", ""}, nullptr);
  add("b", {"x", "", "template"}, "one");
  add("c", {"x", "", "template"}, nullptr);
  add("d", {"x", "two", ""}, nullptr);
  EXPECT_EQ(say("one", false, true), "a b ");
  EXPECT_EQ(say("none", false, true), "");
  EXPECT_EQ(say("none", true, false), "a b c d ");
}

TEST_F(SchedulingQueueTest, AClaimConcernsItsUsersOnly) {
  std::string asked;
  const auto hint = [&asked](const api::Pod& pod, const EventObject&,
                             const EventObject&) -> Result<QueueingHint> {
    asked += pod.meta.name + ' ';
    return pod.meta.name == "b" ? QueueingHint::kSkip : QueueingHint::kQueue;
  };
  SchedulingQueue& queue =
      Make({{"Volumes", {{kClaimAdd, hint, framework::HintScope::kClaims}}},
            {"Other", {{kClaimAdd, Says(QueueingHint::kQueue), framework::HintScope::kSpec}}}});
  const auto add = [&](const std::string& name, const std::vector<std::string>& claims,
                       const std::set<std::string>& rejecting) {
    auto pod = std::make_shared<api::Pod>(*ks::testing::PodWith(claims).Obj());
    pod->meta.name = pod->meta.uid = name;
    pod->meta.ns = Symbol("ns");
    queue.Add(pod);
    Fail(queue.Pop().pod, rejecting);
  };
  const auto say = [&](const std::string& claim_name) {
    asked.clear();
    const auto claim = ks::testing::Claim(claim_name);
    claim->meta.ns = Symbol("ns");
    queue.MoveAllToActiveOrBackoff(kClaimAdd, {}, api::PersistentVolumeClaimPtr(claim));
  };
  add("a", {"one", "one"}, {"Volumes"});
  for (const char* name : {"c", "b", "e"}) add(name, {"one", "two"}, {"Volumes"});
  say("none");
  EXPECT_EQ(asked, "");
  say("one");
  EXPECT_EQ(asked, "a b c e ") << "by name";
  EXPECT_EQ(StoreOf("a"), Store::kBackoff);
  EXPECT_EQ(StoreOf("b"), Store::kUnschedulable);
  say("two");
  EXPECT_EQ(asked, "b ") << "the others are not parked any more";

  // The claims of the pod's present version count.
  const api::PodPtr former = Stored("b").pod();
  auto changed = std::make_shared<api::Pod>(*former);
  changed->spec = ks::testing::PodWith({"three"}).Obj()->spec;
  queue.Update(former, changed);
  say("one");
  EXPECT_EQ(asked, "");
  say("three");
  EXPECT_EQ(asked, "b ");

  add("f", {}, {"Volumes", "Other"});
  say("none");
  EXPECT_EQ(StoreOf("f"), Store::kBackoff) << "another plugin hopes for any claim";
}

TEST_F(SchedulingQueueTest, AParkedPodIsFoundUnderItsPresentLabels) {
  const auto by_label = [](const api::Pod& pod, const EventObject&,
                           const EventObject&) -> Result<QueueingHint> {
    return pod.meta.labels.empty() ? QueueingHint::kSkip : QueueingHint::kQueue;
  };
  SchedulingQueue& queue =
      Make({{"ByLabel", {{kNodeAdd, by_label, framework::HintScope::kLabels}}}});
  const api::PodPtr plain = Named("p");
  auto labeled = std::make_shared<api::Pod>(*plain);
  labeled->meta.labels.Set(Symbol("app"), Symbol("a"));
  for (const char* name : {"p", "q"}) {
    queue.Add(Named(name));
    PopAndFail(name, {"ByLabel"});
  }
  queue.Update(plain, labeled);
  EXPECT_EQ(StoreOf("p"), Store::kUnschedulable);
  Send(kNodeAdd);
  EXPECT_EQ(StoreOf("p"), Store::kBackoff);
  EXPECT_EQ(StoreOf("q"), Store::kUnschedulable);
  queue.Delete(*Named("q"));
  EXPECT_EQ(queue.pending().unschedulable, 0U);
}

TEST_F(SchedulingQueueTest, ObserverOfPreEnqueue) {
  int runs = 0;
  SchedulingQueue& queue = Make(DefaultRegistrations(), [&runs](SchedulingQueueOptions& options) {
    options.observers.pre_enqueue = [&runs](std::string_view profile, Duration) {
      EXPECT_EQ(profile, "default-scheduler");
      ++runs;
    };
  });
  queue.Add(Named("p"));
  PopAndFail("p", {"X"});
  EXPECT_EQ(runs, 1) << "parking does not run it";
}

TEST_F(SchedulingQueueTest, NominationIsThereBeforeThePodCanBePopped) {
  SchedulingQueue& queue = Make();
  bool seen = false;
  gate_ = [&](const api::Pod&) {
    seen = queue.nominator().HasNominatedPods();
    return framework::Status();
  };
  queue.Add(MakePod().Name("p").NominatedNode("n").Obj());
  EXPECT_TRUE(seen);
  EXPECT_EQ(queue.nominator().NominatedPodsForNode("n")[0]->pod().meta.name, "p");
}

}  // namespace
}  // namespace ks::queue::testing
