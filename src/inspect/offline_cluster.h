// SPDX-License-Identifier: Apache-2.0
#pragma once
// A scheduler over a dump: it has been told everything and attempts nothing. For explaining.
//
// Upstream: docs/spec/explain.md (which pods are pending).

#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "base/random.h"
#include "inspect/cluster_copy.h"
#include "inspect/cluster_dump.h"
#include "scheduler/scheduler.h"

namespace ks::inspect {

// Cache, nominations and profiles are those of a scheduler that saw the dump's objects in its
// watches. Threads: one at a time. Lifetime: registry and gates outlive it.
class OfflineCluster {
 public:
  // Extenders are applied to `configuration` already. Errors: a profile cannot be built
  // (`initializing profiles: …`); the snapshot cannot be made.
  static Result<std::unique_ptr<OfflineCluster>> Make(ClusterDump dump,
                                                      config::Configuration configuration,
                                                      const framework::Registry& registry,
                                                      const config::FeatureGates* gates);
  ~OfflineCluster();

  // Pods without node that are not terminating and have a profile, by namespace and name.
  const std::vector<api::PodPtr>& pending() const { return pending_; }
  // Null when the dump has no such pod. `key`: "namespace/name".
  api::PodPtr FindPod(std::string_view key) const;
  // Null when no profile has the pod's scheduler name.
  const framework::Framework* ProfileFor(const api::Pod& pod) const;
  // For groups of pods (explain_group.h).
  std::variant<ClusterCopy, Refusal> Copy() const { return CopyCluster(*scheduler_); }
  const framework::Snapshot& snapshot() const { return scheduler_->context().cluster.cache; }
  const framework::StorageState& storage() const { return scheduler_->context().cluster.storage; }
  const cache::DeviceStores& devices() const { return scheduler_->context().cluster.devices; }

 private:
  class NoApi;
  OfflineCluster();

  std::unique_ptr<NoApi> api_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  std::vector<api::PodPtr> pods_;  // by namespace and name
  std::vector<api::PodPtr> pending_;
};

}  // namespace ks::inspect
