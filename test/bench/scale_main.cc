// SPDX-License-Identifier: Apache-2.0
// Clusters that no API server holds yet, in one process: the production scheduler and an API server
// of virtual time around it. For each number of nodes: decisions a second, what one costs, and
// memory. CPU counts, of the scheduler's rounds alone: from a pod's delta over its binding to the
// delta that confirms it; allocations likewise, those of that API server among them. Each row is a
// process of its own. Run by ./dev bench scale.
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/logging.h"
#include "bench/allocations.h"
#include "bench/pod_kinds.h"
#include "bench/virtual_cluster.h"
#include "plugins/registry.h"
#include "scheduler/scheduler.h"

namespace ks::scheduler {
namespace {

struct Options {
  std::vector<uint64_t> nodes{1'000, 10'000, 100'000, 1'000'000};
  uint64_t pods = 0;  // 0: as many as nodes, but at least kLeastPods
  std::vector<std::string> mixes{"plain", "constraint"};
  int32_t parallelism = 1;
  uint64_t decisions_kept = 0;
  double seconds = 0;  // 0: until all pods are bound
};

constexpr uint64_t kLeastPods = 20'000;
constexpr uint64_t kPodsAtOnce = 500;  // that wait in the queue

// CPU of this thread.
double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Pods of workloads, by turns one of each kind of the mix. A workload has at most half as many
// replicas as there are nodes, so that those that keep off each other have room.
class Workloads {
 public:
  Workloads(const std::string& mix, uint64_t nodes)
      : replicas_max_(std::max<uint64_t>(1, nodes / 2)) {
    for (const bench::PodKind& kind : bench::kPodKinds) {
      const bool plain = std::string(kind.name) == "plain";
      if (mix == kind.name || (mix == "constraint" && !plain)) kinds_.push_back({&kind, 0, 0, {}});
    }
    KS_CHECK(!kinds_.empty(), "a mix without pods");
  }

  api::PodPtr Next() {
    Kind& kind = kinds_[created_ % kinds_.size()];
    const bool one_for_all = std::string(kind.kind->name) == "plain";
    if (kind.pod == nullptr || (kind.replicas == replicas_max_ && !one_for_all)) {
      kind.pod =
          kind.kind->make(std::string(kind.kind->name) + "-" + std::to_string(kind.workloads++))
              .Obj();
      kind.replicas = 0;
    }
    ++kind.replicas;
    auto pod = std::make_shared<api::Pod>(*kind.pod);
    pod->meta.name = "pod-" + std::to_string(created_++);
    pod->meta.uid = "uid-" + pod->meta.name;
    return pod;
  }
  uint64_t created() const { return created_; }

 private:
  struct Kind {
    const bench::PodKind* kind;
    uint64_t replicas;
    uint64_t workloads;
    api::PodPtr pod;
  };
  const uint64_t replicas_max_;
  std::vector<Kind> kinds_;
  uint64_t created_ = 0;
};

class Row {
 public:
  Row(const Options& options, const std::string& mix, uint64_t nodes)
      : options_(options),
        mix_(mix),
        nodes_(nodes),
        pods_(options.pods != 0 ? options.pods : std::max(nodes, kLeastPods)),
        workloads_(mix, nodes),
        agenda_(clock_),
        server_(agenda_),
        registry_(plugins::InTreeRegistry()) {
    SchedulerOptions scheduler_options;
    scheduler_options.configuration.parallelism = options.parallelism;
    scheduler_options.registry = &registry_;
    scheduler_options.api = &server_;
    scheduler_options.clock = &clock_;
    scheduler_options.decisions_kept = options.decisions_kept;
    auto made = Scheduler::Create(std::move(scheduler_options));
    KS_CHECK(made.ok(), "a scheduler");
    scheduler_ = std::move(made.value());
    server_.scheduler = scheduler_.get();
  }

  void Run() {
    TakeNodesUp();
    while (bound() < pods_ && !TimeIsUp()) {
      agenda_.RunDue();
      while (workloads_.created() < std::min(pods_, decided() + kPodsAtOnce)) {
        server_.Create(workloads_.Next());
      }
      if (Step()) continue;
      // Nothing is under way, and still pods are left: they fit nowhere.
      if (!agenda_.Next() && workloads_.created() == pods_) break;
      clock_.Advance(bench::NextTime(clock_.Now(), agenda_, *scheduler_) - clock_.Now());
    }
  }

  void Print() const {
    const double decisions = static_cast<double>(std::max<uint64_t>(1, bound()));
    const double memory_mib = bench::Memory("VmRSS");
    std::printf(
        "| %-22s | %9lu | %9lu | %11.0f | %11.2f | %11.2f | %9.2f | %11.1f | %7.1f | %8.0f | %8.0f "
        "|\n",
        mix_.c_str(), nodes_, bound(), decisions / cpu_s_, cpu_s_ * 1e6 / decisions,
        Percentile(0.5), Percentile(0.99), static_cast<double>(allocations_) / decisions, start_s_,
        nodes_mib_, memory_mib);
    if (bound() < workloads_.created() && options_.seconds == 0) {
      std::printf("  %lu of %lu pods are not bound: %s\n", pods_ - bound(), pods_,
                  scheduler_->context().queue.pending().Summary().c_str());
    }
    std::fflush(stdout);
  }

  static void PrintHead() {
    std::printf("| %-22s | %9s | %9s | %11s | %11s | %11s | %9s | %11s | %7s | %8s | %8s |\n",
                "mix", "nodes", "pods", "decisions/s", "us/decision", "p50 us", "p99 us",
                "allocations", "start s", "MiB then", "MiB");
    std::printf("|---|---|---|---|---|---|---|---|---|---|---|\n");
    std::fflush(stdout);
  }

 private:
  uint64_t bound() const { return scheduler_->context().stats.bound; }
  uint64_t decided() const { return scheduler_->context().stats.scheduled; }
  bool TimeIsUp() const { return options_.seconds != 0 && cpu_s_ >= options_.seconds; }

  void TakeNodesUp() {
    std::vector<api::NodePtr> nodes;
    nodes.reserve(nodes_);
    for (uint64_t i = 0; i < nodes_; ++i) nodes.push_back(Node(i));
    const double begin = CpuSeconds();
    bench::PostNodesOnly(*scheduler_, std::move(nodes));
    while (scheduler_->Step()) {
    }
    start_s_ = CpuSeconds() - begin;
    nodes_mib_ = bench::Memory("VmRSS");
  }

  static api::NodePtr Node(uint64_t i) {
    const std::string name = "node-" + std::to_string(i);
    return testing::MakeNode()
        .Name(name)
        .Zone("zone-" + std::to_string(i % 3))
        .Label(bench::kHostname, name)
        .Allocatable({{"cpu", "16"}, {"memory", "64Gi"}, {"pods", "110"}})
        .Obj();
  }

  bool Step() {
    const uint64_t before = scheduler_->context().stats.attempts;
    const uint64_t allocations = bench::AllocationsOfThread();
    const double begin = CpuSeconds();
    const bool did = scheduler_->Step();
    const double took = CpuSeconds() - begin;
    allocations_ += bench::AllocationsOfThread() - allocations;
    cpu_s_ += took;
    if (scheduler_->context().stats.attempts != before) {
      rounds_us_.push_back(static_cast<float>(took * 1e6));
    }
    return did;
  }

  double Percentile(double part) const {
    if (rounds_us_.empty()) return 0;
    std::vector<float> sorted = rounds_us_;
    const auto place =
        sorted.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(sorted.size() - 1));
    std::nth_element(sorted.begin(), place, sorted.end());
    return static_cast<double>(*place);
  }

  const Options& options_;
  const std::string mix_;
  const uint64_t nodes_;
  const uint64_t pods_;
  Workloads workloads_;
  testing::FakeClock clock_;
  bench::Agenda agenda_;
  bench::VirtualApiServer server_;
  framework::Registry registry_;
  std::unique_ptr<Scheduler> scheduler_;
  double cpu_s_ = 0;
  uint64_t allocations_ = 0;
  double start_s_ = 0;
  double nodes_mib_ = 0;  // resident when the nodes are taken up
  std::vector<float> rounds_us_;
};

// A process of its own, so that its memory is its own. False: it failed.
bool RunApart(const Options& options, const std::string& mix, uint64_t nodes) {
  const pid_t child = fork();
  KS_CHECK(child >= 0, "no process for a row");
  if (child == 0) {
    auto row = std::make_unique<Row>(options, mix, nodes);
    row->Run();
    row->Print();
    _exit(0);  // a million nodes need not be freed
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0;
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Clusters of up to a million nodes in one process: decisions a second, what one costs, and "
      "memory.",
      "ks_scale");
  app.option_defaults()->always_capture_default();
  app.add_option("--nodes", options.nodes, "numbers of nodes, a row each")
      ->delimiter(',')
      ->check(CLI::Range(1, 10'000'000));
  app.add_option("--pods", options.pods, "pods of each row; 0: as many as nodes, at least 20000")
      ->check(CLI::Range(0, 100'000'000));
  std::vector<std::string> known{"constraint"};
  for (const bench::PodKind& kind : bench::kPodKinds) known.emplace_back(kind.name);
  app.add_option("--mix", options.mixes,
                 "kinds of pods: one of them, or constraint: all but the plain one by turns")
      ->delimiter(',')
      ->check(CLI::IsMember(known));
  app.add_option("--parallelism", options.parallelism, "threads that search; 1: one core for all")
      ->check(CLI::Range(1, 64));
  app.add_option("--decisions-kept", options.decisions_kept,
                 "decisions that are remembered for operators")
      ->check(CLI::Range(0, 100'000));
  app.add_option("--seconds", options.seconds,
                 "ends a row after so much CPU; 0: when all are bound")
      ->check(CLI::Range(0.0, 100'000.0));
  CLI11_PARSE(app, argc, argv);
  log::SetVerbosity(0);
  Row::PrintHead();
  bool succeeded = true;
  for (const std::string& mix : options.mixes) {
    for (const uint64_t nodes : options.nodes) succeeded &= RunApart(options, mix, nodes);
  }
  return succeeded ? 0 : 1;
}

}  // namespace
}  // namespace ks::scheduler

int main(int argc, char** argv) { return ks::scheduler::Main(argc, argv); }
