// SPDX-License-Identifier: Apache-2.0
#pragma once
// Watches the pods of a workload and notes when each was seen bound, or seen refused, and how long
// it waited.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/delta.h"
#include "api/pod.h"
#include "base/mutex.h"
#include "client/watch/reflector.h"
#include "kubeschedctl/cluster/cluster.h"
#include "kubeschedctl/cluster/workload.h"

namespace ks::ctl::dev {

using SteadyTime = std::chrono::steady_clock::time_point;

// Times of binding in ascending order, as seen by the watch.
using BindTimes = std::vector<SteadyTime>;

// What a pod came to. kRefused: a scheduler wrote that it fits nowhere (PodScheduled is False).
enum class Milestone : uint8_t { kBound, kRefused };

// Threads: one at a time. Lifetime: the cluster outlives it.
class PodTracker {
 public:
  PodTracker(Cluster& cluster, const Workload& workload);
  ~PodTracker();  // stops

  // Blocks until the first list is in. Error: it took longer than `timeout`.
  Result<void> AwaitSynced(std::chrono::seconds timeout);

  size_t Bound() const;

  // Blocks until `count` pods are bound or `deadline` has passed, and calls `tick` with the number
  // bound, once a second and at the end; when it returns false, waiting ends. Returns whether they
  // are bound.
  bool AwaitBound(size_t count, SteadyTime deadline, const std::function<bool(size_t)>& tick);

  // The same for another milestone.
  bool Await(Milestone milestone, size_t count, SteadyTime deadline,
             const std::function<bool(size_t)>& tick);

  BindTimes Times(Milestone milestone = Milestone::kBound) const;
  // Milliseconds from the first sight of each pod to that of its binding; of pods that were first
  // seen before they were bound.
  std::vector<double> Waits() const;
  // Pods that changed their node or lost it, which the API forbids.
  std::vector<std::string> Moved() const;

 private:
  void Apply(const std::vector<api::Delta<api::Pod>>& deltas);
  void ApplyPod(const api::Pod& pod, SteadyTime now) KS_REQUIRES(mutex_);

  const Symbol label_key_;
  const Symbol label_value_;

  mutable Mutex mutex_;
  mutable CondVar changed_;
  bool synced_ KS_GUARDED_BY(mutex_) = false;
  std::map<std::string, std::string> nodes_ KS_GUARDED_BY(mutex_);   // pod uid → node
  std::map<std::string, SteadyTime> unbound_ KS_GUARDED_BY(mutex_);  // pod uid → first seen
  std::vector<double> waits_ KS_GUARDED_BY(mutex_);
  std::set<std::string> refused_ KS_GUARDED_BY(mutex_);  // pod uids
  std::map<Milestone, BindTimes> times_ KS_GUARDED_BY(mutex_);
  std::vector<std::string> moved_ KS_GUARDED_BY(mutex_);

  std::unique_ptr<client::Reflector<api::Pod>> reflector_;
};

struct Pace {
  double average = 0;            // pods per second from the first to the last binding
  double median_per_second = 0;  // over whole seconds since the first binding
};
// Zeroes for fewer than two bindings; the median is the average when it all took under a second.
Pace PaceOf(const BindTimes& times);

}  // namespace ks::ctl::dev
