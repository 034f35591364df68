// SPDX-License-Identifier: Apache-2.0
#include "framework/metrics/volume_metrics.h"

namespace ks::framework {

VolumeMetrics::VolumeMetrics(metrics::Registry& registry)
    : errors_(registry.AddCounter({.name = "scheduler_volume_scheduling_stage_error_total",
                                   .stability = metrics::Stability::kAlpha,
                                   .help = "Errors of volume scheduling by stage."})) {
  registry.AddCounter({.name = "scheduler_volume_binder_cache_requests_total",
                       .stability = metrics::Stability::kAlpha,
                       .help = "Requests of the volume binding cache."});
}

}  // namespace ks::framework
