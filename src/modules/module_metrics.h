// SPDX-License-Identifier: Apache-2.0
#pragma once
// What loaded plugins count and time.

#include <string>

#include "metrics/registry.h"

namespace ks::modules {

// Threads: any. Lifetime: `registry` outlives it.
class ModuleMetrics {
 public:
  explicit ModuleMetrics(metrics::Registry& registry)
      : events_(registry.AddCounter(
            {.name = "kubesched_plugin_events_total",
             .stability = metrics::Stability::kAlpha,
             .help = "What loaded plugins count, by plugin and by what they call it."})),
        durations_(registry.AddHistogram(
            {.name = "kubesched_plugin_duration_seconds",
             .stability = metrics::Stability::kAlpha,
             .help = "What loaded plugins time, by plugin and by what they call it."})) {}

  metrics::Counter& Events(const std::string& plugin, const std::string& event) {
    return events_.Add({{"plugin", plugin}, {"event", event}});
  }
  metrics::Histogram& Durations(const std::string& plugin, const std::string& operation) {
    return durations_.Add({{"plugin", plugin}, {"operation", operation}},
                          metrics::ExponentialBuckets(0.0001, 2, 16));
  }

 private:
  metrics::Family<metrics::Counter>& events_;
  metrics::Family<metrics::Histogram>& durations_;
};

}  // namespace ks::modules
