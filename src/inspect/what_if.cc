// SPDX-License-Identifier: Apache-2.0
#include "inspect/what_if.h"

#include <utility>

namespace ks::inspect {

using framework::NodeInfo;

SnapshotWithoutPod::SnapshotWithoutPod(const framework::Snapshot& base, const api::Pod& pod)
    : base_(base),
      changed_(*base.Find(pod.node_name)),
      nodes_(base.nodes().begin(), base.nodes().end()) {
  changed_.RemovePod(pod);
  nodes_[changed_.index()] = &changed_;
  const auto copy = [this](std::span<const NodeInfo* const> from, bool still_there,
                           std::vector<const NodeInfo*>* to) {
    for (const NodeInfo* node : from) {
      const bool is_changed = node->index() == changed_.index();
      if (!is_changed) to->push_back(node);
      if (is_changed && still_there) to->push_back(&changed_);
    }
  };
  copy(base.nodes_with_affinity(), !changed_.pods_with_affinity().empty(), &affinity_);
  copy(base.nodes_with_required_anti_affinity(),
       !changed_.pods_with_required_anti_affinity().empty(), &anti_affinity_);
}

// The ways out that plugins are given: they lead nowhere. Explaining uses none of them.
class WhatIf::NoWay final : public framework::ApiWriter,
                            public framework::PodActivator,
                            public framework::TaskInbox {
 public:
  void Bind(api::PodPtr, std::string, Done) override {}
  void PatchPodStatus(api::PodPtr, api::PodStatusChange, Done) override {}
  void EvictPod(api::PodPtr, api::Condition, TimePoint, EvictionDone) override {}
  void WriteVolume(api::PersistentVolumePtr, WriteDone) override {}
  void WriteClaim(api::PersistentVolumeClaimPtr, WriteDone) override {}
  void RecordEvent(framework::PodEvent) override {}
  void Activate(const std::vector<api::PodPtr>&) override {}
  void PostTask(std::function<void()>) override {}
};

WhatIf::WhatIf(const scheduler::SchedulerOptions& of, const View& view)
    : nominations_(view.nominator), waiting_pods_(*of.clock), no_way_(std::make_unique<NoWay>()) {}

WhatIf::~WhatIf() = default;

Result<std::unique_ptr<WhatIf>> WhatIf::Make(const scheduler::SchedulerOptions& of,
                                             const View& view, bool remember_verdicts) {
  std::unique_ptr<WhatIf> made(new WhatIf(of, view));
  auto profiles = framework::BuildProfiles(*of.registry, of.configuration,
                                           {.snapshot = &view.snapshot,
                                            .owner_listers = &view.owners,
                                            .storage = &view.storage,
                                            .clock = of.clock,
                                            .random = &made->random_,
                                            .waiting_pods = &made->waiting_pods_,
                                            .pods_in_pre_bind = &made->pods_in_pre_bind_,
                                            .gates = of.gates,
                                            .metrics = nullptr,
                                            .remember_verdicts = remember_verdicts});
  if (!profiles.ok()) return profiles.error();
  made->profiles_ = std::move(profiles).value();
  for (const auto& [name, framework] : made->profiles_) {
    framework->Attach({.api = made->no_way_.get(),
                       .nominator = &made->nominations_,
                       .activator = made->no_way_.get(),
                       .pods = &view.pods,
                       .nodes = &view.nodes,
                       .tasks = made->no_way_.get(),
                       .preemption_extenders = {}});
  }
  return made;
}

const framework::Framework* WhatIf::ProfileFor(const api::Pod& pod) const {
  const auto found = profiles_.find(pod.spec->scheduler_name.str());
  return found == profiles_.end() ? nullptr : found->second.get();
}

}  // namespace ks::inspect
