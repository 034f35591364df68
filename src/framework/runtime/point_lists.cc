// SPDX-License-Identifier: Apache-2.0
#include "framework/runtime/point_lists.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"
#include "framework/composed_plugin.h"

namespace ks::framework {
namespace {

// The plugin to which a bit of the masks belongs.
Plugin& PluginOf(const ResolvedProfile& resolved, PluginMask bit) {
  return *resolved.plugins[static_cast<size_t>(std::countr_zero(bit))].plugin;
}

// Fills the part of an entry that all points share. The cast succeeds: the lists were checked.
template <class T, class Entry>
Entry MakeEntry(const ResolvedProfile& resolved, uint32_t index) {
  Plugin& plugin = *resolved.plugins[index].plugin;
  Entry entry;
  entry.plugin = InterfaceOf<T>(plugin);
  KS_CHECK(entry.plugin != nullptr, "a plugin is listed at a point that it does not extend");
  entry.name = plugin.Name();
  entry.bit = PluginMask{1} << index;
  return entry;
}

template <class T, class Entry>
std::vector<Entry> MakeList(const ResolvedProfile& resolved, Point point) {
  std::vector<Entry> list;
  for (const uint32_t index : resolved.List(point)) {
    list.push_back(MakeEntry<T, Entry>(resolved, index));
  }
  return list;
}

template <class T>
void Fill(const ResolvedProfile& resolved, Point point, std::vector<PointEntry<T>>* list) {
  *list = MakeList<T, PointEntry<T>>(resolved, point);
}

}  // namespace

PointLists::PointLists(const ResolvedProfile& resolved) {
  queue_sort = InterfaceOf<const QueueSortPlugin>(
      *resolved.plugins[resolved.List(Point::kQueueSort).front()].plugin);
  Fill(resolved, Point::kPreEnqueue, &pre_enqueue);
  pre_filter = MakeList<PreFilterPlugin, PreFilterEntry>(resolved, Point::kPreFilter);
  for (PreFilterEntry& entry : pre_filter) {
    entry.extensions = InterfaceOf<const PreFilterExtensions>(PluginOf(resolved, entry.bit));
  }
  Fill(resolved, Point::kFilter, &filter);
  Fill(resolved, Point::kPostFilter, &post_filter);
  Fill(resolved, Point::kPreScore, &pre_score);
  score = MakeList<ScorePlugin, ScoreEntry>(resolved, Point::kScore);
  for (ScoreEntry& entry : score) {
    entry.normalizer = InterfaceOf<const ScoreNormalizer>(PluginOf(resolved, entry.bit));
    entry.weight = resolved.score_weights.find(entry.name)->second;
  }
  reserve = MakeList<ReservePlugin, ReserveEntry>(resolved, Point::kReserve);
  Fill(resolved, Point::kPermit, &permit);
  pre_bind = MakeList<PreBindPlugin, PreBindEntry>(resolved, Point::kPreBind);
  Fill(resolved, Point::kBind, &bind);
  Fill(resolved, Point::kPostBind, &post_bind);
  FillSigners(resolved);
  FillGroupPoints(resolved);
  FindLocals(resolved);
  FindPlaceWise(resolved);
}

// Only GangScheduling says whether a group is complete, wherever it is listed.
void PointLists::FillGroupPoints(const ResolvedProfile& resolved) {
  Fill(resolved, Point::kPlacementGenerate, &placement_generate);
  placement_score =
      MakeList<PlacementScorePlugin, PlacementScoreEntry>(resolved, Point::kPlacementScore);
  for (PlacementScoreEntry& entry : placement_score) {
    entry.normalizer = InterfaceOf<PlacementScoreNormalizer>(PluginOf(resolved, entry.bit));
    entry.weight = resolved.placement_score_weights.find(entry.name)->second;
  }
  Fill(resolved, Point::kPodGroupPostFilter, &pod_group_post_filter);
  for (size_t index = 0; index < resolved.plugins.size(); ++index) {
    Plugin& plugin = *resolved.plugins[index].plugin;
    auto* feasible = InterfaceOf<PlacementFeasiblePlugin>(plugin);
    if (feasible == nullptr || plugin.Name() != kGangSchedulingName) continue;
    placement_feasible.plugin = feasible;
    placement_feasible.name = plugin.Name();
    placement_feasible.bit = PluginMask{1} << index;
  }
}

// Only the filters before the first one that looks further can be remembered as one verdict.
void PointLists::FindLocals(const ResolvedProfile& resolved) {
  const auto as_local = [&resolved](const auto& entry) {
    return InterfaceOf<const NodeLocalPlugin>(PluginOf(resolved, entry.bit));
  };
  while (local.filters < filter.size()) {
    const NodeLocalPlugin* plugin = as_local(filter[local.filters]);
    if (plugin == nullptr) break;
    local.plugins.push_back(plugin);
    ++local.filters;
  }
  for (ScoreEntry& entry : score) {
    const NodeLocalPlugin* plugin = as_local(entry);
    entry.node_local = plugin != nullptr;
    if (plugin == nullptr) continue;
    local.scores |= entry.bit;
    local.plugins.push_back(plugin);
  }
}

void PointLists::FindPlaceWise(const ResolvedProfile& resolved) {
  for (size_t index = 0; index < resolved.plugins.size(); ++index) {
    Plugin& plugin = *resolved.plugins[index].plugin;
    auto* found = InterfaceOf<PlaceWisePlugin>(plugin);
    if (found == nullptr) continue;
    PointEntry<PlaceWisePlugin>& entry = place_wise.entries.emplace_back();
    entry.plugin = found;
    entry.name = plugin.Name();
    entry.bit = PluginMask{1} << index;
    place_wise.plugins |= entry.bit;
  }
}

void PointLists::FillSigners(const ResolvedProfile& resolved) {
  PluginMask seen = 0;
  for (const Point point : {Point::kPreFilter, Point::kFilter, Point::kPreScore, Point::kScore}) {
    for (const uint32_t index : resolved.List(point)) {
      const PluginMask bit = PluginMask{1} << index;
      if ((seen & bit) != 0) continue;
      seen |= bit;
      Plugin& plugin = *resolved.plugins[index].plugin;
      PointEntry<const SignPlugin>& entry = sign.emplace_back();
      entry.plugin = InterfaceOf<const SignPlugin>(plugin);
      entry.name = plugin.Name();
      entry.bit = bit;
    }
  }
}

void PointLists::Measure(FrameworkMetrics& all, const std::string& profile_name) {
  const auto set_meters = [&](auto& list, MetricPoint point) {
    for (auto& entry : list) entry.meter = &all.Meter(entry.name, point);
  };
  const auto set_counted = [&](auto& list, MetricPoint point) {
    set_meters(list, point);
    for (auto& entry : list) {
      entry.evaluations = &all.Evaluations(entry.name, point, profile_name);
    }
  };
  set_meters(pre_enqueue, MetricPoint::kPreEnqueue);
  set_meters(sign, MetricPoint::kSign);
  set_counted(pre_filter, MetricPoint::kPreFilter);
  for (PreFilterEntry& entry : pre_filter) {
    entry.add_pod_meter = &all.Meter(entry.name, MetricPoint::kAddPod);
    entry.remove_pod_meter = &all.Meter(entry.name, MetricPoint::kRemovePod);
  }
  set_counted(filter, MetricPoint::kFilter);
  set_meters(post_filter, MetricPoint::kPostFilter);
  set_counted(pre_score, MetricPoint::kPreScore);
  set_counted(score, MetricPoint::kScore);
  for (ScoreEntry& entry : score) {
    entry.normalize_meter = &all.Meter(entry.name, MetricPoint::kNormalize);
  }
  set_meters(reserve, MetricPoint::kReserve);
  for (ReserveEntry& entry : reserve) {
    entry.unreserve_meter = &all.Meter(entry.name, MetricPoint::kUnreserve);
  }
  set_meters(permit, MetricPoint::kPermit);
  set_meters(pre_bind, MetricPoint::kPreBind);
  for (PreBindEntry& entry : pre_bind) {
    entry.pre_flight_meter = &all.Meter(entry.name, MetricPoint::kPreBindPreFlight);
  }
  set_meters(bind, MetricPoint::kBind);
  set_meters(post_bind, MetricPoint::kPostBind);
  MeasureGroupPoints(all);
}

void PointLists::MeasureGroupPoints(FrameworkMetrics& all) {
  for (auto& entry : placement_generate) {
    entry.meter = &all.Meter(entry.name, MetricPoint::kPlacementGenerate);
  }
  for (PlacementScoreEntry& entry : placement_score) {
    entry.meter = &all.Meter(entry.name, MetricPoint::kPlacementScore);
    entry.normalize_meter = &all.Meter(entry.name, MetricPoint::kPlacementNormalize);
  }
  for (auto& entry : pod_group_post_filter) {
    entry.meter = &all.Meter(entry.name, MetricPoint::kPodGroupPostFilter);
  }
  if (placement_feasible.plugin == nullptr) return;
  placement_feasible.meter = &all.Meter(placement_feasible.name, MetricPoint::kPlacementFeasible);
}

}  // namespace ks::framework
