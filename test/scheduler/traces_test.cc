// SPDX-License-Identifier: Apache-2.0
// The shape of pods' traces through a whole scheduler, in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/metrics/framework_metrics.h"
#include "scheduler/preemption_rig.h"
#include "testing/fake_clock.h"
#include "testing/kept_spans.h"
#include "testing/test_plugins.h"
#include "tracing/attempt_spans.h"
#include "tracing/sampling.h"
#include "tracing/span.h"

namespace ks::scheduler {
namespace {

using framework::PermitResult;
using framework::Status;
using ks::testing::FakeClock;
using ks::testing::KeptSpans;
using ks::testing::MakePod;
using ks::testing::Says;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tracing::Span;
using Lines = std::vector<std::string>;

class Traces : public ::testing::Test {
 protected:
  Traces() = default;
  void Start(Rig::Options options = {}, uint32_t per_million = tracing::kMillion) {
    options.traces = {.sink = &spans_, .per_million = per_million};
    rig_ = std::make_unique<PreemptionRig>(std::move(options));
  }
  void Sync(std::vector<api::NodePtr> nodes, std::vector<api::PodPtr> pods = {}) {
    rig_->Sync(std::move(nodes), std::move(pods));
    rig_->Settle();
  }
  // Queue waits and attempts of the pod's trace, and what stands directly below the root.
  Lines Story(const std::string& pod) const {
    const tracing::SpanContext root = tracing::RootOf("uid-" + pod);
    Lines lines;
    for (const Span& span : spans_.spans) {
      if (span.context.trace != root.trace) continue;
      if (span.parent != root.span && span.parent != 0) continue;
      std::string line = span.name;
      for (const char* key :
           {"kubesched.queue", "kubesched.queue.event", "kubesched.queue.ended_by",
            "kubesched.queue.ended_by_plugin", "kubesched.attempt", "kubesched.result",
            "k8s.node.name", "kubesched.node.nominated"}) {
        const std::string value = KeptSpans::Get(span, key);
        if (!value.empty()) line.append(" ").append(value);
      }
      lines.push_back(line + " " + FormatDuration(span.end - span.start));
    }
    return lines;
  }
  // Names below the first attempt of the pod, in the order of their ends.
  Lines BelowAttempt(const std::string& pod) const {
    const tracing::SpanContext root = tracing::RootOf("uid-" + pod);
    uint64_t attempt = 0;
    for (const Span& span : spans_.Named("attempt")) {
      if (span.context.trace == root.trace && attempt == 0) attempt = span.context.span;
    }
    Lines names;
    for (const Span& span : spans_.spans) {
      if (span.context.trace == root.trace && span.parent == attempt) names.push_back(span.name);
    }
    return names;
  }

  KeptSpans spans_;
  std::unique_ptr<PreemptionRig> rig_;
};

TEST_F(Traces, BoundAtOnce) {
  Start();
  Sync({CpuNode("n1", "4").Obj(), CpuNode("n2", "4").Obj()}, {CpuPod("p", 0, "1").Obj()});
  EXPECT_THAT(spans_.Named("pod"), IsEmpty());
  rig_->clock.Advance(seconds(2));
  rig_->Bind();
  const std::string node = rig_->Bound()["p"];
  EXPECT_THAT(Story("p"),
              ElementsAre("queue active UnscheduledPodAdd 0s",
                          "attempt 1 scheduled " + node + " 2s", "pod bound " + node + " 2s"));
  EXPECT_THAT(BelowAttempt("p"),
              ElementsAre("PreFilter", "Filter", "PreScore", "Score", "Reserve", "Permit",
                          "PreBindPreFlight", "PreBind", "Bind", "PostBind"));
  const Span root = spans_.Named("pod")[0];
  EXPECT_EQ(root.context, tracing::RootOf("uid-p"));
  EXPECT_EQ(KeptSpans::Get(root, "k8s.pod.name"), "p");
  EXPECT_EQ(KeptSpans::Get(root, "k8s.namespace.name"), "ns");
  EXPECT_EQ(KeptSpans::Get(root, "k8s.pod.uid"), "uid-p");
  EXPECT_EQ(KeptSpans::Get(root, "kubesched.scheduler.name"), "default-scheduler");
  EXPECT_EQ(KeptSpans::Get(root, "kubesched.attempts"), "1");
  EXPECT_EQ(rig_->scheduler->context().traces->size(), 0U);
}

TEST_F(Traces, ASlowPreBindPluginHasASpanBelowItsStep) {
  const FakeClock clock;
  tracing::AttemptSpans attempt(clock, spans_, tracing::RootOf("uid-p"), 1, clock.Now());
  attempt.BeginStep("PreBind");
  const tracing::SpanContext step = attempt.current();
  attempt.Within([&] { EXPECT_EQ(tracing::CurrentSpan(), step); });
  EXPECT_FALSE(tracing::CurrentSpan().valid());
  using framework::MetricPoint;
  attempt.PluginsRan("Quick", MetricPoint::kPreBind, clock.Now(), std::chrono::microseconds(999));
  attempt.PluginsRan("VolumeBinding", MetricPoint::kPreBind, clock.Now(), seconds(3));
  attempt.EndStep({});
  ASSERT_EQ(spans_.spans.size(), 2U);
  EXPECT_EQ(spans_.spans[0].name, "PreBind/VolumeBinding");
  EXPECT_EQ(spans_.spans[0].parent, step.span);
  EXPECT_EQ(spans_.spans[0].end - spans_.spans[0].start, seconds(3));
  EXPECT_EQ(spans_.spans[1].context, step);
}

TEST_F(Traces, UnschedulableThenWokenByANode) {
  Start();
  Sync({CpuNode("n1", "1").Obj()}, {CpuPod("p", 0, "2").Obj()});
  rig_->Advance(seconds(30));
  rig_->UpsertNode(CpuNode("n2", "4").Obj());
  rig_->Settle();
  rig_->Bind();
  EXPECT_THAT(
      Story("p"),
      ElementsAre("queue active UnscheduledPodAdd 0s", "attempt 1 unschedulable 0s",
                  "queue unschedulable ScheduleAttemptFailure NodeAdd NodeResourcesFit 30s",
                  "queue active NodeAdd 0s", "attempt 2 scheduled n2 0s", "pod bound n2 30s"));
}

TEST_F(Traces, GatedThenFree) {
  Start();
  auto pod = CpuPod("p", 0, "1").Gates({"g"});
  Sync({CpuNode("n1", "4").Obj()}, {pod.Obj()});
  rig_->Advance(seconds(5));
  EXPECT_THAT(Story("p"), IsEmpty());
  rig_->UpsertPod(CpuPod("p", 0, "1").ResourceVersion("2").Obj());
  rig_->Settle();
  rig_->Bind();
  const Lines story = Story("p");
  ASSERT_FALSE(story.empty());
  EXPECT_THAT(story[0], HasSubstr("queue gated UnscheduledPodAdd"));
  EXPECT_THAT(story[0], HasSubstr(" 5s"));
  EXPECT_EQ(story.back(), "pod bound n1 5s");
}

TEST_F(Traces, AFailedBindingIsAnError) {
  Start();
  Sync({CpuNode("n1", "4").Obj()}, {CpuPod("p", 0, "1").Obj()});
  api::ApiError boom;
  boom.code = 400;
  boom.message = "boom";
  rig_->api.AnswerBinds(boom);
  rig_->Settle();
  const Span attempt = spans_.Named("attempt")[0];
  EXPECT_TRUE(attempt.failed);
  EXPECT_THAT(attempt.message, HasSubstr("boom"));
  const Span bind = spans_.Named("Bind")[0];
  EXPECT_TRUE(bind.failed);
  EXPECT_EQ(bind.parent, attempt.context.span);
  rig_->Advance(seconds(3));
  rig_->Bind();
  const Lines story = Story("p");
  EXPECT_THAT(story, ::testing::Contains(HasSubstr("queue backoff ")));
  EXPECT_EQ(story.back(), "pod bound n1 3s");
}

TEST_F(Traces, PreemptorAndVictimPointAtEachOther) {
  Start();
  Sync({CpuNode("n1", "2").Obj()}, {Running("v", 0, "2").Obj(), CpuPod("p", 10, "2").Obj()});
  ASSERT_EQ(rig_->Victims(), PreemptionTexts{"v"});
  rig_->clock.Advance(milliseconds(250));
  rig_->AnswerAll();
  rig_->Advance(seconds(2));
  rig_->Bind();
  ASSERT_EQ(rig_->Bound()["p"], "n1");
  ASSERT_EQ(spans_.Named("evict").size(), 1U);
  ASSERT_EQ(spans_.Named("preempted").size(), 1U);
  const Span evict = spans_.Named("evict")[0];
  const Span preempted = spans_.Named("preempted")[0];
  const tracing::SpanContext preemptor = tracing::RootOf("uid-p");
  const tracing::SpanContext victim = tracing::RootOf("uid-v");
  EXPECT_EQ(evict.context.trace, preemptor.trace);
  EXPECT_EQ(evict.parent, preemptor.span);
  EXPECT_EQ(KeptSpans::Get(evict, "k8s.pod.name"), "v");
  EXPECT_EQ(preempted.context.trace, victim.trace);
  EXPECT_EQ(preempted.parent, victim.span);
  EXPECT_EQ(KeptSpans::Get(preempted, "kubesched.preemptor.uid"), "uid-p");
  ASSERT_EQ(evict.links.size(), 1U);
  EXPECT_EQ(evict.links[0].to, preempted.context);
  ASSERT_EQ(preempted.links.size(), 1U);
  EXPECT_EQ(preempted.links[0].to, evict.context);
  EXPECT_EQ(evict.end - evict.start, milliseconds(250));
  EXPECT_THAT(BelowAttempt("p"), ElementsAre("PreFilter", "Filter", "PostFilter"));
  EXPECT_THAT(Story("p")[1], HasSubstr("attempt 1 unschedulable n1"));
}

TEST_F(Traces, PermitWaitIsAStepOfTheAttempt) {
  ks::testing::TestProfile profile;
  profile.Add<ks::testing::Permits>(
      {.name = "P",
       .permit = Says(PermitResult{Status(framework::Code::kWait, {"m"}), seconds(10)})});
  Rig::Options options;
  options.registry = profile.registry().registry();
  options.configuration.profiles = {profile.profile()};
  Start(std::move(options));
  Sync({CpuNode("n1", "4").Obj()}, {MakePod().Name("p").Obj()});
  rig_->Advance(seconds(4));
  framework::Framework& framework = *rig_->scheduler->context().profiles.at("default-scheduler");
  framework.handle().waiting_pods().GetWaitingPod("uid-p")->Allow("P");
  rig_->Settle();
  const Span wait = spans_.Named("WaitOnPermit").at(0);
  EXPECT_EQ(wait.end - wait.start, seconds(4));
  EXPECT_FALSE(wait.failed);
}

TEST_F(Traces, SlowPluginsHaveSpansOfTheirOwn) {
  ks::testing::TestProfile profile;
  profile.Add<ks::testing::Reserves>({.name = "Slow", .with_state = [this](framework::CycleState&) {
                                        rig_->clock.Advance(milliseconds(3));
                                      }});
  profile.Add<ks::testing::Reserves>({.name = "Quick"});
  Rig::Options options;
  options.registry = profile.registry().registry();
  options.configuration.profiles = {profile.profile()};
  Start(std::move(options));
  Sync({CpuNode("n1", "4").Obj()}, {MakePod().Name("p").Obj()});
  const Span reserve = spans_.Named("Reserve").at(0);
  ASSERT_EQ(spans_.Named("Reserve/Slow").size(), 1U);
  EXPECT_EQ(spans_.Named("Reserve/Slow")[0].parent, reserve.context.span);
  EXPECT_EQ(spans_.Named("Reserve/Slow")[0].end - spans_.Named("Reserve/Slow")[0].start,
            milliseconds(3));
  EXPECT_THAT(spans_.Named("Reserve/Quick"), IsEmpty());
}

TEST_F(Traces, AReloadGoesOnInTheSameTrace) {
  Start();
  Sync({CpuNode("n1", "1").Obj()}, {CpuPod("p", 0, "2").Obj(), CpuPod("q", 0, "1").Obj()});
  ASSERT_EQ(rig_->api.binds.size(), 1U) << "q is on its way under the former profile";
  rig_->Advance(seconds(5));
  config::Configuration without = config::DefaultConfiguration();
  std::erase_if(without.profiles[0].plugins.multi_point.enabled,
                [](const config::PluginRef& ref) { return ref.name == "NodeResourcesFit"; });
  ASSERT_TRUE(rig_->scheduler->Reload(without).ok());
  rig_->Advance(seconds(2));
  rig_->Bind();
  EXPECT_EQ(spans_.Named("pod").size(), 2U);
  EXPECT_EQ(Story("q").back(), "pod bound n1 7s");
  EXPECT_EQ(Story("p").back(), "pod bound n1 7s");
  EXPECT_THAT(Story("p"), ::testing::Contains(HasSubstr("queue unschedulable")));
}

TEST_F(Traces, APodThatIsDeletedEndsItsTrace) {
  Start();
  const api::PodPtr pod = CpuPod("p", 0, "2").Obj();
  Sync({CpuNode("n1", "1").Obj()}, {pod});
  rig_->Advance(seconds(5));
  rig_->DeletePod(pod);
  rig_->Settle();
  EXPECT_EQ(Story("p").back(), "pod deleted 5s");
  EXPECT_EQ(rig_->scheduler->context().traces->size(), 0U);
}

TEST_F(Traces, AStandbyTellsNothingOfWhatOthersDo) {
  Rig::Options options;
  options.standby = true;
  Start(std::move(options));
  const api::PodPtr pod = CpuPod("p", 0, "1").Obj();
  Sync({CpuNode("n1", "4").Obj()}, {pod, CpuPod("q", 0, "1").Obj()});
  rig_->UpsertPod(CpuPod("p", 0, "1").Node("n1").ResourceVersion("2").Obj());
  rig_->Advance(seconds(5));
  EXPECT_THAT(spans_.spans, IsEmpty());
  rig_->scheduler->Lead();
  rig_->Settle();
  rig_->Bind();
  EXPECT_THAT(Story("p"), IsEmpty());
  EXPECT_EQ(Story("q").back(), "pod bound n1 5s");
}

// The decisions are the same, whoever listens, and pods that nobody samples leave nothing behind.
TEST_F(Traces, NothingIsKeptOfPodsThatAreNotSampled) {
  Start({}, 0);
  Sync({CpuNode("n1", "4").Obj()}, {CpuPod("p", 0, "1").Obj(), CpuPod("q", 0, "8").Obj()});
  rig_->Bind();
  EXPECT_THAT(spans_.spans, IsEmpty());
  EXPECT_EQ(rig_->scheduler->context().traces->size(), 0U);
}

TEST_F(Traces, DecisionsAreTheSame) {
  std::vector<std::map<std::string, std::string>> bound;
  for (const uint32_t per_million : {0U, tracing::kMillion}) {
    Start({}, per_million);
    std::vector<api::NodePtr> nodes;
    for (int i = 0; i < 30; ++i) nodes.push_back(CpuNode("n" + std::to_string(i), "4").Obj());
    std::vector<api::PodPtr> pods;
    for (int i = 0; i < 60; ++i) pods.push_back(CpuPod("p" + std::to_string(i), 0, "1").Obj());
    Sync(std::move(nodes), std::move(pods));
    bound.push_back(rig_->Bound());
  }
  EXPECT_EQ(bound[0], bound[1]);
}

}  // namespace
}  // namespace ks::scheduler
