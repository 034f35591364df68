// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is measured between two points of a workload.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ksdev/perf/measured_scheduler.h"
#include "ksdev/perf/perf_report.h"
#include "ksdev/perf/pod_watch.h"
#include "ksdev/perf/throughput.h"

namespace ks::ctl::dev::perf {

// Threads: one. Lifetime: borrows all.
class Collector {
 public:
  // `metrics`: of the scheduler, that the case wants besides.
  Collector(PodWatch& pods, MeasuredScheduler& scheduler, const std::vector<std::string>& metrics)
      : pods_(pods), scheduler_(scheduler), metrics_(metrics) {}

  // Error: it runs already.
  Result<void> Start(const std::string& name, const PodSelection& selection);
  // Error: it does not run.
  Result<void> Stop();

  const std::vector<Collected>& collected() const { return collected_; }

 private:
  struct Point {
    SteadyTime time;
    ProcessUsage usage;
    std::vector<MetricSample> metrics;
  };
  Result<Point> Now();
  std::vector<std::string> Extras(const Point& before, const Point& after) const;

  PodWatch& pods_;
  MeasuredScheduler& scheduler_;
  const std::vector<std::string>& metrics_;
  std::string name_;
  std::optional<Point> begin_;
  std::vector<Collected> collected_;
};

}  // namespace ks::ctl::dev::perf
