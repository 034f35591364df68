// SPDX-License-Identifier: Apache-2.0
// How long the scheduling thread stands still for an operator's question, at scale: 5,000 nodes,
// 50,000 running and 100,000 pending pods. Only what runs there is counted, by the thread's CPU
// time, so that a busy machine does not matter; what was found is formatted and freed elsewhere.
// `longest_ms`: the worst of all repetitions.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/logging.h"
#include "inspect/cache_report.h"
#include "inspect/queue_report.h"
#include "plugins/registry.h"
#include "scheduler/metrics/scheduler_metrics.h"
#include "scheduler/scheduler.h"
#include "testing/builders.h"
#include "testing/deltas.h"
#include "testing/fake_api_writer.h"
#include "testing/fake_clock.h"
#include "testing/no_objects.h"

namespace ks::scheduler {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;

constexpr int kNodes = 5000;
constexpr int kRunning = 50'000;
constexpr int kPending = 100'000;

// `rejected`: every pending pod was attempted and waits; else they are active, in a standby.
class Cluster {
 public:
  explicit Cluster(bool rejected) : registry_(plugins::InTreeRegistry()) {
    log::SetVerbosity(0);
    auto made = Scheduler::Create({.registry = &registry_,
                                   .api = &api_,
                                   .clock = &clock_,
                                   .scheduler_metrics = &scheduler_metrics_,
                                   .standby = !rejected});
    scheduler_ = std::move(*made);
    testing::PostNoStorageOrDevices(*scheduler_);
    testing::PostNoOwners(*scheduler_);
    std::vector<api::NodePtr> nodes;
    for (int i = 0; i < kNodes; ++i) {
      nodes.push_back(MakeNode()
                          .Name("node-" + std::to_string(i))
                          .Allocatable({{"cpu", "4"}, {"memory", "16Gi"}, {"pods", "110"}})
                          .Obj());
    }
    scheduler_->Post(NodeDeltas{testing::Replace<api::Node>(std::move(nodes))});
    std::vector<api::PodPtr> pods;
    for (int i = 0; i < kRunning; ++i) {
      pods.push_back(MakePod()
                         .Name("running-" + std::to_string(i))
                         .Req({{"cpu", "100m"}})
                         .Node("node-" + std::to_string(i % kNodes))
                         .Obj());
    }
    for (int i = 0; i < kPending; ++i) {
      pods.push_back(MakePod().Name("pending-" + std::to_string(i)).Req({{"cpu", "100"}}).Obj());
    }
    scheduler_->Post(PodDeltas{testing::Replace<api::Pod>(std::move(pods))});
    while (scheduler_->Step()) {
      api_.patches.clear();
      api_.events.clear();
    }
  }

  Scheduler& scheduler() { return *scheduler_; }

 private:
  ks::testing::FakeClock clock_;
  ks::testing::FakeApiWriter api_;
  metrics::Registry metrics_registry_;
  SchedulerMetrics scheduler_metrics_{metrics_registry_, clock_};
  framework::Registry registry_;
  std::unique_ptr<Scheduler> scheduler_;
};

// Made once for each state: it takes a while.
Scheduler& InState(bool rejected) {
  static Cluster* const active = new Cluster(false);
  static Cluster* const parked = new Cluster(true);
  return (rejected ? parked : active)->scheduler();
}

double ThreadSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Times look(scheduler); what it returns ends outside of the time.
template <class Look>
void Measure(benchmark::State& state, Look look) {
  Scheduler& scheduler = InState(state.range(0) != 0);
  double longest = 0;
  for (auto _ : state) {
    const double begin = ThreadSeconds();
    const auto found = look(scheduler);
    const double took = ThreadSeconds() - begin;
    benchmark::DoNotOptimize(&found);
    state.SetIterationTime(took);
    longest = std::max(longest, took);
  }
  state.counters["longest_ms"] = longest * 1000;
}

void BM_ReportQueue(benchmark::State& state) { Measure(state, inspect::CollectQueue); }
// Without pods, with those on nodes, and for a comparison.
void BM_ReportCacheNodes(benchmark::State& state) {
  Measure(state, [](Scheduler& scheduler) {
    return inspect::CollectCache(scheduler, {.pods = false, .pending = false});
  });
}
void BM_ReportCachePods(benchmark::State& state) {
  Measure(state, [](Scheduler& scheduler) {
    return inspect::CollectCache(scheduler, {.pending = false});
  });
}
void BM_ReportCacheAll(benchmark::State& state) {
  Measure(state, [](Scheduler& scheduler) { return inspect::CollectCache(scheduler); });
}
void BM_ReportResources(benchmark::State& state) {
  Measure(state, [](Scheduler& scheduler) { return scheduler.context().cluster.pods.Unsorted(); });
}
void BM_ReportMetrics(benchmark::State& state) {
  Measure(state, [](Scheduler& scheduler) {
    scheduler.PublishMetrics();
    return 0;
  });
}

void States(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("rejected")->Arg(0)->Arg(1)->UseManualTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK(BM_ReportQueue)->Apply(States);
BENCHMARK(BM_ReportCacheNodes)->Apply(States);
BENCHMARK(BM_ReportCachePods)->Apply(States);
BENCHMARK(BM_ReportCacheAll)->Apply(States);
BENCHMARK(BM_ReportResources)->Apply(States);
BENCHMARK(BM_ReportMetrics)->Apply(States);

}  // namespace
}  // namespace ks::scheduler
