// SPDX-License-Identifier: Apache-2.0
#include "ksdev/text/arrive_report.h"

#include "ksdev/text/columns.h"

namespace ks::ctl::dev {
namespace {

constexpr Column<ArriveMeasurement> kColumns[] = {
    {"createdPerSecond", "pods created a second", &ArriveMeasurement::created_per_second},
    {"p50Milliseconds", "ms until bound, p50", &ArriveMeasurement::p50_ms},
    {"p90Milliseconds", "ms until bound, p90", &ArriveMeasurement::p90_ms},
    {"p99Milliseconds", "ms until bound, p99", &ArriveMeasurement::p99_ms},
    {"mostMilliseconds", "ms until bound, most", &ArriveMeasurement::most_ms},
    {"cpuMillisecondsPerPod", "CPU ms a pod", &ArriveMeasurement::cpu_ms_per_pod},
    {"serverCpuMillisecondsPerPod", "server: CPU ms a pod",
     &ArriveMeasurement::server_cpu_ms_per_pod},
    {"residentPeakMegabytes", "resident MB, peak", &ArriveMeasurement::resident_peak_mb},
};

}  // namespace

std::string ArriveLine(const ArriveMeasurement& m) {
  return fmt::format(
      "run {}  {:<15} p50 {:.2f} ms, p99 {:.2f} ms  CPU {:.3f} ms/pod  server CPU {:.3f} ms/pod  "
      "peak {:.0f} MB",
      m.run, m.scheduler, m.p50_ms, m.p99_ms, m.cpu_ms_per_pod, m.server_cpu_ms_per_pod,
      m.resident_peak_mb);
}

std::string ArriveText(const ArriveReport& report) {
  std::string text;
  for (const ArriveRate& rate : report.rates) {
    text += fmt::format("\n{} {} pods, {} a second, on {} nodes, server {}; medians\n", rate.pods,
                        report.mix, rate.rate, report.nodes, report.server) +
            ColumnsText<ArriveMeasurement>(rate.runs, kColumns, report.schedulers);
  }
  return text;
}

std::string ArriveJson(const ArriveReport& report) {
  nlohmann::ordered_json root = {
      {"server", report.server}, {"mix", report.mix}, {"nodes", report.nodes}};
  for (const ArriveRate& rate : report.rates) {
    nlohmann::ordered_json entry = {{"podsPerSecond", rate.rate}, {"pods", rate.pods}};
    AddColumns<ArriveMeasurement>(entry, rate.runs, kColumns, report.schedulers);
    root["rates"].push_back(std::move(entry));
  }
  return root.dump(2) + "\n";
}

}  // namespace ks::ctl::dev
