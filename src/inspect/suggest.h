// SPDX-License-Identifier: Apache-2.0
#pragma once
// What would have to change for a pod that fits nowhere: for each kind of reason the smallest
// change that we can think of, kept only if the scheduler's own plugins, asked once more with the
// change applied, find a node. Each stands alone: one of them is enough.
//
// Not thought of: changes of other pods, of volumes, claims, affinity between pods and spreading,
// and two changes together.
//
// Upstream: none; it has no such thing.

#include <vector>

#include "api/pod.h"
#include "base/result.h"
#include "inspect/cluster_copy.h"
#include "inspect/explain.h"

namespace ks::inspect {

// `pod` has no node; `explanation` is of it, in that state, with all nodes. Empty unless the result
// is kUnschedulable. Smallest interventions first: of the pod's requests, tolerations and
// selectors, then of nodes.
// Error: a profile cannot be built. Threads: any; takes as long as building a cache of that size
// and some explanations.
Result<std::vector<Suggestion>> Suggest(const ClusterCopy& cluster, const api::PodPtr& pod,
                                        const Explanation& explanation);

}  // namespace ks::inspect
