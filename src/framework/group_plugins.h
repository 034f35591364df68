// SPDX-License-Identifier: Apache-2.0
#pragma once
// Extension points of pod groups (gates GenericWorkload and TopologyAwareWorkloadScheduling, both
// off by default). The runtime calls none of them while the gates are off.
//
// Upstream: docs/spec/framework.md 3.12, docs/spec/cycle.md section 25.

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "framework/plugin.h"
#include "framework/pod_group_state.h"

namespace ks::framework {

// A named subset of the snapshot's nodes, in list order unless a plugin made another.
struct Placement {
  std::string name;
  std::vector<const NodeInfo*> nodes;

  bool Holds(const NodeInfo* node) const {
    return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
  }
};

// A member with the node that an attempt has found for it, and the state of that search.
struct GroupAssignment {
  api::PodPtr pod;                 // on no node
  const NodeInfo* node = nullptr;  // null: none was found
  CycleState* state = nullptr;     // null: none was looked for
};

class PlacementGeneratePlugin {
 public:
  virtual ~PlacementGeneratePlugin() = default;
  // Where the group may be placed as a whole, within `parent`. Success or Error.
  virtual Status GeneratePlacements(const PodGroupKey& group, const Placement& parent,
                                    std::vector<Placement>* placements) = 0;
};

class PlacementScorePlugin {
 public:
  virtual ~PlacementScorePlugin() = default;
  // Sets *score; [0, 100] unless the plugin normalizes. The members of `assignments` are on no
  // node while this is asked.
  virtual Status ScorePlacement(const PodGroupKey& group, const Placement& placement,
                                std::span<const GroupAssignment> assignments, int64_t* score) = 0;
};

class PlacementScoreNormalizer {
 public:
  virtual ~PlacementScoreNormalizer() = default;
  // Changes the plugin's raw scores, one a placement, in place to [0, 100].
  virtual Status NormalizePlacementScores(std::span<int64_t> scores) = 0;
};

// How far an attempt has come with a group: its members, or of a composite its children.
struct GroupProgress {
  const PodGroupKey& group;
  size_t scheduled = 0;
  size_t remaining = 0;  // not tried yet
};

// The only plugin whose answer of this kind is asked.
inline constexpr std::string_view kGangSchedulingName = "GangScheduling";

class PlacementFeasiblePlugin {
 public:
  virtual ~PlacementFeasiblePlugin() = default;
  // Success: enough are scheduled. Wait: enough remain. U: the group cannot be placed. Error.
  virtual Status PlacementFeasible(const GroupProgress& progress) = 0;
};

// What an attempt of a whole group came to, its effects taken back.
struct GroupProposal {
  Status status;
  std::vector<GroupAssignment> assignments;  // the members that found a node, in their order
};

// A group for which no place was found. Lifetime: for the call; states of a proposal until the
// next one is made.
struct GroupPreemptor {
  PodGroupKey root;
  // Those of the attempt, in their order, without nodes; at least one.
  std::vector<GroupAssignment> members;
  // Tries the whole group again on the snapshot as it is now.
  std::function<GroupProposal()> propose;
};

struct GroupPostFilterResult {
  // Success, U, UU or Error.
  Status status{};
  std::string message{};  // of Success
  // By uid. Members that are not in it: Noop.
  std::map<std::string, NominatingInfo, std::less<>> nominations{};
};

class PodGroupPostFilterPlugin {
 public:
  virtual ~PodGroupPostFilterPlugin() = default;
  virtual GroupPostFilterResult PodGroupPostFilter(const GroupPreemptor& preemptor) = 0;
};

}  // namespace ks::framework
