// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the queue counts, for the metrics of docs/spec/metrics.md 3.2. Plain numbers: the recorder
// reads them.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "queue/pod_stores.h"
#include "queue/requeue_rules.h"

namespace ks::queue {

// Insertions into one store, by event label.
struct StoreArrivals {
  std::map<std::string, int64_t, std::less<>> pods;  // queue_incoming_pods_total
  // queue_incoming_entities_total, of the types "pod" and "podgroup".
  std::map<std::string, int64_t, std::less<>> entities;
  std::map<std::string, int64_t, std::less<>> groups;
  bool of_pods = false;  // entities of the type came in
  bool of_groups = false;
};

// What the events of one label came to, apart from pods in flight.
struct EventEffect {
  int64_t events = 0;     // that some plugin had registered
  int64_t woken = 0;      // pods that left the unschedulable map, for the active or a backoff heap
  int64_t hint_runs = 0;  // one may have answered for many pods
};

// Threads: the scheduling thread.
struct QueueStats {
  StoreArrivals active;
  StoreArrivals backoff;  // both backoff heaps
  StoreArrivals unschedulable;
  // unschedulable_pods, by plugin and profile. Series that were seen stay, with 0.
  std::map<std::pair<std::string, std::string>, int64_t> unschedulable_pods;

  // By event label; "UnschedulableTimeout" for flushes of the leftover.
  std::map<std::string, EventEffect, std::less<>> effects;

  StoreArrivals& Of(Store store) {
    if (store == Store::kActive) return active;
    return store == Store::kUnschedulable ? unschedulable : backoff;
  }
};

// A pod that was put into a store, by itself or with its group.
struct PodMove {
  const api::Pod& pod;
  Store store;
  bool gated;       // in the unschedulable map
  Symbol event;     // label
  Symbol plugin{};  // whose hint the event was about; empty: none
};

// Measurements as they happen. Empty functions are not called, and then no time is taken.
struct QueueObservers {
  HintObserver hint;
  // One run of the PreEnqueue plugins of a profile.
  std::function<void(std::string_view profile, Duration took)> pre_enqueue;
  // May tell of a pod that stays where it is.
  std::function<void(const PodMove& move)> moved;
};

}  // namespace ks::queue
