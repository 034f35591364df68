// SPDX-License-Identifier: Apache-2.0
#pragma once
// The verb perf: upstream's benchmark suite, as its files describe it, for kubesched and
// kube-scheduler by turns, each run on a fresh API server.
//
// Upstream: test/integration/scheduler_perf, v1.37.1. There the scheduler runs in the suite's own
// process; here it is a process of its own, beside the API server.

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "ksdev/compare/programs.h"
#include "ksdev/perf/case_file.h"

namespace ks::ctl::dev::perf {

struct PerfOptions : Programs {
  std::string suite;                   // folder test/integration/scheduler_perf
  std::string labels = "performance";  // upstream's filter
  std::string filter;                  // regular expression, found in "<topic>: <case>/<workload>"
  bool list = false;                   // only that
  std::string scheduler = "both";      // or kubesched, kube-scheduler
  int runs = 1;
  std::string shard = "1/1";  // of the workloads: the first, and then each so-many-th
  std::string may_fail;       // regular expression: kube-scheduler may fail in these workloads
  bool markdown = false;      // how the table looks
  std::chrono::seconds timeout{600};  // of each waiting for pods
};

// The 1st, 4th, 7th … of the cases for "1/3". Error: no such shard.
Result<std::vector<PerfCase>> ShardOf(std::vector<PerfCase> cases, const std::string& shard);

// Prints the table to standard output, progress and errors to standard error. 0, or 1 when
// something failed.
int RunPerf(PerfOptions options);

}  // namespace ks::ctl::dev::perf
