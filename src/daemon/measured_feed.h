// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hands what a reflector saw to the scheduling thread and measures how long it waits there.
//
// Upstream: docs/spec/metrics.md section 4 (informers).

#include <cstddef>
#include <utility>
#include <variant>

#include "base/clock.h"
#include "client/watch/informer_metrics.h"
#include "scheduler/scheduler.h"

namespace ks::daemon {

inline size_t ChangesIn(const scheduler::PodDeltas& deltas) { return deltas.size(); }
inline size_t ChangesIn(const scheduler::NodeDeltas& deltas) { return deltas.size(); }
template <class... Lists>
size_t ChangesIn(const std::variant<Lists...>& deltas) {
  return std::visit([](const auto& list) { return list.size(); }, deltas);
}

// Threads: any. Lifetime: `series` outlives the scheduler.
template <class Deltas>
void PostMeasured(scheduler::Scheduler& scheduler, client::InformerSeries& series, Deltas deltas) {
  const size_t changes = ChangesIn(deltas);
  const TimePoint arrived = RealClock().Now();
  series.Queued(changes);
  scheduler.Post(std::move(deltas));
  // The inbox keeps the order: this runs when they are applied.
  scheduler.Post(scheduler::Task(
      [&series, changes, arrived] { series.Processed(changes, RealClock().Now() - arrived); }));
}

}  // namespace ks::daemon
