// SPDX-License-Identifier: Apache-2.0
#pragma once
// The verbs of bench. Each prints to standard output, errors to standard error, and returns the
// exit status: 0 for success, 1 for failure.

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "kubeschedctl/cluster/cluster.h"
#include "kubeschedctl/cluster/workload.h"

namespace ks::ctl {

struct LoadOptions {
  std::string kubeconfig;
  bool remove = false;  // remove earlier objects of the same label instead of making new ones
  Workload workload;
};
int RunLoad(const LoadOptions& options);

struct BindRateOptions {
  std::string kubeconfig;
  Workload workload{.label = "kubeschedctl-bindrate", .scheduler_name = "nobody"};
};
int RunBindRate(const BindRateOptions& options);

// Creates the workload's nodes and pods and binds the pods round robin by plain Binding requests,
// workload.in_flight at a time. Returns bindings per second: what the API server can take.
Result<double> MeasureBindRate(Cluster& cluster, const Workload& workload);

// What both schedulers have to do.
enum class Scenario : uint8_t {
  kBacklog,     // all pods are there when the scheduler starts, and fit
  kHeadOfLine,  // `others` pods that fit nowhere come first, then `pods` that fit
  kPreemption,  // nodes are full of `others` pods of low priority; then `pods` of high priority
                // come
  kPending,     // `pods` pods that fit nowhere
  kVolumes,     // `pods` pods with a bound CSI volume each, limits of attached volumes on nodes
};

struct CompareOptions {
  Scenario scenario = Scenario::kBacklog;
  size_t others = 0;                                     // see Scenario
  std::string kubesched;                                 // empty: next to this program
  std::string kube_scheduler;                            // empty: with the control plane's binaries
  std::string controlplane_tool = "tools/controlplane";  // of the source tree
  bool embedded_server = false;                          // instead of kube-apiserver
  std::string folder;  // for the server; a control plane there is taken down first
  int runs = 3;
  int qps = 5000;
  bool json = false;
  std::chrono::seconds timeout{600};
  std::chrono::seconds settle{2};  // from the last binding to the end of the scheduler
  Workload workload{.label = "kubeschedctl-bench", .nodes = 5000, .pods = 5000};
};
int RunCompare(CompareOptions options);

struct SoakOptions {
  std::string scheduler{};    // empty: kubesched next to this program
  std::string faults_file{};  // empty: the rules of soak_rules.h
  std::string folder{};       // for logs and the server's files; empty: a temporary one
  std::chrono::seconds duration{1800};
  std::chrono::seconds settle{300};   // for the last pods to be bound
  std::chrono::seconds lifetime{30};  // of a bound pod, on average
  double rate = 20;                   // pods a second
  int qps = 5000;
  uint64_t seed = 1;
  Workload workload{.label = "kubeschedctl-soak", .nodes = 200};
};
// 0: every pod was bound once and memory stayed flat; 1: not, or something failed; 130:
// interrupted.
int RunSoak(const SoakOptions& options);

}  // namespace ks::ctl
