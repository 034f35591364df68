// SPDX-License-Identifier: Apache-2.0
// Exchange of the configuration while the scheduler runs.

#include <utility>

#include "base/logging.h"
#include "scheduler/scheduler.h"

namespace ks::scheduler {

std::map<std::string, queue::ProfileHooks> Scheduler::QueueHooks() const {
  std::map<std::string, queue::ProfileHooks> hooks;
  for (const auto& [name, framework] : profiles_) {
    queue::ProfileHooks& profile = hooks.emplace(name, queue::HooksOf(*framework)).first->second;
    // The pseudo plugin that blames extenders (docs/spec/queue.md 8.3).
    if (extenders_ != nullptr) {
      profile.registrations.emplace("Extender", framework::DefaultEventRegistrations());
    }
  }
  return hooks;
}

queue::SchedulingQueue::Settings Scheduler::QueueSettings() const {
  const config::Configuration& configuration = options_.configuration;
  return {.profiles = QueueHooks(),
          .backoff_initial = std::chrono::seconds(configuration.pod_initial_backoff_seconds),
          .backoff_max = std::chrono::seconds(configuration.pod_max_backoff_seconds)};
}

// Of both faults the profiles' is reported, as upstream does.
Result<Scheduler::InForce> Scheduler::MakeInForce(const config::Configuration& configuration) {
  auto extenders = MakeExtenders(configuration);
  auto profiles = MakeProfiles(configuration, extenders.ok() ? extenders->get() : nullptr);
  if (!profiles.ok()) return profiles.error();
  if (!extenders.ok()) return extenders.error();
  return InForce{.profiles = std::move(profiles).value(),
                 .extenders = std::move(extenders).value()};
}

void Scheduler::FindNeededKinds() {
  needed_kinds_ = {};
  for (const auto& [name, framework] : profiles_)
    needed_kinds_.Add(framework->plugins().NeededKinds());
}

Result<void> Scheduler::Reload(const config::Configuration& configuration) {
  auto made = MakeInForce(configuration);
  if (!made.ok()) return made.error();
  if (tap_ != nullptr) {
    tap_->Note(Reconfigured{std::make_shared<const config::Configuration>(configuration)});
  }

  Profiles former = std::exchange(profiles_, std::move(made->profiles));
  UseExtenders(std::move(made->extenders));
  FindNeededKinds();
  cycle_->ForgetProfiles();
  options_.configuration = configuration;
  algorithm_.set_percentage_of_nodes_to_score(configuration.percentage_of_nodes_to_score);
  parallelizer_.SetParallelism(configuration.parallelism);

  const std::vector<api::PodPtr> taken_up = TakeUpAndLetGo(former);
  queue_->Reconfigure(QueueSettings());
  for (const api::PodPtr& pod : taken_up) queue_->Add(pod);
  retired_.push_back(std::move(former));
  DropRetiredProfiles();
  return {};
}

// Pods of profiles that are gone leave the queue; returns those of profiles that are new. A pod
// that is on its way to a node goes on; if that fails it comes back by itself.
std::vector<api::PodPtr> Scheduler::TakeUpAndLetGo(const Profiles& former) {
  std::vector<api::PodPtr> taken_up;
  for (const api::PodPtr& pod : pods_.List()) {
    if (!context_->IsQueued(*pod)) continue;
    const std::string name(pod->spec->scheduler_name.view());
    const bool was_ours = former.contains(name);
    const bool is_ours = profiles_.contains(name);
    if (was_ours && !is_ours) queue_->Delete(*pod);
    const bool on_its_way =
        bindings_->IsActive(pod->meta.uid) || extender_attempts_->Has(pod->meta.uid);
    if (!was_ours && is_ours && !on_its_way) taken_up.push_back(pod);
  }
  return taken_up;
}

// Profiles that Reload replaced live on until the pods that they decided are bound or given up.
void Scheduler::DropRetiredProfiles() {
  std::erase_if(retired_, [this](const Profiles& profiles) {
    for (const auto& [name, framework] : profiles) {
      if (bindings_->Uses(framework.get())) return false;
      if (extender_attempts_->Uses(framework.get())) return false;
    }
    return true;
  });
  // The profiles that asked them in preemption are gone by then.
  if (!retired_.empty()) return;
  std::erase_if(retired_extenders_, [](const std::shared_ptr<ExtenderSet>& extenders) {
    return extenders.use_count() == 1 && extenders->outstanding() == 0;
  });
}

}  // namespace ks::scheduler
