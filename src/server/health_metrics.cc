// SPDX-License-Identifier: Apache-2.0
#include "server/health_metrics.h"

namespace ks::server {

HealthMetrics::HealthMetrics(metrics::Registry& registry)
    : last_(registry.AddGauge({.name = "kubernetes_healthcheck",
                               .stability = metrics::Stability::kStable,
                               .help = "Last result of a health check: 1 ok, 0 failed."})),
      total_(registry.AddCounter({.name = "kubernetes_healthchecks_total",
                                  .stability = metrics::Stability::kStable,
                                  .help = "Health checks run, by result."})) {}

void HealthMetrics::Checked(const std::string& type, const std::string& name, bool passed) {
  last_.Add({{"name", name}, {"type", type}}).Set(passed ? 1 : 0);
  total_.Add({{"name", name}, {"type", type}, {"status", passed ? "success" : "error"}})
      .Increment();
}

}  // namespace ks::server
