// SPDX-License-Identifier: Apache-2.0
#pragma once
// The verb soak: a scheduler on an API server with faults, pods coming and going, for a long time.

#include <chrono>
#include <cstdint>
#include <string>

#include "kubeschedctl/cluster/workload.h"

namespace ks::ctl::dev {

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

// Prints to standard output, errors to standard error. 0: every pod was bound once and memory
// stayed flat; 1: not, or something failed; 130: interrupted.
int RunSoak(const SoakOptions& options);

}  // namespace ks::ctl::dev
