// SPDX-License-Identifier: Apache-2.0
#pragma once
// The log's account of an attempt whose search for a node took long: upstream's block of lines that
// begin with "Trace[". Written at verbosity 2 and above; costs one comparison below.
//
// Upstream: docs/spec/operations.md section 10.4.

#include <string>
#include <string_view>
#include <vector>

#include "api/pod.h"
#include "base/clock.h"

namespace ks::scheduler {

// Threads: one. Lifetime: clock (null: nothing is written) and pod outlive it; what Step is given
// has static lifetime.
class AttemptTrace {
 public:
  static constexpr Duration kSlow = std::chrono::milliseconds(100);
  // A step shows when it took more than its share of that.
  static constexpr Duration kSlowStep = kSlow / 3;

  AttemptTrace(const Clock* clock, const api::Pod& pod);
  // Writes the block if the whole took kSlow or longer.
  ~AttemptTrace();
  AttemptTrace(const AttemptTrace&) = delete;
  AttemptTrace& operator=(const AttemptTrace&) = delete;

  // A step has ended: "Computing predicates done".
  void Step(std::string_view what);

 private:
  struct Ended {
    std::string_view what;
    TimePoint at;
  };

  const Clock* const clock_;
  const api::Pod& pod_;
  const bool active_;
  TimePoint start_{};
  TimePoint wall_start_{};
  std::vector<Ended> steps_;
};

}  // namespace ks::scheduler
