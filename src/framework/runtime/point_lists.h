// SPDX-License-Identifier: Apache-2.0
#pragma once
// The plugins of a profile as the runtime calls them: one typed list per extension point. Only for
// this folder.
//
// Upstream: docs/spec/framework.md section 3.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "framework/group_plugins.h"
#include "framework/metrics/framework_metrics.h"
#include "framework/place_wise_plugin.h"
#include "framework/plugin.h"
#include "framework/runtime/profile_builder.h"

namespace ks::framework {

// One plugin at one point. `bit` is its place in the masks of a CycleState.
template <class T>
struct PointEntry {
  T* plugin = nullptr;
  std::string_view name;
  PluginMask bit = 0;
  // Null without metrics; `evaluations` also at points that are not counted.
  PluginMeter* meter = nullptr;
  metrics::Counter* evaluations = nullptr;

  void CountCalls(uint64_t calls) const {
    if (evaluations != nullptr && calls != 0) evaluations->Increment(static_cast<double>(calls));
  }
};

struct PreFilterEntry : PointEntry<PreFilterPlugin> {
  const PreFilterExtensions* extensions = nullptr;  // null: no hooks
  PluginMeter* add_pod_meter = nullptr;
  PluginMeter* remove_pod_meter = nullptr;
};

struct ScoreEntry : PointEntry<ScorePlugin> {
  const ScoreNormalizer* normalizer = nullptr;  // null: raw scores are final
  PluginMeter* normalize_meter = nullptr;
  int64_t weight = 1;
  bool node_local = false;
};

struct ReserveEntry : PointEntry<ReservePlugin> {
  PluginMeter* unreserve_meter = nullptr;
};

struct PreBindEntry : PointEntry<PreBindPlugin> {
  PluginMeter* pre_flight_meter = nullptr;
};

struct PlacementScoreEntry : PointEntry<PlacementScorePlugin> {
  PlacementScoreNormalizer* normalizer = nullptr;  // null: raw scores are final
  PluginMeter* normalize_meter = nullptr;
  int64_t weight = 1;
};

// Constant once a profile is built. Lifetime: the profile's plugins outlive it.
struct PointLists {
  PointLists() = default;
  explicit PointLists(const ResolvedProfile& resolved);

  // Gives each entry its series. Lifetime: `all` outlives the lists.
  void Measure(FrameworkMetrics& all, const std::string& profile_name);

  const QueueSortPlugin* queue_sort = nullptr;
  std::vector<PointEntry<PreEnqueuePlugin>> pre_enqueue;
  std::vector<PreFilterEntry> pre_filter;
  std::vector<PointEntry<const FilterPlugin>> filter;
  std::vector<PointEntry<PostFilterPlugin>> post_filter;
  std::vector<PointEntry<PreScorePlugin>> pre_score;
  std::vector<ScoreEntry> score;
  std::vector<ReserveEntry> reserve;
  std::vector<PointEntry<PermitPlugin>> permit;
  std::vector<PreBindEntry> pre_bind;
  std::vector<PointEntry<BindPlugin>> bind;
  std::vector<PointEntry<PostBindPlugin>> post_bind;
  // Plugins that decide about nodes or rank them; an entry without plugin cannot sign.
  std::vector<PointEntry<const SignPlugin>> sign;

  // Of groups of pods.
  std::vector<PointEntry<PlacementGeneratePlugin>> placement_generate;
  std::vector<PlacementScoreEntry> placement_score;
  PointEntry<PlacementFeasiblePlugin> placement_feasible;  // that of GangScheduling; null: none
  std::vector<PointEntry<PodGroupPostFilterPlugin>> pod_group_post_filter;

  // What can be remembered of a node.
  struct Local {
    size_t filters = 0;     // the verdicts of the first so many entries of `filter`
    PluginMask scores = 0;  // the raw scores of these
    std::vector<const NodeLocalPlugin*> plugins;
  };
  Local local;
  // What need not be asked node by node: each plugin once, and the set of them.
  struct PlaceWise {
    std::vector<PointEntry<PlaceWisePlugin>> entries;
    PluginMask plugins = 0;
  };
  PlaceWise place_wise;

 private:
  void FindLocals(const ResolvedProfile& resolved);
  void FindPlaceWise(const ResolvedProfile& resolved);
  void FillSigners(const ResolvedProfile& resolved);
  void FillGroupPoints(const ResolvedProfile& resolved);
  void MeasureGroupPoints(FrameworkMetrics& all);
};

}  // namespace ks::framework
