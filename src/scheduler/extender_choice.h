// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the extenders' answers mean for an attempt: which nodes are left, why others are not, and
// which one wins. How the answers came, beside the scheduling thread or while it waits, is another
// matter.
//
// Upstream: docs/spec/cycle.md sections 10.2, 10.3, 12.2, 12.3.

#include <vector>

#include "base/random.h"
#include "scheduler/algorithm/attempt.h"
#include "scheduler/extenders/extender_set.h"

namespace ks::scheduler {

// A node that extenders kept and that is there. Nodes are the snapshot's.
struct ExtenderCandidate {
  const framework::NodeInfo* node = nullptr;
  api::NodePtr replaced;  // see ExtenderVerdict::Kept
};
using ExtenderCandidates = std::vector<ExtenderCandidate>;

// What to ask about: the objects of the feasible nodes.
std::vector<api::NodePtr> FeasibleNodeObjects(const SearchSpace& search);

// Notes in the attempt's diagnosis what became of nodes that extenders did not keep. `asked`: about
// how many nodes. Requires: no error.
void NoteRejections(const ExtenderVerdict& verdict, size_t asked,
                    const framework::Snapshot& snapshot, framework::Diagnosis* diagnosis);

// The best candidate, as the attempt's result. Error: a plugin failed; the result is as it was.
// Requires: there is a candidate, and the attempt's state is of the present snapshot.
framework::Status PickCandidate(const ExtenderVerdict& verdict,
                                const ExtenderCandidates& candidates, Random& random,
                                Attempt* attempt);

}  // namespace ks::scheduler
