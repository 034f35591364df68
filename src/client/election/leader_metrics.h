// SPDX-License-Identifier: Apache-2.0
#pragma once
// The metrics of leader election. The name in the label is upstream's constant, whatever the lease
// is called: alerts are written for it.
//
// Upstream: docs/spec/metrics.md section 4.

#include "metrics/registry.h"

namespace ks::client {

// Threads: any. Lifetime: `registry` outlives it.
class LeaderMetrics {
 public:
  explicit LeaderMetrics(metrics::Registry& registry)
      : status_(registry.AddGauge({.name = "leader_election_master_status",
                                   .stability = metrics::Stability::kAlpha,
                                   .help = "1 while this process holds the lease, else 0."})),
        slow_paths_(
            registry.AddCounter({.name = "leader_election_slowpath_total",
                                 .stability = metrics::Stability::kAlpha,
                                 .help = "Renewals that needed to read the lease first."})) {}

  // The series appears with the first call.
  void SetLeading(bool leading) { status_.Add({{"name", kName}}).Set(leading ? 1 : 0); }
  void SlowPath() { slow_paths_.Add({{"name", kName}}).Increment(); }

 private:
  static constexpr const char* kName = "kube-scheduler";

  metrics::Family<metrics::Gauge>& status_;
  metrics::Family<metrics::Counter>& slow_paths_;
};

}  // namespace ks::client
