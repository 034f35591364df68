// SPDX-License-Identifier: Apache-2.0
#pragma once
// What volume binding tells /metrics.
//
// Upstream: docs/spec/plugins-volume.md section 2.14, docs/spec/metrics.md.

#include <string>

#include "metrics/registry.h"

namespace ks::framework {

// scheduler_volume_scheduling_stage_error_total, a series from its first error on, and
// scheduler_volume_binder_cache_requests_total, which nothing ever counts, as upstream. Threads:
// any.
class VolumeMetrics {
 public:
  explicit VolumeMetrics(metrics::Registry& registry);

  void CountPredicateError() { Count("predicate"); }  // Filter
  void CountAssumeError() { Count("assume"); }        // Reserve
  void CountBindError() { Count("bind"); }            // PreBind

 private:
  void Count(const std::string& operation) { errors_.Add({{"operation", operation}}).Increment(); }

  metrics::Family<metrics::Counter>& errors_;
};

}  // namespace ks::framework
