// SPDX-License-Identifier: Apache-2.0
#pragma once
// Framework: the plugins of one profile and the code that runs them, point by point. Choosing a
// node out of the results is the scheduler's business (src/scheduler).
//
// Upstream: docs/spec/framework.md sections 3 (rules per point), 5 (building from a profile), 9
// (nominated pods).

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/types.h"
#include "framework/handle.h"
#include "framework/metrics/framework_metrics.h"
#include "framework/placement_plugins.h"
#include "framework/plugin.h"
#include "framework/preemption_explainer.h"
#include "framework/registry.h"
#include "framework/runtime/node_verdicts.h"
#include "framework/runtime/pods_in_prebind.h"
#include "framework/runtime/waiting_pods.h"

namespace ks::framework {

// What all profiles share. Lifetime: everything outlives the frameworks.
struct FrameworkOptions {
  const Snapshot* snapshot = nullptr;
  const OwnerListers* owner_listers = nullptr;
  StorageState* storage = nullptr;
  const Clock* clock = nullptr;
  Random* random = nullptr;
  WaitingPods* waiting_pods = nullptr;
  PodsInPreBind* pods_in_pre_bind = nullptr;
  const config::FeatureGates* gates = nullptr;  // null: the defaults
  FrameworkMetrics* metrics = nullptr;          // null: nothing is measured; needs `clock`
  // Remember what node-local plugins said (NodeLocalPlugin). Changes the time and nothing else.
  bool remember_verdicts = true;
  int32_t parallelism = 1;
};

struct PreFilterOutcome {
  Status status;
  std::optional<std::set<std::string>> nodes;  // absent: all nodes
  std::set<std::string>
      narrowing_plugins;  // plugins that returned a node set; empty after UU and Error
};

struct PermitOutcome {
  Status status;                             // Success, Wait, rejected or Error
  std::map<std::string, Duration> timeouts;  // waiting plugins, each cut to 15 minutes
};

// Threads: the scheduling thread; RunFilterPlugins and RunFilterPluginsWithNominatedPods also from
// workers during a cycle.
class Framework final : public Handle {
 public:
  // Errors: the texts of docs/spec/framework.md section 5, without the "creating profile for
  // scheduler name" prefix. `faults`: as for ResolveProfile.
  static Result<std::unique_ptr<Framework>> Create(const Registry& registry,
                                                   const config::Profile& profile,
                                                   const FrameworkOptions& options,
                                                   std::vector<Error>* faults = nullptr);
  ~Framework() override;

  // Attaches the late parts; call once, before the first attempt.
  void Attach(LateParts parts);
  // Closes every plugin that is a Closer, once; the destructor does it otherwise and logs the
  // error: `framework <profile> failed to close: <plugin> failed to close: …`, one line a plugin.
  Result<void> Close();

  // Names in order, for one point ("PreFilter", "Score" …); Score entries as "Name weight". For
  // logs, explain and tests.
  std::vector<std::string> ListPlugins(std::string_view point) const;
  bool HasFilterPlugins() const;
  bool HasScorePlugins() const;
  bool HasPostFilterPlugins() const;
  // Profile-level sampling percentage, absent when not set.
  std::optional<int32_t> percentage_of_nodes_to_score() const;
  std::string_view QueueSortPluginName() const;
  // Registrations of every plugin that takes part in requeueing (docs/spec/framework.md section 7),
  // by plugin name.
  const std::map<std::string, std::vector<EventRegistration>>& event_registrations() const;

  // What the profile's plugins together ask for.
  OptionalKinds NeededKinds() const;

  // Whether the plugin calls of a new cycle are to be measured (CycleState::record_plugin_metrics).
  // One cycle in ten by chance; never without metrics.
  bool DrawMetricsSample() const;
  // Measures the runs of a point that the caller drives: Filter (the search as a whole) and
  // PreBind.
  PointTimer StartTimer(MetricPoint point) const;
  // Measures plugin calls when the state's cycle was drawn.
  CallSampler Sampler(const CycleState& state) const;

  bool QueueSortLess(const QueuedEntity& a, const QueuedEntity& b) const;
  // Asks `first` (the plugin that gated the pod last time; may be empty) before the others. The
  // status carries the gating plugin's name.
  // The others come in list order (upstream: undefined). Any code but Success gates.
  Status RunPreEnqueuePlugins(const api::Pod& pod, std::string_view first) const;
  // Also looks up what is remembered about pods like this one.
  PreFilterOutcome RunPreFilterPlugins(CycleState& state, const api::Pod& pod) const;
  // Success, or U with all collected reasons, or the UU or Error that ended it. Wait and Skip,
  // which no PostFilter plugin may return, end it as Error.
  PostFilterResult RunPostFilterPlugins(CycleState& state, const api::PodPtr& pod,
                                        const NodeStatuses& statuses) const;
  // The same answer, but plugins that preempt only tell the observer.
  PostFilterResult ExplainPostFilterPlugins(CycleState& state, const api::PodPtr& pod,
                                            const NodeStatuses& statuses,
                                            PreemptionObserver& observer) const;
  Status RunPreScorePlugins(CycleState& state, const api::Pod& pod,
                            std::span<const NodeInfo* const> nodes) const override;
  // PreScore must have run. Totals are 0 when all score plugins are skipped. Of several failures
  // the one that a node-by-node run meets first is reported: Score before NormalizeScore before the
  // range check; the first node, then the first plugin.
  Status RunScorePlugins(const CycleState& state, const api::Pod& pod,
                         std::span<const NodeInfo* const> nodes, NodeScores* scores) const override;
  // The same with the nodes' slots (slots[i] of nodes[i]), for snapshot nodes: what is remembered
  // is used then.
  Status RunScorePlugins(const CycleState& state, const api::Pod& pod,
                         std::span<const NodeInfo* const> nodes, std::span<const uint32_t> slots,
                         NodeScores* scores) const;
  // Does not undo anything: the caller runs Unreserve after any failure, this one included.
  Status RunReservePluginsReserve(CycleState& state, const api::PodPtr& pod,
                                  const std::string& node) const override;
  void RunReservePluginsUnreserve(CycleState& state, const api::PodPtr& pod,
                                  const std::string& node) const override;
  PermitOutcome RunPermitPlugins(CycleState& state, const api::PodPtr& pod,
                                 const std::string& node) const;
  // Success when at least one plugin will work, Skip when none, Error. Fills the state's pre-bind
  // masks.
  Status RunPreBindPreFlights(CycleState& state, const api::PodPtr& pod,
                              const std::string& node) const;
  // The groups of PreBind plugins to run (docs/spec/framework.md 3.9): consecutive parallel ones
  // together, skipped ones left out.
  struct PreBindMember {
    std::string_view name;
    PreBindPlugin* plugin = nullptr;
    PluginMeter* meter = nullptr;  // null without metrics
  };
  std::vector<std::vector<PreBindMember>> PreBindGroups(const CycleState& state) const;
  // Stamps and wraps the result of one PreBind plugin as the framework reports it.
  static Status PreBindFailure(std::string_view plugin, const Status& status);
  // Success: started, `done` follows. Skip: no plugin took it. Anything else: failed. Results are
  // stamped and wrapped.
  Status RunBindPlugins(CycleState& state, const api::PodPtr& pod, const std::string& node,
                        const BindPlugin::Done& done) const;
  void RunPostBindPlugins(CycleState& state, const api::PodPtr& pod, const std::string& node) const;
  // The fragments of all plugins at PreFilter, Filter, PreScore and Score plus the scheduler name,
  // as JSON with sorted keys (docs/spec/framework.md section 14). A failing plugin's status has its
  // name.
  SignOutcome SignPod(const api::Pod& pod) const override;
  // False: SignPod refuses every pod.
  bool SignsPods() const;

  // Adds one node to a ranking. `nodes`: those of the ranking, in its order, and the new one at the
  // end; `raws`: the raw scores that RunScorePlugins kept for the former. Runs PreScore for all,
  // Score for the last one alone and NormalizeScore over all raw scores; appends to `raws` and
  // fills `totals`, both by position in `nodes`. After a failure both are of no use.
  enum class RescoreStep : uint8_t { kDone, kPreScore, kScore, kNormalize };
  RescoreStep RescoreLast(CycleState& state, const api::Pod& pod,
                          std::span<const NodeInfo* const> nodes,
                          std::vector<NodeScores::PluginScores>* raws,
                          std::vector<int64_t>* totals) const;

  // Handle.
  const std::string& ProfileName() const override;
  const Snapshot& snapshot() const override;
  const OwnerListers& owner_listers() const override;
  StorageState& storage() override;
  const Clock& clock() const override;
  const config::FeatureGates& gates() const override;
  Random& random() override;
  ApiWriter& api() override;
  Nominator& nominator() override;
  PodActivator& activator() override;
  const PodLister& pods() override;
  const NodeLister& nodes() override;
  TaskInbox& tasks() override;
  std::span<PreemptionExtender* const> preemption_extenders() override;
  WaitingPodAccess& waiting_pods() override;
  PodsInPreBindAccess& pods_in_pre_bind() override;
  int32_t parallelism() const override;
  PreemptionMetrics* preemption_metrics() override;
  VolumeMetrics* volume_metrics() const override;
  uint32_t NewStateSlot() override;
  Status RunFilterPlugins(const CycleState& state, const api::Pod& pod,
                          const NodeInfo& node) const override;
  Status RunFilterPluginsWithNominatedPods(const CycleState& state, const api::Pod& pod,
                                           const NodeInfo& node) const override;
  Status RunPreFilterExtensionAddPod(CycleState& state, const api::Pod& pod,
                                     const PodInfo& pod_to_add,
                                     const NodeInfo& node) const override;
  Status RunPreFilterExtensionRemovePod(CycleState& state, const api::Pod& pod,
                                        const PodInfo& pod_to_remove,
                                        const NodeInfo& node) const override;

  // Filters many nodes for one pod and counts the calls once, at its end. Threads: one a batch.
  // Lifetime: framework, state and pod outlive it.
  class FilterBatch {
   public:
    FilterBatch(const Framework& framework, const CycleState& state, const api::Pod& pod);
    ~FilterBatch();
    FilterBatch(const FilterBatch&) = delete;
    FilterBatch& operator=(const FilterBatch&) = delete;

    // As RunFilterPluginsWithNominatedPods, for a node that is not as the snapshot shows it.
    Status Run(const NodeInfo& node);
    // The same for the snapshot's node with that slot: what is remembered of it is used.
    Status RunListed(const NodeInfo& node, uint32_t slot) {
      if (verdicts_ == nullptr || HasNominated(slot)) return Run(node);
      const uint8_t verdict = verdicts_->verdict(slot);
      if (verdict == NodeVerdicts::kFits && !has_rest_) [[likely]] {
        ++fits_;
        return {};
      }
      return RunRemembered(node, slot, verdict);
    }
    // As RunFilterPlugins.
    Status RunPlugins(const CycleState& state, const NodeInfo& node);

   private:
    bool HasNominated(uint32_t slot) const {
      return nominated_ != nullptr && (*nominated_)[slot] != 0;
    }
    Status RunRemembered(const NodeInfo& node, uint32_t slot, uint8_t verdict);
    Status RunRange(const CycleState& state, const NodeInfo& node, size_t begin, size_t end);
    Status RunMeasured(const CycleState& state, const NodeInfo& node, size_t begin, size_t limit);

    const Framework& framework_;
    const CycleState& state_;
    const api::Pod& pod_;
    const CallSampler sampler_;
    NodeVerdicts* verdicts_ = nullptr;                 // null: nothing to remember
    const std::vector<uint8_t>* nominated_ = nullptr;  // by slot; null: no node has nominated pods
    bool has_rest_ = true;   // filters after the remembered ones are to be asked
    uint32_t fits_ = 0;      // nodes that all filters let pass
    size_t last_asked_ = 0;  // position of the filter that rejected last
    // By position in the Filter list: nodes for which this was the last plugin asked. Only the
    // first entries, as many as there are plugins, are in use.
    std::array<uint32_t, kMaxPlugins> ended_at_;
  };

 private:
  struct Impl;
  Status AskPreEnqueues(const api::Pod& pod, std::string_view first) const;
  SignOutcome MergeFragments(const api::Pod& pod) const;
  Status AskPreScores(CycleState& state, const api::Pod& pod,
                      std::span<const NodeInfo* const> nodes) const;
  PreFilterOutcome MergePreFilters(CycleState& state, const api::Pod& pod) const;
  using AskPostFilter = std::function<PostFilterResult(PostFilterPlugin&)>;
  PostFilterResult AskPostFilters(const CycleState& state, const AskPostFilter& ask) const;
  PermitOutcome AskPermits(CycleState& state, const api::PodPtr& pod,
                           const std::string& node) const;
  Status AskPreFlights(CycleState& state, const api::PodPtr& pod, const std::string& node) const;
  explicit Framework(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ks::framework
