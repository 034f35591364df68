// SPDX-License-Identifier: Apache-2.0
#include "ksdev/text/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ksdev/text/columns.h"

namespace ks::ctl::dev {
namespace {

constexpr Column<Measurement> kColumns[] = {
    {"averagePodsPerSecond", "pods/s, first to last bind", &Measurement::average_pods_per_second},
    {"medianPodsPerSecond", "pods/s, median second", &Measurement::median_pods_per_second},
    {"cpuMillisecondsPerPod", "CPU ms a pod, to last bind", &Measurement::cpu_ms_per_pod},
    {"cpuMillisecondsPerPodTotal", "CPU ms a pod, to exit", &Measurement::cpu_ms_per_pod_total},
    {"residentMegabytes", "resident MB at the end", &Measurement::resident_mb},
    {"residentPeakMegabytes", "resident MB, peak", &Measurement::resident_peak_mb},
    {"firstBindSeconds", "s from start to first bind", &Measurement::first_bind_seconds},
    {"lastBindSeconds", "s from start to last bind", &Measurement::last_bind_seconds},
    {"serverCpuMillisecondsPerPod", "server: CPU ms a pod", &Measurement::server_cpu_ms_per_pod},
};

}  // namespace

std::string MeasurementLine(const Measurement& m) {
  std::string line = fmt::format(
      "run {}  {:<15} {:6.0f} pods/s ({:.0f} median second)  CPU {:.3f} ms/pod ({:.3f} to exit)  "
      "resident {:.0f} MB (peak {:.0f})  first bind {:.2f} s",
      m.run, m.scheduler, m.average_pods_per_second, m.median_pods_per_second, m.cpu_ms_per_pod,
      m.cpu_ms_per_pod_total, m.resident_mb, m.resident_peak_mb, m.first_bind_seconds);
  if (m.server_cpu_ms_per_pod > 0) {
    line += fmt::format("  server CPU {:.3f} ms/pod", m.server_cpu_ms_per_pod);
  }
  return line;
}

std::string ComparisonText(const Comparison& comparison) {
  return fmt::format("\nmedians, {} nodes, {} pods, server {}\n", comparison.nodes, comparison.pods,
                     comparison.server) +
         ColumnsText<Measurement>(comparison.runs, kColumns) +
         fmt::format("{:<28} {:>15.0f}\n", "plain bindings/s (ceiling)",
                     Median(comparison.bind_ceiling));
}

std::string ComparisonJson(const Comparison& comparison) {
  nlohmann::ordered_json root = {
      {"server", comparison.server}, {"nodes", comparison.nodes}, {"pods", comparison.pods}};
  AddColumns<Measurement>(root, comparison.runs, kColumns);
  root["bindCeilingPerSecond"] = comparison.bind_ceiling;
  root["medianBindCeilingPerSecond"] = Median(comparison.bind_ceiling);
  return root.dump(2) + "\n";
}

}  // namespace ks::ctl::dev
