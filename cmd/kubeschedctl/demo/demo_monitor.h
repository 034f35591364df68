// SPDX-License-Identifier: Apache-2.0
#pragma once
// Follows a demo by watches: pods and nodes by the scheduler's own reflectors, events beside them.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "client/watch/reflector.h"
#include "kubeschedctl/cluster/cluster.h"
#include "kubeschedctl/cluster/process.h"
#include "kubeschedctl/demo/demo_state.h"
#include "kubeschedctl/demo/event_watch.h"

namespace ks::ctl {

struct DemoProgress {
  size_t placeable_bound = 0;
  size_t placeable_refused = 0;      // the scheduler has said that they fit nowhere now
  size_t unplaceable_explained = 0;  // the scheduler has said why they wait
};

// Threads: one at a time. Lifetime: the cluster outlives it.
class DemoMonitor {
 public:
  DemoMonitor(Cluster& cluster, const std::string& ns, const std::string& owner,
              std::unordered_set<std::string> unplaceable);
  ~DemoMonitor();  // stops

  // Blocks until the first lists are in. Error: it took longer than `timeout`.
  Result<void> AwaitSynced(std::chrono::seconds timeout);

  DemoProgress Progress() const;
  // `view` with everything that the watches tell.
  void Fill(ViewState& view, SteadyTime start) const;
  std::vector<std::string> Violations() const;
  // Reasons of the placeable pods that are not bound.
  std::vector<ReasonCount> PendingUnexpected() const;

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  DemoState state_ KS_GUARDED_BY(mutex_);
  bool pods_synced_ KS_GUARDED_BY(mutex_) = false;
  bool nodes_synced_ KS_GUARDED_BY(mutex_) = false;
  std::unique_ptr<client::Reflector<api::Pod>> pods_;
  std::unique_ptr<client::Reflector<api::Node>> nodes_;
  std::unique_ptr<EventWatch> events_;
};

// CPU and memory of a process from look to look. Threads: one at a time.
class ProcessMeter {
 public:
  explicit ProcessMeter(Process& process) : process_(process) {}

  // At most twice a second something new; else the last figures.
  const ProcessFigures& Look();

 private:
  Process& process_;
  ProcessFigures figures_{};
  SteadyTime looked_{};
};

}  // namespace ks::ctl
