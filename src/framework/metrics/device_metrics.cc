// SPDX-License-Identifier: Apache-2.0
#include "framework/metrics/device_metrics.h"

#include <map>

namespace ks::framework {

DeviceMetrics::DeviceMetrics(metrics::Registry& registry)
    : allocations_(registry.AddCounter(
          {.name = "scheduler_dra_bindingconditions_allocations_total",
           .stability = metrics::Stability::kAlpha,
           .help = "Allocated devices with binding conditions, by how the wait for them ended."})),
      waits_(registry.AddHistogram(
          {.name = "scheduler_dra_bindingconditions_wait_duration_seconds",
           .stability = metrics::Stability::kAlpha,
           .help = "Time that pods waited for the binding conditions of devices."})),
      creates_(registry.AddCounter(
          {.name = "dynamic_resource_allocation_resourceclaim_creates_total",
           .stability = metrics::Stability::kAlpha,
           .help = "Claims created for extended resources that devices serve."})),
      wait_buckets_(metrics::ExponentialBuckets(0.1, 2, 14)) {}

void DeviceMetrics::BindingWaitEnded(const Wait& wait, Duration took) {
  const std::map<std::string, std::string> labels = {
      {"profile", wait.profile}, {"driver", wait.driver}, {"status", wait.status}};
  if (wait.had_conditions) allocations_.Add(labels).Increment();
  waits_.Add(labels, wait_buckets_).Observe(std::chrono::duration<double>(took).count());
}

void DeviceMetrics::CountClaimCreate(bool success) {
  creates_
      .Add({{"status", success ? "success" : "failure"},
            {"admin_access", "false"},
            {"owner_api_group", ""},
            {"owner_api_kind", "Pod"}})
      .Increment();
}

}  // namespace ks::framework
