// SPDX-License-Identifier: Apache-2.0
// What a module sees of pods and nodes, and that each point reaches it and comes back.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "api/decode/decoder.h"
#include "api/decode/pod_annotations.h"
#include "modules/module_rig.h"
#include "testing/builders.h"

namespace ks::modules {
namespace {

using framework::Code;
using framework::CycleState;
using framework::Status;
using testing::MakeNode;
using testing::MakePod;

api::PodPtr ThePod() {
  testing::PodBuilder pod = MakePod().Name("p").Priority(3).Labels({{"app", "web"}, {"b", ""}});
  pod.Req({{"cpu", "250m"}, {"example.com/gpu", "2"}});
  pod.pod().meta.annotations.Set(Symbol("note"), "kept");
  pod.pod().raw = std::make_shared<const std::string>("{\"pod\":1}");
  return pod.Obj();
}

api::NodePtr TheNode() {
  testing::NodeBuilder node =
      MakeNode().Name("n").Label("disk", "ssd").Taint("k", "v", "NoExecute");
  node.Allocatable({{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "10"}}).Unschedulable();
  node.node().meta.annotations.Set(Symbol("note"), "of the node");
  node.node().raw = std::make_shared<const std::string>("{\"node\":1}");
  return node.Obj();
}

class ProbeTest : public ::testing::Test {
 protected:
  ProbeTest() {
    rig_.handle().fake_snapshot().Add(
        TheNode(), {MakePod().Name("a").Req({{"cpu", "1"}}).Obj(), MakePod().Name("b").Obj()});
    rig_.handle().fake_pods().Add(MakePod().Name("other").Labels({{"app", "db"}}).Obj());
  }
  void Make(const std::string& question) {
    auto made = rig_.Make(question);
    KS_CHECK(made.ok(), made.error().message);
    plugin_ = std::move(made).value();
  }
  const framework::NodeInfo& node() { return *rig_.handle().snapshot().nodes()[0]; }
  bool Counted(const std::string& event, int times) {
    return rig_.metrics().Text().find("{event=\"" + event + "\",plugin=\"Probe\"} " +
                                      std::to_string(times) + "\n") != std::string::npos;
  }

  ModuleRig rig_{"probe"};
  api::PodPtr pod_ = ThePod();
  CycleState state_;
  std::unique_ptr<framework::Plugin> plugin_;
};

TEST_F(ProbeTest, SeesPodsAndNodes) {
  struct Case {
    const char* question;
    const char* answer;
  };
  for (const Case& test : {
           Case{"pod", "ns/p uid-p default-scheduler 3 []"},
           Case{"pod label", "web"},
           Case{"no pod label", "none"},
           Case{"pod labels", "app=web;b=;"},
           Case{"pod annotation", "kept"},
           Case{"pod cpu", "250"},
           Case{"pod gpu", "2"},
           Case{"pod json", "{\"pod\":1}"},
           Case{"node label", "ssd"},
           Case{"node labels", "disk=ssd;"},
           Case{"node annotation", "of the node"},
           Case{"node memory", "8589934592"},
           Case{"node cpu used", "1000"},
           Case{"node pods used", "2"},
           Case{"node pods", "a;b;"},
           Case{"node taint", "k=v:NoExecute"},
           Case{"node unschedulable", "yes"},
           Case{"node json", "{\"node\":1}"},
           Case{"nodes", "1 n"},
           Case{"no node", "none"},
           Case{"other pod", "db"},
           Case{"no other pod", "none"},
       }) {
    SCOPED_TRACE(test.question);
    Make("\"" + std::string(test.question) + "\"");
    const auto result =
        At<framework::PreFilterPlugin>(*plugin_).PreFilter(state_, *pod_, rig_.handle().snapshot());
    EXPECT_EQ(result.status.code(), Code::kUnschedulable);
    EXPECT_EQ(result.status.Message(), test.answer);
  }
}

TEST_F(ProbeTest, TakesPartAtEveryPoint) {
  Make("");
  const std::string on = "n";
  auto& pre_enqueue = At<framework::PreEnqueuePlugin>(*plugin_);
  EXPECT_TRUE(pre_enqueue.PreEnqueue(*pod_).ok());
  EXPECT_EQ(pre_enqueue.PreEnqueue(*MakePod().Name("gated").Obj()),
            Status(Code::kPending, {"not yet"}));
  EXPECT_TRUE(At<framework::PreFilterPlugin>(*plugin_)
                  .PreFilter(state_, *pod_, rig_.handle().snapshot())
                  .status.ok());
  EXPECT_TRUE(At<framework::FilterPlugin>(*plugin_).Filter(state_, *pod_, node()).ok());
  framework::NodeStatuses statuses;
  statuses.Reset(1);
  statuses.Set(0, Status(Code::kUnschedulable, {"full"}));
  const auto made_room =
      At<framework::PostFilterPlugin>(*plugin_).PostFilter(state_, pod_, statuses);
  EXPECT_TRUE(made_room.status.ok()) << made_room.status.Message();
  ASSERT_TRUE(made_room.nomination.has_value());
  EXPECT_EQ(made_room.nomination->node_name, "n");
  const auto nodes = rig_.handle().snapshot().nodes();
  EXPECT_TRUE(At<framework::PreScorePlugin>(*plugin_).PreScore(state_, *pod_, nodes).ok());
  std::vector<int64_t> scores(1);
  EXPECT_TRUE(
      At<framework::ScorePlugin>(*plugin_).Score(state_, *pod_, node(), scores.data()).ok());
  EXPECT_EQ(scores[0], 1007);
  EXPECT_TRUE(
      At<framework::ScoreNormalizer>(*plugin_).NormalizeScore(state_, *pod_, nodes, scores).ok());
  EXPECT_EQ(scores[0], 7);
  EXPECT_TRUE(At<framework::ReservePlugin>(*plugin_).Reserve(state_, pod_, on).ok());
  const auto permitted = At<framework::PermitPlugin>(*plugin_).Permit(state_, pod_, on);
  EXPECT_TRUE(permitted.status.IsWait());
  EXPECT_EQ(permitted.timeout, std::chrono::milliseconds(1500));
  auto& pre_bind = At<framework::PreBindPlugin>(*plugin_);
  EXPECT_TRUE(pre_bind.PreBindPreFlight(state_, pod_, on).status.ok());
  const auto sequence = pre_bind.PreBind(state_, pod_, on);
  const framework::PreBindStep step = sequence->Next({});
  Status blocked;
  std::thread([&] { blocked = step.blocking(); }).join();
  EXPECT_EQ(blocked, Status(Code::kUnschedulable, {"p on n"}));
  EXPECT_EQ(sequence->Next(blocked).status, blocked);
  At<framework::PostBindPlugin>(*plugin_).PostBind(state_, pod_, on);
  At<framework::ReservePlugin>(*plugin_).Unreserve(state_, pod_, on);
  std::vector<framework::SignFragment> fragments;
  EXPECT_TRUE(At<framework::SignPlugin>(*plugin_).Sign(*pod_, &fragments).ok());
  ASSERT_EQ(fragments.size(), 1U);
  EXPECT_EQ(fragments[0].key + fragments[0].value, "name\"p\"");
  EXPECT_EQ(At<framework::NodeLocalPlugin>(*plugin_).OutsideVersion(), 5U);
  for (const char* event :
       {"pre_filter", "filter", "post_filter", "pre_score", "score", "normalize_score", "reserve",
        "unreserve", "permit", "pre_bind", "post_bind", "sign"}) {
    EXPECT_TRUE(Counted(event, 1)) << event;
  }
  state_.Reset();
  EXPECT_TRUE(At<framework::Closer>(*plugin_).Close().ok());
  EXPECT_TRUE(Counted("close", 1));
  EXPECT_TRUE(At<framework::Closer>(*plugin_).Close().ok());
  plugin_.reset();
  EXPECT_TRUE(Counted("close", 1));
}

TEST_F(ProbeTest, NarrowsTheNodes) {
  Make("\"narrow\"");
  const auto result =
      At<framework::PreFilterPlugin>(*plugin_).PreFilter(state_, *pod_, rig_.handle().snapshot());
  EXPECT_TRUE(result.status.ok());
  EXPECT_EQ(result.nodes, (std::set<std::string>{"n", "other"}));
}

TEST_F(ProbeTest, HintsSeeTheObjectsOfTheEvent) {
  Make("");
  const auto events = At<framework::EnqueueExtensions>(*plugin_).EventsToRegister();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].event.resource, framework::EventResource::kNode);
  EXPECT_EQ(events[1].event.resource, framework::EventResource::kPod);
  EXPECT_EQ(events[0].hint(*pod_, {}, TheNode()).value(), framework::QueueingHint::kQueue);
  EXPECT_EQ(events[0].hint(*pod_, TheNode(), TheNode()).value(), framework::QueueingHint::kSkip);
  EXPECT_EQ(events[1].hint(*pod_, pod_, {}).value(), framework::QueueingHint::kSkip);
  EXPECT_EQ(events[1].hint(*pod_, MakePod().Name("q").Obj(), {}).value(),
            framework::QueueingHint::kQueue);
}

TEST_F(ProbeTest, AsksForWhatItReads) {
  Make("");
  const auto& reader = At<framework::WholeObjectReader>(*plugin_);
  EXPECT_TRUE(reader.ReadsWholePods());
  EXPECT_TRUE(reader.ReadsWholeNodes());
  EXPECT_TRUE(api::KeepsPodAnnotations());
  std::string text = R"({"metadata":{"name":"p","annotations":{"note":"read"}},"spec":{}})";
  text.reserve(text.size() + api::kJsonPadding);
  api::Decoder decoder;
  const auto pod = decoder.Object<api::Pod>(text);
  ASSERT_TRUE(pod.ok());
  EXPECT_EQ(*(*pod)->meta.annotations.Find(Symbol("note")), "read");
}

}  // namespace
}  // namespace ks::modules
