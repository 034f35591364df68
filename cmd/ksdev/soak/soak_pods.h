// SPDX-License-Identifier: Apache-2.0
#pragma once
// The changing pods of a soak: they come at a rate, live for a while once they are bound, and go;
// some go while they are being placed. Notes what must not be.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "api/delta.h"
#include "api/pod.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "client/watch/reflector.h"
#include "kubeschedctl/cluster/cluster.h"
#include "kubeschedctl/demo/demo_state.h"
#include "kubeschedctl/demo/demo_workload.h"

namespace ks::ctl::dev {

struct SoakPodOptions {
  std::string ns = "default";
  double rate = 25;                           // pods a second
  std::chrono::milliseconds lifetime{30000};  // of a bound pod, on average
  uint64_t seed = 1;
};

struct SoakCounts {
  size_t created = 0;
  size_t bound = 0;            // pods, not bindings
  size_t deleted_bound = 0;    // by the soak or preempted
  size_t deleted_pending = 0;  // by the soak, before they were seen bound
  size_t preempted = 0;        // after a watch fell silent, more pods wait than fit
  size_t pending = 0;          // there, not bound, meant to be
  size_t there = 0;
};

// Threads: one at a time. Lifetime: the cluster outlives it.
class SoakPods {
 public:
  // `plan`: pods to be created in turn, again and again, each time under another name.
  SoakPods(Cluster& cluster, std::vector<PlannedPod> plan, SoakPodOptions options);
  // Stops and waits for the requests under way.
  ~SoakPods();

  // Sends what is due: creations only while `more`. To be called many times a second.
  void Step(SteadyTime now, bool more);

  SoakCounts Counts() const;
  // Reasons of the pods that should be bound and are not.
  std::vector<ReasonCount> Pending() const;
  // Pods that changed their node, pods that are bound though nothing has room for them.
  std::vector<std::string> Violations() const;
  // The first request that failed.
  std::optional<Error> Failure() const;

 private:
  struct Entry {
    std::string node;
    std::string reason;
    bool placeable = true;
    bool deleting = false;
    bool preempted = false;
  };
  struct Death {
    SteadyTime at;
    std::string name;
    bool operator<(const Death& other) const { return at > other.at; }
  };

  void Apply(const std::vector<api::Delta<api::Pod>>& deltas);
  void ApplyPod(const api::Pod& pod) KS_REQUIRES(mutex_);
  void Forget(const std::string& name) KS_REQUIRES(mutex_);
  void Violate(std::string text) KS_REQUIRES(mutex_);
  void Create(SteadyTime now);
  void Delete(const std::string& name);
  void Finished(const client::RestReply& reply, const std::string& what, bool may_be_gone);
  std::chrono::milliseconds DrawLifetime() KS_REQUIRES(mutex_);

  Cluster& cluster_;
  const std::vector<PlannedPod> plan_;
  const SoakPodOptions options_;
  const Symbol label_key_;
  std::optional<SteadyTime> start_;
  size_t sent_ = 0;

  mutable Mutex mutex_;
  CondVar changed_;
  Random random_ KS_GUARDED_BY(mutex_);
  size_t active_ KS_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::string, Entry> pods_ KS_GUARDED_BY(mutex_);  // by name, ours
  std::unordered_set<std::string> unplaceable_ KS_GUARDED_BY(mutex_);  // names
  std::priority_queue<Death> deaths_ KS_GUARDED_BY(mutex_);
  SoakCounts counts_ KS_GUARDED_BY(mutex_);
  std::vector<std::string> violations_ KS_GUARDED_BY(mutex_);
  std::optional<Error> failure_ KS_GUARDED_BY(mutex_);
  std::unique_ptr<client::Reflector<api::Pod>> reflector_;
};

}  // namespace ks::ctl::dev
