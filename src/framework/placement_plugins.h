// SPDX-License-Identifier: Apache-2.0
#pragma once
// Extension points of pod groups (upstream gates GenericWorkload and
// TopologyAwareWorkloadScheduling, both off by default). Declared with the others so that the set
// of points is complete; no default plugin implements them and the runtime lists them without
// calling them while the gates are off.
//
// Upstream: docs/spec/framework.md 3.12, docs/spec/cycle.md section 25.

#include <span>
#include <string>
#include <vector>

#include "framework/plugin.h"

namespace ks::framework {

// A named subset of the nodes.
struct Placement {
  std::string name;
  std::vector<const NodeInfo*> nodes;
};

// The members of a group as one attempt sees them.
struct PodGroupAttempt {
  std::string key;  // "podgroup/<namespace>/<name>"
  std::vector<api::PodPtr> remaining;
  size_t scheduled_count = 0;
};

struct PodAssignment {
  api::PodPtr pod;
  const NodeInfo* node = nullptr;
};

class PlacementGeneratePlugin {
 public:
  virtual ~PlacementGeneratePlugin() = default;
  virtual Status GeneratePlacements(CycleState& state, const PodGroupAttempt& group,
                                    const Placement& parent,
                                    std::vector<Placement>* placements) = 0;
};

class PlacementScorePlugin {
 public:
  virtual ~PlacementScorePlugin() = default;
  virtual Status ScorePlacement(CycleState& state, const PodGroupAttempt& group,
                                const Placement& placement,
                                std::span<const PodAssignment> assignments, int64_t* score) = 0;
};

class PlacementFeasiblePlugin {
 public:
  virtual ~PlacementFeasiblePlugin() = default;
  virtual Status PlacementFeasible(CycleState& state, const PodGroupAttempt& group) = 0;
};

class PodGroupPostFilterPlugin {
 public:
  virtual ~PodGroupPostFilterPlugin() = default;
  virtual PostFilterResult PodGroupPostFilter(CycleState& state, const PodGroupAttempt& group) = 0;
};

}  // namespace ks::framework
