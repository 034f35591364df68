// SPDX-License-Identifier: Apache-2.0
#pragma once
// The figures of a comparison as text and as JSON.

#include <string>
#include <vector>

namespace ks::ctl::dev {

// One run of one scheduler.
struct Measurement {
  std::string scheduler;
  int run = 0;
  double average_pods_per_second = 0;  // first to last binding
  double median_pods_per_second = 0;   // of the whole seconds
  double cpu_ms_per_pod = 0;           // process start to last binding
  double cpu_ms_per_pod_total = 0;     // process start to exit
  double resident_mb = 0;              // at the end
  double resident_peak_mb = 0;
  double first_bind_seconds = 0;     // after process start
  double last_bind_seconds = 0;      // after process start
  double server_cpu_ms_per_pod = 0;  // process start to last binding; 0: not measured
};

struct Comparison {
  std::string server;  // embedded or kube-apiserver
  size_t nodes = 0;
  size_t pods = 0;
  std::vector<Measurement> runs;
  std::vector<double> bind_ceiling;  // plain bindings a second, one value a run
};

std::string MeasurementLine(const Measurement& measurement);
std::string ComparisonText(const Comparison& comparison);
std::string ComparisonJson(const Comparison& comparison);

}  // namespace ks::ctl::dev
