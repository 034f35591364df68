// SPDX-License-Identifier: Apache-2.0
#pragma once
// The verb compare: the same work for kubesched and kube-scheduler, each on a fresh API server.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "ksdev/compare/programs.h"
#include "ksdev/compare/scenario_devices.h"
#include "kubeschedctl/cluster/workload.h"

namespace ks::ctl::dev {

// What both schedulers have to do.
enum class Scenario : uint8_t {
  kBacklog,     // all pods are there when the scheduler starts, and fit
  kHeadOfLine,  // `others` pods that fit nowhere come first, then `pods` that fit
  kPreemption,  // nodes are full of `others` pods of low priority; then `pods` of high priority
                // come
  kPending,     // `pods` pods that fit nowhere
  kVolumes,     // `pods` pods with a bound CSI volume each, limits of attached volumes on nodes
  kDevices,     // `pods` pods with a ResourceClaim each (scenario_devices.h)
  kGangs,       // `pods` pods in gangs of `gang_size` (scenario_groups.h)
};

struct CompareOptions : Programs {
  Scenario scenario = Scenario::kBacklog;
  size_t others = 0;  // see Scenario
  int runs = 3;
  int qps = 5000;
  bool json = false;
  std::chrono::seconds timeout{600};
  std::chrono::seconds settle{2};  // from the last binding to the end of the scheduler
  DeviceLoad devices{};            // of kDevices
  size_t gang_size = 3;            // of kGangs
  Workload workload{.label = "kubeschedctl-bench", .nodes = 5000, .pods = 5000};
};
// Prints the figures to standard output, progress and errors to standard error. 0, or 1 for
// failure.
int RunCompare(CompareOptions options);

}  // namespace ks::ctl::dev
