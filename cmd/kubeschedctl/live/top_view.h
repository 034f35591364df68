// SPDX-License-Identifier: Apache-2.0
#pragma once
// kubeschedctl top: what a scheduler does now, from two looks at its queue and its metrics. Knows
// nothing of terminals and connections.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kubeschedctl/cluster/metrics_text.h"

namespace ks::ctl {

// One look. Fields of metrics that are not there stay empty.
struct TopSample {
  TimePoint time{};  // by the clock of this program
  std::string daemon;
  bool standby = false;
  std::string identity;
  std::vector<std::pair<std::string, int64_t>> queue;       // part, pods; as the daemon lists them
  std::vector<std::pair<std::string, int64_t>> rejections;  // plugin, pods; most first
  std::map<std::string, double> attempts;                   // by result
  HistogramCounts attempt_seconds;
  HistogramCounts sli_seconds;
  struct Plugin {
    double seconds = 0;
    double calls = 0;
  };
  std::map<std::string, Plugin> plugins;  // "NodeAffinity/Filter"; sampled by the scheduler
  std::string note;                       // why metrics are missing; empty: they are there
};

// Error: `queue` is not the answer of /debug/kubesched/queue. `metrics`: the text of /metrics.
Result<TopSample> ReadTopSample(std::string_view queue, std::string_view metrics);

// Rates and latencies are those since `before`; null: since the scheduler's start.
std::vector<std::string> TopLines(const TopSample& now, const TopSample* before);
// One object in one line.
std::string TopJson(const TopSample& now, const TopSample* before);

}  // namespace ks::ctl
