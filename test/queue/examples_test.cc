// SPDX-License-Identifier: Apache-2.0
// The worked examples of docs/spec/queue.md section 20 that concern single pods, by their numbers.

#include <gtest/gtest.h>

#include <string>

#include "queue_fixture.h"

namespace ks::queue::testing {
namespace {

using framework::QueuedPodPtr;
using ks::testing::MakePod;
using ks::testing::PodBuilder;

api::PodPtr Named(const std::string& name) { return MakePod().Name(name).Obj(); }
api::PodPtr WithPriority(const std::string& name, int32_t priority) {
  return MakePod().Name(name).Priority(priority).Obj();
}

using QueueExamplesTest = QueueTest;

TEST_F(QueueExamplesTest, Q1OneWindow) {
  SchedulingQueue& queue = Make();
  At(10.300);
  queue.Add(Named("p"));
  PopAndFail("p", {"X"});
  EXPECT_EQ(StoreOf("p"), Store::kUnschedulable);
  EXPECT_EQ(Stored("p").unschedulable_count, 1);
  At(10.500);
  Send(kNodeAdd);
  EXPECT_EQ(StoreOf("p"), Store::kBackoff);
  EXPECT_DOUBLE_EQ(Seconds(*Stored("p").backoff_expiration), 11);
  At(11.0);
  queue.FlushBackoffCompleted();
  EXPECT_EQ(StoreOf("p"), Store::kBackoff);
  At(11.999);
  queue.FlushBackoffCompleted();
  EXPECT_EQ(StoreOf("p"), Store::kBackoff);
  At(12.0);
  queue.FlushBackoffCompleted();
  EXPECT_EQ(StoreOf("p"), Store::kActive);

  const QueueStats& stats = queue.stats();
  EXPECT_EQ(Counts(stats.active.pods), "BackoffComplete=1 UnscheduledPodAdd=1");
  EXPECT_EQ(Counts(stats.unschedulable.pods), "ScheduleAttemptFailure=1");
  EXPECT_EQ(Counts(stats.backoff.pods), "NodeAdd=1");
  EXPECT_EQ(Counts(stats.active.entities), "BackoffComplete=1 UnscheduledPodAdd=1");
  EXPECT_EQ(Counts(stats.unschedulable.entities), "");
  EXPECT_EQ(Counts(stats.backoff.entities), "");
}

TEST_F(QueueExamplesTest, Q2EventAtTheEndOfTheWindow) {
  for (const bool late : {false, true}) {
    SCOPED_TRACE(late);
    SchedulingQueue& queue = Make();
    At(10.300);
    queue.Add(Named("p"));
    PopAndFail("p", {"X"});
    At(late ? 12.000 : 11.999);
    Send(kNodeAdd);
    EXPECT_EQ(StoreOf("p"), late ? Store::kActive : Store::kBackoff);
    EXPECT_EQ(Counts(queue.stats().active.pods),
              late ? "NodeAdd=1 UnscheduledPodAdd=1" : "UnscheduledPodAdd=1");
    EXPECT_EQ(Counts(queue.stats().active.entities),
              late ? "NodeAdd=1 UnscheduledPodAdd=1" : "UnscheduledPodAdd=1");
    clock_.Advance(std::chrono::milliseconds(late ? 0 : 1));
    clock_.Advance(std::chrono::seconds(48));
  }
}

TEST_F(QueueExamplesTest, Q3EffectiveWaits) {
  const struct {
    double failed;
    double free;
  } cases[] = {{10.000, 12.0}, {10.300, 12.0}, {10.999, 12.0}, {11.000, 13.0}};
  Make();
  for (const auto& c : cases) {
    SCOPED_TRACE(c.failed);
    const auto at = [this](double seconds) {
      return start_ + std::chrono::milliseconds(std::llround(seconds * 1000));
    };
    framework::QueuedPod pod(Named("p"));
    pod.timestamp = at(c.failed);
    pod.unschedulable_count = 1;
    const BackoffOptions options;
    EXPECT_TRUE(IsBackingOff(options, pod, at(c.free) - Duration(1)));
    EXPECT_FALSE(IsBackingOff(options, pod, at(c.free)));
  }
}

TEST_F(QueueExamplesTest, Q4ErrorReturn) {
  SchedulingQueue& queue = Make();
  At(10.300);
  queue.Add(Named("p"));
  PopAndFail("p", {});
  EXPECT_EQ(StoreOf("p"), Store::kErrorBackoff);
  EXPECT_EQ(Stored("p").consecutive_errors_count, 1);
  EXPECT_EQ(queue.Pop().pod, nullptr);
  At(11.0);
  queue.FlushBackoffCompleted();
  EXPECT_EQ(StoreOf("p"), Store::kErrorBackoff);
  At(12.0);
  queue.FlushBackoffCompleted();
  EXPECT_EQ(StoreOf("p"), Store::kActive);
}

TEST_F(QueueExamplesTest, Q5IdlePop) {
  SchedulingQueue& queue = Make();
  At(10.000);
  queue.Add(Named("p"));
  PopAndFail("p", {"X"});
  Send(kNodeAdd);
  EXPECT_EQ(StoreOf("p"), Store::kBackoff);
  const QueuedPodPtr pod = PopNamed("p");
  EXPECT_EQ(pod->attempts, 2);
  EXPECT_DOUBLE_EQ(Seconds(pod->timestamp), 10);
  EXPECT_DOUBLE_EQ(Seconds(*pod->backoff_expiration), 11);
  EXPECT_EQ(queue.stats().active.pods.at("PopFromBackoffQ"), 1);
  Fail(pod, {"X"});
  EXPECT_EQ(StoreOf("p"), Store::kUnschedulable);
  EXPECT_EQ(pod->unschedulable_count, 2);
  EXPECT_DOUBLE_EQ(Seconds(queue.BackoffEnd(*pod)), 12);
}

TEST_F(QueueExamplesTest, Q6OrderInBackoff) {
  SchedulingQueue& queue = Make();
  At(10.000);
  const struct {
    const char* name;
    int32_t priority;
    double at;
  } pods[] = {{"a", 0, 10.100}, {"d", 100, 10.500}, {"b", 100, 10.800}, {"c", 1000, 11.000}};
  for (const auto& p : pods) {
    queue.Add(WithPriority(p.name, p.priority));
    const QueuedPodPtr popped = PopNamed(p.name);
    At(p.at);
    Fail(popped, {"X"});
  }
  Send(kNodeAdd);
  for (const char* name : {"a", "b", "d"}) {
    EXPECT_DOUBLE_EQ(Seconds(*Stored(name).backoff_expiration), 11) << name;
  }
  EXPECT_DOUBLE_EQ(Seconds(*Stored("c").backoff_expiration), 12);
  for (const char* name : {"d", "b", "a", "c"}) PopNamed(name);
}

TEST_F(QueueExamplesTest, Q7InFlightLog) {
  Registrations registrations = DefaultRegistrations();
  registrations["X"].push_back({kAssignedPodDelete, Says(QueueingHint::kQueue)});
  SchedulingQueue& queue = Make(std::move(registrations));
  At(10.0);
  queue.Add(Named("p1"));
  queue.Add(Named("p2"));
  const QueuedPodPtr p1 = PopNamed("p1");
  Send(kNodeAdd);
  const QueuedPodPtr p2 = PopNamed("p2");
  Send(kAssignedPodDelete, [](const framework::QueuedPod&) { return false; });
  Send(kVolumeAdd);
  EXPECT_EQ(Logged(), "AssignedPodDelete NodeAdd PodPopped PodPopped");
  Fail(p1, {"Skipper"});
  EXPECT_EQ(StoreOf("p1"), Store::kUnschedulable);
  EXPECT_EQ(Logged(), "AssignedPodDelete PodPopped");
  Fail(p2, {"X"});
  EXPECT_EQ(StoreOf("p2"), Store::kBackoff) << "a pre-check does not reach pods in flight";
  EXPECT_EQ(Logged(), "");
}

TEST_F(QueueExamplesTest, Q8PendingPlugin) {
  Registrations registrations = DefaultRegistrations();
  registrations["Y"] = {{kNodeAdd, Says(QueueingHint::kQueue)}};
  SchedulingQueue& queue = Make(std::move(registrations));
  At(10.0);
  queue.Add(Named("p"));
  PopAndFail("p", {"X", "Y"}, {"Y"});
  EXPECT_EQ(Rejections(), "X=1 Y=1");
  Send(kNodeAdd);
  EXPECT_EQ(StoreOf("p"), Store::kActive);
}

TEST_F(QueueExamplesTest, Q9Gates) {
  SchedulingQueue& queue = Make();
  At(0);
  const api::PodPtr two_gates = MakePod().Name("g").Gates({"x", "y"}).Obj();
  const api::PodPtr one_gate = MakePod().Name("g").Gates({"y"}).Obj();
  queue.Add(two_gates);
  EXPECT_EQ(StoreOf("g"), Store::kUnschedulable);
  EXPECT_EQ(Stored("g").gating_plugin.view(), "SchedulingGates");
  EXPECT_EQ(queue.pending().gated, 1U);
  EXPECT_EQ(Rejections(), "SchedulingGates=1");
  At(30);
  queue.Add(Named("young"));
  queue.Update(two_gates, one_gate);
  EXPECT_EQ(StoreOf("g"), Store::kUnschedulable);
  EXPECT_EQ(Counts(queue.stats().unschedulable.pods), "UnscheduledPodAdd=1");
  At(60);
  queue.Update(one_gate, Named("g"));
  EXPECT_EQ(StoreOf("g"), Store::kActive);
  EXPECT_EQ(queue.pending().gated, 0U);
  EXPECT_EQ(queue.stats().active.pods.at("TargetPodUpdatePodSchedulingGatesEliminated"), 1);
  const QueuedPodPtr g = PopNamed("g");
  EXPECT_DOUBLE_EQ(Seconds(g->timestamp), 0);
  EXPECT_DOUBLE_EQ(Seconds(*g->initial_attempt_timestamp), 60);
  EXPECT_EQ(g->unschedulable_plugins, (std::set<std::string>{"SchedulingGates"}));
  EXPECT_EQ(g->gating_plugin.view(), "");
  EXPECT_EQ(Rejections(), "");
  PopNamed("young");
}

TEST_F(QueueExamplesTest, Q10Leftover) {
  SchedulingQueue& queue = Make();
  queue.Add(Named("p"));
  PopAndFail("p", {"X"});
  for (const double tick : {270.0, 300.0}) {
    At(tick);
    queue.FlushUnschedulableLeftover();
    EXPECT_EQ(StoreOf("p"), Store::kUnschedulable) << tick;
  }
  At(330);
  queue.FlushUnschedulableLeftover();
  EXPECT_EQ(StoreOf("p"), Store::kActive);
  EXPECT_TRUE(Stored("p").was_flushed_from_unschedulable);
  EXPECT_EQ(queue.stats().active.pods.at("UnschedulableTimeout"), 1);
}

TEST_F(QueueExamplesTest, Q11GatedLeftover) {
  SchedulingQueue& queue = Make();
  queue.Add(MakePod().Name("g").Gates({"x"}).Obj());
  At(301);
  queue.FlushUnschedulableLeftover();
  EXPECT_EQ(StoreOf("g"), Store::kUnschedulable);
  EXPECT_FALSE(Stored("g").was_flushed_from_unschedulable);
  EXPECT_DOUBLE_EQ(Seconds(*Stored("g").flush_timestamp), 301);
  EXPECT_EQ(queue.stats().unschedulable.pods.at("UnschedulableTimeout"), 1);
  for (const double tick : {331.0, 601.0}) {
    At(tick);
    queue.FlushUnschedulableLeftover();
    EXPECT_EQ(queue.stats().unschedulable.pods.at("UnschedulableTimeout"), 1) << tick;
  }
  At(602);
  queue.FlushUnschedulableLeftover();
  EXPECT_EQ(queue.stats().unschedulable.pods.at("UnschedulableTimeout"), 2);
}

TEST_F(QueueExamplesTest, Q12Activation) {
  SchedulingQueue& queue = Make();
  At(10.0);
  const api::PodPtr p = Named("p");
  queue.Add(p);
  PopAndFail("p", {"X"});
  queue.Activate({p});
  EXPECT_EQ(StoreOf("p"), Store::kActive);
  EXPECT_EQ(queue.stats().active.pods.at("ForceActivate"), 1);
  const QueuedPodPtr popped = PopNamed("p");
  queue.Activate({p});
  EXPECT_EQ(Logged(), "ForceActivate PodPopped");
  Fail(popped, {"Skipper"});
  EXPECT_EQ(StoreOf("p"), Store::kBackoff);
}

TEST_F(QueueExamplesTest, Q13UpdateInFlight) {
  for (const bool labels_change : {false, true}) {
    SCOPED_TRACE(labels_change);
    Registrations registrations = DefaultRegistrations();
    registrations["InterPodAffinity"] = {
        {TargetPod(framework::kActionUpdatePodLabel), Says(QueueingHint::kQueue)}};
    SchedulingQueue& queue = Make(std::move(registrations));
    queue.Add(Named("p"));
    const QueuedPodPtr popped = PopNamed("p");
    if (labels_change) {
      queue.Update(Named("p"), MakePod().Name("p").Labels({{"a", "1"}}).Obj());
      EXPECT_EQ(Logged(), "PodPopped TargetPodUpdatePodLabel");
    }
    Fail(popped, {"InterPodAffinity"});
    EXPECT_EQ(StoreOf("p"), labels_change ? Store::kBackoff : Store::kUnschedulable);
  }
}

TEST_F(QueueExamplesTest, Q14MixedFailures) {
  SchedulingQueue& queue = Make();
  queue.Add(Named("p"));
  const struct {
    bool error;
    int64_t unschedulable;
    int64_t errors;
    int backoff_s;
  } steps[] = {{false, 1, 0, 1}, {false, 2, 0, 2}, {true, 2, 1, 1}, {true, 2, 2, 2},
               {false, 3, 0, 4}, {true, 3, 1, 1},  {false, 4, 0, 8}};
  int attempt = 0;
  for (const auto& step : steps) {
    ++attempt;
    SCOPED_TRACE(attempt);
    At(100.0 * attempt);
    queue.FlushBackoffCompleted();
    const QueuedPodPtr pod = PopNamed("p");
    EXPECT_EQ(pod->attempts, attempt);
    Fail(pod, step.error ? std::set<std::string>{} : std::set<std::string>{"X"});
    EXPECT_EQ(pod->unschedulable_count, step.unschedulable);
    EXPECT_EQ(pod->consecutive_errors_count, step.errors);
    EXPECT_EQ(queue.BackoffEnd(*pod) - pod->timestamp, std::chrono::seconds(step.backoff_s));
    At(100.0 * attempt + 50);
    Send(kNodeAdd);
  }
}

TEST_F(QueueExamplesTest, Q15Duplicate) {
  SchedulingQueue& queue = Make();
  queue.Add(Named("p"));
  PopNamed("p");
  queue.Add(Named("p"));
  queue.Add(Named("w"));
  PopNamed("w");
  EXPECT_EQ(queue.Pop().pod, nullptr);
  EXPECT_EQ(queue.scheduling_cycle(), 2);
}

TEST_F(QueueExamplesTest, Q16Uncordon) {
  Registrations registrations = DefaultRegistrations();
  registrations["NodeUnschedulable"] = {{kNodeTaint, Says(QueueingHint::kQueue)}};
  registrations["TaintToleration"] = {{kNodeTaint, Says(QueueingHint::kQueue)}};
  SchedulingQueue& queue = Make(std::move(registrations));
  At(10.0);
  queue.Add(Named("p"));
  PopAndFail("p", {"NodeUnschedulable", "TaintToleration"});
  At(12.0);
  for (const ClusterEvent& event : {kNodeTaint, kNodeLabel, kNodeTaint}) Send(event);
  EXPECT_EQ(queue.stats().active.pods.at("NodeUpdateNodeTaint"), 1);
  EXPECT_EQ(StoreOf("p"), Store::kActive);
}

TEST_F(QueueExamplesTest, Q17ResizeOfAPendingPod) {
  std::string asked;
  Registrations registrations = DefaultRegistrations();
  registrations["NodeResourcesFit"] = {
      {TargetPod(framework::kActionUpdatePodScaleDown), Says(QueueingHint::kQueue)},
      {TargetPod(framework::kActionUpdatePodScaleUp),
       [&asked](const api::Pod&, const EventObject&, const EventObject&) -> Result<QueueingHint> {
         asked += "up";
         return QueueingHint::kSkip;
       }}};
  SchedulingQueue& queue = Make(std::move(registrations));
  At(10.0);
  const api::PodPtr before = MakePod().Name("p").Req({{"cpu", "1"}, {"memory", "1Gi"}}).Obj();
  const api::PodPtr after =
      MakePod().Name("p").Labels({{"a", "1"}}).Req({{"cpu", "2"}, {"memory", "512Mi"}}).Obj();
  queue.Add(before);
  PopAndFail("p", {"NodeResourcesFit"});
  queue.Update(before, after);
  EXPECT_EQ(StoreOf("p"), Store::kBackoff);
  EXPECT_EQ(Counts(queue.stats().backoff.pods), "TargetPodUpdatePodScaleDown=1");
  EXPECT_EQ(asked, "") << "the third event is not examined";
}

TEST_F(QueueExamplesTest, Q18Nomination) {
  api::PodPtr informer_copy;
  SchedulingQueue& queue =
      Make(DefaultRegistrations(), [&informer_copy](SchedulingQueueOptions& options) {
        options.informer = [&informer_copy](const api::Pod&) { return informer_copy; };
      });
  PodNominator& nominator = queue.nominator();
  const api::PodPtr plain = WithPriority("n", 5);
  const api::PodPtr nominated = MakePod().Name("n").Priority(5).NominatedNode("n1").Obj();
  informer_copy = plain;
  queue.Add(plain);
  PopAndFail("n", {"X"});
  nominator.AddNominatedPod(plain, framework::NominatingInfo{"n1"});
  ASSERT_EQ(nominator.NominatedPodsForNode("n1").size(), 1U);
  EXPECT_EQ(nominator.NominatedPodsForNode("n1")[0]->pod().Priority(), 5);
  queue.Update(plain, plain);
  EXPECT_EQ(nominator.NodeOf("uid-n"), "n1") << "an echo without the field";
  queue.Update(plain, nominated);
  EXPECT_EQ(nominator.NodeOf("uid-n"), "n1");
  EXPECT_EQ(nominator.NominatedPodsForNode("n1")[0]->ptr(), nominated);

  queue.Activate({nominated});
  PopNamed("n");
  ASSERT_EQ(nominator.NominatedPodsForNode("n1").size(), 1U);
  const framework::PodInfo& stub = *nominator.NominatedPodsForNode("n1")[0];
  EXPECT_EQ(stub.pod().Priority(), 0);
  EXPECT_EQ(stub.pod().meta.uid, "uid-n");
  queue.Update(nominated, plain);
  EXPECT_EQ(nominator.NodeOf("uid-n"), "n1") << "in flight";
  nominator.AddNominatedPod(plain, framework::NominatingInfo{""});
  EXPECT_FALSE(nominator.HasNominatedPods());
}

TEST_F(QueueExamplesTest, Q19UnNomination) {
  Registrations registrations = DefaultRegistrations();
  registrations["NodeResourcesFit"] = {
      {kAssignedPodDelete, Says(QueueingHint::kQueue)},
      {TargetPod(framework::kActionUpdatePodScaleDown), Says(QueueingHint::kQueue)}};
  SchedulingQueue& queue = Make(std::move(registrations));
  const api::PodPtr old_me = MakePod().Name("me").Priority(5).NominatedNode("n1").Obj();
  const api::PodPtr new_me = MakePod().Name("me").Priority(5).NominatedNode("n2").Obj();
  for (const api::PodPtr& pod : {WithPriority("lo", 1), old_me, WithPriority("hi", 9)}) {
    queue.Add(pod);
    PopAndFail(pod->meta.name, {"NodeResourcesFit"});
  }
  At(20);
  queue.Update(old_me, new_me);
  EXPECT_EQ(StoreOf("me"), Store::kUnschedulable);
  queue.MoveAllToActiveOrBackoff(
      kAssignedPodDelete, old_me, {},
      [](const framework::QueuedPod& pod) { return pod.Priority() <= 5; });
  EXPECT_EQ(StoreOf("lo"), Store::kActive);
  EXPECT_EQ(StoreOf("me"), Store::kActive);
  EXPECT_EQ(StoreOf("hi"), Store::kUnschedulable);
}

TEST_F(QueueExamplesTest, Q21AsyncPreemption) {
  Registrations registrations = DefaultRegistrations();
  registrations["NodeResourcesFit"] = {{kAssignedPodDelete, Says(QueueingHint::kQueue)}};
  registrations["DefaultPreemption"] = {{kAssignedPodDelete, Says(QueueingHint::kSkip)}};
  SchedulingQueue& queue = Make(std::move(registrations));
  bool preempting = false;
  gate_ = [&preempting](const api::Pod&) {
    if (!preempting) return framework::Status();
    return framework::Status(framework::Code::kUnschedulableAndUnresolvable,
                             {"waiting for the preemption for this pod to be finished"},
                             "DefaultPreemption");
  };
  At(10.0);
  queue.Add(Named("p"));
  const QueuedPodPtr popped = PopNamed("p");
  preempting = true;
  Fail(popped, {"NodeResourcesFit"});
  EXPECT_EQ(StoreOf("p"), Store::kUnschedulable);
  EXPECT_EQ(queue.pending().gated, 0U) << "parking does not run PreEnqueue";
  Send(kAssignedPodDelete);
  EXPECT_EQ(Stored("p").gating_plugin.view(), "DefaultPreemption");
  EXPECT_EQ(Stored("p").unschedulable_plugins,
            (std::set<std::string>{"DefaultPreemption", "NodeResourcesFit"}));
  EXPECT_EQ(queue.pending().gated, 1U);
  EXPECT_EQ(queue.stats().unschedulable.pods.at("AssignedPodDelete"), 1);
  preempting = false;
  Send(kAssignedPodDelete);
  EXPECT_EQ(pre_enqueue_first_, "DefaultPreemption");
  EXPECT_EQ(StoreOf("p"), Store::kBackoff);
  PopNamed("p");
}

TEST_F(QueueExamplesTest, Q22RecreatedInFlight) {
  SchedulingQueue& queue = Make();
  queue.Add(MakePod().Name("p").Uid("1").Obj());
  PopNamed("p");
  queue.Delete(*MakePod().Name("p").Uid("1").Obj());
  EXPECT_TRUE(queue.IsInFlight("1"));
  queue.Add(MakePod().Name("p").Uid("2").Obj());
  EXPECT_EQ(StoreOf("p"), Store::kActive);
  queue.Done("1");
  EXPECT_EQ(Logged(), "");
  EXPECT_EQ(PopNamed("p")->pod()->meta.uid, "2");
}

// docs/spec/cache.md section 17.
TEST_F(QueueExamplesTest, Ex31DeletedNominationWakesLowerOrEqualPriority) {
  Registrations registrations = DefaultRegistrations();
  registrations["X"].push_back({kAssignedPodDelete, Says(QueueingHint::kQueue)});
  SchedulingQueue& queue = Make(std::move(registrations));
  for (const int32_t priority : {4, 5, 6}) {
    const std::string name = "p" + std::to_string(priority);
    queue.Add(WithPriority(name, priority));
    PopAndFail(name, {"X"});
  }
  At(20);
  Send(kAssignedPodDelete, [](const framework::QueuedPod& pod) { return pod.Priority() <= 5; });
  EXPECT_EQ(StoreOf("p4"), Store::kActive);
  EXPECT_EQ(StoreOf("p5"), Store::kActive);
  EXPECT_EQ(StoreOf("p6"), Store::kUnschedulable);
}

}  // namespace
}  // namespace ks::queue::testing
