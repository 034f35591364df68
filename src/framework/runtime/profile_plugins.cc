// SPDX-License-Identifier: Apache-2.0
#include "framework/runtime/profile_plugins.h"

#include <algorithm>
#include <utility>

#include "framework/composed_plugin.h"
#include "framework/plugin.h"

namespace ks::framework {
namespace {

// Whether a rejection by this plugin can ever be recorded (docs/spec/framework.md section 7).
bool TakesPartInRequeueing(const Plugin& plugin) {
  return InterfaceOf<const PreEnqueuePlugin>(plugin) != nullptr ||
         InterfaceOf<const PreFilterPlugin>(plugin) != nullptr ||
         InterfaceOf<const FilterPlugin>(plugin) != nullptr ||
         InterfaceOf<const ReservePlugin>(plugin) != nullptr ||
         InterfaceOf<const PermitPlugin>(plugin) != nullptr;
}

// A registration for pods is stored once per kind of pod.
std::vector<EventRegistration> PerKindOfPod(std::vector<EventRegistration> registrations) {
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

ProfilePlugins::ProfilePlugins(ResolvedProfile resolved)
    : resolved_(std::move(resolved)), lists_(resolved_) {
  for (const ResolvedProfile::Instance& instance : resolved_.plugins) {
    const Plugin& plugin = *instance.plugin;
    if (!TakesPartInRequeueing(plugin)) continue;
    const auto* extensions = InterfaceOf<const EnqueueExtensions>(plugin);
    events_[std::string(plugin.Name())] = PerKindOfPod(
        extensions == nullptr ? DefaultEventRegistrations() : extensions->EventsToRegister());
  }
}

std::vector<std::string> ProfilePlugins::ListPlugins(std::string_view point) const {
  std::vector<std::string> names;
  for (size_t i = 0; i < kPointCount; ++i) {
    const Point candidate = static_cast<Point>(i);
    if (PointName(candidate) != point) continue;
    const auto* weights = candidate == Point::kScore            ? &resolved_.score_weights
                          : candidate == Point::kPlacementScore ? &resolved_.placement_score_weights
                                                                : nullptr;
    for (const uint32_t index : resolved_.List(candidate)) {
      names.emplace_back(resolved_.plugins[index].plugin->Name());
      if (weights == nullptr) continue;
      names.back() += " " + std::to_string(weights->find(names.back())->second);
    }
  }
  return names;
}

std::string_view ProfilePlugins::QueueSortPluginName() const {
  return resolved_.plugins[resolved_.List(Point::kQueueSort).front()].plugin->Name();
}

OptionalKinds ProfilePlugins::NeededKinds() const {
  OptionalKinds kinds;
  for (const ResolvedProfile::Instance& instance : resolved_.plugins) {
    const auto* user = InterfaceOf<const OptionalKindReader>(*instance.plugin);
    if (user != nullptr) kinds.Add(user->NeededKinds());
  }
  return kinds;
}

bool ProfilePlugins::ReadsWholePods() const {
  return std::any_of(resolved_.plugins.begin(), resolved_.plugins.end(), [](const auto& instance) {
    const auto* reader = InterfaceOf<const WholeObjectReader>(*instance.plugin);
    return reader != nullptr && reader->ReadsWholePods();
  });
}

bool ProfilePlugins::ReadsWholeNodes() const {
  return std::any_of(resolved_.plugins.begin(), resolved_.plugins.end(), [](const auto& instance) {
    const auto* reader = InterfaceOf<const WholeObjectReader>(*instance.plugin);
    return reader != nullptr && reader->ReadsWholeNodes();
  });
}

const DeviceExplainer* ProfilePlugins::device_explainer() const {
  for (const auto& entry : lists_.filter) {
    if (const auto* explainer = dynamic_cast<const DeviceExplainer*>(entry.plugin)) {
      return explainer;
    }
  }
  return nullptr;
}

Result<void> ProfilePlugins::Close() {
  std::string failures;
  for (const ResolvedProfile::Instance& instance : resolved_.plugins) {
    auto* closer = InterfaceOf<Closer>(*instance.plugin);
    if (closer == nullptr) continue;
    const Result<void> closed = closer->Close();
    if (closed.ok()) continue;
    if (!failures.empty()) failures += '\n';
    failures +=
        std::string(instance.plugin->Name()) + " failed to close: " + closed.error().message;
  }
  if (failures.empty()) return {};
  return Error{std::move(failures)};
}

}  // namespace ks::framework
