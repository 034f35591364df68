// SPDX-License-Identifier: Apache-2.0
#include "ksdev/text/scenario_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "ksdev/text/columns.h"

namespace ks::ctl::dev {
namespace {

constexpr Column<ScenarioMeasurement> kColumns[] = {
    {"podsPerSecond", "pods/s", &ScenarioMeasurement::pods_per_second},
    {"firstSeconds", "s until the first", &ScenarioMeasurement::first_seconds},
    {"lastSeconds", "s until the last", &ScenarioMeasurement::last_seconds},
    {"createdSeconds", "s until all were created", &ScenarioMeasurement::created_seconds},
    {"cpuMillisecondsPerPod", "CPU ms a pod", &ScenarioMeasurement::cpu_ms_per_pod},
    {"serverCpuMillisecondsPerPod", "server: CPU ms a pod",
     &ScenarioMeasurement::server_cpu_ms_per_pod},
    {"residentMegabytes", "resident MB at the end", &ScenarioMeasurement::resident_mb},
    {"residentPeakMegabytes", "resident MB, peak", &ScenarioMeasurement::resident_peak_mb},
    {"othersLeft", "others left", &ScenarioMeasurement::others_left},
};

}  // namespace

std::string ScenarioText(const ScenarioReport& report) {
  const std::string text = fmt::format(
      "{} on {}: {} nodes, {} pods, {} others, {} requests a second; medians\n", report.scenario,
      report.server, report.nodes, report.pods, report.others, report.qps);
  return text + ColumnsText<ScenarioMeasurement>(report.runs, kColumns);
}

std::string ScenarioJson(const ScenarioReport& report) {
  nlohmann::ordered_json root = {{"scenario", report.scenario}, {"server", report.server},
                                 {"nodes", report.nodes},       {"pods", report.pods},
                                 {"others", report.others},     {"qps", report.qps}};
  AddColumns<ScenarioMeasurement>(root, report.runs, kColumns);
  return root.dump(2) + "\n";
}

}  // namespace ks::ctl::dev
