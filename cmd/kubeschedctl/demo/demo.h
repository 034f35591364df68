// SPDX-License-Identifier: Apache-2.0
#pragma once
// The verb demo.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "kubeschedctl/cluster/workload.h"

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
  bool ui = false;                 // a page about the scheduler, which stays as with keep
  bool plain = false;              // lines instead of the live view
  int qps = 5000;
  uint64_t seed = 1;
  std::chrono::seconds arrival{60};
  std::chrono::seconds timeout{120};   // for the rest to be bound when all have arrived
  std::string workload_file{};         // empty: the mix
  std::vector<std::string> devices{};  // of the server's simulated drivers: "8xgpu"
  Workload workload{
      .label = "kubeschedctl-demo", .nodes = 500, .pods = 5000, .node = {0, 0, 0}};  // 0: it fits
};
// 0: all that can be placed is placed; 1: it is not, or something failed; 130: interrupted.
int RunDemo(const DemoOptions& options);

}  // namespace ks::ctl
