// SPDX-License-Identifier: Apache-2.0
#pragma once
// What /metrics/slis shows: results of the checks that root health endpoints ran.
//
// Upstream: docs/spec/metrics.md section 5.

#include <string>

#include "metrics/registry.h"

namespace ks::server {

// Threads: any. Lifetime: the registry outlives it.
class HealthMetrics {
 public:
  explicit HealthMetrics(metrics::Registry& registry);

  // `type`: healthz, livez, readyz.
  void Checked(const std::string& type, const std::string& name, bool passed);

 private:
  metrics::Family<metrics::Gauge>& last_;
  metrics::Family<metrics::Counter>& total_;
};

}  // namespace ks::server
