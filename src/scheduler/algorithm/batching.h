// SPDX-License-Identifier: Apache-2.0
#pragma once
// Opportunistic batching: a pod with the signature of the pod before it is tried first on the best
// node that the other pod left over. Of one profile.
//
// Upstream: docs/spec/cycle.md section 20.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "framework/metrics/batch_metrics.h"
#include "framework/runtime/runtime.h"
#include "scheduler/algorithm/attempt.h"

namespace ks::scheduler {

// Threads: the scheduling thread. Lifetime: what it is given outlives it.
class Batching {
 public:
  // `metrics` may be null.
  Batching(const framework::Framework& framework, const framework::Snapshot& snapshot,
           const Clock& clock, framework::ProfileBatchMetrics* metrics);

  // The pod's signature, for BatchAttempt; empty when it has none or the profile signs nothing.
  std::string SignatureOf(const api::Pod& pod) const;

  // Sets attempt->hint if the last attempt's ranking is good for this pod. Requires: PreFilter
  // succeeded, and `state` is its.
  void Hint(const framework::CycleState& state, const api::Pod& pod, BatchAttempt* attempt);

  // A node was chosen out of what the search came to, with the details of scores; no totals: it was
  // chosen without scoring. Requires: a pod with a signature was not ranked (SearchSpace).
  void Store(const BatchAttempt& attempt, std::string_view chosen, const SearchSpace& search);

  // Whether Store has a use for the details of scores.
  static bool WantsDetails(const BatchAttempt& attempt) { return !attempt.signature.empty(); }

 private:
  // Nodes that were feasible and scored but not taken. Heap positions index the other members.
  struct Ranking {
    std::string signature;
    TimePoint made{};
    std::vector<std::string> nodes;
    std::vector<framework::NodeScores::PluginScores> raws;
    std::vector<int64_t> totals;
    std::vector<uint32_t> heap;
  };
  struct LastSuccess {
    int64_t cycle = 0;
    std::string node;
  };

  std::string Find(const framework::CycleState& state, const api::Pod& pod,
                   const BatchAttempt& attempt);
  // Null, or why the ranking is not for this attempt.
  const char* WhyUnusable(const api::Pod& pod, const BatchAttempt& attempt) const;
  // The node chosen last is ranked again. Null, or why it cannot be.
  const char* Rescore(const framework::CycleState& state, const api::Pod& pod,
                      const framework::NodeInfo& last);
  // The ranking becomes that of the attempt, or none.
  void Replace(const BatchAttempt& attempt, const SearchSpace& search);
  void Flush(const char* reason);

  const framework::Framework& framework_;
  const framework::Snapshot& snapshot_;
  const Clock& clock_;
  framework::ProfileBatchMetrics* const metrics_;
  const bool signs_;
  std::optional<Ranking> ranking_;
  std::optional<LastSuccess> last_;
};

}  // namespace ks::scheduler
