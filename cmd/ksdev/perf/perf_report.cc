// SPDX-License-Identifier: Apache-2.0
#include "ksdev/perf/perf_report.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "ksdev/text/figures.h"
#include "kubeschedctl/text/columns.h"

namespace ks::ctl::dev::perf {
namespace {

constexpr const char* kOurs = "kubesched";
constexpr const char* kTheirs = "kube-scheduler";

// Runs of one workload by one scheduler, of one collection.
using Group = std::vector<const Collected*>;

template <class Member>
double MedianOf(const Group& group, Member member) {
  std::vector<double> values;
  for (const Collected* one : group) values.push_back(static_cast<double>(one->*member));
  return Median(std::move(values));
}

// Nothing when some run was over before there was a window.
std::optional<double> MedianRate(const Group& group, double Throughput::*member) {
  std::vector<double> values;
  for (const Collected* one : group) {
    if (!one->throughput.measured) return std::nullopt;
    values.push_back(one->throughput.*member);
  }
  return Median(std::move(values));
}

std::string RateText(const std::optional<double>& rate) {
  return rate ? fmt::format("{:.1f}", *rate) : "-";
}

std::vector<std::string> Cells(const std::string& workload, const std::string& scheduler,
                               double threshold, const Group& group, const Group* other) {
  const std::optional<double> average = MedianRate(group, &Throughput::average);
  const double theirs = other == nullptr ? 0 : MedianRate(*other, &Throughput::average).value_or(0);
  return {workload,
          scheduler,
          fmt::format("{:.0f}", MedianOf(group, &Collected::pods)),
          fmt::format("{:.2f}", MedianOf(group, &Collected::seconds)),
          RateText(average),
          RateText(MedianRate(group, &Throughput::p50)),
          RateText(MedianRate(group, &Throughput::p90)),
          RateText(MedianRate(group, &Throughput::p99)),
          fmt::format("{:.0f}", MedianOf(group, &Collected::attempts)),
          fmt::format("{:.2f}", MedianOf(group, &Collected::attempt_p99_ms)),
          fmt::format("{:.2f}", MedianOf(group, &Collected::cpu_ms_per_pod)),
          fmt::format("{:.0f}", MedianOf(group, &Collected::peak_mb)),
          threshold > 0 ? fmt::format("{:.0f}", threshold) : "-",
          average && theirs > 0 ? fmt::format("{:.2f}", *average / theirs) : "-"};
}

// By workload and collection, then by scheduler.
struct Line {
  double threshold = 0;
  std::map<std::string, Group> groups;
};

std::string Failures(const std::vector<PerfRun>& runs) {
  std::string text;
  for (const PerfRun& run : runs) {
    if (run.failure.empty()) continue;
    text += fmt::format("{}failed: {}, {}: {}\n", text.empty() ? "\n" : "", run.workload,
                        run.scheduler, run.failure);
  }
  return text;
}

std::string Extras(const std::vector<PerfRun>& runs) {
  std::string text;
  for (const PerfRun& run : runs) {
    for (const Collected& one : run.collected) {
      for (const std::string& line : one.extras) {
        text += fmt::format("{}{}, {}: {}\n", text.empty() ? "\n" : "", run.workload, run.scheduler,
                            line);
      }
    }
  }
  return text;
}

}  // namespace

std::string RunLine(const PerfRun& run) {
  std::string text = fmt::format("{}  {}", run.workload, run.scheduler);
  if (!run.failure.empty()) {
    return text + ": failed: " + run.failure.substr(0, run.failure.find('\n'));
  }
  for (const Collected& one : run.collected) {
    text += fmt::format("  {}: {} pods in {:.2f} s, {} pods/s", one.name, one.pods, one.seconds,
                        one.throughput.measured ? RateText(one.throughput.average) : "-");
  }
  return text;
}

std::string PerfText(const std::vector<PerfRun>& runs) {
  std::vector<std::string> order;
  std::map<std::string, Line> lines;
  for (const PerfRun& run : runs) {
    for (const Collected& one : run.collected) {
      const std::string name = run.workload + "/" + one.name;
      if (!lines.contains(name)) order.push_back(name);
      Line& line = lines[name];
      line.threshold = run.threshold;
      line.groups[run.scheduler].push_back(&one);
    }
  }
  Columns columns("llrrrrrrrrrrrr");
  columns.Add({"workload", "scheduler", "pods", "seconds", "pods/s", "p50", "p90", "p99",
               "attempts", "p99 ms", "CPU ms/pod", "peak MB", "threshold", "ratio"});
  for (const std::string& name : order) {
    const Line& line = lines[name];
    const auto theirs = line.groups.find(kTheirs);
    for (const auto& [scheduler, group] : line.groups) {
      const bool compare = scheduler == kOurs && theirs != line.groups.end();
      columns.Add(
          Cells(name, scheduler, line.threshold, group, compare ? &theirs->second : nullptr));
    }
  }
  return (order.empty() ? std::string() : columns.Text("")) + Extras(runs) + Failures(runs);
}

}  // namespace ks::ctl::dev::perf
