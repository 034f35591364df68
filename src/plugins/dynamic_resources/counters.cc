// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/counters.h"

#include <algorithm>

namespace ks::plugins {

std::vector<api::Quantity>& CounterLedger::Left(uint32_t pool) {
  std::vector<api::Quantity>& left = left_[pool];
  const Pool& of = pools_.pools[pool];
  if (!left.empty() || of.counters.empty()) return left;
  for (const Pool::Counter& counter : of.counters) left.push_back(counter.total);
  for (const Pool::Consumer& consumer : of.consumers) {
    if (!allocated_.Dedicated(consumer.number) && !allocated_.Shared(consumer.number)) continue;
    for (uint32_t i = consumer.uses_begin; i < consumer.uses_end; ++i) {
      left[of.uses[i].counter] -= of.uses[i].amount;
    }
  }
  return left;
}

bool CounterLedger::Take(const PoolDevice& device) {
  const Pool& pool = pools_.pools[device.pool];
  std::vector<api::Quantity>& left = Left(device.pool);
  for (uint32_t i = device.uses_begin; i < device.uses_end; ++i) {
    left[pool.uses[i].counter] -= pool.uses[i].amount;
  }
  const bool fits = std::none_of(left.begin(), left.end(),
                                 [](const api::Quantity& one) { return one < api::Quantity(); });
  if (!fits) GiveBack(device);
  return fits;
}

void CounterLedger::GiveBack(const PoolDevice& device) {
  const Pool& pool = pools_.pools[device.pool];
  for (uint32_t i = device.uses_begin; i < device.uses_end; ++i) {
    left_[device.pool][pool.uses[i].counter] += pool.uses[i].amount;
  }
}

}  // namespace ks::plugins
