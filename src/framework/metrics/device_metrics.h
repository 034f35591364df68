// SPDX-License-Identifier: Apache-2.0
#pragma once
// What claims of devices tell /metrics.
//
// Upstream: docs/spec/plugins-dra.md section 14.

#include <string>
#include <vector>

#include "base/clock.h"
#include "metrics/registry.h"

namespace ks::framework {

// scheduler_dra_bindingconditions_allocations_total,
// scheduler_dra_bindingconditions_wait_duration_seconds,
// dynamic_resource_allocation_resourceclaim_creates_total: a series from its first value on.
// Threads: any.
class DeviceMetrics {
 public:
  explicit DeviceMetrics(metrics::Registry& registry);

  // One device of a claim whose pod waited for binding conditions.
  struct Wait {
    std::string profile;
    std::string driver;
    std::string status;  // success, failure, timeout, error
    bool had_conditions = false;
  };
  void BindingWaitEnded(const Wait& wait, Duration took);
  // A claim was to be created for a pod's extended resources.
  void CountClaimCreate(bool success);

 private:
  metrics::Family<metrics::Counter>& allocations_;
  metrics::Family<metrics::Histogram>& waits_;
  metrics::Family<metrics::Counter>& creates_;
  const std::vector<double> wait_buckets_;
};

}  // namespace ks::framework
