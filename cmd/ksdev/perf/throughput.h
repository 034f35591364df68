// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pods a second as upstream's suite counts them.
//
// Upstream: test/integration/scheduler_perf, SchedulingThroughput, v1.37.1. A clock ticks each
// second from the beginning. The first tick by which a pod was scheduled only opens the series;
// from then on each tick closes a window, unless no pod came: then the window goes on, and counts
// as so many windows of the same rate as it has seconds. What comes after the last tick is not
// counted.

#include <chrono>
#include <vector>

namespace ks::ctl::dev::perf {

using SteadyTime = std::chrono::steady_clock::time_point;

// Rates of the windows, in order. `bound`: ascending.
std::vector<double> ThroughputWindows(const std::vector<SteadyTime>& bound, SteadyTime begin,
                                      SteadyTime end);

struct Throughput {
  bool measured = false;  // there was a window
  double average = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
};
// Percentiles are the smallest window that is at least as large as so many of them.
Throughput Summarize(std::vector<double> windows);

}  // namespace ks::ctl::dev::perf
