// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pods whose specs are so large that an attempt can take long: thousands of affinity terms, ports
// or tolerations, as many as the API server takes. Where their attempts do take long, they leave
// most of the time to the other pods of their priority: who may create pods shall not be able to
// stop those of everybody else.
//
// Upstream: none; it takes pods in the order of QueueSort, whatever they cost. Decision 0068.

#include <optional>

#include "api/pod.h"
#include "base/clock.h"

namespace ks::queue {

// Whether the spec's lists have more than some hundreds of entries together. O(lists).
bool IsLarge(const api::PodSpec& spec);

// Whose turn it is while both kinds wait. Threads: the scheduling thread.
class LargeTurns {
 public:
  // The former attempt is over: may a large pod be next, although others wait?
  bool MayBegin(const Clock& clock);
  // The attempt of a large pod begins.
  void Begin(TimePoint now) { began_ = now; }

 private:
  std::optional<TimePoint> began_;
  std::optional<TimePoint> next_;
};

}  // namespace ks::queue
