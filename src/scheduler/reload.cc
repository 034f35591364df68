// SPDX-License-Identifier: Apache-2.0
// Exchange of the configuration while the scheduler runs.

#include <utility>

#include "scheduler/scheduler.h"

namespace ks::scheduler {

void Scheduler::UseExtenders() {
  ExtenderSet* const extenders = in_force_->extenders().get();
  steps_->extender_attempts.Use(extenders);
  search_.algorithm.set_extenders_choose(extenders != nullptr && extenders->Chooses());
}

Result<void> Scheduler::Reload(const config::Configuration& configuration) {
  auto made = in_force_->Make(configuration);
  if (!made.ok()) return made.error();
  if (tap_ != nullptr) {
    tap_->Note(Reconfigured{std::make_shared<const config::Configuration>(configuration)});
  }

  const WholeObjects before = in_force_->NeededWholeObjects();
  in_force_->Put(std::move(made).value());
  UseExtenders();
  // Whoever feeds the scheduler lists both kinds again when either needs more or less.
  const WholeObjects now = in_force_->NeededWholeObjects();
  cluster_.whole_pods_missing |= now.pods > before.pods;
  cluster_.whole_nodes_missing |= now.nodes > before.nodes;
  steps_->extender_attempts.set_objects_missing(cluster_.whole_objects_missing());
  steps_->cycle.ForgetProfiles();
  options_.configuration = configuration;
  search_.algorithm.set_percentage_of_nodes_to_score(configuration.percentage_of_nodes_to_score);
  search_.parallelizer.SetParallelism(configuration.parallelism);

  const std::vector<api::PodPtr> taken_up = TakeUpAndLetGo(in_force_->former_profiles());
  queue_->Reconfigure(in_force_->QueueSettings(configuration));
  for (const api::PodPtr& pod : taken_up) {
    if (context_->traces != nullptr) context_->traces->Saw(*pod);
    queue_->Add(pod);
  }
  DropRetiredProfiles();
  return {};
}

// Pods of profiles that are gone leave the queue; returns those of profiles that are new. A pod
// that is on its way to a node goes on; if that fails it comes back by itself.
std::vector<api::PodPtr> Scheduler::TakeUpAndLetGo(const Profiles& former) {
  std::vector<api::PodPtr> taken_up;
  for (const api::PodPtr& pod : cluster_.pods.List()) {
    if (!context_->IsQueued(*pod)) continue;
    const std::string name(pod->spec->scheduler_name.view());
    const bool was_ours = former.contains(name);
    const bool is_ours = in_force_->profiles().contains(name);
    cache::PodGroups* const members = pod->node_name.empty() ? cluster_.members.get() : nullptr;
    if (was_ours && !is_ours) {
      if (members != nullptr) members->RemoveMember(*pod);
      queue_->Delete(*pod);
      if (context_->traces != nullptr) context_->traces->Left(*pod, "without a profile");
    }
    const bool on_its_way =
        steps_->bindings.IsActive(pod->meta.uid) || steps_->extender_attempts.Has(pod->meta.uid);
    if (was_ours || !is_ours || on_its_way) continue;
    if (members != nullptr) members->AddMember(pod);
    taken_up.push_back(pod);
  }
  return taken_up;
}

// Profiles that Reload replaced live on until the pods that they decided are bound or given up.
void Scheduler::DropRetiredProfiles() {
  in_force_->DropRetired([this](const framework::Framework& framework) {
    return steps_->bindings.Uses(&framework) || steps_->extender_attempts.Uses(&framework);
  });
}

}  // namespace ks::scheduler
