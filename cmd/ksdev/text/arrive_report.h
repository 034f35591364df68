// SPDX-License-Identifier: Apache-2.0
#pragma once
// The figures of ksdev arrive as text and as JSON.

#include <cstddef>
#include <string>
#include <vector>

namespace ks::ctl::dev {

// One run of one scheduler.
struct ArriveMeasurement {
  std::string scheduler;
  int run = 0;
  double created_per_second = 0;
  double p50_ms = 0;  // from the first sight of a pod to that of its binding
  double p90_ms = 0;
  double p99_ms = 0;
  double most_ms = 0;
  double cpu_ms_per_pod = 0;  // of the scheduler since the first pod
  double server_cpu_ms_per_pod = 0;
  double resident_peak_mb = 0;
};

// All runs at one rate.
struct ArriveRate {
  double rate = 0;  // pods a second
  size_t pods = 0;  // of each run
  std::vector<ArriveMeasurement> runs;
};

struct ArriveReport {
  std::string server;  // embedded or kube-apiserver
  std::string mix;
  size_t nodes = 0;
  std::vector<std::string> schedulers;  // in the order of the columns
  std::vector<ArriveRate> rates;
};

std::string ArriveLine(const ArriveMeasurement& measurement);
std::string ArriveText(const ArriveReport& report);
std::string ArriveJson(const ArriveReport& report);

}  // namespace ks::ctl::dev
