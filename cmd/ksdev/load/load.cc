// SPDX-License-Identifier: Apache-2.0
#include "ksdev/load/load.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "ksdev/text/fail.h"

namespace ks::ctl::dev {
namespace {

using std::chrono::steady_clock;

double SecondsSince(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

void Report(const char* what, size_t count, double seconds) {
  if (count > 0) {
    fmt::print("{} {} in {:.2f} s: {:.0f}/s\n", count, what, seconds,
               static_cast<double>(count) / seconds);
    std::fflush(stdout);
  }
}

std::string BindingFor(size_t pod, size_t node) {
  return fmt::format(R"({{"apiVersion":"v1","kind":"Binding","metadata":{{"name":"{}"}},)"
                     R"("target":{{"apiVersion":"v1","kind":"Node","name":"{}"}}}})",
                     PodName(pod), NodeName(node));
}

// For objects of an earlier run, which are told by an error of the server.
int FailCreation(const Error& error) {
  const bool exists = error.message.find("already exists") != std::string::npos;
  return Fail(error.message + (exists ? "; remove earlier objects with: bench load --remove" : ""));
}

}  // namespace

int RunLoad(const LoadOptions& options) {
  Result<std::unique_ptr<Cluster>> cluster = Cluster::Open(options.kubeconfig);
  if (!cluster.ok()) {
    return Fail(cluster.error().message);
  }
  if (options.remove) {
    const Result<void> removed = RemoveWorkload(**cluster, options.workload);
    return removed.ok() ? 0 : Fail(removed.error().message);
  }
  auto start = steady_clock::now();
  if (Result<void> nodes = CreateNodes(**cluster, options.workload); !nodes.ok()) {
    return FailCreation(nodes.error());
  }
  Report("nodes", options.workload.nodes, SecondsSince(start));
  if (Result<void> bound = CreateBoundPods(**cluster, options.workload); !bound.ok()) {
    return FailCreation(bound.error());
  }
  start = steady_clock::now();
  if (Result<void> pods = CreatePods(**cluster, options.workload); !pods.ok()) {
    return FailCreation(pods.error());
  }
  Report("pods", options.workload.pods, SecondsSince(start));
  return 0;
}

Result<double> MeasureBindRate(Cluster& cluster, const Workload& workload) {
  if (Result<void> nodes = CreateNodes(cluster, workload); !nodes.ok()) {
    return nodes.error();
  }
  if (Result<void> pods = CreatePods(cluster, workload); !pods.ok()) {
    return pods.error();
  }
  const std::string path = PodPath(workload.ns) + "/";
  const auto start = steady_clock::now();
  const Result<void> bound =
      cluster.SendAll(workload.pods, workload.in_flight, [&workload, &path](size_t i) {
        return client::RestRequest{.method = "POST",
                                   .target = path + PodName(i) + "/binding",
                                   .body = BindingFor(i, i % workload.nodes),
                                   .resource = "pods",
                                   .name = PodName(i)};
      });
  if (!bound.ok()) {
    return bound.error();
  }
  return static_cast<double>(workload.pods) / SecondsSince(start);
}

int RunBindRate(const BindRateOptions& options) {
  Result<std::unique_ptr<Cluster>> cluster = Cluster::Open(options.kubeconfig);
  if (!cluster.ok()) {
    return Fail(cluster.error().message);
  }
  if (Result<void> removed = RemoveWorkload(**cluster, options.workload); !removed.ok()) {
    return Fail(removed.error().message);
  }
  const Result<double> rate = MeasureBindRate(**cluster, options.workload);
  if (!rate.ok()) {
    return Fail(rate.error().message);
  }
  fmt::print("{} bindings, {} in flight: {:.0f}/s\n", options.workload.pods,
             options.workload.in_flight, *rate);
  const Result<void> removed = RemoveWorkload(**cluster, options.workload);
  return removed.ok() ? 0 : Fail(removed.error().message);
}

}  // namespace ks::ctl::dev
