// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a Framework holds. Only for the runtime_*.cc files, one per step of an attempt.
//
// Upstream: docs/spec/framework.md section 3.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/runtime/profile_builder.h"
#include "framework/runtime/runtime.h"
#include "golang/quote.h"

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

// Which nodes have nominated pods, by slot, so that the others can be answered from memory.
class NominatedSlots {
 public:
  void Refresh(const Nominator& nominator, const Snapshot& snapshot);
  // Null when it does not show the nominator's present state.
  const std::vector<uint8_t>* At(const Nominator& nominator) const {
    return version_ == nominator.version() ? &has_pods_ : nullptr;
  }

 private:
  std::optional<uint64_t> version_;
  uint64_t changes_ = 0;  // of the snapshot
  std::vector<uint8_t> has_pods_;
};

struct Framework::Impl {
  std::string profile_name;
  std::optional<int32_t> percentage_of_nodes_to_score;
  FrameworkOptions options;
  ProfileMetrics* metrics = nullptr;  // null without metrics
  uint32_t next_slot = 0;
  bool closed = false;

  LateParts late;

  // Constant after construction. The entries below point into `resolved.plugins`.
  ResolvedProfile resolved;
  std::map<std::string, std::vector<EventRegistration>> events;

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
  // What is remembered: the verdicts of the first `local_filters` entries of `filter`, and the raw
  // scores of `local_scores`. Null: nothing.
  mutable std::unique_ptr<NodeMemory> memory;
  mutable NominatedSlots nominated_slots;
  size_t local_filters = 0;
  PluginMask local_scores = 0;
  std::vector<const NodeLocalPlugin*> local_plugins;
  // Plugins that decide about nodes or rank them; an entry without plugin cannot sign.
  std::vector<PointEntry<const SignPlugin>> sign;

  void FillLists();
  void FillSigners();
  void FillMemory();
  void FillEvents();
  void FillMetrics();

  PointTimer StartTimer(MetricPoint point) const {
    return PointTimer(metrics, options.clock, point);
  }
  CallSampler Sampler(bool sampled) const {
    return sampled && metrics != nullptr ? CallSampler(*options.metrics, *options.clock)
                                         : CallSampler();
  }
};

// Error `<what> "<plugin>": <text of status>`, without plugin name.
inline Status Wrapped(std::string_view what, std::string_view plugin, const Status& status) {
  std::string text(what);
  text += ' ';
  text += golang::Quote(plugin);
  text += ": ";
  text += status.ErrorText();
  return Status::Error(std::move(text));
}

// A rejection with the plugin's name, anything else as Wrapped.
inline Status RejectedOrWrapped(std::string_view what, std::string_view plugin,
                                const Status& status) {
  return status.IsRejected() ? status.WithPlugin(plugin) : Wrapped(what, plugin, status);
}

}  // namespace ks::framework
