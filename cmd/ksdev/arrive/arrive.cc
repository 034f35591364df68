// SPDX-License-Identifier: Apache-2.0
// ksdev arrive: pods one by one, each run on a fresh API server.
#include "ksdev/arrive/arrive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "ksdev/compare/fresh_server.h"
#include "ksdev/compare/pod_tracker.h"
#include "ksdev/perf/measured_scheduler.h"
#include "ksdev/text/arrive_report.h"
#include "ksdev/text/fail.h"
#include "ksdev/text/figures.h"
#include "kubeschedctl/cluster/scheduler_run.h"
#include "kubeschedctl/demo/arrivals.h"
#include "kubeschedctl/demo/demo_state.h"
#include "kubeschedctl/demo/demo_workload.h"

namespace ks::ctl::dev {
namespace {

using perf::MeasuredScheduler;
using std::chrono::steady_clock;

constexpr double kMega = 1e6;
constexpr std::chrono::seconds kStartTimeout{60};
constexpr const char* kOursWithJson = "kubesched, JSON";

std::vector<PlannedPod> PlanPods(const ArriveOptions& options, const Workload& workload) {
  if (options.demo_mix) {
    return MakeMix({.owner = workload.label,
                    .pods = workload.pods,
                    .nodes = workload.nodes,
                    .zones = workload.zones});
  }
  std::vector<PlannedPod> pods(workload.pods);
  for (size_t i = 0; i < pods.size(); ++i) {
    pods[i].name = PodName(i);
    pods[i].body = PodBody(workload, i);
  }
  return pods;
}

// What pods come, onto which nodes.
struct Load {
  Workload workload;
  std::vector<PlannedPod> pods;
  size_t placeable = 0;
};

Load MakeLoad(const ArriveOptions& options, double rate) {
  Load load{.workload = options.workload, .pods = {}};
  load.workload.pods = static_cast<size_t>(rate * static_cast<double>(options.duration.count()));
  load.pods = PlanPods(options, load.workload);
  load.placeable = static_cast<size_t>(std::count_if(
      load.pods.begin(), load.pods.end(), [](const PlannedPod& pod) { return pod.placeable; }));
  if (options.demo_mix) load.workload.node = FittingNode(load.pods, load.workload.nodes);
  return load;
}

class Arrive {
 public:
  Arrive(const ArriveOptions& options, TemporaryFolder& folder)
      : options_(options), folder_(folder) {}

  Result<ArriveReport> Run();

 private:
  std::vector<Contestant> Contestants() const;
  Result<void> Prepare(Cluster& cluster, const Load& load) const;
  Result<ArriveMeasurement> Measure(const Load& load, const Contestant& contestant) const;
  Result<ArriveMeasurement> Follow(Cluster& cluster, const Load& load, const FreshServer& server,
                                   MeasuredScheduler& scheduler) const;
  Result<void> AwaitBound(Cluster& cluster, const Load& load, PodTracker& tracker,
                          MeasuredScheduler& scheduler, double* created_per_second) const;

  const ArriveOptions& options_;
  TemporaryFolder& folder_;
};

std::vector<Contestant> Arrive::Contestants() const {
  std::vector<Contestant> all = BothSchedulers(options_);
  if (options_.json_too) {
    all.push_back({.name = kOursWithJson,
                   .binary = options_.kubesched,
                   .args = {"--kube-api-content-type=application/json"}});
  }
  return all;
}

Result<void> Arrive::Prepare(Cluster& cluster, const Load& load) const {
  if (Result<void> made = CreateNodes(cluster, load.workload); !made.ok()) return made;
  const std::vector<PriorityClassBody> classes = DemoPriorityClasses(load.workload.label);
  return cluster.SendAll(options_.demo_mix ? classes.size() : 0, 1, [&classes](size_t i) {
    return client::RestRequest{.method = "POST",
                               .target = kPriorityClassPath,
                               .body = classes[i].body,
                               .resource = "priorityclasses",
                               .name = classes[i].name};
  });
}

// From the first pod on until all that can be placed are.
Result<void> Arrive::AwaitBound(Cluster& cluster, const Load& load, PodTracker& tracker,
                                MeasuredScheduler& scheduler, double* created_per_second) const {
  const SteadyTime begin = steady_clock::now();
  Arrivals arrivals(cluster, load.pods,
                    {.path = PodPath(load.workload.ns), .over = options_.duration, .even = true});
  const bool all = tracker.AwaitBound(
      load.placeable, begin + options_.duration + options_.timeout, [&](size_t /*bound*/) {
        return scheduler.process().Running() && !arrivals.Failure().has_value();
      });
  if (const std::optional<Error> failure = arrivals.Failure()) return *failure;
  if (!all) {
    return scheduler.WithLog(
        fmt::format("{} of {} pods bound; the scheduler {}", tracker.Bound(), load.placeable,
                    scheduler.process().Running() ? "took too long" : "ended"));
  }
  const std::chrono::duration<double> took = tracker.Times().back() - begin;
  *created_per_second = static_cast<double>(arrivals.Created()) / took.count();
  return {};
}

Result<ArriveMeasurement> Arrive::Follow(Cluster& cluster, const Load& load,
                                         const FreshServer& server,
                                         MeasuredScheduler& scheduler) const {
  PodTracker tracker(cluster, load.workload);
  if (Result<void> synced = tracker.AwaitSynced(kStartTimeout); !synced.ok()) return synced.error();
  ArriveMeasurement measured;
  const Result<ProcessUsage> before = scheduler.process().Usage();
  const Result<ProcessUsage> server_before = server.Usage();
  Result<void> bound = AwaitBound(cluster, load, tracker, scheduler, &measured.created_per_second);
  if (!bound.ok()) return bound.error();
  scheduler.process().WaitFor(options_.settle);
  const Result<ProcessUsage> after = scheduler.process().Usage();
  const Result<double> server_cpu = CpuSecondsBetween(server_before, server.Usage());
  for (const auto* usage : {&before, &after}) {
    if (!usage->ok()) return scheduler.WithLog(usage->error().message);
  }
  if (!server_cpu.ok()) return server_cpu.error();
  const std::vector<std::string> moved = tracker.Moved();
  if (!moved.empty()) return Error{"the placement is wrong: " + moved.front()};
  const Latency latency = LatencyOf(tracker.Waits());
  const auto pods = static_cast<double>(load.pods.size());
  measured.p50_ms = latency.p50;
  measured.p90_ms = latency.p90;
  measured.p99_ms = latency.p99;
  measured.most_ms = latency.most;
  measured.cpu_ms_per_pod = (after->cpu_seconds - before->cpu_seconds) * 1000 / pods;
  measured.server_cpu_ms_per_pod = *server_cpu * 1000 / pods;
  measured.resident_peak_mb = static_cast<double>(after->resident_peak_bytes) / kMega;
  return measured;
}

Result<ArriveMeasurement> Arrive::Measure(const Load& load, const Contestant& contestant) const {
  const auto server = FreshServer::UpFor(options_, folder_.path());
  if (!server.ok()) return server.error();
  const auto cluster = Cluster::Open((*server)->admin_kubeconfig());
  if (!cluster.ok()) return cluster.error();
  if (Result<void> prepared = Prepare(**cluster, load); !prepared.ok()) return prepared.error();
  const auto scheduler = MeasuredScheduler::Start({.binary = contestant.binary,
                                                   .kubeconfig = (*server)->scheduler_kubeconfig(),
                                                   .args = contestant.args,
                                                   .qps = options_.qps,
                                                   .folder = folder_.path()},
                                                  kStartTimeout);
  if (!scheduler.ok()) return scheduler.error();
  Result<ArriveMeasurement> measured = Follow(**cluster, load, **server, **scheduler);
  if (!measured.ok()) return measured;
  const Process::End end = (*scheduler)->process().Stop(std::chrono::seconds(20));
  if (!end.clean) return (*scheduler)->WithLog("the scheduler did not end by itself: " + end.how);
  if (load.placeable < load.pods.size()) return measured;  // some pods stay pending
  const auto violations = VerifyPlacement(**cluster, load.workload);
  if (!violations.ok()) return violations.error();
  if (!violations->empty()) return Error{"the placement is wrong: " + violations->front()};
  return measured;
}

Result<ArriveReport> Arrive::Run() {
  const std::vector<Contestant> contestants = Contestants();
  ArriveReport report{.server = options_.embedded_server ? "embedded" : "kube-apiserver",
                      .mix = options_.demo_mix ? "demo" : "plain",
                      .nodes = options_.workload.nodes,
                      .schedulers = {kTheirs, kOurs},
                      .rates = {}};
  if (options_.json_too) report.schedulers.emplace_back(kOursWithJson);
  for (const double rate : options_.rates) {
    const Load load = MakeLoad(options_, rate);
    report.rates.push_back({.rate = rate, .pods = load.pods.size(), .runs = {}});
    std::fprintf(stderr, "%s\n", fmt::format("{} pods a second", rate).c_str());
    const auto measure = [&](int run, const Contestant& contestant) -> Result<void> {
      Result<ArriveMeasurement> measured = Measure(load, contestant);
      if (!measured.ok()) return Error{contestant.name + ": " + measured.error().message};
      measured->scheduler = contestant.name;
      measured->run = run;
      std::fprintf(stderr, "%s\n", ArriveLine(*measured).c_str());
      report.rates.back().runs.push_back(*std::move(measured));
      return {};
    };
    if (Result<void> done = ByTurns(contestants, options_.runs, measure); !done.ok()) {
      return done.error();
    }
  }
  return report;
}

}  // namespace

int RunArrive(ArriveOptions options) {
  const Result<std::unique_ptr<TemporaryFolder>> folder = TemporaryFolder::Make();
  if (!folder.ok()) return Fail(folder.error().message);
  if (Result<void> found = FindPrograms(options, (*folder)->path()); !found.ok()) {
    return Fail(found.error().message);
  }
  const Result<ArriveReport> report = Arrive(options, **folder).Run();
  if (!report.ok()) return Fail(report.error().message);
  std::fputs((options.json ? ArriveJson(*report) : ArriveText(*report)).c_str(), stdout);
  return 0;
}

}  // namespace ks::ctl::dev
