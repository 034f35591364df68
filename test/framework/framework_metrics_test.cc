// SPDX-License-Identifier: Apache-2.0
// docs/spec/framework.md section 12, docs/spec/metrics.md 3.3 and 3.10.
#include "framework/metrics/framework_metrics.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "framework/runtime/prebind_runner.h"
#include "framework/runtime/runtime.h"
#include "testing/builders.h"
#include "testing/fake_clock.h"
#include "testing/fake_snapshot.h"
#include "testing/test_plugins.h"

namespace ks::framework {
namespace {

using ks::testing::Binds;
using ks::testing::FakeClock;
using ks::testing::FakeSnapshot;
using ks::testing::Filters;
using ks::testing::Hooks;
using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::Normalizes;
using ks::testing::Permits;
using ks::testing::PluginScript;
using ks::testing::PostBinds;
using ks::testing::PostFilters;
using ks::testing::PreBinds;
using ks::testing::PreEnqueues;
using ks::testing::PreFilters;
using ks::testing::PreScores;
using ks::testing::Reserves;
using ks::testing::Says;
using ks::testing::Scores;
using ks::testing::Signs;
using ks::testing::TestProfile;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Code kU = Code::kUnschedulable;

const FakeSnapshot& ThreeNodes() {
  static const FakeSnapshot snapshot(
      {MakeNode().Name("n0").Obj(), MakeNode().Name("n1").Obj(), MakeNode().Name("n2").Obj()});
  return snapshot;
}

class FrameworkMetricsTest : public ::testing::Test {
 protected:
  std::unique_ptr<Framework> Build(const TestProfile& profile) {
    return profile.Build(
        {.parts = {.snapshot = &ThreeNodes(), .clock = &clock_}, .metrics = &metrics_});
  }
  // The value of one line of the exposition text; "" when there is none.
  std::string Value(const std::string& series) const {
    const std::string text = "\n" + registry_.Text();
    const size_t line = text.find("\n" + series + " ");
    if (line == std::string::npos) return "";
    const size_t begin = line + series.size() + 2;
    return text.substr(begin, text.find('\n', begin) - begin);
  }
  std::string PointCount(const std::string& point, const std::string& status = "Success") const {
    return Value("scheduler_framework_extension_point_duration_seconds_count{extension_point=\"" +
                 point + "\",profile=\"default-scheduler\",status=\"" + status + "\"}");
  }
  std::string PointSum(const std::string& point, const std::string& status = "Success") const {
    return Value("scheduler_framework_extension_point_duration_seconds_sum{extension_point=\"" +
                 point + "\",profile=\"default-scheduler\",status=\"" + status + "\"}");
  }
  std::string PluginSeries(const std::string& what, const std::string& plugin,
                           const std::string& point, const std::string& status) const {
    return Value("scheduler_plugin_execution_duration_seconds_" + what + "{extension_point=\"" +
                 point + "\",plugin=\"" + plugin + "\",status=\"" + status + "\"}");
  }
  std::string Samples(const std::string& plugin, const std::string& point,
                      const std::string& status = "Success") const {
    return PluginSeries("count", plugin, point, status);
  }
  std::string Evaluations(const std::string& plugin, const std::string& point) const {
    return Value("scheduler_plugin_evaluation_total{extension_point=\"" + point + "\",plugin=\"" +
                 plugin + "\",profile=\"default-scheduler\"}");
  }
  // Takes `by` of virtual time, then answers.
  template <class T>
  auto Takes(Duration by, T answer) {
    return [this, by, answer](const auto&...) {
      clock_.Advance(by);
      return answer;
    };
  }

  FakeClock clock_;
  metrics::Registry registry_;
  FrameworkMetrics metrics_{registry_, clock_, 7};
  const api::PodPtr pod_ = MakePod().Name("p").Obj();
};

TEST_F(FrameworkMetricsTest, NamesHelpAndLabels) {
  TestProfile profile;
  profile.Add<Filters>({.name = "F", .filter = Takes(milliseconds(3), Status())});
  const auto framework = Build(profile);
  CycleState state;
  state.record_plugin_metrics = true;
  const PointTimer timer = framework->StartTimer(MetricPoint::kFilter);
  EXPECT_TRUE(framework->RunFilterPlugins(state, *pod_, *ThreeNodes().nodes()[0]).ok());
  timer.Stop(Code::kSuccess);
  metrics_.ObservePermitWait(kU, seconds(20));
  const std::string text = registry_.Text();
  for (const char* part : {
           "# HELP scheduler_framework_extension_point_duration_seconds [STABLE] Time of one "
           "extension point with all its plugins.\n"
           "# TYPE scheduler_framework_extension_point_duration_seconds histogram\n"
           "scheduler_framework_extension_point_duration_seconds_bucket{extension_point=\"Filter\","
           "profile=\"default-scheduler\",status=\"Success\",le=\"0.0001\"} 0\n",
           "status=\"Success\",le=\"0.0016\"} 0\n",
           "status=\"Success\",le=\"0.0032\"} 1\n",
           "status=\"Success\",le=\"0.2048\"} 1\n",
           "# HELP scheduler_permit_wait_duration_seconds [BETA] Time a pod was held by Permit.\n"
           "# TYPE scheduler_permit_wait_duration_seconds histogram\n"
           "scheduler_permit_wait_duration_seconds_bucket{result=\"Unschedulable\",le=\"0.001\"} 0"
           "\n",
           "scheduler_permit_wait_duration_seconds_bucket{result=\"Unschedulable\",le=\"16.384\"} 0"
           "\nscheduler_permit_wait_duration_seconds_bucket{result=\"Unschedulable\",le=\"+Inf\"} 1"
           "\nscheduler_permit_wait_duration_seconds_sum{result=\"Unschedulable\"} 20\n",
           "# HELP scheduler_plugin_evaluation_total [BETA] Plugin calls at PreFilter, Filter, "
           "PreScore and Score.\n"
           "# TYPE scheduler_plugin_evaluation_total counter\n"
           "scheduler_plugin_evaluation_total{extension_point=\"Filter\",plugin=\"F\",profile="
           "\"default-scheduler\"} 1\n",
           "# HELP scheduler_plugin_execution_duration_seconds [BETA] Time of one plugin call at "
           "one extension point, sampled.\n"
           "# TYPE scheduler_plugin_execution_duration_seconds histogram\n"
           "scheduler_plugin_execution_duration_seconds_bucket{extension_point=\"Filter\",plugin="
           "\"F\",status=\"Success\",le=\"1e-05\"} 0\n",
           "le=\"0.0029192926025390638\"} 0\n",
           "le=\"0.004378938903808595\"} 1\n",
       }) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
  }
}

// One plugin at every point, each of which takes its time.
PluginScript Everywhere(FakeClock& clock) {
  PluginScript script{.name = "P"};
  const auto takes = [&clock](int ms, auto answer) {
    return [&clock, ms, answer](const auto&...) {
      clock.Advance(milliseconds(ms));
      return answer;
    };
  };
  script.pre_enqueue = takes(1, Status());
  script.pre_filter = takes(2, PreFilterResult());
  script.add_pod = takes(3, Status());
  script.remove_pod = takes(4, Status());
  script.filter = takes(5, Status());
  script.post_filter = takes(6, PostFilterResult{Status(kU, {"no"}), {}});
  script.pre_score = takes(7, Status());
  script.score = takes(8, Status());
  script.normalize = takes(9, Status());
  script.reserve = takes(10, Status());
  script.permit = takes(11, PermitResult{Status(Code::kWait, {}), seconds(1)});
  script.pre_flight = takes(12, PreBindPreFlightResult());
  script.bind = takes(13, Status());
  script.sign = takes(14, Status(kU, {"no"}));
  return script;
}

// All points of one attempt, in order; Bind's answer comes 100 ms later.
void RunEverything(const Framework& framework, FakeClock& clock, CycleState& state,
                   const api::PodPtr& pod, BindPlugin::Done* bind_done) {
  const auto nodes = ThreeNodes().nodes();
  const PodInfo other(MakePod().Name("other").Obj());
  EXPECT_TRUE(framework.RunPreFilterPlugins(state, *pod).status.ok());
  EXPECT_TRUE(framework.RunPreFilterExtensionAddPod(state, *pod, other, *nodes[0]).ok());
  EXPECT_TRUE(framework.RunPreFilterExtensionRemovePod(state, *pod, other, *nodes[0]).ok());
  {
    const PointTimer timer = framework.StartTimer(MetricPoint::kFilter);
    Framework::FilterBatch batch(framework, state, *pod);
    for (const NodeInfo* node : nodes) EXPECT_TRUE(batch.Run(*node).ok());
    timer.Stop(Code::kSuccess);
  }
  EXPECT_FALSE(framework.RunPostFilterPlugins(state, pod, NodeStatuses()).status.ok());
  EXPECT_TRUE(framework.RunPreScorePlugins(state, *pod, nodes).ok());
  NodeScores scores;
  EXPECT_TRUE(framework.RunScorePlugins(state, *pod, nodes, &scores).ok());
  EXPECT_TRUE(framework.RunReservePluginsReserve(state, pod, "n0").ok());
  EXPECT_TRUE(framework.binding_points().RunPermitPlugins(state, pod, "n0").status.IsWait());
  EXPECT_TRUE(framework.binding_points().RunPreBindPreFlights(state, pod, "n0").ok());
  const PreBindEnvironment environment;
  const PointTimer timer = framework.StartTimer(MetricPoint::kPreBind);
  PreBindRunner runner(
      framework.binding_points().PreBindGroups(state),
      PreBindRequest{
          .state = &state, .pod = pod, .node_name = "n0", .sampler = framework.Sampler(state)},
      environment, [](const Status&) {});
  const std::optional<Status> pre_bound = runner.Start();
  ASSERT_TRUE(pre_bound.has_value());
  timer.Stop(pre_bound->code());
  EXPECT_TRUE(
      framework.binding_points().RunBindPlugins(state, pod, "n0", [](const Status&) {}).ok());
  clock.Advance(milliseconds(100));
  (*bind_done)(Status::Error("x"));
  framework.binding_points().RunPostBindPlugins(state, pod, "n0");
  framework.RunReservePluginsUnreserve(state, pod, "n0");
}

class EveryPointTest : public FrameworkMetricsTest {
 protected:
  EveryPointTest() {
    PluginScript script = Everywhere(clock_);
    script.bind = [this](BindPlugin::Done done) {
      clock_.Advance(milliseconds(13));
      bind_done_ = std::move(done);
      return Status();
    };
    profile_.WithoutBind()
        .Add<PreEnqueues, PreFilters, Hooks, Filters, PostFilters, PreScores, Scores, Normalizes,
             Reserves, Permits, PreBinds, Binds, PostBinds, Signs>(std::move(script));
  }

  BindPlugin::Done bind_done_;
  TestProfile profile_;
};

TEST_F(EveryPointTest, DurationsOfPointsAreAlwaysRecorded) {
  const auto framework = Build(profile_);
  CycleState state;
  RunEverything(*framework, clock_, state, pod_, &bind_done_);
  const struct {
    const char* point;
    const char* status;
    const char* want_sum;
  } cases[] = {
      {"PreFilter", "Success", "0.002"},
      {"Filter", "Success", "0.015"},
      {"PostFilter", "Unschedulable", "0.006"},
      {"PreScore", "Success", "0.007"},
      {"Score", "Success", "0.033"},
      {"Reserve", "Success", "0.01"},
      {"Permit", "Wait", "0.011"},
      {"PreBindPreFlight", "Success", "0.012"},
      {"PreBind", "Success", "0"},
      {"Bind", "Error", "0.113"},
      {"PostBind", "Success", "0"},
      {"Unreserve", "Success", "0"},
  };
  for (const auto& test : cases) {
    EXPECT_EQ(PointCount(test.point, test.status), "1") << test.point;
    EXPECT_EQ(PointSum(test.point, test.status), test.want_sum) << test.point;
  }
  EXPECT_EQ(PointCount("AddPod"), "") << "hooks are no points";
  EXPECT_EQ(registry_.Text().find("scheduler_plugin_execution_duration_seconds"), std::string::npos)
      << "the cycle was not drawn";
}

TEST_F(EveryPointTest, ADrawnCycleHasAllItsPluginCalls) {
  const auto framework = Build(profile_);
  CycleState state;
  state.record_plugin_metrics = true;
  RunEverything(*framework, clock_, state, pod_, &bind_done_);
  const struct {
    const char* point;
    const char* status;
    const char* want_count;
    const char* want_sum;
  } cases[] = {
      {"PreFilter", "Success", "1", "0.002"},
      {"PreFilterExtensionAddPod", "Success", "1", "0.003"},
      {"PreFilterExtensionRemovePod", "Success", "1", "0.004"},
      {"Filter", "Success", "3", "0.015"},
      {"PostFilter", "Unschedulable", "1", "0.006"},
      {"PreScore", "Success", "1", "0.007"},
      {"Score", "Success", "3", "0.024"},
      {"ScoreExtensionNormalize", "Success", "1", "0.009"},
      {"Reserve", "Success", "1", "0.01"},
      {"Permit", "Wait", "1", "0.011"},
      {"PreBindPreFlight", "Success", "1", "0.012"},
      {"PreBind", "Success", "1", "0"},
      {"Bind", "Error", "1", "0.113"},
      {"PostBind", "Success", "1", "0"},
      {"Unreserve", "Success", "1", "0"},
  };
  for (const auto& test : cases) {
    EXPECT_EQ(PluginSeries("count", "P", test.point, test.status), test.want_count) << test.point;
    EXPECT_EQ(PluginSeries("sum", "P", test.point, test.status), test.want_sum) << test.point;
  }
}

TEST_F(EveryPointTest, SignIsAlwaysMeasuredAndItsPointAlwaysSucceeds) {
  const auto framework = Build(profile_);
  EXPECT_FALSE(framework->SignPod(*pod_).status.ok());
  EXPECT_EQ(PluginSeries("sum", "P", "Sign", "Unschedulable"), "0.014");
  EXPECT_EQ(PointCount("Sign"), "1");
}

TEST_F(FrameworkMetricsTest, PreEnqueueAlwaysSucceedsForItsPointAndIsDrawnPerPod) {
  TestProfile profile;
  profile.Add<PreEnqueues>({.name = "G", .pre_enqueue = Says(Status(kU, {"gate"}))});
  const auto framework = Build(profile);
  Random draws(~uint64_t{7});
  int drawn = 0;
  for (int i = 0; i < 200; ++i) {
    EXPECT_FALSE(framework->queue_points().RunPreEnqueuePlugins(*pod_, "").ok());
    drawn += draws.Below(100) < 10 ? 1 : 0;
  }
  ASSERT_GT(drawn, 0);
  EXPECT_EQ(PointCount("PreEnqueue"), "200");
  EXPECT_EQ(Samples("G", "PreEnqueue", "Unschedulable"), std::to_string(drawn));
}

TEST_F(FrameworkMetricsTest, OneCycleInTenIsDrawn) {
  const auto framework = Build(TestProfile());
  Random draws(7);
  int drawn = 0;
  for (int i = 0; i < 1000; ++i) {
    const bool want = draws.Below(100) < 10;
    EXPECT_EQ(framework->DrawMetricsSample(), want) << i;
    drawn += want ? 1 : 0;
  }
  EXPECT_GT(drawn, 50);
  EXPECT_LT(drawn, 150);
}

TEST_F(FrameworkMetricsTest, TheBufferDropsWhatDoesNotFitUntilTheNextFlush) {
  PluginMeter& meter = metrics_.Meter("P", MetricPoint::kFilter);
  for (int i = 0; i < 1500; ++i) metrics_.Sample(meter, Code::kSuccess, milliseconds(1));
  EXPECT_FALSE(metrics_.TakesSamples());
  const auto draw = [&] {
    while (!metrics_.DrawCycle()) {
    }
  };
  draw();
  EXPECT_FALSE(metrics_.TakesSamples()) << "the second is not over";
  clock_.Advance(seconds(1));
  draw();
  EXPECT_TRUE(metrics_.TakesSamples());
  metrics_.Sample(meter, Code::kSuccess, milliseconds(1));
  EXPECT_EQ(Samples("P", "Filter"), "1001") << "a text has everything up to now";
}

TEST_F(FrameworkMetricsTest, EvaluationsAreExactAndThereFromTheStart) {
  TestProfile profile;
  profile
      .Add<PreFilters, Filters>(
          {.name = "Skips", .pre_filter = Says(PreFilterResult{Status(Code::kSkip, {}), {}})})
      .Add<PreFilters, Filters>({.name = "A"})
      .Add<Filters>({.name = "B",
                     .filter =
                         [](const CycleState&, const NodeInfo& node) {
                           return node.name() == "n1" ? Status(kU, {"no"}) : Status();
                         }})
      .Add<Filters, PreScores, Scores>({.name = "C"})
      .Add<PreScores, Scores>({.name = "D", .pre_score = Says(Status(Code::kSkip, {}))})
      .Add<Scores>({.name = "E", .score = [](const NodeInfo& node, int64_t* score) {
                      *score = 1;
                      return node.name() == "n1" ? Status::Error("x") : Status();
                    }});
  const auto framework = Build(profile);
  EXPECT_EQ(Evaluations("Skips", "PreFilter"), "0");
  EXPECT_EQ(Evaluations("A", "Filter"), "0");
  EXPECT_EQ(Evaluations("E", "Score"), "0");
  EXPECT_EQ(Evaluations("E", "Filter"), "");

  CycleState state;
  EXPECT_TRUE(framework->RunPreFilterPlugins(state, *pod_).status.ok());
  {
    Framework::FilterBatch batch(*framework, state, *pod_);
    for (const NodeInfo* node : ThreeNodes().nodes()) (void)batch.Run(*node);
    EXPECT_EQ(Evaluations("A", "Filter"), "0") << "counted at the end of the batch";
  }
  (void)framework->RunFilterPlugins(state, *pod_, *ThreeNodes().nodes()[1]);
  EXPECT_TRUE(framework->RunPreScorePlugins(state, *pod_, ThreeNodes().nodes()).ok());
  NodeScores scores;
  EXPECT_FALSE(framework->RunScorePlugins(state, *pod_, ThreeNodes().nodes(), &scores).ok());

  EXPECT_EQ(Evaluations("Skips", "PreFilter"), "0");
  EXPECT_EQ(Evaluations("A", "PreFilter"), "1");
  EXPECT_EQ(Evaluations("Skips", "Filter"), "0");
  EXPECT_EQ(Evaluations("A", "Filter"), "4");
  EXPECT_EQ(Evaluations("B", "Filter"), "4");
  EXPECT_EQ(Evaluations("C", "Filter"), "2");
  EXPECT_EQ(Evaluations("C", "PreScore"), "1");
  EXPECT_EQ(Evaluations("D", "PreScore"), "0");
  EXPECT_EQ(Evaluations("C", "Score"), "3");
  EXPECT_EQ(Evaluations("D", "Score"), "0");
  EXPECT_EQ(Evaluations("E", "Score"), "2");
}

TEST_F(FrameworkMetricsTest, WorkersMeasureAtTheSameTime) {
  TestProfile profile;
  profile.Add<Filters>({.name = "A"}).Add<Filters>({.name = "B", .filter = Says(Status(kU, {}))});
  const auto framework = Build(profile);
  CycleState state;
  state.record_plugin_metrics = true;
  std::vector<std::thread> workers;
  for (int w = 0; w < 4; ++w) {
    workers.emplace_back([&] {
      Framework::FilterBatch batch(*framework, state, *pod_);
      for (int i = 0; i < 400; ++i) (void)batch.Run(*ThreeNodes().nodes()[0]);
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(Evaluations("A", "Filter"), "1600");
  EXPECT_EQ(Evaluations("B", "Filter"), "1600");
  const int samples =
      std::stoi(Samples("A", "Filter")) + std::stoi(Samples("B", "Filter", "Unschedulable"));
  EXPECT_EQ(samples, 1000) << "what fits into the buffer";
}

TEST_F(FrameworkMetricsTest, ABindAnswerMayOutliveTheFramework) {
  BindPlugin::Done plugin_done;
  TestProfile profile;
  profile.WithoutBind().Add<Binds>({.name = "B", .bind = [&](BindPlugin::Done done) {
                                      plugin_done = std::move(done);
                                      return Status();
                                    }});
  auto framework = Build(profile);
  CycleState state;
  state.record_plugin_metrics = true;
  EXPECT_TRUE(
      framework->binding_points().RunBindPlugins(state, pod_, "n0", [](const Status&) {}).ok());
  EXPECT_EQ(PointCount("Bind"), "");
  framework.reset();
  clock_.Advance(seconds(2));
  plugin_done(Status());
  EXPECT_EQ(PointSum("Bind"), "2");
  EXPECT_EQ(PluginSeries("sum", "B", "Bind", "Success"), "2");
}

TEST_F(FrameworkMetricsTest, AFrameworkInPlaceOfAnotherCountsOn) {
  TestProfile profile;
  profile.Add<Filters>({.name = "A"});
  for (int i = 0; i < 2; ++i) {
    const auto framework = Build(profile);
    const CycleState state;
    EXPECT_TRUE(framework->RunFilterPlugins(state, *pod_, *ThreeNodes().nodes()[0]).ok());
  }
  EXPECT_EQ(Evaluations("A", "Filter"), "2");
}

}  // namespace
}  // namespace ks::framework
