// SPDX-License-Identifier: Apache-2.0
#pragma once
// The verbs of kubeschedctl. Each prints to standard output, errors to standard error, and returns
// the exit status: 0 for success, 1 for failure.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster.h"
#include "replay.h"
#include "workload.h"

namespace ks::ctl {

struct DemoOptions {
  std::string kubeconfig{};            // an administrator's; empty: an API server of its own
  std::string dir{};                   // of that server; empty: a temporary one
  std::string scheduler_kubeconfig{};  // empty: the server's, or the administrator's
  std::string scheduler{};             // empty: kubesched next to this program
  std::vector<std::string> scheduler_args{};
  std::string scheduler_config{};  // a KubeSchedulerConfiguration; empty: none
  bool no_scheduler = false;       // somebody else schedules
  bool clean_up = false;           // remove nodes and pods of an existing cluster at the end
  bool keep = false;               // server and scheduler stay until Ctrl-C
  bool plain = false;              // lines instead of the live view
  int qps = 5000;
  uint64_t seed = 1;
  std::chrono::seconds arrival{60};
  std::chrono::seconds timeout{120};  // for the rest to be bound when all have arrived
  std::string workload_file{};        // empty: the mix
  Workload workload{
      .label = "kubeschedctl-demo", .nodes = 500, .pods = 5000, .node = {0, 0, 0}};  // 0: it fits
};
// 0: all that can be placed is placed; 1: it is not, or something failed; 130: interrupted.
int RunDemo(const DemoOptions& options);

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

// The status of verbs that use 1 for "no": wrong use, or an input that cannot be judged.
inline constexpr int kUsageStatus = 2;

struct CheckConfigOptions {
  std::vector<std::string> files;
  std::vector<std::string> feature_gates;  // values of --feature-gates
  std::string master;                      // the scheduler's --master
  std::string key;                         // of a manifest, this configuration only
  bool elsewhere = false;                  // files that are named are on another machine
  bool json = false;
};
// 0: a scheduler would start with every file; 1: it would not; 2: wrong use.
int RunCheckConfig(const CheckConfigOptions& options);

struct DiffConfigOptions {
  std::string before;
  std::string after;
  std::string key;  // of manifests with several configurations, this one
  std::vector<std::string> feature_gates;
  bool json = false;
};
// 0: both files mean the same; 1: they differ; 2: one of them is refused.
int RunDiffConfig(const DiffConfigOptions& options);

struct ConvertConfigOptions {
  std::string in;   // empty or "-": standard input
  std::string out;  // empty or "-": standard output
  std::string key;  // of a manifest with several configurations, this one
  bool keep_legacy = false;
};
int RunConvert(const ConvertConfigOptions& options);

struct ExplainOptions {
  std::vector<std::string> files;  // "-": standard input
  std::string config_file;         // empty: the defaults
  std::vector<std::string> feature_gates;
  std::string pod;   // [NAMESPACE/]POD; empty: all
  std::string node;  // empty: all
  bool preemption = false;
  bool json = false;
};
int RunExplain(const ExplainOptions& options);

// 0: no decision differs; 1: one does; 2: wrong use, or an input that cannot be judged.
int RunReplay(const ReplayOptions& options);

// Prints the text as an error and returns 1.
int Fail(const std::string& text);

}  // namespace ks::ctl
