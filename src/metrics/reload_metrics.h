// SPDX-License-Identifier: Apache-2.0
#pragma once
// How reloading the configuration goes. Ours: upstream cannot reload.

#include "metrics/registry.h"

namespace ks::metrics {

// Threads: any. Lifetime: `registry` outlives it.
class ReloadMetrics {
 public:
  explicit ReloadMetrics(Registry& registry)
      : ReloadMetrics(registry.AddCounter(
                          {.name = "kubesched_config_reloads_total",
                           .stability = Stability::kAlpha,
                           .help = "Changes of the configuration file that were read, by what "
                                   "became of them."}),
                      registry.AddGauge(
                          {.name = "kubesched_config_last_reload_successful",
                           .stability = Stability::kAlpha,
                           .help = "1 while the configuration in force is the one in the file, 0 "
                                   "after a change that was rejected."})) {}

  void Succeeded() {
    success_.Increment();
    last_successful_.Set(1);
  }
  void Rejected() {
    rejected_.Increment();
    last_successful_.Set(0);
  }

 private:
  ReloadMetrics(Family<Counter>& reloads, Family<Gauge>& last)
      : success_(reloads.Add({{"result", "success"}})),
        rejected_(reloads.Add({{"result", "rejected"}})),
        last_successful_(last.Add({})) {
    last_successful_.Set(1);  // the configuration of the start
  }

  Counter& success_;
  Counter& rejected_;
  Gauge& last_successful_;
};

}  // namespace ks::metrics
