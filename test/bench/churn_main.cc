// SPDX-License-Identifier: Apache-2.0
// A large cluster in one process under virtual time: the production scheduler, an API server that
// answers after a few virtual milliseconds and reports what it did, pods that come and go, nodes
// that change. Figures are real time for each attempt, wake-ups for each event, retries for each
// bound pod, memory. The same flags give the same decisions. Run by ./dev bench churn.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/logging.h"
#include "base/random.h"
#include "bench/virtual_cluster.h"
#include "plugins/registry.h"
#include "scheduler/scheduler.h"
#include "testing/builders.h"
#include "testing/deltas.h"
#include "testing/fake_clock.h"

namespace ks::scheduler {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct Options {
  uint64_t nodes = 10'000;
  uint64_t pods = 100'000;
  uint64_t pods_per_second = 1'000;
  uint64_t lifetime_s = 60;
  uint64_t node_changes_per_second = 10;
  uint64_t unschedulable_percent = 5;
  uint64_t attempt_us = 200;
  uint64_t seed = 1;
};

class Churn {
 public:
  explicit Churn(const Options& options)
      : options_(options),
        random_(options.seed),
        agenda_(clock_),
        server_(agenda_),
        registry_(plugins::InTreeRegistry()) {
    auto made = Scheduler::Create(
        {.registry = &registry_, .api = &server_, .clock = &clock_, .seed = options.seed});
    scheduler_ = std::move(made.value());
    server_.scheduler = scheduler_.get();
    server_.on_bound = [this](const std::string& uid) { Bound(uid); };
    MakeTemplates();
  }

  void Run() {
    for (uint64_t i = 0; i < options_.nodes; ++i) nodes_.push_back(FreshNode(i));
    bench::PostNodesOnly(*scheduler_, nodes_);
    Arrive();
    ChangeNode();
    // Until all pods came, and then until those that fit are bound.
    while (!Finished()) {
      agenda_.RunDue();
      if (clock_.Now() - last_report_ >= seconds(10)) Progress();
      if (TimedStep()) continue;
      clock_.Advance(bench::NextTime(clock_.Now(), agenda_, *scheduler_) - clock_.Now());
    }
  }

  void Report() const;

 private:
  using SpecPtr = std::shared_ptr<const api::PodSpec>;

  void MakeTemplates() {
    for (int i = 0; i < 50; ++i) {
      fitting_.push_back(MakePod()
                             .Req({{"cpu", std::to_string(100 + 50 * (i % 8)) + "m"},
                                   {"memory", std::to_string(128 << (i % 4)) + "Mi"}})
                             .Priority(i % 3)
                             .Obj()
                             ->spec);
    }
    for (int i = 0; i < 10; ++i) {
      auto spec = std::make_shared<api::PodSpec>(*fitting_[static_cast<size_t>(i)]);
      api::TopologySpreadConstraint constraint;
      constraint.max_skew = 5;
      constraint.topology_key = Symbol("topology.kubernetes.io/zone");
      constraint.when_unsatisfiable = "DoNotSchedule";
      constraint.label_selector.emplace().match_labels.emplace_back("app",
                                                                    "app-" + std::to_string(i));
      spec->topology_spread_constraints.push_back(std::move(constraint));
      fitting_[static_cast<size_t>(i)] = std::move(spec);
    }
    hopeless_ = {MakePod().Req({{"cpu", "1000"}}).Obj()->spec,
                 MakePod().NodeSelector({{"pool", "none"}}).Obj()->spec,
                 MakePod().Req({{"example.com/gpu", "1"}}).Obj()->spec};
    // These fit as soon as some node gets the label for a while.
    hopeful_ = MakePod().Req({{"cpu", "100m"}}).NodeSelector({{"pool", "rare"}}).Obj()->spec;
  }

  static api::NodePtr FreshNode(uint64_t i) {
    return MakeNode()
        .Name("node-" + std::to_string(i))
        .Zone("zone-" + std::to_string(i % 3))
        .Allocatable({{"cpu", "4"}, {"memory", "16Gi"}, {"pods", "110"}})
        .Obj();
  }

  bool Finished() const {
    return created_ == options_.pods && clock_.Now() >= end_ &&
           scheduler_->context().stats.bound > 0;
  }

  bool TimedStep() {
    const uint64_t attempts = scheduler_->context().stats.attempts;
    const auto begin = std::chrono::steady_clock::now();
    const bool did = scheduler_->Step();
    const auto took = std::chrono::steady_clock::now() - begin;
    if (scheduler_->context().stats.attempts != attempts) {
      cycles_us_.push_back(static_cast<uint32_t>(
          std::chrono::duration_cast<std::chrono::microseconds>(took).count()));
      clock_.Advance(std::chrono::microseconds(static_cast<int64_t>(options_.attempt_us)));
    }
    return did;
  }

  void Arrive() {
    const uint64_t batch = std::max<uint64_t>(1, options_.pods_per_second / 100);
    for (uint64_t i = 0; i < batch && created_ < options_.pods; ++i) CreatePod();
    end_ = clock_.Now() + seconds(30);
    if (created_ < options_.pods) agenda_.In(milliseconds(10), [this] { Arrive(); });
  }

  void CreatePod() {
    const uint64_t number = created_++;
    const bool strange = random_.Below(100) < options_.unschedulable_percent;
    const uint64_t kind = random_.Below(4);
    const size_t place = random_.Below(fitting_.size());
    auto pod = std::make_shared<api::Pod>(*MakePod().Name("pod-" + std::to_string(number)).Obj());
    pod->meta.labels.Set(Symbol("app"), Symbol("app-" + std::to_string(place)));
    pod->spec = !strange ? fitting_[place] : kind == 3 ? hopeful_ : hopeless_[kind];
    server_.Create(pod);
  }

  // A bound pod runs for a while.
  void Bound(const std::string& uid) {
    const uint64_t life_ms = options_.lifetime_s * 500 + random_.Below(options_.lifetime_s * 1000);
    agenda_.In(milliseconds(static_cast<int64_t>(life_ms)), [this, uid] { server_.Remove(uid); });
  }

  void ChangeNode() {
    if (options_.node_changes_per_second == 0) return;
    const size_t i = random_.Below(nodes_.size());
    auto changed = std::make_shared<api::Node>(*nodes_[i]);
    switch (random_.Below(6)) {
      case 0:
        changed->unschedulable = !changed->unschedulable;
        break;
      case 1:
        changed->taints = {{Symbol("maintenance"), Symbol(), Symbol("NoSchedule")}};
        break;
      case 2:
        changed->taints.clear();
        break;
      case 3:
        changed->meta.labels.Set(Symbol("pool"), Symbol(random_.Below(20) == 0 ? "rare" : "usual"));
        break;
      case 4:
        changed->meta.labels.Set(Symbol("revision"), Symbol(std::to_string(random_.Below(100))));
        break;
      default:
        changed->allocatable.Set(Symbol("cpu"),
                                 *api::Quantity::Parse(std::to_string(3 + random_.Below(3))));
        break;
    }
    nodes_[i] = changed;
    scheduler_->Post(NodeDeltas{testing::Upsert(nodes_[i])});
    ++node_changes_;
    const uint64_t gap_us = 1'000'000 / options_.node_changes_per_second;
    agenda_.In(std::chrono::microseconds(static_cast<int64_t>(gap_us)), [this] { ChangeNode(); });
  }

  void Progress() {
    last_report_ = clock_.Now();
    std::fprintf(stderr, "%lu of %lu pods came, %lu are bound, %s\n", created_, options_.pods,
                 scheduler_->context().stats.bound,
                 scheduler_->context().queue.pending().Summary().c_str());
  }

  const Options options_;
  Random random_;
  ks::testing::FakeClock clock_;
  bench::Agenda agenda_;
  bench::VirtualApiServer server_;
  framework::Registry registry_;
  std::unique_ptr<Scheduler> scheduler_;
  std::vector<SpecPtr> fitting_;
  std::vector<SpecPtr> hopeless_;
  SpecPtr hopeful_;
  std::vector<api::NodePtr> nodes_;
  uint64_t created_ = 0;
  uint64_t node_changes_ = 0;
  TimePoint end_{};
  TimePoint last_report_{};
  std::vector<uint32_t> cycles_us_;
};

void Churn::Report() const {
  std::vector<uint32_t> sorted = cycles_us_;
  std::sort(sorted.begin(), sorted.end());
  const auto percentile = [&sorted](double part) {
    if (sorted.empty()) return 0U;
    return sorted[static_cast<size_t>(part * static_cast<double>(sorted.size() - 1))];
  };
  const SchedulerStats& stats = scheduler_->context().stats;
  const double bound = std::max<double>(1, static_cast<double>(stats.bound));
  std::printf("pods created          %lu\n", created_);
  std::printf("pods bound            %lu\n", stats.bound);
  std::printf("node changes          %lu\n", node_changes_);
  std::printf("attempts              %lu  (unschedulable %lu, errors %lu)\n", stats.attempts,
              stats.unschedulable, stats.errors);
  std::printf("retries per bound pod %.4f\n",
              (static_cast<double>(stats.attempts) - static_cast<double>(created_)) / bound);
  std::printf("cycle, us             p50 %u  p90 %u  p99 %u  p99.9 %u  max %u\n", percentile(0.5),
              percentile(0.9), percentile(0.99), percentile(0.999), percentile(1));
  std::printf("queue at the end      %s\n",
              scheduler_->context().queue.pending().Summary().c_str());
  std::printf("memory, MiB           peak %.0f  now %.0f\n", bench::Memory("VmHWM"),
              bench::Memory("VmRSS"));
  std::printf("%-36s %10s %10s %12s %12s\n", "event", "events", "woken", "woken/event",
              "hints/event");
  for (const auto& [label, effect] : scheduler_->context().queue.stats().effects) {
    const double events = std::max<double>(1, static_cast<double>(effect.events));
    std::printf("%-36s %10ld %10ld %12.3f %12.3f\n", label.c_str(), effect.events, effect.woken,
                static_cast<double>(effect.woken) / events,
                static_cast<double>(effect.hint_runs) / events);
  }
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "A large cluster under virtual time: cycle latency, wake-ups, retries and memory of the "
      "scheduler.",
      "ks_churn");
  app.option_defaults()->always_capture_default();
  app.add_option("--nodes", options.nodes, "nodes of 4 cores")->check(CLI::Range(1, 1'000'000));
  app.add_option("--pods", options.pods, "pods that arrive altogether")
      ->check(CLI::Range(1, 10'000'000));
  app.add_option("--rate", options.pods_per_second, "pods arriving per virtual second")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--lifetime", options.lifetime_s, "average run of a bound pod, virtual seconds")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--node-changes", options.node_changes_per_second,
                 "changes of nodes per virtual second (cordon, taint, label, capacity)")
      ->check(CLI::Range(0, 1'000'000));
  app.add_option("--unschedulable", options.unschedulable_percent,
                 "percentage of pods that fit nowhere, or only after a rare node change")
      ->check(CLI::Range(0, 100));
  app.add_option("--attempt-us", options.attempt_us,
                 "virtual microseconds that an attempt takes: a scheduler with nothing else to do "
                 "would retry all the time")
      ->check(CLI::Range(0, 1'000'000));
  app.add_option("--seed", options.seed, "the same seed gives the same decisions");
  CLI11_PARSE(app, argc, argv);
  log::SetVerbosity(0);
  Churn churn(options);
  churn.Run();
  churn.Report();
  return 0;
}

}  // namespace
}  // namespace ks::scheduler

int main(int argc, char** argv) { return ks::scheduler::Main(argc, argv); }
