// SPDX-License-Identifier: Apache-2.0
#pragma once
// The verb arrive: pods that come one by one at a rate, as on a cluster in use; how long each waits
// for its node, and what that costs. kubesched and kube-scheduler by turns.

#include <chrono>
#include <vector>

#include "ksdev/compare/programs.h"
#include "kubeschedctl/cluster/workload.h"

namespace ks::ctl::dev {

struct ArriveOptions : Programs {
  std::vector<double> rates = {50, 200, 500};  // pods a second
  std::chrono::seconds duration{10};
  bool demo_mix = false;  // the pods of the demo; else plain ones
  bool json_too = false;  // a third contestant: kubesched that neither sends nor reads protobuf
  int runs = 3;
  int qps = 5000;
  bool json = false;                 // the output
  std::chrono::seconds timeout{60};  // beyond `duration`, for all to be bound
  std::chrono::seconds settle{1};    // events are sent meanwhile
  Workload workload{.label = "kubeschedctl-arrive", .nodes = 500};
};

// Prints the figures to standard output, progress and errors to standard error. 0, or 1 for
// failure.
int RunArrive(ArriveOptions options);

}  // namespace ks::ctl::dev
