// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/live/top_view.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "kubeschedctl/text/columns.h"
#include "kubeschedctl/text/printable.h"

namespace ks::ctl {
namespace {

using nlohmann::json;

constexpr size_t kListed = 8;

struct LatencyRow {
  std::string name;
  HistogramCounts counts;
};

struct Slow {
  std::string plugin;
  double mean_seconds = 0;
  double calls = 0;
};

// What happened between two looks.
struct Interval {
  std::optional<double> seconds;  // absent: since the scheduler's start, which is not known
  std::vector<std::pair<std::string, double>> attempts;
  std::vector<LatencyRow> latencies;
  std::vector<Slow> slowest;
};

double Grown(double now, double before) { return now < before ? now : now - before; }

Interval Between(const TopSample& now, const TopSample* before) {
  static const TopSample nothing;
  const TopSample& first = before == nullptr ? nothing : *before;
  Interval interval;
  if (before != nullptr) {
    interval.seconds = std::chrono::duration<double>(now.time - before->time).count();
  }
  for (const auto& [result, count] : now.attempts) {
    const auto earlier = first.attempts.find(result);
    interval.attempts.emplace_back(
        result, Grown(count, earlier == first.attempts.end() ? 0 : earlier->second));
  }
  interval.latencies = {{"attempt", now.attempt_seconds.Since(first.attempt_seconds)},
                        {"pod to node", now.sli_seconds.Since(first.sli_seconds)}};
  for (const auto& [name, plugin] : now.plugins) {
    const auto earlier = first.plugins.find(name);
    TopSample::Plugin grown = plugin;
    if (earlier != first.plugins.end() && earlier->second.calls <= plugin.calls) {
      grown.calls -= earlier->second.calls;
      grown.seconds -= earlier->second.seconds;
    }
    if (grown.calls > 0) {
      interval.slowest.push_back({name, grown.seconds / grown.calls, grown.calls});
    }
  }
  std::stable_sort(interval.slowest.begin(), interval.slowest.end(),
                   [](const Slow& a, const Slow& b) { return a.mean_seconds > b.mean_seconds; });
  if (interval.slowest.size() > kListed) interval.slowest.resize(kListed);
  return interval;
}

std::string Rate(double count, const std::optional<double>& seconds) {
  char text[32];
  if (!seconds || *seconds <= 0) {
    std::snprintf(text, sizeof(text), "%.0f", count);
  } else {
    std::snprintf(text, sizeof(text), "%.1f/s", count / *seconds);
  }
  return text;
}

std::string Time(const std::optional<double>& seconds) {
  return seconds ? MillisecondsText(*seconds * 1000) : "-";
}

void Append(std::vector<std::string>* lines, const Columns& columns) {
  std::istringstream text(columns.Text(""));
  for (std::string line; std::getline(text, line);) lines->push_back(line);
}

int64_t Number(const json& value) { return value.is_number() ? value.get<int64_t>() : 0; }

void ReadQueue(const json& answer, TopSample* sample) {
  sample->standby = answer.value("standby", json()) == true;
  if (answer.contains("identity") && answer["identity"].is_string()) {
    sample->identity = Printable(answer["identity"].get<std::string>());
  }
  constexpr const char* kParts[] = {"active",  "backoff",       "inFlight", "waiting",
                                    "binding", "unschedulable", "gated"};
  for (const char* part : kParts) {
    sample->queue.emplace_back(part, Number(answer["counts"].value(part, json())));
  }
  for (const char* part : {"incomplete", "pending"}) {  // only where there are groups of pods
    if (!answer["counts"].contains(part)) continue;
    sample->queue.emplace_back(part, Number(answer["counts"][part]));
  }
  const auto rejected = answer.find("rejectedBy");
  if (rejected == answer.end() || !rejected->is_array()) return;
  for (const json& plugin : *rejected) {
    if (!plugin.is_object() || !plugin.value("plugin", json()).is_string()) continue;
    sample->rejections.emplace_back(Printable(plugin["plugin"].get<std::string>()),
                                    Number(plugin.value("pods", json())));
  }
}

void ReadMetrics(const std::vector<MetricSample>& samples, TopSample* sample) {
  for (const MetricSample& one : samples) {
    if (one.name == "scheduler_schedule_attempts_total") {
      sample->attempts[Printable(one.Label("result"))] += one.value;
    }
    const bool sum = one.name == "scheduler_plugin_execution_duration_seconds_sum";
    const bool count = one.name == "scheduler_plugin_execution_duration_seconds_count";
    if (!sum && !count) continue;
    TopSample::Plugin& plugin = sample->plugins[Printable(one.Label("plugin")) + "/" +
                                                Printable(one.Label("extension_point"))];
    (sum ? plugin.seconds : plugin.calls) += one.value;
  }
  sample->attempt_seconds =
      HistogramCounts::Of(samples, "scheduler_scheduling_attempt_duration_seconds");
  sample->sli_seconds =
      HistogramCounts::Of(samples, "scheduler_pod_scheduling_sli_duration_seconds");
}

}  // namespace

Result<TopSample> ReadTopSample(std::string_view queue, std::string_view metrics) {
  const json answer = json::parse(queue, nullptr, false);
  if (!answer.is_object() || !answer.contains("counts") || !answer["counts"].is_object()) {
    return Error{"the answer is not that of a kubesched: " + Printable(queue.substr(0, 200))};
  }
  TopSample sample;
  ReadQueue(answer, &sample);
  ReadMetrics(ParseMetrics(metrics), &sample);
  return sample;
}

std::vector<std::string> TopLines(const TopSample& now, const TopSample* before) {
  const Interval interval = Between(now, before);
  std::vector<std::string> lines;
  lines.push_back("kubesched " + now.daemon + ": " + (now.standby ? "standby" : "leader") +
                  (now.identity.empty() ? "" : " " + now.identity));
  if (!now.note.empty()) lines.push_back("no metrics: " + now.note);
  lines.emplace_back();
  Columns queue("lr");
  queue.Add({"QUEUE", "PODS"});
  for (const auto& [part, pods] : now.queue) queue.Add({part, std::to_string(pods)});
  Append(&lines, queue);
  lines.emplace_back();
  Columns attempts("lr");
  attempts.Add({"ATTEMPTS", interval.seconds ? "RATE" : "SINCE START"});
  for (const auto& [result, count] : interval.attempts) {
    attempts.Add({result, Rate(count, interval.seconds)});
  }
  Append(&lines, attempts);
  lines.emplace_back();
  Columns latencies("lrrrr");
  latencies.Add({"LATENCY", "COUNT", "P50", "P90", "P99"});
  for (const LatencyRow& latency : interval.latencies) {
    latencies.Add({latency.name, Rate(latency.counts.count(), std::nullopt),
                   Time(latency.counts.Quantile(0.5)), Time(latency.counts.Quantile(0.9)),
                   Time(latency.counts.Quantile(0.99))});
  }
  Append(&lines, latencies);
  if (!now.rejections.empty()) {
    lines.emplace_back();
    Columns rejections("lr");
    rejections.Add({"REJECTING PLUGIN", "PENDING PODS"});
    for (size_t i = 0; i < std::min(kListed, now.rejections.size()); ++i) {
      rejections.Add({now.rejections[i].first, std::to_string(now.rejections[i].second)});
    }
    Append(&lines, rejections);
  }
  if (!interval.slowest.empty()) {
    lines.emplace_back();
    Columns slowest("lrr");
    slowest.Add({"SLOWEST PLUGIN", "CALLS SAMPLED", "MEAN"});
    for (const Slow& slow : interval.slowest) {
      slowest.Add({slow.plugin, Rate(slow.calls, std::nullopt), Time(slow.mean_seconds)});
    }
    Append(&lines, slowest);
  }
  return lines;
}

std::string TopJson(const TopSample& now, const TopSample* before) {
  const Interval interval = Between(now, before);
  nlohmann::ordered_json out;
  out["time"] = FormatMicroTime(now.time);
  out["daemon"] = now.daemon;
  out["standby"] = now.standby;
  if (!now.identity.empty()) out["identity"] = now.identity;
  if (!now.note.empty()) out["note"] = now.note;
  if (interval.seconds) out["seconds"] = *interval.seconds;
  for (const auto& [part, pods] : now.queue) out["queue"][part] = pods;
  for (const auto& [result, count] : interval.attempts) out["attempts"][result] = count;
  for (const LatencyRow& latency : interval.latencies) {
    nlohmann::ordered_json& quantiles =
        out["latencySeconds"][latency.name == "attempt" ? "attempt" : "podToNode"];
    quantiles["count"] = latency.counts.count();
    for (const auto& [name, q] : {std::pair("p50", 0.5), {"p90", 0.9}, {"p99", 0.99}}) {
      if (const auto value = latency.counts.Quantile(q)) quantiles[name] = *value;
    }
  }
  out["rejectedBy"] = json::array();
  for (const auto& [plugin, pods] : now.rejections) {
    out["rejectedBy"].push_back({{"plugin", plugin}, {"pods", pods}});
  }
  out["slowestPlugins"] = json::array();
  for (const Slow& slow : interval.slowest) {
    out["slowestPlugins"].push_back(
        {{"plugin", slow.plugin}, {"calls", slow.calls}, {"meanSeconds", slow.mean_seconds}});
  }
  return out.dump();
}

}  // namespace ks::ctl
