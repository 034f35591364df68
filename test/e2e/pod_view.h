// SPDX-License-Identifier: Apache-2.0
#pragma once
// The pods of a test's cluster as their watch shows them.

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/pod.h"
#include "base/mutex.h"
#include "client/rest/rest_client.h"
#include "client/watch/reflector.h"

namespace ks::e2e {

// Threads: any. Lifetime: the client outlives it.
class PodView {
 public:
  using Pods = std::map<std::string, api::PodPtr>;  // by namespace/name

  explicit PodView(client::RestClient& client)
      : reflector_(client,
                   {.path = "/api/v1/pods",
                    .field_selector = "",
                    .type_name = "*v1.Pod",
                    .resource = "pods",
                    .seed = 1},
                   [this](std::vector<api::Delta<api::Pod>> deltas) { Apply(std::move(deltas)); }) {
    reflector_.Start();
  }
  ~PodView() { reflector_.Stop(); }

  // Blocks until `ready` holds for the pods or the time is over; returns what it said last.
  bool WaitFor(const std::function<bool(const Pods&)>& ready, std::chrono::seconds limit) {
    const TimePoint deadline = RealClock().Now() + limit;
    MutexLock lock(mutex_);
    while (!ready(pods_)) {
      const Duration left = deadline - RealClock().Now();
      if (left.count() <= 0) return false;
      changed_.WaitFor(mutex_, left);
    }
    return true;
  }

  Pods pods() {
    MutexLock lock(mutex_);
    return pods_;
  }
  // The resourceVersion in which the pod was first seen on a node; empty: not yet.
  std::string BoundAt(const std::string& key) {
    MutexLock lock(mutex_);
    const auto it = bound_at_.find(key);
    return it == bound_at_.end() ? std::string() : it->second;
  }
  // Pods that were seen on two nodes, one after the other: never allowed.
  std::vector<std::string> moved() {
    MutexLock lock(mutex_);
    return moved_;
  }

 private:
  void Apply(std::vector<api::Delta<api::Pod>> deltas) {
    using Type = api::Delta<api::Pod>::Type;
    {
      MutexLock lock(mutex_);
      for (const auto& delta : deltas) {
        if (delta.type == Type::kReplace) {
          pods_.clear();
          for (const api::PodPtr& pod : delta.items) Upsert(pod);
        } else if (delta.type == Type::kUpsert) {
          Upsert(delta.object);
        } else {
          pods_.erase(delta.object->meta.Key());
        }
      }
    }
    changed_.NotifyAll();
  }
  void Upsert(const api::PodPtr& pod) KS_REQUIRES(mutex_) {
    std::string& node = node_by_uid_[pod->meta.uid];
    if (!node.empty() && node != pod->node_name) moved_.push_back(pod->meta.Key());
    if (!pod->node_name.empty()) {
      bound_at_.emplace(pod->meta.Key(), pod->meta.resource_version);
    }
    node = pod->node_name.str();
    pods_[pod->meta.Key()] = pod;
  }

  Mutex mutex_;
  CondVar changed_;
  Pods pods_ KS_GUARDED_BY(mutex_);
  std::map<std::string, std::string> node_by_uid_ KS_GUARDED_BY(mutex_);
  std::map<std::string, std::string> bound_at_ KS_GUARDED_BY(mutex_);
  std::vector<std::string> moved_ KS_GUARDED_BY(mutex_);
  client::Reflector<api::Pod> reflector_;
};

inline size_t CountBound(const PodView::Pods& pods) {
  size_t bound = 0;
  for (const auto& [key, pod] : pods) bound += pod->node_name.empty() ? 0 : 1;
  return bound;
}

}  // namespace ks::e2e
