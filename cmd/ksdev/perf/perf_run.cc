// SPDX-License-Identifier: Apache-2.0
#include "ksdev/perf/perf_run.h"

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ksdev/compare/fresh_server.h"
#include "ksdev/perf/executor.h"
#include "ksdev/perf/measured_scheduler.h"
#include "ksdev/perf/pod_watch.h"
#include "kubeschedctl/cluster/cluster.h"
#include "kubeschedctl/cluster/scheduler_run.h"

namespace ks::ctl::dev::perf {
namespace {

constexpr int kQps = 5000;  // upstream's
constexpr std::chrono::seconds kStartTimeout{60};
// The last version that could do without it.
constexpr const char* kWithoutDeclaredFeatures = "1.36";

bool Enabled(const PerfCase& perf_case, const char* gate) {
  const auto found = perf_case.gates.find(gate);
  return found != perf_case.gates.end() && found->second;
}

bool Disabled(const PerfCase& perf_case, const char* gate) {
  const auto found = perf_case.gates.find(gate);
  return found != perf_case.gates.end() && !found->second;
}

// What API server and scheduler have alike.
std::vector<std::string> GateFlags(const PerfCase& perf_case, const std::string& component) {
  std::vector<std::string> flags;
  if (Disabled(perf_case, "NodeDeclaredFeatures")) {
    flags.push_back("--emulated-version=" + component + kWithoutDeclaredFeatures);
  }
  std::string gates;
  for (const auto& [name, on] : perf_case.gates) {
    gates += (gates.empty() ? "" : ",") + name + (on ? "=true" : "=false");
  }
  if (!gates.empty()) flags.push_back("--feature-gates=" + gates);
  return flags;
}

std::vector<std::string> ApiServerFlags(const PerfCase& perf_case) {
  std::vector<std::string> flags = GateFlags(perf_case, "kube=");
  flags.emplace_back("--disable-admission-plugins=Priority");
  std::string apis;
  const auto serve = [&](const char* gate, const std::string& group,
                         std::initializer_list<const char*> versions) {
    if (!Enabled(perf_case, gate)) return;
    for (const char* version : versions) {
      apis += (apis.empty() ? "" : ",") + group + "/" + version + "=true";
    }
  };
  serve("DynamicResourceAllocation", "resource.k8s.io", {"v1", "v1beta2", "v1beta1", "v1alpha3"});
  serve("GenericWorkload", "scheduling.k8s.io", {"v1beta1", "v1alpha3"});
  if (!apis.empty()) flags.push_back("--runtime-config=" + apis);
  return flags;
}

// Upstream's run has the controller of claims in its own process, with a client of that rate.
std::vector<std::string> ControllerManagerFlags(const PerfCase& perf_case) {
  std::vector<std::string> flags = GateFlags(perf_case, "kube=");
  flags.emplace_back("--kube-api-qps=" + std::to_string(kQps));
  flags.emplace_back("--kube-api-burst=" + std::to_string(kQps));
  return flags;
}

Result<void> Run(const PerfCase& perf_case, const RunOptions& options, PerfRun& run) {
  const auto operations = OperationsOf(perf_case);
  if (!operations.ok()) return operations.error();
  const bool claims = Enabled(perf_case, "DynamicResourceAllocation");
  const auto server = FreshServer::Up(
      {.embedded = options.embedded_server,
       .folder = options.server_folder.empty() ? options.folder + "/server" : options.server_folder,
       .log = options.folder + "/server.log",
       .embedded_flags = {"--claims"},
       .controlplane_tool = options.controlplane_tool,
       .apiserver_flags = ApiServerFlags(perf_case),
       .controller_manager = claims,
       .controller_manager_flags = ControllerManagerFlags(perf_case)});
  if (!server.ok()) return server.error();
  const auto cluster = Cluster::Open((*server)->admin_kubeconfig());
  if (!cluster.ok()) return cluster.error();
  PodWatch pods(**cluster);
  if (Result<void> synced = pods.AwaitSynced(kStartTimeout); !synced.ok()) return synced;
  const auto scheduler = MeasuredScheduler::Start({.binary = options.binary,
                                                   .kubeconfig = (*server)->scheduler_kubeconfig(),
                                                   .config = perf_case.scheduler_config,
                                                   .args = GateFlags(perf_case, ""),
                                                   .qps = kQps,
                                                   .folder = options.folder},
                                                  kStartTimeout);
  if (!scheduler.ok()) return scheduler.error();
  Executor executor(**cluster, pods, **scheduler,
                    {.perf_case = perf_case,
                     .embedded_server = options.embedded_server,
                     .timeout = options.timeout});
  Result<void> done = executor.Run(*operations);
  run.collected = executor.collected();
  const Process::End end = (*scheduler)->process().Stop(std::chrono::seconds(30));
  if (done.ok() && !end.clean) {
    return (*scheduler)->WithLog("the scheduler did not end by itself: " + end.how);
  }
  return done;
}

}  // namespace

std::string WorkloadName(const PerfCase& perf_case) {
  return perf_case.topic + ": " + perf_case.name;
}

PerfRun RunWorkload(const PerfCase& perf_case, const RunOptions& options) {
  PerfRun run{.workload = WorkloadName(perf_case),
              .scheduler = options.scheduler,
              .threshold = perf_case.threshold,
              .failure = {},
              .collected = {}};
  const Result<void> done = Run(perf_case, options, run);
  if (!done.ok()) run.failure = done.error().message;
  return run;
}

}  // namespace ks::ctl::dev::perf
