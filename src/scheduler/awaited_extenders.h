// SPDX-License-Identifier: Apache-2.0
#pragma once
// Chooses a node for a pod that extenders manage, waiting for their answers: for members of a
// group, of which each must see those that were tried before it. Pods without a group do not wait:
// extender_attempts.h.
//
// Upstream: docs/spec/cycle.md sections 6 to 12, 25.4; docs/decisions/0051.

#include "scheduler/algorithm/scheduling_algorithm.h"
#include "scheduler/context.h"
#include "scheduler/extender_choice.h"

namespace ks::scheduler {

// While it waits nothing else happens on the scheduling thread: the view stays as it is, with what
// is tried in it. Each call ends after the extender's httpTimeout at the latest, and at once when
// the scheduler stops.
// Threads: the scheduling thread. Lifetime: for one attempt of a group; what it is made of outlives
// it.
class AwaitedExtenders {
 public:
  AwaitedExtenders(Context& context, SchedulingAlgorithm& algorithm)
      : context_(context), algorithm_(algorithm) {}

  // Whether some extender manages the pod.
  bool Take(const api::Pod& pod) const;
  // As SchedulingAlgorithm::SchedulePod. Requires: Take(pod).
  void SchedulePod(Attempt& attempt);
  // An answer was waited for and will not come: the group's attempt is not to go on.
  bool given_up() const { return given_up_; }

 private:
  framework::Status Choose(Attempt& attempt);
  ExtenderVerdict Ask(const Attempt& attempt, bool scores);
  ExtenderCandidates Keep(const ExtenderVerdict& verdict, Attempt& attempt) const;

  Context& context_;
  SchedulingAlgorithm& algorithm_;
  bool given_up_ = false;
};

}  // namespace ks::scheduler
