// SPDX-License-Identifier: Apache-2.0
#pragma once
// The verbs load and bindrate: nodes and pods as fast as an API server takes them. Each prints to
// standard output, errors to standard error, and returns the exit status: 0 for success, 1 for
// failure.

#include <string>

#include "base/result.h"
#include "kubeschedctl/cluster/cluster.h"
#include "kubeschedctl/cluster/workload.h"

namespace ks::ctl::dev {

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

}  // namespace ks::ctl::dev
