// SPDX-License-Identifier: Apache-2.0
// ksdev compare: the same work for both schedulers, each on a fresh API server.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>

#include "ksdev/compare/compare.h"
#include "ksdev/compare/fresh_server.h"
#include "ksdev/compare/pod_tracker.h"
#include "ksdev/compare/programs.h"
#include "ksdev/compare/scenario.h"
#include "ksdev/load/load.h"
#include "ksdev/text/fail.h"
#include "ksdev/text/report.h"
#include "kubeschedctl/cluster/process.h"
#include "kubeschedctl/cluster/scheduler_run.h"

namespace ks::ctl::dev {
namespace {

using std::chrono::steady_clock;

constexpr double kMega = 1e6;

double Seconds(steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

class Compare {
 public:
  Compare(const CompareOptions& options, TemporaryFolder& folder)
      : options_(options), folder_(folder) {}

  Result<Comparison> Run();

 private:
  Result<void> MeasureCeiling();
  Result<void> MeasureScheduler(int run, const Contestant& contestant);
  Result<Measurement> Watch(Process& process, PodTracker& tracker, const FreshServer& server);
  Error WithLog(const Process& process, const std::string& text);
  void Progress(const std::string& line) const;

  const CompareOptions& options_;
  TemporaryFolder& folder_;
  Comparison comparison_;
};

// Progress goes to standard error so that standard output is the result alone.
void Compare::Progress(const std::string& line) const {
  std::fprintf(stderr, "%s\n", line.c_str());
}

Error Compare::WithLog(const Process& process, const std::string& text) {
  folder_.Keep();
  return Error{text + "\nthe end of its log, " + process.log_path() + ":\n" +
               LastLines(process.log_path(), 10)};
}

Result<void> Compare::MeasureCeiling() {
  const auto plane = FreshServer::UpFor(options_, folder_.path());
  if (!plane.ok()) {
    return plane.error();
  }
  const auto cluster = Cluster::Open((*plane)->admin_kubeconfig());
  if (!cluster.ok()) {
    return cluster.error();
  }
  Workload workload = options_.workload;
  workload.scheduler_name = "nobody";
  const Result<double> rate = MeasureBindRate(**cluster, workload);
  if (!rate.ok()) {
    return rate.error();
  }
  comparison_.bind_ceiling.push_back(*rate);
  Progress(
      fmt::format("       plain bindings  {:6.0f} /s, {} in flight", *rate, workload.in_flight));
  return {};
}

// From the start of the process to its end.
Result<Measurement> Compare::Watch(Process& process, PodTracker& tracker,
                                   const FreshServer& server) {
  const Result<ProcessUsage> server_before = server.Usage();
  const double pods = static_cast<double>(options_.workload.pods);
  const bool all = tracker.AwaitBound(options_.workload.pods, process.started() + options_.timeout,
                                      [&process](size_t) { return process.Running(); });
  const Result<ProcessUsage> at_last_bind = process.Usage();
  const Result<ProcessUsage> server_after = server.Usage();
  if (!all || !at_last_bind.ok()) {
    const bool running = process.Running();
    const size_t bound = tracker.Bound();
    const Process::End end = process.Stop(std::chrono::seconds(5));
    return WithLog(
        process, fmt::format("{} of {} pods bound; the scheduler {}", bound, options_.workload.pods,
                             running ? "took too long" : "ended: " + end.how));
  }
  process.WaitFor(options_.settle);
  const Result<ProcessUsage> settled = process.Usage();
  if (!settled.ok()) {
    return WithLog(process, settled.error().message);
  }
  const Result<double> server_cpu = CpuSecondsBetween(server_before, server_after);
  if (!server_cpu.ok()) {
    return server_cpu.error();
  }
  const Process::End end = process.Stop(std::chrono::seconds(20));
  if (!end.clean) {
    return WithLog(process, "the scheduler did not end by itself: " + end.how);
  }
  const BindTimes times = tracker.Times();
  const Pace pace = PaceOf(times);
  return Measurement{.average_pods_per_second = pace.average,
                     .median_pods_per_second = pace.median_per_second,
                     .cpu_ms_per_pod = at_last_bind->cpu_seconds * 1000 / pods,
                     .cpu_ms_per_pod_total = end.cpu_seconds * 1000 / pods,
                     .resident_mb = static_cast<double>(settled->resident_bytes) / kMega,
                     .resident_peak_mb = static_cast<double>(settled->resident_peak_bytes) / kMega,
                     .first_bind_seconds = Seconds(times.front() - process.started()),
                     .last_bind_seconds = Seconds(times.back() - process.started()),
                     .server_cpu_ms_per_pod = *server_cpu * 1000 / pods};
}

Result<void> Compare::MeasureScheduler(int run, const Contestant& contestant) {
  const std::string& name = contestant.name;
  const auto plane = FreshServer::UpFor(options_, folder_.path());
  if (!plane.ok()) {
    return plane.error();
  }
  const auto cluster = Cluster::Open((*plane)->admin_kubeconfig());
  if (!cluster.ok()) {
    return cluster.error();
  }
  if (Result<void> made = CreateNodes(**cluster, options_.workload); !made.ok()) {
    return made;
  }
  if (Result<void> made = CreateBoundPods(**cluster, options_.workload); !made.ok()) {
    return made;
  }
  if (Result<void> made = CreatePods(**cluster, options_.workload); !made.ok()) {
    return made;
  }
  PodTracker tracker(**cluster, options_.workload);
  if (Result<void> synced = tracker.AwaitSynced(std::chrono::seconds(60)); !synced.ok()) {
    return synced;
  }
  const auto process = StartScheduler(contestant.binary, (*plane)->scheduler_kubeconfig(),
                                      options_.qps, folder_.path());
  if (!process.ok()) {
    return process.error();
  }
  Result<Measurement> measured = Watch(**process, tracker, **plane);
  if (!measured.ok()) {
    return Error{name + ", run " + std::to_string(run) + ": " + measured.error().message};
  }
  measured->scheduler = name;
  measured->run = run;
  std::vector<std::string> violations = tracker.Moved();
  const auto placed = VerifyPlacement(**cluster, options_.workload);
  if (!placed.ok()) {
    return placed.error();
  }
  violations.insert(violations.end(), placed->begin(), placed->end());
  if (!violations.empty()) {
    return Error{name + ": the placement is wrong: " + violations.front()};
  }
  comparison_.runs.push_back(*measured);
  Progress(MeasurementLine(*measured));
  return {};
}

Result<Comparison> Compare::Run() {
  comparison_.server = options_.embedded_server ? "embedded" : "kube-apiserver";
  comparison_.nodes = options_.workload.nodes;
  comparison_.pods = options_.workload.pods;
  const auto measure = [this](int run, const Contestant& contestant) -> Result<void> {
    // Once a run.
    if (comparison_.bind_ceiling.size() < static_cast<size_t>(run)) {
      if (Result<void> ceiling = MeasureCeiling(); !ceiling.ok()) return ceiling;
    }
    return MeasureScheduler(run, contestant);
  };
  Result<void> measured = ByTurns(BothSchedulers(options_), options_.runs, measure);
  if (!measured.ok()) {
    return measured.error();
  }
  return comparison_;
}

}  // namespace

int RunCompare(CompareOptions options) {
  const Result<std::unique_ptr<TemporaryFolder>> folder = TemporaryFolder::Make();
  if (!folder.ok()) {
    return Fail(folder.error().message);
  }
  if (Result<void> found = FindPrograms(options, (*folder)->path()); !found.ok()) {
    return Fail(found.error().message);
  }
  if (options.scenario != Scenario::kBacklog) return RunScenario(options, **folder);
  const Result<Comparison> comparison = Compare(options, **folder).Run();
  if (!comparison.ok()) {
    return Fail(comparison.error().message);
  }
  std::fputs((options.json ? ComparisonJson(*comparison) : ComparisonText(*comparison)).c_str(),
             stdout);
  return 0;
}

}  // namespace ks::ctl::dev
