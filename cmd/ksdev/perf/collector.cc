// SPDX-License-Identifier: Apache-2.0
#include "ksdev/perf/collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace ks::ctl::dev::perf {
namespace {

using std::chrono::steady_clock;

constexpr double kMega = 1e6;
constexpr double kMilliseconds = 1000;
constexpr const char* kAttempts = "scheduler_schedule_attempts_total";
constexpr const char* kAttemptSeconds = "scheduler_scheduling_attempt_duration_seconds";

// Series of one name by the text of their labels.
std::map<std::string, double> Series(const std::vector<MetricSample>& samples,
                                     const std::string& name) {
  std::map<std::string, double> series;
  for (const MetricSample& sample : samples) {
    if (sample.name != name) continue;
    std::string labels;
    for (const auto& [label, value] : sample.labels) {
      labels += fmt::format("{}{}=\"{}\"", labels.empty() ? "" : ",", label, value);
    }
    series[labels] += sample.value;
  }
  return series;
}

double Sum(const std::vector<MetricSample>& samples, const std::string& name) {
  double sum = 0;
  for (const auto& [labels, value] : Series(samples, name)) sum += value;
  return sum;
}

HistogramCounts HistogramSince(const std::vector<MetricSample>& before,
                               const std::vector<MetricSample>& after, const std::string& name) {
  return HistogramCounts::Of(after, name).Since(HistogramCounts::Of(before, name));
}

}  // namespace

Result<Collector::Point> Collector::Now() {
  const Result<ProcessUsage> usage = scheduler_.process().Usage();
  if (!usage.ok()) return scheduler_.WithLog("the scheduler has ended");
  Result<std::vector<MetricSample>> metrics = scheduler_.Metrics();
  if (!metrics.ok()) return metrics.error();
  return Point{.time = steady_clock::now(), .usage = *usage, .metrics = std::move(metrics).value()};
}

Result<void> Collector::Start(const std::string& name, const PodSelection& selection) {
  if (begin_) return Error{"metrics are collected already"};
  Result<Point> now = Now();
  if (!now.ok()) return now.error();
  name_ = name;
  begin_ = std::move(now).value();
  pods_.StartNoting(selection);
  return {};
}

Result<void> Collector::Stop() {
  if (!begin_) return Error{"no metrics are collected"};
  const std::vector<SteadyTime> times = pods_.StopNoting();
  const Point before = *std::exchange(begin_, std::nullopt);
  const Result<Point> after = Now();
  if (!after.ok()) return after.error();
  const double cpu_ms = (after->usage.cpu_seconds - before.usage.cpu_seconds) * kMilliseconds;
  const double seconds =
      times.empty() ? 0 : std::chrono::duration<double>(times.back() - before.time).count();
  const auto latency = HistogramSince(before.metrics, after->metrics, kAttemptSeconds);
  collected_.push_back(
      {.name = name_,
       .pods = times.size(),
       .seconds = seconds,
       .throughput = Summarize(ThroughputWindows(times, before.time, after->time)),
       .attempts = Sum(after->metrics, kAttempts) - Sum(before.metrics, kAttempts),
       .attempt_p99_ms = latency.Quantile(0.99).value_or(0) * kMilliseconds,
       .cpu_ms_per_pod = cpu_ms / static_cast<double>(std::max<size_t>(times.size(), 1)),
       .peak_mb = static_cast<double>(after->usage.resident_peak_bytes) / kMega,
       .extras = Extras(before, *after)});
  return {};
}

std::vector<std::string> Collector::Extras(const Point& before, const Point& after) const {
  std::vector<std::string> lines;
  for (const std::string& name : metrics_) {
    const HistogramCounts counts = HistogramSince(before.metrics, after.metrics, name);
    if (counts.count() > 0) {
      lines.push_back(fmt::format("{}: {:.0f}, median {:.3f} ms, p99 {:.3f} ms", name,
                                  counts.count(), counts.Quantile(0.5).value_or(0) * kMilliseconds,
                                  counts.Quantile(0.99).value_or(0) * kMilliseconds));
    }
    std::map<std::string, double> old = Series(before.metrics, name);
    for (const auto& [labels, value] : Series(after.metrics, name)) {
      if (value > old[labels]) {
        lines.push_back(fmt::format("{}{{{}}}: {:.0f}", name, labels, value - old[labels]));
      }
    }
  }
  return lines;
}

}  // namespace ks::ctl::dev::perf
