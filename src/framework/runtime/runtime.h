// SPDX-License-Identifier: Apache-2.0
#pragma once
// Framework: the plugins of one profile and the code that runs them: here the points that decide
// where a pod fits, the others in classes of their own. Choosing a node out of the results is the
// scheduler's business (src/scheduler).
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
#include "framework/group_plugins.h"
#include "framework/handle.h"
#include "framework/metrics/framework_metrics.h"
#include "framework/plugin.h"
#include "framework/preemption_explainer.h"
#include "framework/registry.h"
#include "framework/runtime/binding_points.h"
#include "framework/runtime/group_points.h"
#include "framework/runtime/node_verdicts.h"
#include "framework/runtime/profile_meters.h"
#include "framework/runtime/profile_plugins.h"
#include "framework/runtime/queue_points.h"
#include "framework/runtime/score_points.h"

namespace ks::framework {

// What all profiles share. Lifetime: everything outlives the frameworks.
struct FrameworkOptions {
  HandleParts parts;
  FrameworkMetrics* metrics = nullptr;  // null: nothing is measured
  const PointWatch* watch = nullptr;    // null: nobody listens
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

// Threads: the scheduling thread; RunFilterPlugins and RunFilterPluginsWithNominatedPods also from
// workers during a cycle.
class Framework final : public PluginsRunner {
 public:
  // Errors: the texts of docs/spec/framework.md section 5, without the "creating profile for
  // scheduler name" prefix. `faults`: as for ResolveProfile.
  static Result<std::unique_ptr<Framework>> Create(const Registry& registry,
                                                   const config::Profile& profile,
                                                   const FrameworkOptions& options,
                                                   std::vector<Error>* faults = nullptr);
  ~Framework() override;

  // What its plugins were given.
  const Handle& handle() const;
  const std::string& ProfileName() const { return handle().ProfileName(); }
  // Closes every plugin that is a Closer, once; the destructor does it otherwise and logs the
  // error: `framework <profile> failed to close: <plugin> failed to close: …`, one line a plugin.
  Result<void> Close();

  const ProfilePlugins& plugins() const;
  // Profile-level sampling percentage, absent when not set.
  std::optional<int32_t> percentage_of_nodes_to_score() const;
  // Whether the plugin calls of a new cycle are to be measured (CycleState::record_plugin_metrics).
  // One cycle in ten by chance; never without metrics.
  bool DrawMetricsSample() const;
  // Measures the runs of a point that the caller drives: Filter (the search as a whole) and
  // PreBind.
  PointTimer StartTimer(MetricPoint point) const;
  // Measures plugin calls when the state's cycle was drawn.
  CallSampler Sampler(const CycleState& state) const;

  // The points that the search does not drive.
  const QueuePoints& queue_points() const;
  const ScorePoints& score_points() const;
  const BindingPoints& binding_points() const;
  const GroupPoints& group_points() const;

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
  // PluginsRunner.
  Status RunFilterPlugins(const CycleState& state, const api::Pod& pod,
                          const NodeInfo& node) const override;
  Status RunFilterPluginsWithNominatedPods(const CycleState& state, const api::Pod& pod,
                                           const NodeInfo& node) const override;
  bool HasPreFilterExtensions(const CycleState& state) const override;
  bool HasReserve(const CycleState& state) const override;
  Status RunPreFilterExtensionAddPod(CycleState& state, const api::Pod& pod,
                                     const PodInfo& pod_to_add,
                                     const NodeInfo& node) const override;
  Status RunPreFilterExtensionRemovePod(CycleState& state, const api::Pod& pod,
                                        const PodInfo& pod_to_remove,
                                        const NodeInfo& node) const override;
  Status RunPreScorePlugins(CycleState& state, const api::Pod& pod,
                            std::span<const NodeInfo* const> nodes) const override {
    return score_points().RunPreScorePlugins(state, pod, nodes);
  }
  Status RunScorePlugins(const CycleState& state, const api::Pod& pod,
                         std::span<const NodeInfo* const> nodes,
                         NodeScores* scores) const override {
    return score_points().RunScorePlugins(state, pod, nodes, scores);
  }
  Status RunReservePluginsReserve(CycleState& state, const api::PodPtr& pod,
                                  const std::string& node) const override {
    return binding_points().RunReservePluginsReserve(state, pod, node);
  }
  void RunReservePluginsUnreserve(CycleState& state, const api::PodPtr& pod,
                                  const std::string& node) const override {
    binding_points().RunReservePluginsUnreserve(state, pod, node);
  }
  SignOutcome SignPod(const api::Pod& pod) const override { return queue_points().SignPod(pod); }

  // The first `wanted` nodes from the snapshot's index `start` on, around the end of the list, that
  // fit, ranked without going through them: by what is remembered about pods like this one. Null:
  // that does not suffice, the nodes are to be filtered and scored one by one, from PreScore on.
  // PreScore has run otherwise, and all calls are counted as if every node had been looked at.
  // Requires: PreFilter left all nodes.
  const RankedWindow* RankWindow(CycleState& state, const api::Pod& pod, size_t start,
                                 size_t wanted) const;

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
      if (verdicts_ == nullptr) return Run(node);
      if (HasNominated(slot)) return RunRememberedBeside(node, slot);
      const uint8_t verdict = verdicts_->verdict(slot);
      if (verdict == NodeVerdicts::kFits && rest_ == 0) [[likely]] {
        ++fits_;
        return {};
      }
      return RunRemembered(node, slot, verdict);
    }
    // As RunFilterPlugins.
    Status RunPlugins(const CycleState& state, const NodeInfo& node);

    // Whether what is remembered says everything about the snapshot's nodes but for what rest()
    // says.
    bool IsRemembered() const { return verdicts_ != nullptr && nominated_ == nullptr; }
    // Filters after the remembered ones that are to be asked.
    PluginMask rest() const { return rest_; }
    // What is remembered of the node, filters asked if need be; kUnknown: one failed.
    uint8_t VerdictOf(const NodeInfo& node, uint32_t slot);
    // What the rest says of it, likewise.
    uint8_t VerdictOfRest(const NodeInfo& node);
    // Counts this, and nothing of what was asked before: so many nodes passed all filters, and this
    // many ended with the filter at each position.
    void CountInstead(uint32_t fits, std::span<const uint32_t> ended_at);

   private:
    bool HasNominated(uint32_t slot) const {
      return nominated_ != nullptr && (*nominated_)[slot] != 0;
    }
    Status RunRemembered(const NodeInfo& node, uint32_t slot, uint8_t verdict);
    Status RunRememberedBeside(const NodeInfo& node, uint32_t slot);
    std::optional<Status> RunBesideNominated(const NodeInfo& node);
    Status RunRange(const CycleState& state, const NodeInfo& node, size_t begin, size_t end);
    Status RunMeasured(const CycleState& state, const NodeInfo& node, size_t begin, size_t limit);

    const Framework& framework_;
    const CycleState& state_;
    const api::Pod& pod_;
    const CallSampler sampler_;
    NodeVerdicts* verdicts_ = nullptr;  // null: nothing to remember
    // NominatedSlots, by slot; null: no node has nominated pods.
    const std::vector<uint64_t>* nominated_ = nullptr;
    NominatedVerdicts* beside_nominated_ = nullptr;  // null: nothing to remember
    std::optional<uint32_t> own_slot_;               // of the node to which the pod is nominated
    PluginMask rest_ = 0;    // filters after the remembered ones; without verdicts_: not known
    uint32_t fits_ = 0;      // nodes that all filters let pass
    size_t last_asked_ = 0;  // position of the filter that rejected last
    // By position in the Filter list: what its calls took; empty: no observer.
    std::vector<Duration> took_;
    TimePoint observed_start_{};
    // By position in the Filter list: nodes for which this was the last plugin asked. Only the
    // first entries, as many as there are plugins, are in use.
    std::array<uint32_t, kMaxPlugins> ended_at_;
  };

 private:
  struct Impl;
  PreFilterOutcome MergePreFilters(CycleState& state, const api::Pod& pod) const;
  using AskPostFilter = std::function<PostFilterResult(PostFilterPlugin&)>;
  PostFilterResult AskPostFilters(const CycleState& state, const AskPostFilter& ask) const;
  Framework(const config::Profile& profile, const FrameworkOptions& options);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ks::framework
