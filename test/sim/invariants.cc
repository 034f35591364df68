// SPDX-License-Identifier: Apache-2.0
#include "sim/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "sim/process.h"

namespace ks::sim {
namespace {

std::optional<TimePoint> ParkedSince(queue::Store store, const framework::QueuedPod& queued) {
  if (store != queue::Store::kUnschedulable || !queued.gating_plugin.empty()) return std::nullopt;
  return std::max(queued.timestamp, queued.flush_timestamp.value_or(queued.timestamp));
}

// One look at a scheduler; the first thing that is wrong stays in `wrong_`.
class Look {
 public:
  explicit Look(SchedulerProcess& process)
      : process_(process),
        cache_(process.scheduler().context().cluster.cache),
        queue_(process.scheduler().context().queue) {}

  std::string Run() {
    Nodes();
    Queue();
    Pending();
    Activated();
    for (const auto& [uid, name] : process_.recorder().tried()) {
      Wrong("pod {} stays on the node that an attempt of its group tried", name);
    }
    if (process_.world().plan.volumes) Wrong("{}", CheckAssumedVolumes(process_));
    if (process_.world().plan.devices) Wrong("{}", CheckPendingDevices(process_));
    process_.stored().swap(seen_);
    return wrong_;
  }

 private:
  template <class... Args>
  void Wrong(fmt::format_string<Args...> format, Args&&... args) {
    if (wrong_.empty()) wrong_ = fmt::format(format, std::forward<Args>(args)...);
  }

  void Nodes();
  void Node(const std::string& name, const framework::NodeInfo& info);
  void Sums(const std::string& name, const framework::NodeInfo& info);
  void CachedPod(const std::string& node, const api::Pod& pod);
  void Queue();
  void Pending();
  void Activated();
  // Attempts of a pod before it was popped last; pods in flight keep the number.
  int64_t Before(const std::string& uid) const {
    const auto it = process_.stored().find(uid);
    return it == process_.stored().end() ? 0 : it->second.attempts;
  }

  SchedulerProcess& process_;
  cache::Cache& cache_;
  queue::SchedulingQueue& queue_;
  std::set<std::string> assumed_;
  std::set<std::string> stored_;
  std::set<std::string> in_flight_;
  std::map<std::string, SchedulerProcess::Stored> seen_;
  size_t cached_ = 0;
  size_t confirmed_ = 0;
  size_t nodes_ = 0;
  std::string wrong_;
};

// The cache holds what the streams told, and what was assumed.
void Look::Nodes() {
  cache_.ForEachEntry(
      [this](const std::string& name, const framework::NodeInfo& info) { Node(name, info); });
  if (nodes_ != process_.nodes().size()) {
    Wrong("the cache has {} nodes of {}", nodes_, process_.nodes().size());
  }
  if (cached_ != cache_.counts().pods) {
    Wrong("{} pods on nodes, {} in the cache's table", cached_, cache_.counts().pods);
  }
  if (assumed_.size() != cache_.counts().assumed_pods) {
    Wrong("{} assumed pods, {} counted", assumed_.size(), cache_.counts().assumed_pods);
  }
  size_t bound = 0;
  for (const auto& [key, pod] : process_.pods()) bound += pod->node_name.empty() ? 0 : 1;
  if (bound != confirmed_) Wrong("the cache has {} bound pods of {}", confirmed_, bound);
}

void Look::Node(const std::string& name, const framework::NodeInfo& info) {
  const auto seen = process_.nodes().find(name);
  if (info.node() != nullptr) {
    ++nodes_;
    if (seen == process_.nodes().end()) {
      Wrong("the cache has the node {}, which is gone", name);
    } else if (info.node()->meta.resource_version != seen->second->meta.resource_version) {
      Wrong("the cache has node {} at version {}, told was {}", name,
            info.node()->meta.resource_version, seen->second->meta.resource_version);
    }
  }
  Sums(name, info);
  for (const auto& pod : info.pods()) CachedPod(name, pod->pod());
}

void Look::Sums(const std::string& name, const framework::NodeInfo& info) {
  framework::Resource sum;
  int64_t cpu = 0;
  int64_t memory = 0;
  for (const auto& pod : info.pods()) {
    const framework::AccountedRequest request = framework::AccountPod(pod->pod());
    sum.Add(request.requested);
    cpu += request.non_zero_milli_cpu;
    memory += request.non_zero_memory;
  }
  const framework::Resource& kept = info.requested();
  if (sum.milli_cpu != kept.milli_cpu || sum.memory != kept.memory ||
      cpu != info.non_zero_milli_cpu() || memory != info.non_zero_memory()) {
    Wrong("node {} is charged with {}m cpu and {} memory, its pods ask for {}m and {}", name,
          kept.milli_cpu, kept.memory, sum.milli_cpu, sum.memory);
  }
}

void Look::CachedPod(const std::string& node, const api::Pod& pod) {
  ++cached_;
  const std::string& uid = pod.meta.uid;
  if (cache_.IsAssumedPod(pod)) {
    if (!assumed_.insert(uid).second) Wrong("pod {} is assumed on two nodes", pod.meta.name);
    const auto& reserved = process_.recorder().reserved();
    const auto& bound = process_.recorder().bound();
    if (!reserved.contains(uid) && !bound.contains(uid)) {
      Wrong("pod {} is assumed on {}, and nobody is binding it", pod.meta.name, node);
    }
    return;
  }
  ++confirmed_;
  const auto seen = process_.pods().find(pod.meta.Key());
  if (seen == process_.pods().end() || seen->second->meta.uid != uid) {
    Wrong("the cache has pod {} on {}, which is gone", pod.meta.name, node);
  } else if (seen->second->node_name != node) {
    Wrong("the cache has pod {} on {}, told was \"{}\"", pod.meta.name, node,
          seen->second->node_name.view());
  } else if (seen->second->meta.resource_version != pod.meta.resource_version) {
    Wrong("the cache has pod {} at version {}, told was {}", pod.meta.name,
          pod.meta.resource_version, seen->second->meta.resource_version);
  }
}

// Stored pods wait for a node and are in no second place; pods in flight are held by Permit.
void Look::Queue() {
  using queue::Store;
  for (const Store store : {Store::kActive, Store::kBackoff, Store::kErrorBackoff,
                            Store::kUnschedulable, Store::kIncomplete, Store::kPending}) {
    for (const framework::QueuedPodPtr& queued : queue_.stores().PodsIn(store)) {
      const api::Pod& pod = *queued->pod();
      const auto seen = process_.pods().find(pod.meta.Key());
      if (seen == process_.pods().end() || seen->second->meta.uid != pod.meta.uid) {
        Wrong("the queue has pod {}, which is gone", pod.meta.name);
      } else if (!process_.scheduler().context().IsQueued(*seen->second)) {
        Wrong("the queue has pod {}, which is bound", pod.meta.name);
      }
      if (!stored_.insert(pod.meta.uid).second) Wrong("pod {} is queued twice", pod.meta.name);
      seen_[pod.meta.uid] = {.attempts = queued->attempts, .parked = ParkedSince(store, *queued)};
      if (assumed_.contains(pod.meta.uid)) Wrong("pod {} is queued and assumed", pod.meta.name);
      if (queue_.IsInFlight(pod.meta.uid)) Wrong("pod {} is queued and in flight", pod.meta.name);
    }
  }
  for (const api::PodPtr& pod : queue_.in_flight().Pods()) {
    seen_[pod->meta.uid].attempts = Before(pod->meta.uid);
    in_flight_.insert(pod->meta.uid);
    if (!process_.recorder().waiting().contains(pod->meta.uid) && !process_.IsAskedAbout(*pod)) {
      Wrong("pod {} is still in flight", pod->meta.name);
    }
  }
}

// A pod that was stored and is parked must have been tried since it was activated.
void Look::Activated() {
  for (const auto& [key, uid] : process_.recorder().TakeActivated()) {
    const framework::QueuedPod* queued = queue_.stores().FindPod(key);
    if (queued == nullptr || queued->pod()->meta.uid != uid) continue;
    const bool parked = queue_.stores().StoreOf(key) == queue::Store::kUnschedulable;
    // A sibling may hold back its whole group.
    if (!GroupOf(*queued->pod()).empty()) continue;
    if (!parked || !queued->gating_plugin.empty() || !process_.stored().contains(uid)) continue;
    if (queued->attempts == Before(uid)) Wrong("pod {} was activated and stays parked", key);
  }
}

// No pending pod of ours is forgotten, nor what happened while it was in flight.
void Look::Pending() {
  for (const auto& [key, uid] : process_.recorder().TakeToRetry()) {
    const framework::QueuedPod* queued = queue_.stores().FindPod(key);
    // Another pod may have taken the name.
    if (queued == nullptr || queued->pod()->meta.uid != uid) continue;
    // A pod that is terminating is let go by whoever holds it; no plugin's hint is asked for it.
    if (queued->pod()->meta.deletion_timestamp) continue;
    // Nor is any while PreEnqueue says no: its claim was deleted meanwhile, say.
    if (!queued->gating_plugin.empty()) continue;
    // Groups listen to nothing: they are tried again when their backoff ends.
    if (!GroupOf(*queued->pod()).empty()) continue;
    // The same step may have tried it again: nothing else was ready. Before that it was popped
    // once.
    if (queued->attempts > Before(uid) + 1) continue;
    if (queue_.stores().StoreOf(key) == queue::Store::kUnschedulable) {
      Wrong("pod {} is parked although a node joined while Permit held it", key);
    }
  }
  for (const auto& [key, pod] : process_.pods()) {
    if (pod->meta.deletion_timestamp || !process_.IsOurs(*pod)) continue;
    if (!process_.scheduler().context().IsQueued(*pod)) continue;
    const std::string& uid = pod->meta.uid;
    // It may be bound where nobody knew, while another binding of it is under way: that one will
    // fail, and it comes back then.
    if (process_.scheduler().steps().bindings.IsActive(uid)) continue;
    if (!stored_.contains(uid) && !assumed_.contains(uid) && !in_flight_.contains(uid)) {
      Wrong("pod {} waits for {}, and the scheduler has forgotten it", pod->meta.name,
            pod->node_name.empty() ? "a node" : "its resize");
    }
  }
}

}  // namespace

std::string CheckScheduler(SchedulerProcess& process) { return Look(process).Run(); }

std::string CheckQuiet(SchedulerProcess& process) {
  const cache::Cache::Counts counts = process.scheduler().context().cluster.cache.counts();
  if (counts.assumed_pods != 0) return fmt::format("{} pods stay assumed", counts.assumed_pods);
  if (!process.recorder().reserved().empty()) {
    return fmt::format("{} pods stay reserved", process.recorder().reserved().size());
  }
  if (process.scheduler().context().queue.in_flight().pod_count() != 0)
    return "pods stay in flight";
  if (std::string wrong = CheckNoVolumeAssumed(process); !wrong.empty()) return wrong;
  return process.world().plan.devices ? CheckNoDevicesPending(process) : std::string();
}

}  // namespace ks::sim
