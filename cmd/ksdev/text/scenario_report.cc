// SPDX-License-Identifier: Apache-2.0
#include "ksdev/text/scenario_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "ksdev/text/report.h"

namespace ks::ctl::dev {
namespace {

struct Column {
  const char* key;    // in JSON
  const char* title;  // in text
  double ScenarioMeasurement::*value;
};

constexpr Column kColumns[] = {
    {"podsPerSecond", "pods/s", &ScenarioMeasurement::pods_per_second},
    {"firstSeconds", "s until the first", &ScenarioMeasurement::first_seconds},
    {"lastSeconds", "s until the last", &ScenarioMeasurement::last_seconds},
    {"createdSeconds", "s until all were created", &ScenarioMeasurement::created_seconds},
    {"cpuMillisecondsPerPod", "CPU ms a pod", &ScenarioMeasurement::cpu_ms_per_pod},
    {"residentMegabytes", "resident MB at the end", &ScenarioMeasurement::resident_mb},
    {"residentPeakMegabytes", "resident MB, peak", &ScenarioMeasurement::resident_peak_mb},
    {"othersLeft", "others left", &ScenarioMeasurement::others_left},
};

double MedianOf(const ScenarioReport& report, const std::string& scheduler, const Column& column) {
  std::vector<double> values;
  for (const ScenarioMeasurement& run : report.runs) {
    if (run.scheduler == scheduler) values.push_back(run.*column.value);
  }
  return Median(std::move(values));
}

}  // namespace

std::string ScenarioText(const ScenarioReport& report) {
  std::string text = fmt::format(
      "{} on {}: {} nodes, {} pods, {} others, {} requests a second; medians\n", report.scenario,
      report.server, report.nodes, report.pods, report.others, report.qps);
  text += fmt::format("{:<24} {:>15} {:>15} {:>8}\n", "", "kube-scheduler", "kubesched", "ratio");
  for (const Column& column : kColumns) {
    const double theirs = MedianOf(report, "kube-scheduler", column);
    const double ours = MedianOf(report, "kubesched", column);
    text += fmt::format("{:<24} {:>15.3f} {:>15.3f} {:>8.3f}\n", column.title, theirs, ours,
                        theirs == 0 ? 0 : ours / theirs);
  }
  return text;
}

std::string ScenarioJson(const ScenarioReport& report) {
  nlohmann::ordered_json root = {{"scenario", report.scenario}, {"server", report.server},
                                 {"nodes", report.nodes},       {"pods", report.pods},
                                 {"others", report.others},     {"qps", report.qps}};
  for (const ScenarioMeasurement& run : report.runs) {
    nlohmann::ordered_json entry = {{"scheduler", run.scheduler}, {"run", run.run}};
    for (const Column& column : kColumns) entry[column.key] = run.*column.value;
    root["runs"].push_back(std::move(entry));
  }
  for (const Column& column : kColumns) {
    for (const char* scheduler : {"kube-scheduler", "kubesched"}) {
      root["medians"][scheduler][column.key] = MedianOf(report, scheduler, column);
    }
  }
  return root.dump(2) + "\n";
}

}  // namespace ks::ctl::dev
