// SPDX-License-Identifier: Apache-2.0
#pragma once
// The points that place a group of pods as a whole.
//
// Upstream: docs/spec/framework.md 3.12.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "framework/group_plugins.h"
#include "framework/preemption_explainer.h"
#include "framework/runtime/point_lists.h"
#include "framework/runtime/profile_meters.h"

namespace ks::framework {

// A placement that was tried and fits.
struct PlacementCandidate {
  const Placement* placement = nullptr;
  std::vector<GroupAssignment> assignments;
};

// Threads: the scheduling thread. Lifetime: lists and meters outlive it.
class GroupPoints {
 public:
  GroupPoints(const PointLists& lists, const ProfileMeters& meters)
      : lists_(lists), meters_(meters) {}

  // Whether groups may be given less than `parent`.
  bool HasPlacementGenerator() const { return !lists_.placement_generate.empty(); }
  // Success: at least one placement. Requires: there is a generator.
  Status RunPlacementGeneratePlugins(const PodGroupKey& group, const Placement& parent,
                                     std::vector<Placement>* placements) const;
  // Success, Wait, U or Error. Without the plugin GangScheduling: Success.
  Status RunPlacementFeasiblePlugin(const GroupProgress& progress) const;
  // Weighted sums, one a candidate.
  Status RunPlacementScorePlugins(const PodGroupKey& group,
                                  std::span<const PlacementCandidate> candidates,
                                  std::vector<int64_t>* totals) const;
  bool HasPodGroupPostFilterPlugins() const { return !lists_.pod_group_post_filter.empty(); }
  GroupPostFilterResult RunPodGroupPostFilterPlugins(const GroupPreemptor& preemptor) const;
  // The same, but plugins that preempt only explain. The others do what they do: what they say to
  // the API has to lead nowhere (OfflineParts).
  GroupPostFilterResult ExplainPodGroupPostFilterPlugins(const GroupPreemptor& preemptor,
                                                         GroupVictims* victims) const;

 private:
  using AskPostFilter = std::function<GroupPostFilterResult(PodGroupPostFilterPlugin&)>;
  GroupPostFilterResult AskPostFilters(const AskPostFilter& ask) const;
  Status ScorePlacements(const PodGroupKey& group, std::span<const PlacementCandidate> candidates,
                         std::vector<int64_t>* totals) const;
  Status ScoreWith(const PlacementScoreEntry& entry, const PodGroupKey& group,
                   std::span<const PlacementCandidate> candidates,
                   std::vector<int64_t>* scores) const;

  const PointLists& lists_;
  const ProfileMeters& meters_;
};

}  // namespace ks::framework
