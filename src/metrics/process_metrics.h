// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the process uses: the process_* families of every Prometheus client, read from /proc at each
// scrape, and kubesched's own about threads and the allocator. Linux with glibc.
//
// Upstream: docs/spec/metrics.md section 5.

#include <memory>
#include <string>

#include "metrics/registry.h"

namespace ks::metrics {

// Seconds since 1970, with the kernel's resolution of 10 ms; 0 when /proc cannot be read.
double ProcessStartSeconds();

// The family process_start_time_seconds as /metrics/slis has it: with a bracket.
void ShowStartTime(Registry& registry);

// Threads: any. Lifetime: `registry` outlives it; no Collect of it runs while it is destroyed.
class ProcessMetrics {
 public:
  explicit ProcessMetrics(Registry& registry);
  ~ProcessMetrics();

 private:
  struct Families;
  std::unique_ptr<Families> families_;
  std::shared_ptr<void> before_text_;
};

}  // namespace ks::metrics
