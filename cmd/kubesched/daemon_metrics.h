// SPDX-License-Identifier: Apache-2.0
#pragma once
// Everything that the daemon measures, for /metrics.
//
// Upstream: docs/spec/metrics.md.

#include <memory>

#include "base/clock.h"
#include "client/election/leader_metrics.h"
#include "client/rest/rest_metrics.h"
#include "client/watch/informer_metrics.h"
#include "client/write/async_call_metrics.h"
#include "client/write/writer_metrics.h"
#include "framework/metrics/batch_metrics.h"
#include "framework/metrics/framework_metrics.h"
#include "metrics/process_metrics.h"
#include "metrics/registry.h"
#include "metrics/reload_metrics.h"
#include "scheduler/metrics/scheduler_metrics.h"

namespace ks::daemon {

// Threads: as each. Lifetime: outlives whoever counts.
struct DaemonMetrics {
  DaemonMetrics() = default;
  DaemonMetrics(const DaemonMetrics&) = delete;
  DaemonMetrics& operator=(const DaemonMetrics&) = delete;

  metrics::Registry registry;
  metrics::Registry slis;  // what /metrics/slis shows
  metrics::ProcessMetrics process{registry};
  metrics::ReloadMetrics reload{registry};
  framework::FrameworkMetrics framework{registry, RealClock()};
  framework::BatchMetrics batch{registry, RealClock()};
  scheduler::SchedulerMetrics scheduler{registry, RealClock()};
  client::RestMetrics rest{registry};
  client::InformerMetrics informer{registry};
  client::WriterMetrics writer{registry};
  std::unique_ptr<client::AsyncCallMetrics> calls;  // null: the gate is off
  std::unique_ptr<client::LeaderMetrics> leader;    // null: no leader election
};

}  // namespace ks::daemon
