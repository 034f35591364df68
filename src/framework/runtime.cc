// SPDX-License-Identifier: Apache-2.0
#include "framework/runtime.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "framework/runtime_impl.h"

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
  Fill(resolved, Point::kReserve, &reserve);
  Fill(resolved, Point::kPermit, &permit);
  Fill(resolved, Point::kPreBind, &pre_bind);
  Fill(resolved, Point::kBind, &bind);
  Fill(resolved, Point::kPostBind, &post_bind);
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
Framework::~Framework() = default;

Result<std::unique_ptr<Framework>> Framework::Create(const Registry& registry,
                                                     const config::Profile& profile,
                                                     const FrameworkOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->profile_name = profile.name();
  impl->percentage_of_nodes_to_score = profile.percentage_of_nodes_to_score;
  impl->options = options;
  std::unique_ptr<Framework> framework(new Framework(std::move(impl)));
  // Factories get the framework as their handle: it must exist before them.
  auto resolved = ResolveProfile(registry, profile, *framework);
  if (!resolved.ok()) return resolved.error();
  framework->impl_->resolved = std::move(resolved).value();
  framework->impl_->FillLists();
  framework->impl_->FillEvents();
  return framework;
}

void Framework::Attach(ApiWriter* api, Nominator* nominator, PodActivator* activator) {
  impl_->api = api;
  impl_->nominator = nominator;
  impl_->activator = activator;
}

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

OwnerKinds Framework::NeededOwnerKinds() const {
  OwnerKinds kinds;
  for (const ResolvedProfile::Instance& instance : impl_->resolved.plugins) {
    const auto* user = dynamic_cast<const ListerUser*>(instance.plugin.get());
    if (user != nullptr) kinds.Add(user->NeededOwnerKinds());
  }
  return kinds;
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

const Clock& Framework::clock() const {
  KS_CHECK(impl_->options.clock != nullptr, "the framework was built without a clock");
  return *impl_->options.clock;
}

Random& Framework::random() {
  KS_CHECK(impl_->options.random != nullptr, "the framework was built without a random source");
  return *impl_->options.random;
}

ApiWriter& Framework::api() {
  KS_CHECK(impl_->api != nullptr,
           "the API writer is not attached yet: not to be used in factories");
  return *impl_->api;
}

Nominator& Framework::nominator() {
  KS_CHECK(impl_->nominator != nullptr,
           "the nominator is not attached yet: not to be used in factories");
  return *impl_->nominator;
}

PodActivator& Framework::activator() {
  KS_CHECK(impl_->activator != nullptr,
           "the activator is not attached yet: not to be used in factories");
  return *impl_->activator;
}

WaitingPodAccess& Framework::waiting_pods() {
  KS_CHECK(impl_->options.waiting_pods != nullptr,
           "the framework was built without a set of waiting pods");
  return *impl_->options.waiting_pods;
}

uint32_t Framework::NewStateSlot() { return impl_->next_slot++; }

}  // namespace ks::framework
