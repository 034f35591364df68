// SPDX-License-Identifier: Apache-2.0
#pragma once
// The figures of a scenario of ksdev compare as text and as JSON.

#include <cstddef>
#include <string>
#include <vector>

namespace ks::ctl::dev {

// One run of one scheduler. Times and CPU count from the creation of the first of the pods that the
// scenario is about, unless said otherwise.
struct ScenarioMeasurement {
  std::string scheduler;
  int run = 0;
  double pods_per_second = 0;        // all pods by the time of the last
  double first_seconds = 0;          // until the first pod was bound, or refused in kPending
  double last_seconds = 0;           // until the last was
  double created_seconds = 0;        // until the API server had created the last
  double cpu_ms_per_pod = 0;         // of the scheduler since the first pod of any kind came
  double server_cpu_ms_per_pod = 0;  // the same of the API server
  double resident_mb = 0;            // at the end
  double resident_peak_mb = 0;       // of the process
  double others_left = 0;            // in kPreemption: those that were not evicted
};

struct ScenarioReport {
  std::string scenario;
  std::string server;
  size_t nodes = 0;
  size_t pods = 0;
  size_t others = 0;
  int qps = 0;
  std::vector<ScenarioMeasurement> runs;
};

std::string ScenarioText(const ScenarioReport& report);
std::string ScenarioJson(const ScenarioReport& report);

}  // namespace ks::ctl::dev
