// SPDX-License-Identifier: Apache-2.0
#include "ksdev/compare/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "ksdev/compare/fresh_server.h"
#include "ksdev/compare/pod_tracker.h"
#include "ksdev/compare/scenario_devices.h"
#include "ksdev/compare/scenario_groups.h"
#include "ksdev/compare/scenario_volumes.h"
#include "ksdev/text/fail.h"
#include "ksdev/text/scenario_report.h"
#include "kubeschedctl/cluster/capacity_check.h"
#include "kubeschedctl/cluster/process.h"

namespace ks::ctl::dev {
namespace {

using Json = nlohmann::json;
using std::chrono::steady_clock;

constexpr double kMega = 1e6;
constexpr const char* kHighPriority = "kubeschedctl-high";

double SecondsBetween(SteadyTime from, SteadyTime to) {
  return std::chrono::duration<double>(to - from).count();
}

const char* NameOf(Scenario scenario) {
  switch (scenario) {
    case Scenario::kBacklog:
      return "backlog";
    case Scenario::kHeadOfLine:
      return "head-of-line";
    case Scenario::kPreemption:
      return "preemption";
    case Scenario::kVolumes:
      return "volumes";
    case Scenario::kDevices:
      return "devices";
    case Scenario::kGangs:
      return "gangs";
    case Scenario::kPending:
      break;
  }
  return "pending";
}

// Pods that are alike.
struct Batch {
  std::string name;  // label and first part of the pods' names
  size_t count = 0;
  PodTemplate size;
  std::string priority_class;  // empty: none
  size_t nodes = 0;            // not 0: pod i is on node i modulo this
  bool claims = false;         // pod i uses claim i, of a volume
  bool device_claims = false;  // pod i uses claim i, of devices
  size_t gang_size = 0;        // not 0: so many pods, one after the other, are a gang
};

std::string BodyOf(const Batch& batch, size_t index) {
  Json pod = PodManifest(fmt::format("{}-{:06}", batch.name, index), batch.name, batch.size);
  pod["spec"]["terminationGracePeriodSeconds"] = 0;
  if (!batch.priority_class.empty()) pod["spec"]["priorityClassName"] = batch.priority_class;
  if (batch.nodes > 0) pod["spec"]["nodeName"] = NodeName(index % batch.nodes);
  if (batch.claims) UseClaim(pod, index);
  if (batch.device_claims) UseDeviceClaim(pod, index);
  if (batch.gang_size > 0) JoinGang(pod, batch.gang_size, index);
  return pod.dump();
}

Result<void> Create(Cluster& cluster, const Batch& batch, const Workload& workload) {
  const std::string path = PodPath(workload.ns);
  return cluster.SendAll(batch.count, workload.in_flight, [&](size_t i) {
    return client::RestRequest{.method = "POST",
                               .target = path,
                               .body = BodyOf(batch, i),
                               .resource = "pods",
                               .name = batch.name};
  });
}

Workload Labeled(Workload workload, const std::string& label) {
  workload.label = label;
  return workload;
}

// What is created when.
struct Plan {
  Workload cluster;  // its nodes
  Batch bound;       // before the scheduler starts
  Batch first;       // when it runs
  Batch pods;        // right after; the pods that count
  Milestone milestone = Milestone::kBound;
};

Plan MakePlan(const CompareOptions& options) {
  Plan plan{.cluster = options.workload, .bound = {}, .first = {}, .pods = {}};
  const PodTemplate too_large{.cpu_milli = (options.workload.node.cpu + 1) * 1000};
  plan.pods = {.name = "pod",
               .count = options.workload.pods,
               .size = options.workload.pod_sizes[0],
               .priority_class = {}};
  switch (options.scenario) {
    case Scenario::kBacklog:
      break;
    case Scenario::kHeadOfLine:
      plan.first = {
          .name = "large", .count = options.others, .size = too_large, .priority_class = {}};
      break;
    case Scenario::kPreemption: {
      const size_t nodes = options.workload.nodes;
      const auto on_a_node = static_cast<int64_t>((options.others + nodes - 1) / nodes);
      const int64_t small = options.workload.node.cpu * 1000 / on_a_node;
      plan.bound = {.name = "small",
                    .count = options.others,
                    .size = {.cpu_milli = small},
                    .priority_class = {},
                    .nodes = nodes};
      plan.pods.size.cpu_milli = small * std::max<int64_t>(on_a_node - 1, 1);
      plan.pods.priority_class = kHighPriority;
      break;
    }
    case Scenario::kVolumes:
      plan.pods.claims = true;
      break;
    case Scenario::kDevices:
      plan.pods.device_claims = true;
      break;
    case Scenario::kGangs:
      plan.pods.gang_size = options.gang_size;
      break;
    case Scenario::kPending:
      plan.pods.size = too_large;
      plan.milestone = Milestone::kRefused;
  }
  return plan;
}

class ScenarioRun {
 public:
  ScenarioRun(const CompareOptions& options, TemporaryFolder& folder)
      : options_(options), folder_(folder), plan_(MakePlan(options)) {}

  Result<ScenarioReport> Run();

 private:
  Result<ScenarioMeasurement> Measure(const Contestant& contestant);
  Result<void> Prepare(Cluster& cluster) const;
  Result<void> AwaitRunning(Cluster& cluster, Process& process) const;
  Result<ScenarioMeasurement> Watch(Cluster& cluster, Process& process, const FreshServer& server);
  Result<void> Verify(Cluster& cluster, ScenarioMeasurement* measured) const;
  Error WithLog(const Process& process, const std::string& text) const;

  const CompareOptions& options_;
  TemporaryFolder& folder_;
  const Plan plan_;
};

Error ScenarioRun::WithLog(const Process& process, const std::string& text) const {
  folder_.Keep();
  return Error{text + "\nthe end of its log, " + process.log_path() + ":\n" +
               LastLines(process.log_path(), 10)};
}

Result<void> ScenarioRun::Prepare(Cluster& cluster) const {
  if (Result<void> made = CreateNodes(cluster, plan_.cluster); !made.ok()) return made;
  const Json high = {{"apiVersion", "scheduling.k8s.io/v1"},
                     {"kind", "PriorityClass"},
                     {"metadata", {{"name", kHighPriority}}},
                     {"value", 1000}};
  Result<void> made = cluster.SendAll(1, 1, [&](size_t) {
    return client::RestRequest{.method = "POST",
                               .target = "/apis/scheduling.k8s.io/v1/priorityclasses",
                               .body = high.dump(),
                               .resource = "priorityclasses",
                               .name = kHighPriority};
  });
  if (!made.ok()) return made;
  if (plan_.pods.claims) {
    made = CreateVolumes(cluster, plan_.cluster, plan_.pods.count);
    if (!made.ok()) return made;
  }
  if (plan_.pods.device_claims) {
    made = CreateDevices(cluster, plan_.cluster, options_.devices, plan_.pods.count);
    if (!made.ok()) return made;
  }
  if (const size_t size = plan_.pods.gang_size; size > 0) {
    made = CreateGangs(cluster, plan_.cluster, size, plan_.pods.count);
    if (!made.ok()) return made;
  }
  return Create(cluster, plan_.bound, plan_.cluster);
}

// A pod that asks for nothing shows that the scheduler is at work.
Result<void> ScenarioRun::AwaitRunning(Cluster& cluster, Process& process) const {
  const Batch probe{.name = "probe", .count = 1, .size = {0, 0}, .priority_class = {}};
  PodTracker tracker(cluster, Labeled(plan_.cluster, probe.name));
  if (Result<void> synced = tracker.AwaitSynced(std::chrono::seconds(60)); !synced.ok()) {
    return synced;
  }
  if (Result<void> made = Create(cluster, probe, plan_.cluster); !made.ok()) return made;
  const bool bound = tracker.AwaitBound(1, steady_clock::now() + options_.timeout,
                                        [&](size_t) { return process.Running(); });
  if (!bound) return WithLog(process, "the scheduler did not bind the first pod");
  return {};
}

Result<ScenarioMeasurement> ScenarioRun::Watch(Cluster& cluster, Process& process,
                                               const FreshServer& server) {
  PodTracker tracker(cluster, Labeled(plan_.cluster, plan_.pods.name));
  if (Result<void> synced = tracker.AwaitSynced(std::chrono::seconds(120)); !synced.ok()) {
    return synced.error();
  }
  const Result<ProcessUsage> before = process.Usage();
  if (!before.ok()) return WithLog(process, before.error().message);
  const Result<ProcessUsage> server_before = server.Usage();
  if (Result<void> made = Create(cluster, plan_.first, plan_.cluster); !made.ok()) {
    return made.error();
  }
  const SteadyTime begin = steady_clock::now();
  if (Result<void> made = Create(cluster, plan_.pods, plan_.cluster); !made.ok()) {
    return made.error();
  }
  const double created = SecondsBetween(begin, steady_clock::now());
  const bool all = tracker.Await(plan_.milestone, plan_.pods.count, begin + options_.timeout,
                                 [&](size_t) { return process.Running(); });
  const Result<ProcessUsage> after = process.Usage();
  const Result<double> server_cpu = CpuSecondsBetween(server_before, server.Usage());
  const BindTimes times = tracker.Times(plan_.milestone);
  if (!all || !after.ok()) {
    return WithLog(process,
                   fmt::format("{} of {} pods came to an end; the scheduler {}", times.size(),
                               plan_.pods.count, after.ok() ? "took too long" : "ended"));
  }
  if (!server_cpu.ok()) return server_cpu.error();
  process.WaitFor(options_.settle);
  const Result<ProcessUsage> settled = process.Usage();
  if (!settled.ok()) return WithLog(process, settled.error().message);
  const auto pods = static_cast<double>(plan_.pods.count);
  return ScenarioMeasurement{
      .scheduler = {},
      .pods_per_second = pods / SecondsBetween(begin, times.back()),
      .first_seconds = SecondsBetween(begin, times.front()),
      .last_seconds = SecondsBetween(begin, times.back()),
      .created_seconds = created,
      .cpu_ms_per_pod = (after->cpu_seconds - before->cpu_seconds) * 1000 / pods,
      .server_cpu_ms_per_pod = *server_cpu * 1000 / pods,
      .resident_mb = static_cast<double>(settled->resident_bytes) / kMega,
      .resident_peak_mb = static_cast<double>(settled->resident_peak_bytes) / kMega};
}

Result<void> ScenarioRun::Verify(Cluster& cluster, ScenarioMeasurement* measured) const {
  const auto nodes = cluster.ListNodes(Selector(plan_.cluster));
  if (!nodes.ok()) return nodes.error();
  const auto pods = cluster.ListPods(plan_.cluster.ns, "");
  if (!pods.ok()) return pods.error();
  std::vector<api::PodPtr> bound;
  for (const api::PodPtr& pod : *pods) {
    if (!pod->node_name.empty()) bound.push_back(pod);
    if (pod->meta.name.starts_with("small-")) ++measured->others_left;
  }
  std::vector<std::string> over = OverCapacity(*nodes, bound);
  if (over.empty()) over = OverVolumeLimit(bound, kVolumesPerNode);
  if (!over.empty()) return Error{"the placement is wrong: " + over.front()};
  if (!plan_.pods.device_claims) return {};
  return CheckDevices(cluster, plan_.cluster, plan_.pods.count);
}

Result<ScenarioMeasurement> ScenarioRun::Measure(const Contestant& contestant) {
  const std::string& name = contestant.name;
  const bool gangs = plan_.pods.gang_size > 0;
  const auto server = FreshServer::UpFor(
      options_, folder_.path(), gangs ? GroupApiServerFlags() : std::vector<std::string>());
  if (!server.ok()) return server.error();
  const auto cluster = Cluster::Open((*server)->admin_kubeconfig());
  if (!cluster.ok()) return cluster.error();
  if (Result<void> prepared = Prepare(**cluster); !prepared.ok()) return prepared.error();
  const auto process = StartScheduler(
      contestant.binary, (*server)->scheduler_kubeconfig(), options_.qps, folder_.path(),
      gangs ? std::vector<std::string>{kGroupGates} : std::vector<std::string>());
  if (!process.ok()) return process.error();
  if (Result<void> running = AwaitRunning(**cluster, **process); !running.ok()) {
    return running.error();
  }
  Result<ScenarioMeasurement> measured = Watch(**cluster, **process, **server);
  if (!measured.ok()) return Error{name + ": " + measured.error().message};
  if (const Process::End end = (*process)->Stop(std::chrono::seconds(30)); !end.clean) {
    return WithLog(**process, name + " did not end by itself: " + end.how);
  }
  if (Result<void> right = Verify(**cluster, &*measured); !right.ok()) {
    return Error{name + ": " + right.error().message};
  }
  measured->scheduler = name;
  return measured;
}

Result<ScenarioReport> ScenarioRun::Run() {
  ScenarioReport report{.scenario = NameOf(options_.scenario),
                        .server = options_.embedded_server ? "embedded" : "kube-apiserver",
                        .nodes = options_.workload.nodes,
                        .pods = options_.workload.pods,
                        .others = options_.others,
                        .qps = options_.qps,
                        .runs = {}};
  const auto measure = [&](int run, const Contestant& contestant) -> Result<void> {
    Result<ScenarioMeasurement> measured = Measure(contestant);
    if (!measured.ok()) return measured.error();
    measured->run = run;
    report.runs.push_back(*measured);
    std::fprintf(stderr, "run %d  %-15s %.1f pods/s, first %.2f s, last %.2f s, peak %.0f MB\n",
                 run, measured->scheduler.c_str(), measured->pods_per_second,
                 measured->first_seconds, measured->last_seconds, measured->resident_peak_mb);
    return {};
  };
  Result<void> measured = ByTurns(BothSchedulers(options_), options_.runs, measure);
  if (!measured.ok()) return measured.error();
  return report;
}

}  // namespace

int RunScenario(const CompareOptions& options, TemporaryFolder& folder) {
  const Result<ScenarioReport> report = ScenarioRun(options, folder).Run();
  if (!report.ok()) return Fail(report.error().message);
  std::fputs((options.json ? ScenarioJson(*report) : ScenarioText(*report)).c_str(), stdout);
  return 0;
}

}  // namespace ks::ctl::dev
