// SPDX-License-Identifier: Apache-2.0
#include "client/write/async_call_metrics.h"

#include <map>
#include <string>
#include <utility>

#include "golang/durations.h"

namespace ks::client {
namespace {

using metrics::Stability;

constexpr const char* kTypes[] = {"pod_binding", "pod_status_patch"};
constexpr const char* kResults[] = {"error", "success"};

}  // namespace

AsyncCallMetrics::AsyncCallMetrics(metrics::Registry& registry)
    : registry_(registry),
      pending_(registry.AddGauge({.name = "scheduler_pending_async_api_calls",
                                  .stability = Stability::kAlpha,
                                  .help = "API calls waiting in the queue."})),
      pending_bindings_(pending_.Add({{"call_type", kTypes[0]}})),
      pending_patches_(pending_.Add({{"call_type", kTypes[1]}})) {
  auto& calls = registry.AddCounter({.name = "scheduler_async_api_call_execution_total",
                                     .stability = Stability::kAlpha,
                                     .help = "Queued API calls carried out."});
  auto& durations =
      registry.AddHistogram({.name = "scheduler_async_api_call_execution_duration_seconds",
                             .stability = Stability::kAlpha,
                             .help = "Time of a queued API call."});
  const auto buckets = metrics::ExponentialBuckets(0.001, 2, 15);
  for (size_t type = 0; type < 2; ++type) {
    for (size_t result = 0; result < 2; ++result) {
      const std::map<std::string, std::string> labels{{"call_type", kTypes[type]},
                                                      {"result", kResults[result]}};
      series_[type][result] = {&calls.Add(labels), &durations.Add(labels, buckets)};
    }
  }
}

void AsyncCallMetrics::Watch(std::function<WriterStats()> stats) {
  before_text_ = registry_.BeforeText([this, stats = std::move(stats)] {
    const WriterStats now = stats();
    pending_bindings_.Set(static_cast<double>(now.binds_pending));
    pending_patches_.Set(static_cast<double>(now.patches_pending));
  });
}

void AsyncCallMetrics::CallDone(std::string_view call_type, bool ok, Duration took) {
  const Series& series = series_[call_type == kTypes[0] ? 0 : 1][ok ? 1 : 0];
  series.calls->Increment();
  series.durations->Observe(golang::Seconds(took));
}

}  // namespace ks::client
