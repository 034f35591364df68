// SPDX-License-Identifier: Apache-2.0
#pragma once
// Changes to a copy of a cluster that are asked about before somebody makes them: more nodes of a
// kind, nodes gone, another weight of a plugin.
//
// Upstream: none; it has no such thing.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/node.h"
#include "base/result.h"
#include "inspect/cluster_copy.h"

namespace ks::inspect {

// In all; more are refused.
inline constexpr size_t kMostFurtherNodes = 20000;

struct ClusterChanges {
  struct FurtherNodes {
    std::string like;  // a node of the cluster
    size_t count = 0;
  };
  struct GoneNodes {
    std::string name;  // of a node; empty: those with the label
    std::string key, value;
  };
  struct Weight {
    std::string plugin;
    int32_t weight = 0;
  };
  std::vector<FurtherNodes> further;
  std::vector<GoneNodes> gone;
  std::vector<Weight> weights;
};

// "NODE:COUNT,…", "NODE,…" or "LABEL=VALUE,…", "PLUGIN:WEIGHT,…"; empty: none. Errors name the
// entry and what it should be.
Result<std::vector<ClusterChanges::FurtherNodes>> ParseFurtherNodes(std::string_view text);
Result<std::vector<ClusterChanges::GoneNodes>> ParseGoneNodes(std::string_view text);
Result<std::vector<ClusterChanges::Weight>> ParseWeights(std::string_view text);

// Nodes go first, with their pods, which nothing brings back; then further ones come, empty, after
// the others in list order. A weight counts in every profile that has the plugin, where it scores.
// Errors: no such node, no node has the label, no profile has the plugin. Then the copy is changed
// in part.
Result<void> Change(const ClusterChanges& changes, ClusterCopy* cluster);

// A node of the kind of `node`, empty, with another name and the label that has it.
api::NodePtr FurtherNode(const api::Node& node, std::string name);

}  // namespace ks::inspect
