// SPDX-License-Identifier: Apache-2.0
#include "framework/runtime/runtime.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/logging.h"
#include "config/print/print.h"
#include "framework/post_filter_stand_in.h"
#include "framework/runtime/runtime_impl.h"

namespace ks::framework {
namespace {

// Fills the part of an entry that all points share. The cast succeeds: the lists were checked.
template <class T, class Entry>
Entry MakeEntry(const ResolvedProfile& resolved, uint32_t index) {
  Plugin& plugin = *resolved.plugins[index].plugin;
  Entry entry;
  entry.plugin = dynamic_cast<T*>(&plugin);
  KS_CHECK(entry.plugin != nullptr, "a plugin is listed at a point that it does not extend");
  entry.name = plugin.Name();
  entry.bit = PluginMask{1} << index;
  return entry;
}

// A placeholder does nothing but reject: at Filter it is not reached after its own PreFilter.
bool IsIdle(const ResolvedProfile& resolved, Point point, uint32_t index) {
  const Plugin& plugin = *resolved.plugins[index].plugin;
  if (dynamic_cast<const PlaceholderPlugin*>(&plugin) == nullptr) return false;
  if (point == Point::kPreEnqueue || point == Point::kPreFilter) return false;
  if (point == Point::kPostFilter) {
    return dynamic_cast<const PostFilterStandIn*>(&plugin) == nullptr;
  }
  if (point != Point::kFilter) return true;
  const std::vector<uint32_t>& pre_filter = resolved.List(Point::kPreFilter);
  return std::find(pre_filter.begin(), pre_filter.end(), index) != pre_filter.end();
}

template <class T, class Entry>
std::vector<Entry> MakeList(const ResolvedProfile& resolved, Point point) {
  std::vector<Entry> list;
  for (const uint32_t index : resolved.List(point)) {
    if (IsIdle(resolved, point, index)) continue;
    list.push_back(MakeEntry<T, Entry>(resolved, index));
  }
  return list;
}

template <class T>
void Fill(const ResolvedProfile& resolved, Point point, std::vector<PointEntry<T>>* list) {
  *list = MakeList<T, PointEntry<T>>(resolved, point);
}

// Whether a rejection by this plugin can ever be recorded (docs/spec/framework.md section 7).
bool TakesPartInRequeueing(const Plugin& plugin) {
  return dynamic_cast<const PreEnqueuePlugin*>(&plugin) != nullptr ||
         dynamic_cast<const PreFilterPlugin*>(&plugin) != nullptr ||
         dynamic_cast<const FilterPlugin*>(&plugin) != nullptr ||
         dynamic_cast<const ReservePlugin*>(&plugin) != nullptr ||
         dynamic_cast<const PermitPlugin*>(&plugin) != nullptr;
}

// A registration for pods is stored once per kind of pod.
std::vector<EventRegistration> Expanded(std::vector<EventRegistration> registrations) {
  std::vector<EventRegistration> expanded;
  for (EventRegistration& registration : registrations) {
    if (registration.event.resource != EventResource::kPod) {
      expanded.push_back(std::move(registration));
      continue;
    }
    for (const EventResource resource :
         {EventResource::kAssignedPod, EventResource::kUnscheduledPod, EventResource::kTargetPod}) {
      registration.event.resource = resource;
      expanded.push_back(registration);
    }
  }
  return expanded;
}

}  // namespace

void Framework::Impl::FillLists() {
  queue_sort = dynamic_cast<const QueueSortPlugin*>(
      resolved.plugins[resolved.List(Point::kQueueSort).front()].plugin.get());
  Fill(resolved, Point::kPreEnqueue, &pre_enqueue);
  pre_filter = MakeList<PreFilterPlugin, PreFilterEntry>(resolved, Point::kPreFilter);
  for (PreFilterEntry& entry : pre_filter) {
    entry.extensions = dynamic_cast<const PreFilterExtensions*>(entry.plugin);
  }
  Fill(resolved, Point::kFilter, &filter);
  Fill(resolved, Point::kPostFilter, &post_filter);
  Fill(resolved, Point::kPreScore, &pre_score);
  score = MakeList<ScorePlugin, ScoreEntry>(resolved, Point::kScore);
  for (ScoreEntry& entry : score) {
    entry.normalizer = dynamic_cast<const ScoreNormalizer*>(entry.plugin);
    entry.weight = resolved.score_weights.find(entry.name)->second;
  }
  reserve = MakeList<ReservePlugin, ReserveEntry>(resolved, Point::kReserve);
  Fill(resolved, Point::kPermit, &permit);
  pre_bind = MakeList<PreBindPlugin, PreBindEntry>(resolved, Point::kPreBind);
  Fill(resolved, Point::kBind, &bind);
  Fill(resolved, Point::kPostBind, &post_bind);
  FillSigners();
  FillMemory();
}

// Only the filters before the first one that looks further can be remembered as one verdict.
void Framework::Impl::FillMemory() {
  const auto as_local = [](const auto* plugin) {
    return dynamic_cast<const NodeLocalPlugin*>(plugin);
  };
  while (local_filters < filter.size()) {
    const NodeLocalPlugin* local = as_local(filter[local_filters].plugin);
    if (local == nullptr) break;
    local_plugins.push_back(local);
    ++local_filters;
  }
  for (ScoreEntry& entry : score) {
    const NodeLocalPlugin* local = as_local(entry.plugin);
    entry.node_local = local != nullptr;
    if (local == nullptr) continue;
    local_scores |= entry.bit;
    local_plugins.push_back(local);
  }
  if (options.remember_verdicts && !local_plugins.empty()) {
    memory = std::make_unique<NodeMemory>();
  }
}

void Framework::Impl::FillSigners() {
  PluginMask seen = 0;
  for (const Point point : {Point::kPreFilter, Point::kFilter, Point::kPreScore, Point::kScore}) {
    for (const uint32_t index : resolved.List(point)) {
      const PluginMask bit = PluginMask{1} << index;
      if ((seen & bit) != 0) continue;
      seen |= bit;
      Plugin& plugin = *resolved.plugins[index].plugin;
      PointEntry<const SignPlugin>& entry = sign.emplace_back();
      entry.plugin = dynamic_cast<const SignPlugin*>(&plugin);
      entry.name = plugin.Name();
      entry.bit = bit;
    }
  }
}

void Framework::Impl::FillMetrics() {
  if (options.metrics == nullptr) return;
  KS_CHECK(options.clock != nullptr, "a framework with metrics needs a clock");
  FrameworkMetrics& all = *options.metrics;
  metrics = &all.ForProfile(profile_name);
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
}

void Framework::Impl::FillEvents() {
  for (const ResolvedProfile::Instance& instance : resolved.plugins) {
    const Plugin& plugin = *instance.plugin;
    if (!TakesPartInRequeueing(plugin)) continue;
    const auto* extensions = dynamic_cast<const EnqueueExtensions*>(&plugin);
    events[std::string(plugin.Name())] = Expanded(
        extensions == nullptr ? DefaultEventRegistrations() : extensions->EventsToRegister());
  }
}

Framework::Framework(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Framework::~Framework() {
  if (const Result<void> closed = Close(); !closed.ok()) {
    log::Error(closed.error().message, "Failed to close the plugins of a profile",
               {{"profile", impl_->profile_name}});
  }
}

Result<void> Framework::Close() {
  if (std::exchange(impl_->closed, true)) return {};
  std::string failures;
  for (const ResolvedProfile::Instance& instance : impl_->resolved.plugins) {
    auto* closer = dynamic_cast<Closer*>(instance.plugin.get());
    if (closer == nullptr) continue;
    const Result<void> closed = closer->Close();
    if (closed.ok()) continue;
    if (!failures.empty()) failures += '\n';
    failures +=
        std::string(instance.plugin->Name()) + " failed to close: " + closed.error().message;
  }
  if (failures.empty()) return {};
  return Error{"framework " + impl_->profile_name + " failed to close: " + failures};
}

Result<std::unique_ptr<Framework>> Framework::Create(const Registry& registry,
                                                     const config::Profile& profile,
                                                     const FrameworkOptions& options,
                                                     std::vector<Error>* faults) {
  auto impl = std::make_unique<Impl>();
  impl->profile_name = profile.name();
  impl->percentage_of_nodes_to_score = profile.percentage_of_nodes_to_score;
  impl->options = options;
  std::unique_ptr<Framework> framework(new Framework(std::move(impl)));
  // Factories get the framework as their handle: it must exist before them.
  auto resolved = ResolveProfile(registry, profile, *framework, faults);
  if (!resolved.ok()) return resolved.error();
  framework->impl_->resolved = std::move(resolved).value();
  KS_LOG(2, "the scheduler starts to work with those plugins",
         {{"Plugins", config::ExpandedPluginsJson(ExpandedPlugins(framework->impl_->resolved))}});
  framework->impl_->FillLists();
  framework->impl_->FillEvents();
  framework->impl_->FillMetrics();
  return framework;
}

void Framework::Attach(LateParts parts) { impl_->late = std::move(parts); }

std::vector<std::string> Framework::ListPlugins(std::string_view point) const {
  std::vector<std::string> names;
  for (size_t i = 0; i < kPointCount; ++i) {
    const Point candidate = static_cast<Point>(i);
    if (PointName(candidate) != point) continue;
    const ResolvedProfile& resolved = impl_->resolved;
    const auto* weights = candidate == Point::kScore            ? &resolved.score_weights
                          : candidate == Point::kPlacementScore ? &resolved.placement_score_weights
                                                                : nullptr;
    for (const uint32_t index : resolved.List(candidate)) {
      names.emplace_back(resolved.plugins[index].plugin->Name());
      if (weights == nullptr) continue;
      names.back() += " " + std::to_string(weights->find(names.back())->second);
    }
  }
  return names;
}

bool Framework::HasFilterPlugins() const { return !impl_->filter.empty(); }
bool Framework::HasScorePlugins() const { return !impl_->score.empty(); }
bool Framework::HasPostFilterPlugins() const { return !impl_->post_filter.empty(); }

std::optional<int32_t> Framework::percentage_of_nodes_to_score() const {
  return impl_->percentage_of_nodes_to_score;
}

std::string_view Framework::QueueSortPluginName() const {
  return impl_->resolved.plugins[impl_->resolved.List(Point::kQueueSort).front()].plugin->Name();
}

const std::map<std::string, std::vector<EventRegistration>>& Framework::event_registrations()
    const {
  return impl_->events;
}

OptionalKinds Framework::NeededKinds() const {
  OptionalKinds kinds;
  for (const ResolvedProfile::Instance& instance : impl_->resolved.plugins) {
    const auto* user = dynamic_cast<const OptionalKindReader*>(instance.plugin.get());
    if (user != nullptr) kinds.Add(user->NeededKinds());
  }
  return kinds;
}

bool Framework::DrawMetricsSample() const {
  return impl_->metrics != nullptr && impl_->options.metrics->DrawCycle();
}

PointTimer Framework::StartTimer(MetricPoint point) const { return impl_->StartTimer(point); }

CallSampler Framework::Sampler(const CycleState& state) const {
  return impl_->Sampler(state.record_plugin_metrics);
}

const std::string& Framework::ProfileName() const { return impl_->profile_name; }

const Snapshot& Framework::snapshot() const {
  KS_CHECK(impl_->options.snapshot != nullptr, "the framework was built without a snapshot");
  return *impl_->options.snapshot;
}

const OwnerListers& Framework::owner_listers() const {
  KS_CHECK(impl_->options.owner_listers != nullptr,
           "the framework was built without owner listers");
  return *impl_->options.owner_listers;
}

StorageState& Framework::storage() {
  KS_CHECK(impl_->options.storage != nullptr, "the framework was built without storage state");
  return *impl_->options.storage;
}

const Clock& Framework::clock() const {
  KS_CHECK(impl_->options.clock != nullptr, "the framework was built without a clock");
  return *impl_->options.clock;
}

const config::FeatureGates& Framework::gates() const {
  static const config::FeatureGates defaults;
  return impl_->options.gates == nullptr ? defaults : *impl_->options.gates;
}

Random& Framework::random() {
  KS_CHECK(impl_->options.random != nullptr, "the framework was built without a random source");
  return *impl_->options.random;
}

ApiWriter& Framework::api() {
  KS_CHECK(impl_->late.api != nullptr,
           "the API writer is not attached yet: not to be used in factories");
  return *impl_->late.api;
}

Nominator& Framework::nominator() {
  KS_CHECK(impl_->late.nominator != nullptr,
           "the nominator is not attached yet: not to be used in factories");
  return *impl_->late.nominator;
}

PodActivator& Framework::activator() {
  KS_CHECK(impl_->late.activator != nullptr,
           "the activator is not attached yet: not to be used in factories");
  return *impl_->late.activator;
}

const PodLister& Framework::pods() {
  KS_CHECK(impl_->late.pods != nullptr,
           "the pod lister is not attached yet: not to be used in factories");
  return *impl_->late.pods;
}

const NodeLister& Framework::nodes() {
  KS_CHECK(impl_->late.nodes != nullptr,
           "the node lister is not attached yet: not to be used in factories");
  return *impl_->late.nodes;
}

TaskInbox& Framework::tasks() {
  KS_CHECK(impl_->late.tasks != nullptr,
           "the task inbox is not attached yet: not to be used in factories");
  return *impl_->late.tasks;
}

std::span<PreemptionExtender* const> Framework::preemption_extenders() {
  return impl_->late.preemption_extenders;
}

int32_t Framework::parallelism() const { return impl_->options.parallelism; }

PreemptionMetrics* Framework::preemption_metrics() {
  return impl_->options.metrics == nullptr ? nullptr : &impl_->options.metrics->preemption();
}

VolumeMetrics* Framework::volume_metrics() const {
  return impl_->options.metrics == nullptr ? nullptr : &impl_->options.metrics->volumes();
}

WaitingPodAccess& Framework::waiting_pods() {
  KS_CHECK(impl_->options.waiting_pods != nullptr,
           "the framework was built without a set of waiting pods");
  return *impl_->options.waiting_pods;
}

PodsInPreBindAccess& Framework::pods_in_pre_bind() {
  KS_CHECK(impl_->options.pods_in_pre_bind != nullptr,
           "the framework was built without a set of pods in PreBind");
  return *impl_->options.pods_in_pre_bind;
}

uint32_t Framework::NewStateSlot() { return impl_->next_slot++; }

}  // namespace ks::framework
