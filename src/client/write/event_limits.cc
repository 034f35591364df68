// SPDX-License-Identifier: Apache-2.0
#include "client/write/event_limits.h"

#include <algorithm>

namespace ks::client {

bool EventLimits::Combines(const std::string& key, const std::string& note, TimePoint now) {
  Similar& similar = *similar_.GetOrMake(key, kMost, [now] {
    auto made = std::make_shared<Similar>();
    made->last = now;
    return made;
  });
  if (now - similar.last > kSimilarFor) similar.notes.clear();
  similar.last = now;
  similar.notes.insert(note);
  if (similar.notes.size() < kSimilar) return false;
  similar.notes.erase(similar.notes.begin());  // which one does not matter: the number does
  return true;
}

bool EventLimits::Allows(const std::string& object, TimePoint now) {
  Budget& budget = *budgets_.GetOrMake(object, kMost, [now] {
    auto made = std::make_shared<Budget>();
    made->last = now;
    return made;
  });
  const double refilled =
      static_cast<double>((now - budget.last).count()) / static_cast<double>(kRefill.count());
  budget.left = std::min(kBurst, budget.left + std::max(refilled, 0.0));
  budget.last = std::max(budget.last, now);
  if (budget.left < 1) return false;
  budget.left -= 1;
  return true;
}

}  // namespace ks::client
