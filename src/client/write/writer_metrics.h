// SPDX-License-Identifier: Apache-2.0
#pragma once
// How writing to the API server goes: kubesched's own families, made from the writer's counts when
// they are read.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "client/write/writer.h"
#include "metrics/registry.h"

namespace ks::client {

// Threads: any; Watch one at a time. Lifetime: `registry` outlives it.
class WriterMetrics {
 public:
  explicit WriterMetrics(metrics::Registry& registry);

  // `stats`: Writer::StatsSource of the writer in use, asked at each Text of the registry. Its
  // counts add to those of the writers before.
  void Watch(std::function<WriterStats()> stats);

 private:
  using Count = uint64_t WriterStats::*;
  struct Carried {
    Count count;
    metrics::Counter* counter;
    uint64_t seen;
  };
  struct Pending {
    Count count;
    metrics::Gauge* gauge;
  };

  metrics::Registry& registry_;
  std::vector<Carried> counters_;
  std::vector<Pending> gauges_;
  std::shared_ptr<void> before_text_;
};

}  // namespace ks::client
