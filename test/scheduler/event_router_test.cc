// SPDX-License-Identifier: Apache-2.0
// What an event of a pod does to others: repeated events do nothing, a deletion is worked on once,
// a freed nomination wakes whom it held back, and every other kind is heard of (docs/spec/cache.md
// section 11).
#include "scheduler/event_router.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache/optional_deltas.h"
#include "scheduler/preemption_rig.h"
#include "testing/deltas.h"
#include "testing/test_plugins.h"

namespace ks::scheduler {
namespace {

using framework::Code;
using framework::EventResource;
using framework::PermitResult;
using framework::Status;
using ks::testing::Events;
using ks::testing::Filters;
using ks::testing::MakePod;
using ks::testing::Permits;
using ks::testing::PodBuilder;
using ks::testing::Says;
using ks::testing::TestProfile;
using std::chrono::seconds;
using Texts = std::vector<std::string>;

// How often the events of this label were worked on.
std::string Handled(const Rig& rig, const std::string& label) {
  const std::string series =
      "\nscheduler_event_handling_duration_seconds_count{event=\"" + label + "\"} ";
  const std::string text = rig.metrics_registry.Text();
  const size_t line = text.find(series);
  if (line == std::string::npos) return "0";
  const size_t begin = line + series.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

// The pods that wait for an event, by name.
Texts Parked(const Rig& rig) {
  Texts names;
  for (const auto& queued :
       rig.scheduler->context().queue.stores().PodsIn(queue::Store::kUnschedulable)) {
    names.push_back(queued->pod()->meta.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

class EventRouterTest : public ::testing::Test {
 protected:
  // Plugins of the test alone, on one node.
  void Start(std::vector<api::PodPtr> pods) {
    Rig::Options options;
    options.registry = profile_.registry().registry();
    options.configuration.profiles = {profile_.profile()};
    rig_ = std::make_unique<Rig>(std::move(options));
    ASSERT_NE(rig_->scheduler, nullptr);
    rig_->Sync({CpuNode("n1", "4").Obj()}, std::move(pods));
    rig_->Settle();
  }

  TestProfile profile_;
  std::unique_ptr<Rig> rig_;
};

// A list after a broken watch shows every pod again. What waits for any change of its pod must not
// be woken by that.
TEST_F(EventRouterTest, AnUpdateWithAnEqualVersionIsNone) {
  profile_.Add<Filters, Events>(
      {.name = "F",
       .filter = Says(Status(Code::kUnschedulable, {"no"})),
       .events = {{{EventResource::kTargetPod, framework::kActionUpdate, {}}, {}}}});
  PodBuilder pod = MakePod().Name("p").ResourceVersion("7");
  Start({pod.Obj()});
  ASSERT_EQ(Parked(*rig_), Texts{"p"});
  const uint64_t attempts = rig_->scheduler->context().stats.attempts;
  rig_->scheduler->Post(PodDeltas{testing::Replace<api::Pod>({pod.Obj()})});
  rig_->Settle();
  EXPECT_EQ(Parked(*rig_), Texts{"p"});
  EXPECT_EQ(Handled(*rig_, "UnscheduledPodUpdate"), "0");
  rig_->Advance(seconds(2));
  EXPECT_EQ(rig_->scheduler->context().stats.attempts, attempts);
  rig_->UpsertPod(pod.ResourceVersion("8").Obj());
  rig_->Settle();
  rig_->Advance(seconds(2));
  EXPECT_EQ(Handled(*rig_, "UnscheduledPodUpdate"), "1");
  EXPECT_EQ(rig_->scheduler->context().stats.attempts, attempts + 1);
}

// ---- A pod that is deleted on its way to a node

// Two changes of a terminating pod come at once. The first one rejects it at Permit and tells the
// others; its own failure gives the room back and tells them again, and nobody else does.
TEST_F(EventRouterTest, TheDeletionOfAnAssumedPodIsWorkedOnOnce) {
  profile_
      .Add<Permits>(
          {.name = "P", .permit = Says(PermitResult{Status(Code::kWait, {"m"}), seconds(60)})})
      .Add<Filters, Events>(
          {.name = "F",
           .events = {{{EventResource::kAssignedPod, framework::kActionDelete, {}}, {}}}});
  PodBuilder pod = MakePod().Name("p").Req({{"cpu", "1"}});
  Start({pod.Obj()});
  ASSERT_EQ(rig_->scheduler->context().cluster.cache.counts().assumed_pods, 1U);
  const api::PodPtr first = pod.Terminating().ResourceVersion("2").Obj();
  const api::PodPtr second = pod.ResourceVersion("3").Obj();
  rig_->scheduler->Post(
      PodDeltas{testing::Upsert<api::Pod>(first), testing::Upsert<api::Pod>(second)});
  rig_->Settle();
  EXPECT_EQ(rig_->scheduler->context().queue.stats().effects.at("AssignedPodDelete").events, 2);
  EXPECT_EQ(rig_->scheduler->context().cluster.cache.counts().pods, 0U);
  EXPECT_EQ(rig_->scheduler->context().stats.binding_failures, 1U);
}

// A list that it is missing in says nothing of its end.
TEST_F(EventRouterTest, APodThatAListMissesWaitsNoLonger) {
  profile_.Add<Permits>(
      {.name = "P", .permit = Says(PermitResult{Status(Code::kWait, {"m"}), seconds(60)})});
  Start({MakePod().Name("p").Req({{"cpu", "1"}}).Obj()});
  ASSERT_NE(rig_->scheduler->context().waiting_pods.GetWaitingPod("uid-p"), nullptr);
  rig_->scheduler->Post(PodDeltas{testing::Replace<api::Pod>({})});
  rig_->Settle();
  EXPECT_EQ(rig_->scheduler->context().waiting_pods.GetWaitingPod("uid-p"), nullptr);
  EXPECT_EQ(rig_->scheduler->context().cluster.cache.counts().pods, 0U);
  EXPECT_EQ(rig_->scheduler->context().stats.binding_failures, 1U);
}

TEST_F(EventRouterTest, AnAssumedPodThatChangesKeepsItsRoom) {
  profile_.Add<Permits>(
      {.name = "P", .permit = Says(PermitResult{Status(Code::kWait, {"m"}), seconds(60)})});
  PodBuilder pod = MakePod().Name("p").Req({{"cpu", "1"}});
  Start({pod.Obj()});
  rig_->UpsertPod(pod.Labels({{"a", "b"}}).ResourceVersion("2").Obj());
  rig_->Settle();
  EXPECT_EQ(rig_->scheduler->context().cluster.cache.counts().assumed_pods, 1U);
  EXPECT_NE(rig_->scheduler->context().waiting_pods.GetWaitingPod("uid-p"), nullptr);
  EXPECT_EQ(rig_->scheduler->context().queue.stores().FindPod("ns/p"), nullptr);
}

// ---- Objects that are neither pods nor nodes

// One version of an object of any kind.
template <class T>
std::shared_ptr<const T> Object(const std::string& version) {
  auto object = std::make_shared<T>();
  object->meta.name = "x";
  object->meta.ns = Symbol("ns");
  object->meta.uid = "uid-x";
  object->meta.resource_version = version;
  return object;
}

template <class T>
void Post(Rig& rig, api::Delta<T> delta) {
  rig.scheduler->Post(cache::OptionalDeltasOf<T>(std::vector<api::Delta<T>>{std::move(delta)}));
}

// A pod that any event of the kinds wakes, and that no node takes.
class OtherEventsTest : public EventRouterTest {
 protected:
  OtherEventsTest() {
    profile_.Add<Filters, Events>(
        {.name = "F",
         .filter = Says(Status(Code::kUnschedulable, {"no"})),
         .events = {Any(EventResource::kPersistentVolume),
                    Any(EventResource::kPersistentVolumeClaim), Any(EventResource::kStorageClass),
                    Any(EventResource::kCsiNode), Any(EventResource::kCsiDriver),
                    Any(EventResource::kCsiStorageCapacity), Any(EventResource::kVolumeAttachment),
                    Any(EventResource::kService), Any(EventResource::kPodGroup),
                    Any(EventResource::kCompositePodGroup)}});
    Start({MakePod().Name("p").Obj()});
  }
  static framework::EventRegistration Any(EventResource resource) {
    return {{resource, framework::kActionAll, {}}, {}};
  }
  // Each event wakes the pod once.
  void ExpectWoken(const std::string& label) {
    rig_->Settle();
    const auto& effects = rig_->scheduler->context().queue.stats().effects;
    const auto effect = effects.find(label);
    ASSERT_NE(effect, effects.end()) << label;
    EXPECT_EQ(effect->second.events, 1) << label;
    EXPECT_EQ(effect->second.woken, 1) << label;
    ASSERT_EQ(Parked(*rig_), Texts{"p"}) << "tried, and parked again";
  }
  template <class T>
  void ExpectHeard(const std::string& kind) {
    Post(*rig_, testing::Upsert<T>(Object<T>("1")));
    ExpectWoken(kind + "Add");
    Post(*rig_, testing::Upsert<T>(Object<T>("2")));
    ExpectWoken(kind + "Update");
    Post(*rig_, testing::Delete<T>(Object<T>("2")));
    ExpectWoken(kind + "Delete");
  }
};

TEST_F(OtherEventsTest, EachStorageKindIsHeardOf) {
  ExpectHeard<api::PersistentVolume>("PersistentVolume");
  ExpectHeard<api::PersistentVolumeClaim>("PersistentVolumeClaim");
  ExpectHeard<api::StorageClass>("storage.k8s.io/StorageClass");
  ExpectHeard<api::CsiNode>("storage.k8s.io/CSINode");
  ExpectHeard<api::CsiDriver>("storage.k8s.io/CSIDriver");
  ExpectHeard<api::CsiStorageCapacity>("storage.k8s.io/CSIStorageCapacity");
  ExpectHeard<api::VolumeAttachment>("storage.k8s.io/VolumeAttachment");
}

TEST_F(OtherEventsTest, GroupsAreHeardOf) {
  ExpectHeard<api::PodGroup>("scheduling.k8s.io/PodGroup");
  ExpectHeard<api::CompositePodGroup>("scheduling.k8s.io/CompositePodGroup");
}

TEST_F(OtherEventsTest, ServicesAreHeardOf) {
  rig_->scheduler->Post(OwnerDeltas(std::vector<api::Delta<api::Service>>{
      testing::Upsert<api::Service>(Object<api::Service>("1"))}));
  ExpectWoken("ServiceAdd");
}

// ---- Freed nominations

// "nominated" has the priority 5 and holds the room of n1 while it waits for a label that no node
// has. The others want that room; whether they then fit is not asked here.
class FreedNominationTest : public ::testing::Test {
 protected:
  FreedNominationTest() {
    rig_.Sync({CpuNode("n1", "4").Obj()}, {nominated_.Obj()});
    rig_.Settle();
    for (const auto& [name, priority] :
         {std::pair{"low", 1}, std::pair{"equal", 5}, std::pair{"high", 6}}) {
      rig_.UpsertPod(CpuPod(name, priority, "5").Obj());
    }
    rig_.Settle();
    EXPECT_EQ(Parked(rig_), (Texts{"equal", "high", "low", "nominated"}));
  }
  // Who is tried because of the event, and fails again.
  Texts TriedAfter(const std::function<void()>& event) {
    const size_t before = rig_.api.events.size();
    event();
    rig_.Settle();
    Texts names;
    for (size_t i = before; i < rig_.api.events.size(); ++i) {
      names.push_back(rig_.api.events[i].regarding->meta.name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  PreemptionRig rig_;
  PodBuilder nominated_ = CpuPod("nominated", 5, "4")
                              .NodeSelector({{"disk", "none"}})
                              .NominatedNode("n1")
                              .ResourceVersion("1");
};

TEST_F(FreedNominationTest, ANominationThatIsTakenAwayWakesPodsOfAtMostItsPriority) {
  EXPECT_EQ(TriedAfter([this] {
              rig_.UpsertPod(nominated_.NominatedNode("").ResourceVersion("2").Obj());
            }),
            (Texts{"equal", "low"}));
}

TEST_F(FreedNominationTest, OneThatMovesFreesItsRoom) {
  EXPECT_EQ(TriedAfter([this] {
              rig_.UpsertPod(nominated_.NominatedNode("n2").ResourceVersion("2").Obj());
            }),
            (Texts{"equal", "low"}));
}

TEST_F(FreedNominationTest, ADeletedPodFreesItsNomination) {
  EXPECT_EQ(TriedAfter([this] { rig_.DeletePod(nominated_.Obj()); }), (Texts{"equal", "low"}));
}

TEST_F(FreedNominationTest, OneThatStaysWakesNobody) {
  EXPECT_EQ(TriedAfter([this] {
              rig_.UpsertPod(nominated_.Labels({{"a", "b"}}).ResourceVersion("2").Obj());
            }),
            Texts{});
}

TEST_F(FreedNominationTest, APodWithoutNominationWakesNobody) {
  EXPECT_EQ(TriedAfter([this] { rig_.DeletePod(CpuPod("low", 1, "5").Obj()); }), Texts{});
}

// ---- Nominations that are in place already are not written again

TEST(NominationPatchTest, APodThatWaitsWhereItIsNominatedIsNotPatched) {
  for (const bool there : {false, true}) {
    SCOPED_TRACE(there);
    TestProfile profile;
    profile.Add<Permits>(
        {.name = "P", .permit = Says(PermitResult{Status(Code::kWait, {"m"}), seconds(60)})});
    Rig::Options options;
    options.registry = profile.registry().registry();
    options.configuration.profiles = {profile.profile()};
    PreemptionRig rig(std::move(options));
    rig.Sync({CpuNode("n1", "4").Obj()},
             {MakePod().Name("p").NominatedNode(there ? "n1" : "").Obj()});
    rig.Settle();
    ASSERT_NE(rig.scheduler->context().waiting_pods.GetWaitingPod("uid-p"), nullptr);
    EXPECT_EQ(rig.api.patches.size(), there ? 0U : 1U);
    EXPECT_EQ(rig.Nomination("p"), there ? "-" : "n1");
  }
}

TEST(NominationPatchTest, APreemptorThatIsNominatedToTheNodeKeepsItsNominationUnwritten) {
  for (const std::string node : {"", "n1", "n2"}) {
    SCOPED_TRACE(node);
    PreemptionRig rig;
    rig.Sync({CpuNode("n1", "2").Obj()},
             {Running("v", 0, "2").Obj(), CpuPod("p", 10, "2").NominatedNode(node).Obj()});
    rig.Settle();
    ASSERT_EQ(rig.Victims(), Texts{"v"});
    EXPECT_FALSE(rig.LastMessage("p").empty());
    EXPECT_EQ(rig.Nomination("p"), node == "n1" ? "-" : "n1");
  }
}

// A failed binding clears the nomination; nothing is written where there is none.
TEST(NominationPatchTest, AFailedBindingClearsOnlyWhatIsThere) {
  for (const std::string node : {"", "n1"}) {
    SCOPED_TRACE(node);
    PreemptionRig rig;
    rig.Sync({CpuNode("n1", "2").Obj()}, {CpuPod("p", 10, "2").NominatedNode(node).Obj()});
    rig.Settle();
    api::ApiError boom;
    boom.code = 400;
    boom.message = "boom";
    ASSERT_EQ(rig.api.AnswerBinds(boom), 1U);
    rig.Settle();
    ASSERT_EQ(rig.api.patches.size(), 1U);
    EXPECT_EQ(rig.Nomination("p"), node.empty() ? "-" : "");
  }
}

}  // namespace
}  // namespace ks::scheduler
