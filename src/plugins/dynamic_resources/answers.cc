// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/answers.h"

namespace ks::plugins {

uint64_t ChangesOf(const NodePools& pools, const AllocatedState& allocated) {
  uint64_t changes = 0;
  for (const Pool& pool : pools.pools) changes += allocated.ChangesOf(pool.number);
  return changes;
}

std::shared_ptr<NodeAnswers> AnswerMemory::Of(const AllocationPlan& plan, size_t slots) {
  const auto& answers = by_shape_.GetOrMake(plan.Shape(), kMaxShapes, [&plan] {
    auto made = std::make_shared<NodeAnswers>();
    for (size_t i = 0; i < plan.alternatives(); ++i) {
      made->classes.push_back(plan.Alternative(i).device_class);
    }
    return made;
  });
  if (answers->by_slot.size() < slots) answers->by_slot.resize(slots);
  return answers;
}

}  // namespace ks::plugins
