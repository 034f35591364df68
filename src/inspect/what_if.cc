// SPDX-License-Identifier: Apache-2.0
#include "inspect/what_if.h"

#include <utility>

namespace ks::inspect {

using framework::NodeInfo;

SnapshotWithoutPod::SnapshotWithoutPod(const framework::Snapshot& base, const api::Pod& pod)
    : base_(base),
      changed_(*base.Find(pod.node_name.str())),
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

WhatIf::WhatIf(const scheduler::SchedulerOptions& of, const View& view)
    : nominations_(view.nominator),
      parts_({.snapshot = &view.snapshot,
              .owner_listers = &view.owners,
              .storage = &view.storage,
              .devices = &view.devices,
              .device_classes = &view.devices.device_classes(),
              .pod_groups = &view.groups,
              .mutable_snapshot = view.trial,
              .clock = of.clock,
              .gates = of.gates,
              .nominator = view.trial_nominator == nullptr ? &nominations_ : view.trial_nominator,
              .pods = &view.pods,
              .nodes = &view.nodes}) {}

Result<std::unique_ptr<WhatIf>> WhatIf::Make(const scheduler::SchedulerOptions& of,
                                             const View& view, bool remember_verdicts) {
  std::unique_ptr<WhatIf> made(new WhatIf(of, view));
  auto profiles = framework::BuildProfiles(
      *of.registry, of.configuration,
      {.parts = made->parts_.parts(), .remember_verdicts = remember_verdicts});
  if (!profiles.ok()) return profiles.error();
  made->profiles_ = std::move(profiles).value();
  return made;
}

const framework::Framework* WhatIf::ProfileFor(const api::Pod& pod) const {
  const auto found = profiles_.find(pod.spec->scheduler_name.str());
  return found == profiles_.end() ? nullptr : found->second.get();
}

}  // namespace ks::inspect
