// SPDX-License-Identifier: Apache-2.0
#pragma once
// The figures of upstream's suite as a table.

#include <cstddef>
#include <string>
#include <vector>

#include "ksdev/perf/throughput.h"

namespace ks::ctl::dev::perf {

// What one pair of start and stop of one run gave.
struct Collected {
  std::string name;       // upstream's: of a namespace, or the operation's
  size_t pods = 0;        // scheduled meanwhile
  double seconds = 0;     // from the beginning to the last of them
  Throughput throughput;  // by windows of one second
  double attempts = 0;    // of all pods, by the scheduler's own metrics
  double attempt_p99_ms = 0;
  double cpu_ms_per_pod = 0;        // of the scheduler
  double peak_mb = 0;               // of its process, since its start
  std::vector<std::string> extras;  // lines with the metrics that the case asks for
};

// One run of one workload by one scheduler.
struct PerfRun {
  std::string workload;  // <topic>: <case>/<workload>
  std::string scheduler;
  double threshold = 0;  // 0: none
  std::string failure;   // empty: it ran to its end
  std::vector<Collected> collected;
};

// A line for progress.
std::string RunLine(const PerfRun& run);
// A line for each workload, scheduler and collection, with medians of its runs; then what failed.
std::string PerfText(const std::vector<PerfRun>& runs);
// A table in Markdown of what both schedulers did, a row for each workload and collection with pods
// (medians of its runs), and the geometric means of the ratios. pods/s are those of the windows;
// where one scheduler was through before there was a window, those from the beginning to the last
// pod of both, with a star.
std::string PerfMarkdown(const std::vector<PerfRun>& runs);

}  // namespace ks::ctl::dev::perf
