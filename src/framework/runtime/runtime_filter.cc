// SPDX-License-Identifier: Apache-2.0
// The points that decide where a pod fits: PreFilter with its hooks, Filter, PostFilter.

#include <algorithm>
#include <utility>

#include "base/canary.h"
#include "framework/nomination.h"
#include "framework/runtime/point_statuses.h"
#include "framework/runtime/runtime.h"
#include "framework/runtime/runtime_impl.h"
#include "golang/quote.h"

namespace ks::framework {
namespace {

// The narrowing plugins left no node.
Status EmptyIntersection(const std::set<std::string>& narrowing) {
  std::string reason = "node(s) didn't satisfy plugin";
  if (narrowing.size() == 1) {
    reason += " " + *narrowing.begin();
  } else {
    reason += "(s) [";
    for (const std::string& name : narrowing) {
      if (name != *narrowing.begin()) reason += ' ';
      reason += name;
    }
    reason += "] simultaneously";
  }
  return Status(Code::kUnschedulableAndUnresolvable, {std::move(reason)});
}

void Intersect(std::optional<std::set<std::string>>* nodes, std::set<std::string> more) {
  if (!nodes->has_value()) {
    *nodes = std::move(more);
    return;
  }
  std::erase_if(**nodes, [&](const std::string& node) { return !more.contains(node); });
}

// Stamps or wraps a Filter failure; out of line to keep the loop over the plugins small.
[[gnu::noinline]] Status FilterFailure(std::string_view plugin, const Status& status) {
  if (status.IsRejected()) return status.WithPlugin(plugin);
  return Status::Error("running " + golang::Quote(plugin) + " filter plugin: " + status.ErrorText())
      .WithPlugin(plugin);
}

// Whether the pod is filtered as if the nominated one ran there already.
bool Counts(const api::Pod& pod, const api::Pod& nominated) {
  return !KS_CANARY(NominationsIgnored) && Respects(pod, nominated);
}

}  // namespace

PreFilterOutcome Framework::RunPreFilterPlugins(CycleState& state, const api::Pod& pod) const {
  const PointTimer timer = impl_->meters.StartTimer(MetricPoint::kPreFilter);
  PreFilterOutcome outcome = MergePreFilters(state, pod);
  timer.Stop(outcome.status.code());
  if (impl_->memory != nullptr && outcome.status.ok()) {
    uint64_t outside = 0;
    for (const NodeLocalPlugin* plugin : impl_->plugins.lists().local.plugins) {
      outside += plugin->OutsideVersion();
    }
    const Handle& parts = impl_->handle;
    const bool nominated = parts.nominator().HasNominatedPods();
    state.verdicts = impl_->memory->For(pod, parts.snapshot(), outside, nominated);
    if (nominated) impl_->nominated_slots.Refresh(parts.nominator(), parts.snapshot());
  }
  return outcome;
}

PreFilterOutcome Framework::MergePreFilters(CycleState& state, const api::Pod& pod) const {
  const CallSampler sampler = Sampler(state);
  PreFilterOutcome outcome;
  state.skip_filter = 0;
  for (const PreFilterEntry& entry : impl_->plugins.lists().pre_filter) {
    PreFilterResult result = sampler.Measure(
        entry.meter, [&] { return entry.plugin->PreFilter(state, pod, handle().snapshot()); });
    const Status& status = result.status;
    if (!status.IsSkip()) entry.CountCalls(1);
    switch (status.code()) {
      case Code::kSkip:
        state.skip_filter |= entry.bit;
        break;
      case Code::kSuccess:
        if (!result.nodes.has_value()) break;
        outcome.narrowing_plugins.emplace(entry.name);
        Intersect(&outcome.nodes, *std::move(result.nodes));
        if (outcome.nodes->empty()) {
          outcome.status = EmptyIntersection(outcome.narrowing_plugins);
          return outcome;
        }
        break;
      case Code::kUnschedulable:
        // The others still run: preemption needs their state.
        outcome.status = status.WithPlugin(entry.name);
        break;
      case Code::kUnschedulableAndUnresolvable:
        return {.status = status.WithPlugin(entry.name), .nodes = {}, .narrowing_plugins = {}};
      case Code::kError:
      case Code::kWait:
      case Code::kPending:
        return {.status =
                    Wrapped("running PreFilter plugin", entry.name, status).WithPlugin(entry.name),
                .nodes = {},
                .narrowing_plugins = {}};
    }
  }
  return outcome;
}

bool Framework::HasPreFilterExtensions(const CycleState& state) const {
  const auto& entries = impl_->plugins.lists().pre_filter;
  return std::any_of(entries.begin(), entries.end(), [&state](const PreFilterEntry& entry) {
    return entry.extensions != nullptr && (state.skip_filter & entry.bit) == 0;
  });
}

bool Framework::HasReserve(const CycleState& state) const {
  const auto& entries = impl_->plugins.lists().reserve;
  return std::any_of(entries.begin(), entries.end(), [&state](const ReserveEntry& entry) {
    return (state.skip_filter & entry.bit) == 0;
  });
}

Status Framework::RunPreFilterExtensionAddPod(CycleState& state, const api::Pod& pod,
                                              const PodInfo& pod_to_add,
                                              const NodeInfo& node) const {
  const CallSampler sampler = Sampler(state);
  for (const PreFilterEntry& entry : impl_->plugins.lists().pre_filter) {
    if (entry.extensions == nullptr || (state.skip_filter & entry.bit) != 0) continue;
    const Status status = sampler.Measure(entry.add_pod_meter, [&] {
      return entry.extensions->AddPod(state, pod, pod_to_add, node);
    });
    if (!status.ok()) return Wrapped("running AddPod on PreFilter plugin", entry.name, status);
  }
  return {};
}

Status Framework::RunPreFilterExtensionRemovePod(CycleState& state, const api::Pod& pod,
                                                 const PodInfo& pod_to_remove,
                                                 const NodeInfo& node) const {
  const CallSampler sampler = Sampler(state);
  for (const PreFilterEntry& entry : impl_->plugins.lists().pre_filter) {
    if (entry.extensions == nullptr || (state.skip_filter & entry.bit) != 0) continue;
    const Status status = sampler.Measure(entry.remove_pod_meter, [&] {
      return entry.extensions->RemovePod(state, pod, pod_to_remove, node);
    });
    if (!status.ok()) return Wrapped("running RemovePod on PreFilter plugin", entry.name, status);
  }
  return {};
}

Status Framework::RunFilterPlugins(const CycleState& state, const api::Pod& pod,
                                   const NodeInfo& node) const {
  return FilterBatch(*this, state, pod).RunPlugins(state, node);
}

Status Framework::RunFilterPluginsWithNominatedPods(const CycleState& state, const api::Pod& pod,
                                                    const NodeInfo& node) const {
  return FilterBatch(*this, state, pod).Run(node);
}

Framework::FilterBatch::FilterBatch(const Framework& framework, const CycleState& state,
                                    const api::Pod& pod)
    : framework_(framework), state_(state), pod_(pod), sampler_(framework.Sampler(state)) {
  const Impl& impl = *framework.impl_;
  const PointLists& lists = impl.plugins.lists();
  std::fill_n(ended_at_.begin(), lists.filter.size(), 0);
  if (sampler_.observed()) {
    took_.resize(lists.filter.size());
    observed_start_ = sampler_.ObservedNow();
  }
  const Nominator& nominator = impl.handle.nominator();
  if (nominator.HasNominatedPods()) {
    nominated_ = impl.nominated_slots.At(nominator);
    if (nominated_ == nullptr) return;
  }
  verdicts_ = state.verdicts.get();
  for (size_t i = lists.local.filters; i < lists.filter.size(); ++i) {
    rest_ |= lists.filter[i].bit & ~state.skip_filter;
  }
  if (nominated_ == nullptr || verdicts_ == nullptr || rest_ != 0) return;
  if (framework.HasPreFilterExtensions(state)) return;
  // An attempt that waited may come with verdicts that were made anew without nominated pods.
  if (verdicts_->beside_nominated().slots() != nominated_->size()) return;
  beside_nominated_ = &verdicts_->beside_nominated();
  const NodeInfo* own = impl.handle.snapshot().Find(nominator.NodeOf(pod.meta.uid));
  if (own != nullptr) own_slot_ = own->slot();
}

// A plugin was asked about every node that ended with it or with a later plugin.
Framework::FilterBatch::~FilterBatch() {
  const auto& filter = framework_.impl_->plugins.lists().filter;
  for (size_t i = 0; i < took_.size(); ++i) {
    sampler_.TellObserver(filter[i].meter, observed_start_, took_[i]);
  }
  if (!framework_.impl_->meters.measures()) return;
  uint64_t asked = fits_;
  for (size_t i = filter.size(); i-- > 0;) {
    asked += ended_at_[i];
    if ((state_.skip_filter & filter[i].bit) == 0) filter[i].CountCalls(asked);
  }
}

Status Framework::FilterBatch::RunPlugins(const CycleState& state, const NodeInfo& node) {
  Status status = RunRange(state, node, 0, framework_.impl_->plugins.lists().filter.size());
  if (status.ok()) ++fits_;
  return status;
}

uint8_t Framework::FilterBatch::VerdictOf(const NodeInfo& node, uint32_t slot) {
  const uint8_t verdict = verdicts_->verdict(slot);
  if (verdict == NodeVerdicts::kUnknown) (void)RunRemembered(node, slot, verdict);
  return verdicts_->verdict(slot);
}

uint8_t Framework::FilterBatch::VerdictOfRest(const NodeInfo& node) {
  const PointLists& lists = framework_.impl_->plugins.lists();
  const Status status = RunRange(state_, node, lists.local.filters, lists.filter.size());
  if (status.ok()) return NodeVerdicts::kFits;
  if (!status.IsRejected()) return NodeVerdicts::kUnknown;
  return static_cast<uint8_t>(NodeVerdicts::kRejected + last_asked_);
}

void Framework::FilterBatch::CountInstead(uint32_t fits, std::span<const uint32_t> ended_at) {
  fits_ = fits;
  const size_t filters = framework_.impl_->plugins.lists().filter.size();
  std::fill_n(ended_at_.begin(), filters, 0);
  std::copy(ended_at.begin(), ended_at.end(), ended_at_.begin());
}

// Errors are not remembered: the next attempt asks again.
Status Framework::FilterBatch::RunRemembered(const NodeInfo& node, uint32_t slot, uint8_t verdict) {
  const size_t local = framework_.impl_->plugins.lists().local.filters;
  if (verdict >= NodeVerdicts::kRejected) {
    ++ended_at_[verdict - NodeVerdicts::kRejected];
    return verdicts_->rejection(slot);
  }
  if (verdict == NodeVerdicts::kUnknown) {
    Status status = RunRange(state_, node, 0, local);
    if (status.IsRejected()) verdicts_->Rejected(slot, last_asked_, status);
    if (!status.ok()) return status;
    verdicts_->Fits(slot);
  }
  Status status = RunRange(state_, node, local, framework_.impl_->plugins.lists().filter.size());
  if (status.ok()) ++fits_;
  return status;
}

// The one place where Filter plugins are called, with RunMeasured: the entries [begin, end).
Status Framework::FilterBatch::RunRange(const CycleState& state, const NodeInfo& node, size_t begin,
                                        size_t end) {
  if (sampler_.measures()) [[unlikely]] {
    return RunMeasured(state, node, begin, end);
  }
  const auto& filter = framework_.impl_->plugins.lists().filter;
  const PluginMask skipped = state.skip_filter;
  for (size_t i = begin; i < end; ++i) {
    const PointEntry<const FilterPlugin>& entry = filter[i];
    if ((skipped & entry.bit) != 0) continue;
    const Status status = entry.plugin->Filter(state, pod_, node);
    if (!status.ok()) [[unlikely]] {
      ++ended_at_[i];
      last_asked_ = i;
      return FilterFailure(entry.name, status);
    }
  }
  return {};
}

// The same with a look at the clock between two calls.
Status Framework::FilterBatch::RunMeasured(const CycleState& state, const NodeInfo& node,
                                           size_t begin, size_t limit) {
  const auto& filter = framework_.impl_->plugins.lists().filter;
  TimePoint start = sampler_.Now();
  for (size_t i = begin; i < limit; ++i) {
    const PointEntry<const FilterPlugin>& entry = filter[i];
    if ((state.skip_filter & entry.bit) != 0) continue;
    const Status status = entry.plugin->Filter(state, pod_, node);
    const TimePoint end = sampler_.Now();
    const Duration took = end - std::exchange(start, end);
    sampler_.Record(entry.meter, status.code(), took);
    if (!took_.empty()) took_[i] += took;
    if (!status.ok()) {
      ++ended_at_[i];
      last_asked_ = i;
      return FilterFailure(entry.name, status);
    }
  }
  return {};
}

Status Framework::FilterBatch::Run(const NodeInfo& node) {
  const Nominator& nominator = framework_.impl_->handle.nominator();
  if (!nominator.HasNominatedPods()) return RunPlugins(state_, node);
  // The nominated pods may never come: the pod must fit without them too (think of affinity to one
  // of them).
  const std::optional<Status> beside = RunBesideNominated(node);
  return !beside || beside->ok() ? RunPlugins(state_, node) : *beside;
}

// As Run, for the snapshot's node with that slot, which has nominated pods.
Status Framework::FilterBatch::RunRememberedBeside(const NodeInfo& node, uint32_t slot) {
  using Kind = NominatedVerdicts::Kind;
  if (beside_nominated_ == nullptr || slot == own_slot_) return Run(node);
  const uint64_t state = (*nominated_)[slot];
  NominatedVerdicts::Verdict& known = beside_nominated_->At(slot);
  if (known.state == state) {
    if (known.kind == Kind::kRejected) {
      ++ended_at_[known.position];
      return known.rejection;
    }
    if (known.kind == Kind::kFits) ++fits_;
  } else {
    const std::optional<Status> beside = RunBesideNominated(node);
    if (beside && !beside->ok()) {
      if (beside->IsRejected()) {
        known = {state, *beside, Kind::kRejected, static_cast<uint8_t>(last_asked_)};
      }
      return *beside;
    }
    known = {state, {}, beside ? Kind::kFits : Kind::kNoneCounts};
  }
  return RunRemembered(node, slot, verdicts_->verdict(slot));
}

// With the nominated pods on board that the pod respects; absent: there are none.
std::optional<Status> Framework::FilterBatch::RunBesideNominated(const NodeInfo& node) {
  const Nominator& nominator = framework_.impl_->handle.nominator();
  const std::span<const PodInfoPtr> nominated = nominator.NominatedPodsForNode(node.name());
  if (std::none_of(nominated.begin(), nominated.end(),
                   [this](const PodInfoPtr& other) { return Counts(pod_, other->pod()); })) {
    return std::nullopt;
  }

  NodeInfo node_with_nominated = node;
  CycleState state_with_nominated = state_.Clone();
  for (const PodInfoPtr& other : nominated) {
    if (!Counts(pod_, other->pod())) continue;
    node_with_nominated.AddPod(other);
    Status status = framework_.RunPreFilterExtensionAddPod(state_with_nominated, pod_, *other,
                                                           node_with_nominated);
    if (!status.ok()) return status;
  }
  return RunPlugins(state_with_nominated, node_with_nominated);
}

PostFilterResult Framework::RunPostFilterPlugins(CycleState& state, const api::PodPtr& pod,
                                                 const NodeStatuses& statuses) const {
  const PointTimer timer = impl_->meters.StartTimer(MetricPoint::kPostFilter);
  PostFilterResult result = AskPostFilters(
      state, [&](PostFilterPlugin& plugin) { return plugin.PostFilter(state, pod, statuses); });
  if (!result.status.IsWait()) timer.Stop(result.status.code());
  return result;
}

PostFilterResult Framework::ExplainPostFilterPlugins(CycleState& state, const api::PodPtr& pod,
                                                     const NodeStatuses& statuses,
                                                     PreemptionObserver& observer) const {
  return AskPostFilters(state, [&](PostFilterPlugin& plugin) {
    auto* explainer = dynamic_cast<PreemptionExplainer*>(&plugin);
    return explainer == nullptr ? plugin.PostFilter(state, pod, statuses)
                                : explainer->Explain(state, pod, statuses, observer);
  });
}

PostFilterResult Framework::AskPostFilters(const CycleState& state,
                                           const AskPostFilter& ask) const {
  if (state.skip_all_post_filter) {
    return {Status(Code::kUnschedulable, {"All PostFilter plugins are skipped"}), {}};
  }
  const CallSampler sampler = Sampler(state);
  std::vector<std::string> reasons;
  std::string rejecting_plugin;
  std::optional<NominatingInfo> nomination;
  for (const PointEntry<PostFilterPlugin>& entry : impl_->plugins.lists().post_filter) {
    PostFilterResult result = sampler.Measure(entry.meter, [&] { return ask(*entry.plugin); });
    const Status& status = result.status;
    const bool asks = status.IsWait() && state.preemption_inquiry != nullptr;
    if (status.ok() || asks) return result;
    if (status.code() == Code::kUnschedulableAndUnresolvable) {
      return {status.WithPlugin(entry.name), std::move(result.nomination)};
    }
    if (!status.IsRejected()) {
      return {Status::Error(status.ErrorText()).WithPlugin(entry.name), {}};
    }
    reasons.insert(reasons.end(), status.reasons().begin(), status.reasons().end());
    if (rejecting_plugin.empty()) rejecting_plugin = entry.name;
    if (result.nomination.has_value()) nomination = std::move(result.nomination);
  }
  return {Status(Code::kUnschedulable, std::move(reasons), std::move(rejecting_plugin)),
          std::move(nomination)};
}

}  // namespace ks::framework
