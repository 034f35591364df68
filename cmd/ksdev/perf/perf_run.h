// SPDX-License-Identifier: Apache-2.0
#pragma once
// One run of one workload by one scheduler, on a fresh API server.

#include <chrono>
#include <string>

#include "ksdev/perf/case_file.h"
#include "ksdev/perf/perf_report.h"

namespace ks::ctl::dev::perf {

struct RunOptions {
  std::string scheduler;  // its name in the table
  std::string binary;
  bool embedded_server = false;
  std::string controlplane_tool;
  std::string server_folder;  // empty: below `folder`
  std::string folder;  // for logs and configuration files; each run overwrites the last one's
  std::chrono::seconds timeout{600};  // of each waiting for pods
};

// "misc: SchedulingBasic/5Nodes".
std::string WorkloadName(const PerfCase& perf_case);

// Blocking. A failure is in the result, and leaves the scheduler's log in `folder`.
PerfRun RunWorkload(const PerfCase& perf_case, const RunOptions& options);

}  // namespace ks::ctl::dev::perf
