// SPDX-License-Identifier: Apache-2.0
// Decision 0067: a pod whose device selectors are expensive holds nobody back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "inspect/live_explain.h"
#include "plugins/dynamic_resources/device_objects.h"
#include "scheduler/rig.h"
#include "testing/deltas.h"

namespace ks::scheduler {
namespace {

using plugins::ReadObject;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MakeNode;
using testing::MakePod;
using ::testing::Pair;

template <class T>
void Post(Rig& rig, const std::string& text) {
  rig.scheduler->Post(
      DeviceDeltas(std::vector<api::Delta<T>>{testing::Upsert<T>(ReadObject<T>(text))}));
}

// Beyond what is asked at once, within the limit of costs.
std::string Expensive() {
  std::string values = "[0";
  for (int i = 1; i < 40; ++i) values += "," + std::to_string(i);
  values += "]";
  return values + ".all(a, " + values + ".all(b, " + values + ".all(c, a + b + c >= 0)))";
}

void ShowDevices(Rig& rig) {
  Post<api::DeviceClass>(rig, "{'metadata':{'name':'gpu'},'spec':{}}");
  Post<api::ResourceSlice>(
      rig,
      "{'metadata':{'name':'s'},'spec':{'driver':'drv.example','nodeName':'n1','pool':{'name':"
      "'n1','generation':1,'resourceSliceCount':1},'devices':[{'name':'d0'},{'name':'d1'},"
      "{'name':'d2','attributes':{'a':{'int':1}}}]}}");
}

void ShowClaim(Rig& rig) {
  Post<api::ResourceClaim>(
      rig,
      "{'metadata':{'name':'c','namespace':'default','uid':'uid-c','resourceVersion':'1'},'spec':"
      "{'devices':{'requests':[{'name':'r','exactly':{'deviceClassName':'gpu',"
      "'allocationMode':'ExactCount','count':1,'selectors':[{'cel':"
      "{'expression':'" +
          Expensive() + "'}}]}}]}}}");
}

// Until a pod is given its devices.
void AwaitDevices(Rig& rig) {
  while (rig.api.claim_requests.empty()) {
    if (!rig.scheduler->Step()) std::this_thread::yield();
  }
}

TEST(ExpensiveSelectors, HoldNobodyBack) {
  Rig rig;
  ShowDevices(rig);
  ShowClaim(rig);
  rig.Sync({MakeNode().Name("n1").Allocatable({{"cpu", "8"}, {"pods", "20"}}).Obj()});
  rig.Settle();
  testing::PodBuilder first = MakePod().Namespace("default").Name("first").Req({{"cpu", "1"}});
  first.spec().resource_claims.push_back({.name = "c", .resource_claim_name = "c"});
  rig.UpsertPod(first.Obj());
  rig.UpsertPod(MakePod().Namespace("default").Name("second").Req({{"cpu", "1"}}).Obj());
  rig.Settle();
  EXPECT_THAT(rig.Bound(), ElementsAre(Pair("second", "n1")));
  EXPECT_TRUE(rig.api.events.empty()) << "nobody is told that the first one failed";
  EXPECT_EQ(rig.LastMessage("first"), "");
  const auto explained = inspect::ExplainLive(*rig.scheduler, {.pod = "default/first"});
  ASSERT_TRUE(std::holds_alternative<inspect::LiveExplanation>(explained));
  EXPECT_THAT(
      inspect::LiveExplanationJson(std::get<inspect::LiveExplanation>(explained), {}),
      HasSubstr("DynamicResources holds the pod in the queue: it waits for something that is "
                "under way"));
  AwaitDevices(rig);
  EXPECT_TRUE(rig.api.events.empty());
}

// As after a start, when the pods are listed first.
TEST(ExpensiveSelectors, OfDevicesThatWereNotKnownWhenThePodCame) {
  Rig rig;
  rig.Sync({MakeNode().Name("n1").Allocatable({{"cpu", "8"}, {"pods", "20"}}).Obj()});
  testing::PodBuilder first = MakePod().Namespace("default").Name("first").Req({{"cpu", "1"}});
  first.spec().resource_claims.push_back({.name = "c", .resource_claim_name = "c"});
  ShowClaim(rig);
  rig.Settle();
  rig.UpsertPod(first.Obj());
  ShowDevices(rig);
  rig.UpsertPod(MakePod().Namespace("default").Name("second").Req({{"cpu", "1"}}).Obj());
  rig.Settle();
  EXPECT_THAT(rig.Bound(), ElementsAre(Pair("second", "n1")));
  EXPECT_EQ(rig.LastMessage("first"),
            "0/1 nodes are available: waiting until the device selectors are evaluated. "
            "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.");
  AwaitDevices(rig);
}

}  // namespace
}  // namespace ks::scheduler
