// SPDX-License-Identifier: Apache-2.0
#include "client/watch/informer_metrics.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/text.h"
#include "golang/durations.h"

namespace ks::client {
namespace {

constexpr size_t kShownDigits = 15;

const std::vector<double>& Buckets() {
  static const std::vector<double> buckets{0.001, 0.005, 0.01, 0.025, 0.05, 0.1,
                                           0.25,  0.5,   1,    2.5,   5,    10};
  return buckets;
}

// group and version of a list's path.
struct GroupVersion {
  std::string group;
  std::string version;
};
GroupVersion GroupVersionOf(std::string_view path) {
  std::vector<std::string> parts;
  for (size_t at = 1; at <= path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    parts.emplace_back(path.substr(at, end - at));
    at = end + 1;
  }
  if (parts.size() >= 3 && parts[0] == "apis") return {.group = parts[1], .version = parts[2]};
  return {.group = "", .version = parts.size() >= 2 ? parts[1] : ""};
}

std::string Plural(std::string_view kind) { return LowerCase(kind) + 's'; }

}  // namespace

void InformerSeries::Processed(size_t changes, Duration waited) {
  queued_.Decrement(static_cast<double>(changes));
  latency_.Observe(golang::Seconds(waited));
}

void InformerSeries::Seen(std::string_view resource_version) {
  if (resource_version.size() > kShownDigits) {
    resource_version.remove_prefix(resource_version.size() - kShownDigits);
  }
  version_.Set(std::strtod(std::string(resource_version).c_str(), nullptr));
}

InformerMetrics::InformerMetrics(metrics::Registry& registry)
    : queued_(registry.AddGauge(
          {.name = "informer_queued_items",
           .help = "Changes of objects that wait to be applied to the scheduler's copy."})),
      latency_(registry.AddHistogram(
          {.name = "informer_processing_latency_seconds",
           .help = "Time from the arrival of changes until they were applied."})),
      version_(registry.AddGauge(
          {.name = "informer_store_resource_version",
           .help = "Newest resource version seen of a kind, the 15 lowest digits."})) {}

InformerSeries& InformerMetrics::For(std::string_view path, std::string_view kind) {
  MutexLock lock(mutex_);
  auto& made = series_[std::string(path)];
  if (made == nullptr) {
    const GroupVersion place = GroupVersionOf(path);
    const prometheus::Labels labels{{"name", "kube-scheduler"},
                                    {"group", place.group},
                                    {"version", place.version},
                                    {"resource", Plural(kind)}};
    made = std::make_unique<InformerSeries>(queued_.Add(labels), latency_.Add(labels, Buckets()),
                                            version_.Add(labels));
  }
  return *made;
}

}  // namespace ks::client
