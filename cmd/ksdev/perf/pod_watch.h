// SPDX-License-Identifier: Apache-2.0
#pragma once
// All pods of the cluster as a watch tells them: how many are scheduled, and when each was.

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/delta.h"
#include "api/pod.h"
#include "base/mutex.h"
#include "client/watch/reflector.h"
#include "ksdev/perf/fields.h"
#include "ksdev/perf/throughput.h"
#include "kubeschedctl/cluster/cluster.h"

namespace ks::ctl::dev::perf {

// Which pods; no namespaces: all.
struct PodSelection {
  std::set<std::string> namespaces;
  TextMap labels;  // all of them
};

struct PodCounts {
  size_t scheduled = 0;
  size_t attempted = 0;  // not scheduled, and a scheduler or gates said why
  std::string waiting;   // one that is not scheduled, with the reason if there is one
};

// Threads: any; the watch has its own. Lifetime: the cluster outlives it.
class PodWatch {
 public:
  explicit PodWatch(Cluster& cluster);
  ~PodWatch();  // stops

  // Blocks until the first list is in. Error: it took longer than `timeout`.
  Result<void> AwaitSynced(std::chrono::seconds timeout);

  PodCounts Counts(const PodSelection& selection) const;
  std::vector<std::string> Names(const PodSelection& selection) const;

  // Notes from now on when a pod is scheduled; StopNoting gives the times, ascending.
  void StartNoting(const PodSelection& selection);
  std::vector<SteadyTime> StopNoting();

  // From now on pods of this namespace that are scheduled queue up for TakeScheduled; empty: no
  // more of them.
  void Follow(const std::string& ns);
  // The name of the next one; nothing when none came before `deadline`.
  std::optional<std::string> TakeScheduled(SteadyTime deadline);

 private:
  struct Matcher {
    explicit Matcher(const PodSelection& selection);
    bool Matches(const api::Pod& pod) const;

    std::set<Symbol> namespaces;
    std::vector<std::pair<Symbol, Symbol>> labels;
  };

  void Apply(const std::vector<api::Delta<api::Pod>>& deltas);
  void Upsert(const api::PodPtr& pod, SteadyTime now) KS_REQUIRES(mutex_);
  void Replace(const std::vector<api::PodPtr>& pods, SteadyTime now) KS_REQUIRES(mutex_);

  mutable Mutex mutex_;
  CondVar changed_;
  bool synced_ KS_GUARDED_BY(mutex_) = false;
  std::unordered_map<std::string, api::PodPtr> pods_ KS_GUARDED_BY(mutex_);  // by uid
  std::optional<Matcher> noted_ KS_GUARDED_BY(mutex_);
  std::vector<SteadyTime> times_ KS_GUARDED_BY(mutex_);
  Symbol followed_ KS_GUARDED_BY(mutex_);
  std::deque<std::string> queue_ KS_GUARDED_BY(mutex_);

  std::unique_ptr<client::Reflector<api::Pod>> reflector_;
};

}  // namespace ks::ctl::dev::perf
