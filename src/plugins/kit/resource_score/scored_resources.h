// SPDX-License-Identifier: Apache-2.0
#pragma once
// The resources that a profile scores by, and what one pod asks of them.
//
// Upstream: docs/spec/plugins-node.md 4.8 (PreScore / Score).

#include <cstdint>
#include <span>
#include <vector>

#include "framework/cycle_state.h"
#include "framework/node_info.h"
#include "plugins/kit/resource_score/args.h"
#include "plugins/kit/resource_score/device_tally.h"
#include "plugins/kit/resource_score/scored_resource.h"

namespace ks::plugins {

// Parallel to the scored resources. Threads: immutable once made.
struct PodAmounts final : framework::StateData {
  // `request`: the pod's aggregate (framework::AggregateRequests).
  PodAmounts(std::span<const ScoredResource> resources, const api::ResourceList& request);

  std::vector<int64_t> amounts;
  bool all_zero = true;
};

// Of a scalar on the node: how many there are and are in use; devices, where they serve it and the
// node itself has none. `tally` may be null.
inline DeviceCount CountScalar(const Symbol& resource, const framework::NodeInfo& node,
                               const DeviceTally* tally) {
  const int64_t* present = node.allocatable().scalars.Find(resource);
  if ((present == nullptr || *present == 0) && tally != nullptr) {
    return tally->Count(resource, *node.node());
  }
  const int64_t* in_use = node.requested().scalars.Find(resource);
  return {.devices = present == nullptr ? 0 : *present, .in_use = in_use == nullptr ? 0 : *in_use};
}

// Calls visit(in use, capacity, amount, weight) for each resource that counts on the node: not for
// a scalar that the pod does not ask for, nor for one of which the node has none, unless devices
// serve it there: then these are counted.
// `non_zero`: cpu and memory in use include the defaults of pods without requests. `tally`: may be
// null.
template <class Visit>
void ForEachCounted(std::span<const ScoredResource> resources, std::span<const int64_t> amounts,
                    const framework::NodeInfo& node, bool non_zero, const DeviceTally* tally,
                    Visit visit) {
  const framework::Resource& allocatable = node.allocatable();
  const framework::Resource& requested = node.requested();
  for (size_t i = 0; i < resources.size(); ++i) {
    int64_t used = 0;
    int64_t capacity = 0;
    switch (resources[i].kind) {
      case ScoredResource::Kind::kMilliCpu:
        capacity = allocatable.milli_cpu;
        used = non_zero ? node.non_zero_milli_cpu() : requested.milli_cpu;
        break;
      case ScoredResource::Kind::kMemory:
        capacity = allocatable.memory;
        used = non_zero ? node.non_zero_memory() : requested.memory;
        break;
      case ScoredResource::Kind::kEphemeralStorage:
        capacity = allocatable.ephemeral_storage;
        used = requested.ephemeral_storage;
        break;
      case ScoredResource::Kind::kScalar: {
        if (amounts[i] == 0) continue;
        const DeviceCount scalar = CountScalar(resources[i].name, node, tally);
        capacity = scalar.devices;
        used = scalar.in_use;
        break;
      }
      case ScoredResource::Kind::kOther:
        continue;
    }
    if (capacity != 0) visit(used, capacity, amounts[i], resources[i].weight);
  }
}

}  // namespace ks::plugins
