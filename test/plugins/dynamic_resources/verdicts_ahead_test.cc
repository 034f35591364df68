// SPDX-License-Identifier: Apache-2.0
// Decision 0067: who waits for expensive selectors, and for how long.
#include "plugins/dynamic_resources/verdicts_ahead.h"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/mutex.h"
#include "plugins/dynamic_resources/candidates.h"
#include "plugins/dynamic_resources/device_objects.h"
#include "testing/builders.h"

namespace ks::plugins {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::MakePod;
using Verdict = SelectorSet::Verdict;
using Names = std::vector<std::string>;

// Some 60,000 rounds of a loop, beyond what is asked at once.
std::string Expensive(const std::string& rest) {
  std::string values = "[0";
  for (int i = 1; i < 40; ++i) values += "," + std::to_string(i);
  values += "]";
  return values + ".all(a, " + values + ".all(b, " + values + ".all(c, a + b + c >= 0))) && " +
         rest;
}

// Short to ask, long to read: 9 KB.
std::string Long(const std::string& rest) {
  std::string text = "[0";
  for (int i = 1; i < 2000; ++i) text += "," + std::to_string(i);
  return text + "].size() > 0 && " + rest;
}

// Keeps what the thread posts until it is told to run it.
class Tasks final : public framework::TaskInbox {
 public:
  void PostTask(std::function<void()> task) override {
    {
      const MutexLock lock(mutex_);
      posted_.push_back(std::move(task));
    }
    came_.NotifyOne();
  }
  bool attended() const override { return attended_; }
  void set_attended(bool attended) { attended_ = attended; }
  // Waits for the next one and runs it.
  void RunNext() {
    std::function<void()> task;
    {
      const MutexLock lock(mutex_);
      while (posted_.empty()) came_.Wait(mutex_);
      task = std::move(posted_.front());
      posted_.erase(posted_.begin());
    }
    task();
  }

 private:
  bool attended_ = true;
  Mutex mutex_;
  CondVar came_;
  std::vector<std::function<void()>> posted_ KS_GUARDED_BY(mutex_);
};

// The pods that there are, and a queue that asks each activated one again.
class Pods final : public framework::PodLister, public framework::PodActivator {
 public:
  api::PodPtr FindPod(std::string_view key) const override {
    const auto found = pods.find(std::string(key));
    return found == pods.end() ? nullptr : found->second;
  }
  void Activate(const std::vector<api::PodPtr>& activated) override {
    for (const api::PodPtr& pod : activated) ask(*pod);
  }
  void ActivateGroup(const framework::PodGroupKey&) override {}

  std::map<std::string, api::PodPtr> pods;
  std::function<void(const api::Pod& pod)> ask;
};

struct VerdictsAheadTest : ::testing::Test {
  VerdictsAheadTest() {
    Show<api::DeviceClass>(stores, "{'metadata':{'name':'gpu'},'spec':{}}");
    AddSlice("s1", 2);
    AddSlice("s2", 1);
    pods.ask = [this](const api::Pod& pod) { Ask(pod); };
  }

  void AddSlice(const std::string& name, int devices) {
    std::string list;
    for (int i = 0; i < devices; ++i) {
      if (i > 0) list += ",";
      list += "{'name':'d" + std::to_string(i) + "','attributes':{'of':{'string':'" + name +
              "'},'index':{'int':" + std::to_string(i) + "}}}";
    }
    Show<api::ResourceSlice>(
        stores, "{'metadata':{'name':'" + name +
                    "'},'spec':{'driver':'drv.example','nodeName':'n1','pool':{'name':'" + name +
                    "','generation':1,'resourceSliceCount':1},'devices':[" + list + "]}}");
  }

  static api::DeviceSelector Selector(const std::string& text) { return text; }

  // A pod whose claim has a request for each selector.
  api::PodPtr AddPodOf(const std::string& name, const Names& selectors) {
    const api::PodPtr pod = AddPod(name, selectors.front());
    auto claim = std::make_shared<api::ResourceClaim>(*claims[name]);
    claim->requests.resize(selectors.size(), claim->requests[0]);
    for (size_t i = 0; i < selectors.size(); ++i) {
      claim->requests[i].exactly->selectors[0] = Selector(selectors[i]);
    }
    claims[name] = claim;
    return pod;
  }

  // A pod whose claim has this selector.
  api::PodPtr AddPod(const std::string& name, const std::string& selector) {
    auto claim = std::make_shared<api::ResourceClaim>(*ReadObject<api::ResourceClaim>(
        "{'metadata':{'name':'" + name +
        "','namespace':'ns'},'spec':{'devices':{'requests':[{'name':'r','exactly':"
        "{'deviceClassName':'gpu','allocationMode':'ExactCount','count':1}}]}}}"));
    claim->requests[0].exactly->selectors.push_back(Selector(selector));
    claims[name] = claim;
    const api::PodPtr pod = MakePod().Name(name).Uid("uid-" + name).Obj();
    pods.pods[pod->meta.Key()] = pod;
    return pod;
  }

  bool Ask(const api::Pod& pod) {
    const bool is_ready = ahead->Ready(pod, {claims.at(pod.meta.name)});
    if (is_ready) ready.push_back(pod.meta.name);
    return is_ready;
  }

  std::shared_ptr<const SelectorSet> SetOf(const std::string& selector) {
    return memory.selectors().Get({}, {Selector(selector)});
  }
  // What is known of all devices: "++-", or "?" for what is not.
  std::string Known(const std::string& selector) {
    const auto table = memory.tables().Find(*SetOf(selector));
    if (table == nullptr) return "none";
    std::string shown;
    for (const SliceEntryPtr& slice : memory.row()->slices) {
      const VerdictTable::Kept* kept = table->Of(*slice);
      for (size_t i = 0; i < slice->content.size(); ++i) {
        shown += kept == nullptr ? ' ' : "?-+!"[kept[i].load()];
      }
    }
    return shown;
  }

  cache::DeviceStores stores;
  DeviceMemory memory{stores, AllocatorFeatures()};
  Tasks tasks;
  Pods pods;
  std::map<std::string, api::ResourceClaimPtr> claims;
  Names ready;  // in the order in which they became so
  std::shared_ptr<VerdictsAhead> ahead = std::make_shared<VerdictsAhead>(VerdictsAhead::Parts{
      .devices = stores, .memory = memory, .tasks = tasks, .activator = pods, .pods = pods});
};

TEST_F(VerdictsAheadTest, CheapOnesAreNotAskedBeforehand) {
  const std::string text = "device.attributes['drv.example'].index == 0";
  EXPECT_TRUE(Ask(*AddPod("p", text)));
  EXPECT_EQ(Known(text), "none");
}

TEST_F(VerdictsAheadTest, LoopsThatAreSoonOverAreAskedAtOnce) {
  const std::string text = "[0, 1].exists(a, a == device.attributes['drv.example'].index + 1)";
  EXPECT_TRUE(Ask(*AddPod("p", text)));
  EXPECT_EQ(Known(text), "+-+");
  EXPECT_EQ(ahead->waiting(), 0U);
}

TEST_F(VerdictsAheadTest, ExpensiveOnesAreAskedElsewhere) {
  const std::string text = Expensive("device.attributes['drv.example'].index == 0");
  const api::PodPtr pod = AddPod("p", text);
  EXPECT_FALSE(Ask(*pod));
  EXPECT_FALSE(Ask(*pod)) << "it waits already";
  EXPECT_EQ(ahead->waiting(), 1U);
  tasks.RunNext();
  EXPECT_THAT(ready, ElementsAre("p"));
  EXPECT_EQ(Known(text), "+-+");
  EXPECT_EQ(ahead->waiting(), 0U);
  EXPECT_TRUE(Ask(*AddPod("q", text))) << "what is known serves others";
}

TEST_F(VerdictsAheadTest, WhatFailsIsKnown) {
  const std::string text = Expensive("device.attributes['drv.example'].none == 0");
  Ask(*AddPod("p", text));
  tasks.RunNext();
  EXPECT_EQ(Known(text), "!!!");
  EXPECT_THAT(ready, ElementsAre("p"));
}

TEST_F(VerdictsAheadTest, LongTextsOfManyDevicesAreExpensive) {
  std::string text = "true";
  for (int i = 0; i < 90; ++i) text += " && device.driver != 'x" + std::to_string(i) + "'";
  AddSlice("s3", 100);
  EXPECT_TRUE(Ask(*AddPod("p", text)));
  EXPECT_EQ(Known(text), "none") << "400 nodes, 100 devices";
  for (int i = 0; i < 30; ++i) AddSlice("t" + std::to_string(i), 100);
  EXPECT_FALSE(Ask(*AddPod("q", text))) << "3,103 devices";
  tasks.RunNext();
  EXPECT_THAT(ready, ElementsAre("p", "q"));
}

TEST_F(VerdictsAheadTest, OneAfterTheOther) {
  const std::string a = Expensive("true");
  const std::string b = Expensive("false");
  Ask(*AddPod("a1", a));
  Ask(*AddPod("b1", b));
  Ask(*AddPod("gone", Expensive("device.driver == 'gone'")));
  Ask(*AddPod("a2", a));
  Ask(*AddPod("b2", b));
  pods.pods.erase("ns/gone");
  EXPECT_EQ(ahead->waiting(), 5U);
  tasks.RunNext();
  EXPECT_THAT(ready, ElementsAre("a1", "a2"));
  EXPECT_EQ(Known(a), "+++");
  tasks.RunNext();
  EXPECT_THAT(ready, ElementsAre("a1", "a2", "b1", "b2"));
  EXPECT_EQ(Known(b), "---");
  EXPECT_EQ(ahead->waiting(), 0U);
}

// A pod that needs two sets begins the second one when the first is there; those behind it wait on.
TEST_F(VerdictsAheadTest, ThoseBehindAPodOfTwoSets) {
  const std::string a = Expensive("true");
  const std::string b = Expensive("false");
  const std::string c = Expensive("1 == 1");
  Ask(*AddPod("c", c));
  const api::PodPtr both = AddPodOf("both", {a, b});
  Ask(*both);
  Ask(*AddPod("a", a));
  tasks.RunNext();
  EXPECT_THAT(ready, ElementsAre("c"));
  tasks.RunNext();
  EXPECT_THAT(ready, ElementsAre("c", "a"));
  tasks.RunNext();
  EXPECT_THAT(ready, ElementsAre("c", "a", "both"));
  EXPECT_EQ(ahead->waiting(), 0U);
}

TEST_F(VerdictsAheadTest, DevicesThatComeMeanwhile) {
  const std::string text = Expensive("device.attributes['drv.example'].index == 0");
  Ask(*AddPod("p", text));
  AddSlice("s3", 2);
  tasks.RunNext();
  EXPECT_THAT(ready, IsEmpty()) << "two devices are new";
  tasks.RunNext();
  EXPECT_THAT(ready, ElementsAre("p"));
  EXPECT_EQ(Known(text), "+-++-");
}

TEST_F(VerdictsAheadTest, WhatIsKnownOfOtherDevicesStays) {
  const std::string text = Expensive("device.attributes['drv.example'].index == 0");
  Ask(*AddPod("p", text));
  tasks.RunNext();
  AddSlice("s2", 2);
  EXPECT_FALSE(Ask(*AddPod("q", text)));
  EXPECT_EQ(Known(text).substr(0, 2), "+-");
  tasks.RunNext();
  EXPECT_EQ(Known(text), "+-+-");
}

// One set after the other, if need be: what one pod may have is more than an attempt should read.
TEST_F(VerdictsAheadTest, LongTextsAreCompiledElsewhere) {
  const std::string a = Long("device.attributes['drv.example'].index == 0");
  const std::string b = Long("true");
  const api::PodPtr pod = AddPodOf("p", {a, b});
  EXPECT_FALSE(Ask(*pod));
  EXPECT_FALSE(Ask(*pod)) << "it waits already";
  EXPECT_EQ(ahead->waiting(), 1U);
  EXPECT_EQ(memory.selectors().Find({}, {Selector(a)}), nullptr);
  tasks.RunNext();
  EXPECT_THAT(ready, ElementsAre("p"));
  EXPECT_EQ(ahead->waiting(), 0U);
  EXPECT_NE(memory.selectors().Find({}, {Selector(a)}), nullptr);
  EXPECT_NE(memory.selectors().Find({}, {Selector(b)}), nullptr);
  EXPECT_TRUE(Ask(*AddPodOf("q", {b, a}))) << "what is known serves others";
}

TEST_F(VerdictsAheadTest, LongTextsOfDevicesThatAreMany) {
  for (int i = 0; i < 10; ++i) AddSlice("t" + std::to_string(i), 100);
  const std::string text = Long("device.attributes['drv.example'].index == 0");
  Ask(*AddPod("p", text));
  tasks.RunNext();
  EXPECT_THAT(ready, IsEmpty()) << "now they are asked";
  EXPECT_EQ(ahead->waiting(), 1U);
  tasks.RunNext();
  EXPECT_THAT(ready, ElementsAre("p"));
  EXPECT_EQ(Known(text).substr(0, 3), "+-+");
}

TEST_F(VerdictsAheadTest, ShortTextsAreCompiledAtOnce) {
  Ask(*AddPod("p", "1 == 1"));
  EXPECT_NE(memory.selectors().Find({}, {Selector("1 == 1")}), nullptr);
}

// They would be forgotten before the last one is there, again and again.
TEST_F(VerdictsAheadTest, MoreTextsThanAreRememberedAreNotWaitedFor) {
  const std::string text = Long("true");
  AddPodOf("p", Names(1200, text));
  Ask(*pods.pods["ns/p"]);
  EXPECT_NE(memory.selectors().Find({}, {Selector(text)}), nullptr);
}

TEST_F(VerdictsAheadTest, MoreTablesThanAreRememberedAreNotWaitedFor) {
  for (int i = 0; i < 400; ++i) AddSlice("t" + std::to_string(i), 100);
  const std::string text = Expensive("true");
  EXPECT_TRUE(Ask(*AddPodOf("p", Names(1000, text))));
  EXPECT_FALSE(Ask(*AddPodOf("q", Names(500, text))));
}

TEST_F(VerdictsAheadTest, ClaimsWithDevicesAskNothing) {
  const api::PodPtr pod = AddPod("p", Expensive("true"));
  auto allocated = std::make_shared<api::ResourceClaim>(*claims["p"]);
  allocated->allocation = std::make_shared<api::ClaimAllocation>();
  claims["p"] = allocated;
  EXPECT_TRUE(Ask(*pod));
}

TEST_F(VerdictsAheadTest, WhereNobodyAttendsNobodyWaits) {
  tasks.set_attended(false);
  EXPECT_TRUE(Ask(*AddPod("p", Expensive("true"))));
}

TEST_F(VerdictsAheadTest, PodsThatAreGoneDoNotPileUp) {
  const std::string text = Expensive("true");
  Ask(*AddPod("first", Expensive("1 == 1")));
  for (int i = 0; i < 1500; ++i) {
    const std::string name = "p" + std::to_string(i);
    Ask(*AddPod(name, text));
    pods.pods.erase("ns/" + name);
  }
  EXPECT_LE(ahead->waiting(), 1024U);
  tasks.RunNext();
  EXPECT_THAT(ready, ElementsAre("first"));
}

TEST_F(VerdictsAheadTest, AnEndWhileTheThreadIsAtWork) {
  for (int i = 0; i < 20; ++i) AddSlice("t" + std::to_string(i), 100);
  Ask(*AddPod("p", Expensive("true")));
  ahead = nullptr;
  tasks.RunNext();
  EXPECT_THAT(ready, IsEmpty());
}

// What an attempt asks is what was made beforehand.
TEST_F(VerdictsAheadTest, PlansHaveTheirVerdicts) {
  const std::string text = Expensive("true");
  Ask(*AddPod("p", text));
  tasks.RunNext();
  const auto find_class = [this](const Symbol& name) {
    return stores.FindDeviceClass(name.view());
  };
  const AllocationPlan plan({claims["p"]}, find_class, memory.selectors(), memory.features(),
                            &memory.tables());
  EXPECT_EQ(plan.Alternative(0).verdicts, memory.tables().Find(*SetOf(text)));
  EXPECT_NE(plan.Alternative(0).verdicts, nullptr);
  const auto node = testing::MakeNode().Name("n1").Obj();
  const auto pools = memory.slices().PoolsOf(*node);
  DeviceCandidates candidates(plan, *pools);
  EXPECT_TRUE(*candidates.Selects(plan.claims()[0], plan.Alternative(0), 0));
  for (const SliceEntryPtr& slice : memory.row()->slices) {
    plan.Alternative(0).verdicts->Of(*slice)[0] = static_cast<uint8_t>(Verdict::kNo);
  }
  EXPECT_FALSE(*candidates.Selects(plan.claims()[0], plan.Alternative(0), 0));
}

TEST(VerdictTablesTest, ForgetBeyondTheirBytes) {
  cache::DeviceStores stores;
  DeviceMemory memory{stores, AllocatorFeatures()};
  memory.CatchUp();
  VerdictTables tables(4096);
  std::vector<std::shared_ptr<const SelectorSet>> sets;
  for (int i = 0; i < 100; ++i) {
    sets.push_back(memory.selectors().Get({}, {std::to_string(i) + " == 1"}));
    tables.Keep(*sets.back(), std::make_shared<VerdictTable>(*memory.row()));
  }
  size_t kept = 0;
  for (const auto& set : sets) kept += tables.Find(*set) == nullptr ? 0 : 1;
  EXPECT_GT(kept, 5U);
  EXPECT_LT(kept, 60U);
  EXPECT_NE(tables.Find(*sets.back()), nullptr);
}

}  // namespace
}  // namespace ks::plugins
