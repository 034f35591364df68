// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many more pods of a template fit into the cluster, and what runs out first: copies of it are
// placed one after the other by the production code (cluster_trial.h) until none fits.
//
// Upstream: none; it has no such thing.

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "inspect/answering_replica.h"
#include "inspect/cluster_copy.h"
#include "inspect/simulate.h"

namespace ks::inspect {

// More are not tried.
inline constexpr size_t kMostFillingPods = 10000;

struct FilledSource {
  std::string title;  // as SimulatedPods::Source
  size_t fits = 0;
  bool limited = false;                               // kMostFillingPods fit, and more may
  std::vector<std::pair<std::string, size_t>> nodes;  // that take some, ascending, with how many
  // Of the pod that does not fit any more.
  std::string message;
  struct Reason {
    std::string plugin;
    std::string reason;
    size_t nodes = 0;
  };
  std::vector<Reason> reasons;  // most nodes first
};

// Each source for itself, as if the others were not asked about; of each the first pod. Errors: a
// source has no pods, claims devices, or is a group's member: its pods are not all alike; a profile
// cannot be built. Threads: any.
Result<std::vector<FilledSource>> Fill(const ClusterCopy& cluster, const SimulatedPods& pods,
                                       size_t most = kMostFillingPods);

// {"time", "standby", "identity", "notes", "fill": [{"source", "fits", "limited", "nodes":
// [{"node", "pods"}], "message", "runsOut": [{"plugin", "reason", "nodes"}]}]}.
std::string FillJson(const ClusterCopy& cluster, const std::vector<FilledSource>& sources,
                     const AnsweringReplica& replica);

}  // namespace ks::inspect
