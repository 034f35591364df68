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

namespace ks::plugins {

struct ScoredResource {
  // kOther: a name that nodes do not account (`pods`, `foo`). It never counts on a node.
  enum class Kind : uint8_t { kMilliCpu, kMemory, kEphemeralStorage, kScalar, kOther };
  Symbol name;
  Kind kind = Kind::kScalar;
  int64_t weight = 1;
};

std::vector<ScoredResource> ScoredResources(const std::vector<config::ResourceSpec>& specs);

// Parallel to the scored resources. Threads: immutable once made.
struct PodAmounts final : framework::StateData {
  // `request`: the pod's aggregate (framework::AggregateRequests).
  PodAmounts(std::span<const ScoredResource> resources, const api::ResourceList& request);

  std::vector<int64_t> amounts;
  bool all_zero = true;
};

// Calls visit(in use, capacity, amount, weight) for each resource that counts on the node: not for
// a scalar that the pod does not ask for, nor for one of which the node has none. (Upstream counts
// devices for a resource that devices serve and the node has none of; without knowing the devices,
// such a resource does not count.)
// `non_zero`: cpu and memory in use include the defaults of pods without requests.
template <class Visit>
void ForEachCounted(std::span<const ScoredResource> resources, std::span<const int64_t> amounts,
                    const framework::NodeInfo& node, bool non_zero, Visit visit) {
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
        const int64_t* present = allocatable.scalars.Find(resources[i].name);
        capacity = present == nullptr ? 0 : *present;
        const int64_t* in_use = requested.scalars.Find(resources[i].name);
        used = in_use == nullptr ? 0 : *in_use;
        break;
      }
      case ScoredResource::Kind::kOther:
        continue;
    }
    if (capacity != 0) visit(used, capacity, amounts[i], resources[i].weight);
  }
}

}  // namespace ks::plugins
