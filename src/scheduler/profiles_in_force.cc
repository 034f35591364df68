// SPDX-License-Identifier: Apache-2.0
#include "scheduler/profiles_in_force.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace ks::scheduler {
namespace {

Result<std::shared_ptr<ExtenderSet>> MakeExtenders(
    const config::Configuration& configuration,
    const framework::ExtenderTransportFactory& make_transport) {
  if (configuration.extenders.empty() || !make_transport) return std::shared_ptr<ExtenderSet>();
  auto transport = make_transport(configuration.extenders);
  if (!transport.ok()) return transport.error();
  return std::make_shared<ExtenderSet>(configuration.extenders, std::move(transport).value());
}

}  // namespace

// Where both have a fault, the profiles' is reported, as upstream does.
Result<ProfilesInForce::Made> ProfilesInForce::Make(
    const config::Configuration& configuration) const {
  auto extenders = MakeExtenders(configuration, parts_.extender_transport);
  framework::HandleParts handle = parts_.handle;
  if (extenders.ok() && *extenders != nullptr) {
    handle.preemption_extenders = (*extenders)->preemption_extenders();
  }
  auto profiles = framework::BuildProfiles(parts_.registry, configuration,
                                           {.parts = std::move(handle),
                                            .metrics = parts_.metrics,
                                            .watch = parts_.watch,
                                            .remember_verdicts = parts_.remember_verdicts});
  if (!profiles.ok()) return profiles.error();
  if (!extenders.ok()) return extenders.error();
  return Made{.profiles = std::move(profiles).value(), .extenders = std::move(extenders).value()};
}

void ProfilesInForce::Put(Made made) {
  KS_CHECK(!made.profiles.empty(), "a configuration without profiles");
  Made former = std::exchange(current_, std::move(made));
  if (!former.profiles.empty()) retired_.push_back(std::move(former.profiles));
  if (former.extenders != nullptr) retired_extenders_.push_back(std::move(former.extenders));
  needed_kinds_ = {};
  for (const auto& [name, framework] : profiles()) {
    needed_kinds_.Add(framework->plugins().NeededKinds());
  }
}

void ProfilesInForce::DropRetired(const std::function<bool(const framework::Framework&)>& is_used) {
  std::erase_if(retired_, [&](const framework::Profiles& profiles) {
    return std::none_of(profiles.begin(), profiles.end(),
                        [&](const auto& profile) { return is_used(*profile.second); });
  });
  if (!retired_.empty()) return;
  std::erase_if(retired_extenders_, [](const std::shared_ptr<ExtenderSet>& extenders) {
    return extenders.use_count() == 1 && extenders->outstanding() == 0;
  });
}

const framework::Profiles& ProfilesInForce::former_profiles() const {
  static const framework::Profiles none;
  return retired_.empty() ? none : retired_.back();
}

WholeObjects ProfilesInForce::NeededWholeObjects() const {
  WholeObjects needed;
  if (const ExtenderSet* extenders = current_.extenders.get()) {
    needed = {.pods = extenders->PodsNeeded(), .nodes = extenders->NodesNeeded()};
  }
  // They may be asked about pods that run, too.
  if (needed.pods == api::KeepRaw::kPendingPods &&
      parts_.handle.gates.Enabled(config::Gate::kInPlacePodVerticalScalingSchedulerPreemption)) {
    needed.pods = api::KeepRaw::kAll;
  }
  for (const auto& [name, framework] : profiles()) {
    if (framework->plugins().ReadsWholePods()) needed.pods = api::KeepRaw::kAll;
    if (framework->plugins().ReadsWholeNodes()) needed.nodes = api::KeepRaw::kAll;
  }
  return needed;
}

queue::ProfileHooksByName ProfilesInForce::QueueHooks() const {
  queue::ProfileHooksByName hooks;
  for (const auto& [name, framework] : profiles()) {
    queue::ProfileHooks& profile = hooks.emplace(name, queue::HooksOf(*framework)).first->second;
    // The pseudo plugin that blames extenders (docs/spec/queue.md 8.3).
    if (current_.extenders != nullptr) {
      profile.registrations.emplace("Extender", framework::DefaultEventRegistrations());
    }
  }
  return hooks;
}

queue::SchedulingQueue::Settings ProfilesInForce::QueueSettings(
    const config::Configuration& configuration) const {
  return {.profiles = QueueHooks(),
          .backoff_initial = std::chrono::seconds(configuration.pod_initial_backoff_seconds),
          .backoff_max = std::chrono::seconds(configuration.pod_max_backoff_seconds)};
}

}  // namespace ks::scheduler
