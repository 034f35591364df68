// SPDX-License-Identifier: Apache-2.0
#include "ksdev/text/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ks::ctl::dev {
namespace {

struct Column {
  const char* key;    // in JSON
  const char* title;  // in text
  double Measurement::*value;
};

constexpr Column kColumns[] = {
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

constexpr const char* kOurs = "kubesched";
constexpr const char* kTheirs = "kube-scheduler";

double MedianOf(const Comparison& comparison, const std::string& scheduler,
                double Measurement::*value) {
  std::vector<double> values;
  for (const Measurement& run : comparison.runs) {
    if (run.scheduler == scheduler) {
      values.push_back(run.*value);
    }
  }
  return Median(std::move(values));
}

double Ratio(const Comparison& comparison, double Measurement::*value) {
  const double theirs = MedianOf(comparison, kTheirs, value);
  return theirs == 0 ? 0 : MedianOf(comparison, kOurs, value) / theirs;
}

}  // namespace

double Median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

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
  std::string text = fmt::format(
      "\nmedians, {} nodes, {} pods, server {}\n{:<28} {:>15} {:>15} {:>8}\n", comparison.nodes,
      comparison.pods, comparison.server, "", kTheirs, kOurs, "ratio");
  for (const Column& column : kColumns) {
    const bool measured = MedianOf(comparison, kOurs, column.value) > 0;
    if (column.value == &Measurement::server_cpu_ms_per_pod && !measured) continue;
    text += fmt::format("{:<28} {:>15.3f} {:>15.3f} {:>8.3f}\n", column.title,
                        MedianOf(comparison, kTheirs, column.value),
                        MedianOf(comparison, kOurs, column.value), Ratio(comparison, column.value));
  }
  return text + fmt::format("{:<28} {:>15.0f}\n", "plain bindings/s (ceiling)",
                            Median(comparison.bind_ceiling));
}

std::string ComparisonJson(const Comparison& comparison) {
  nlohmann::ordered_json root = {
      {"server", comparison.server}, {"nodes", comparison.nodes}, {"pods", comparison.pods}};
  for (const Measurement& run : comparison.runs) {
    nlohmann::ordered_json entry = {{"scheduler", run.scheduler}, {"run", run.run}};
    for (const Column& column : kColumns) {
      entry[column.key] = run.*column.value;
    }
    root["runs"].push_back(std::move(entry));
  }
  for (const Column& column : kColumns) {
    for (const char* scheduler : {kTheirs, kOurs}) {
      root["medians"][scheduler][column.key] = MedianOf(comparison, scheduler, column.value);
    }
    root["ratios"][column.key] = Ratio(comparison, column.value);
  }
  root["bindCeilingPerSecond"] = comparison.bind_ceiling;
  root["medianBindCeilingPerSecond"] = Median(comparison.bind_ceiling);
  return root.dump(2) + "\n";
}

}  // namespace ks::ctl::dev
