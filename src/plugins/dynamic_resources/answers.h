// SPDX-License-Identifier: Apache-2.0
#pragma once
// What claims of one shape got on each node, remembered until the node's pools, or what is in use
// of them, change: pods of a template differ by the names of their claims only, and each takes
// devices of one node.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bounded_cache.h"
#include "plugins/dynamic_resources/allocator.h"

namespace ks::plugins {

struct NodeAnswer {
  std::shared_ptr<const NodePools> pools{};    // that were asked; null: nothing is remembered
  uint64_t changes = 0;                        // of what is in use of them
  std::shared_ptr<const DevicePicks> picks{};  // null: no solution
};

// By slot of the node. Threads: each worker has its nodes'.
struct NodeAnswers {
  std::vector<NodeAnswer> by_slot;
  std::vector<api::DeviceClassPtr> classes;  // kept, so that their addresses stay theirs
};

// All changes of what is in use of the pools.
uint64_t ChangesOf(const NodePools& pools, const AllocatedState& allocated);

// The answers by shape, of a bounded number of shapes.
// Threads: one at a time. Lifetime: answers that were given live on with their user.
class AnswerMemory {
 public:
  // With at least so many slots.
  std::shared_ptr<NodeAnswers> Of(const AllocationPlan& plan, size_t slots);

 private:
  static constexpr size_t kMaxShapes = 32;

  BoundedCache<std::string, NodeAnswers> by_shape_;
};

}  // namespace ks::plugins
