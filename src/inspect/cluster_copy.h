// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a running scheduler knows, as a value: so that questions that take long are answered away
// from its thread, and cannot leave anything behind.
//
// Upstream: none; it has no such thing.

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "api/node.h"
#include "api/pod.h"
#include "cache/device_stores.h"
#include "cache/group_stores.h"
#include "cache/owner_stores.h"
#include "cache/storage_stores.h"
#include "framework/queued_pod.h"
#include "inspect/answering_replica.h"
#include "scheduler/scheduler.h"

namespace ks::inspect {

// What deciding reads, at one moment. Threads: like a value; what it points to lives as long as the
// process, but for the clock, registry and gates of the options.
struct ClusterCopy {
  TimePoint time{};
  config::Configuration configuration;
  const framework::Registry* registry = nullptr;
  const Clock* clock = nullptr;
  const config::FeatureGates* gates = nullptr;
  std::vector<api::NodePtr> nodes;  // in list order
  std::vector<api::PodPtr> pods;    // bound and assumed ones
  std::map<std::string, std::vector<framework::PodInfoPtr>, std::less<>> nominated;  // by node
  cache::OwnerStores owners;
  cache::StorageStores storage;
  cache::DeviceStores devices;
  cache::GroupStores groups;
  // Queued members of groups of pods, copies of what the queue has.
  std::vector<framework::QueuedPodPtr> members;
};

// Refuses with 503 before the caches are filled. Costs a shared pointer a pod. Threads: the
// scheduling thread.
std::variant<ClusterCopy, Refusal> CopyCluster(scheduler::Scheduler& scheduler);

}  // namespace ks::inspect
