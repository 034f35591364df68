// SPDX-License-Identifier: Apache-2.0
#pragma once
// Answers "what if" with a scheduler's own state and code, and leaves no trace: plugins, random
// source and caches are made for the question and thrown away with it, nothing is measured, written
// or nominated.
//
// Upstream: none; docs/spec/explain.md for what must be the production code.

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "framework/runtime/offline_parts.h"
#include "framework/runtime/profiles.h"
#include "framework/snapshot.h"
#include "scheduler/scheduler.h"

namespace ks::inspect {

// A snapshot with one pod taken off its node; its own log of changes is empty.
// Threads: the scheduling thread. Lifetime: the base outlives it and is not refreshed meanwhile.
class SnapshotWithoutPod final : public framework::Snapshot {
 public:
  // Requires: the pod's node is listed in `base`.
  SnapshotWithoutPod(const framework::Snapshot& base, const api::Pod& pod);

  std::span<const framework::NodeInfo* const> nodes() const override { return nodes_; }
  std::span<const framework::NodeInfo* const> nodes_with_affinity() const override {
    return affinity_;
  }
  std::span<const framework::NodeInfo* const> nodes_with_required_anti_affinity() const override {
    return anti_affinity_;
  }
  const framework::NodeInfo* Find(std::string_view name) const override {
    return name == changed_.name() ? &changed_ : base_.Find(name);
  }
  size_t slots() const override { return base_.slots(); }
  std::span<const uint32_t> node_slots() const override { return base_.node_slots(); }
  const framework::NodeInfo* AtSlot(uint32_t slot) const override {
    return slot == changed_.slot() ? &changed_ : base_.AtSlot(slot);
  }
  const framework::ChangeLog& changes() const override { return changes_; }

 private:
  const framework::Snapshot& base_;
  framework::NodeInfo changed_;
  std::vector<const framework::NodeInfo*> nodes_;
  std::vector<const framework::NodeInfo*> affinity_;
  std::vector<const framework::NodeInfo*> anti_affinity_;
  const framework::ChangeLog changes_{1};
};

// Reads somebody's nominations and takes none. Lifetime: the other one outlives it.
class NominationsOf final : public framework::Nominator {
 public:
  explicit NominationsOf(const framework::Nominator& other) : other_(other) {}

  std::span<const framework::PodInfoPtr> NominatedPodsForNode(
      std::string_view node_name) const override {
    return other_.NominatedPodsForNode(node_name);
  }
  bool HasNominatedPods() const override { return other_.HasNominatedPods(); }
  void ForEachNominatedNode(
      const std::function<void(std::string_view node_name)>& visit) const override {
    other_.ForEachNominatedNode(visit);
  }
  std::string_view NodeOf(std::string_view uid) const override { return other_.NodeOf(uid); }
  const framework::NominationLog& changes() const override { return other_.changes(); }
  void AddNominatedPod(const api::PodPtr&,
                       const std::optional<framework::NominatingInfo>&) override {}
  void DeleteNominatedPodIfExists(const api::Pod&) override {}

 private:
  const framework::Nominator& other_;
};

// The profiles of a configuration, for one question over one state.
// Threads: one at a time; the scheduling thread while the state is a scheduler's. Lifetime: what
// the view points to, registry, gates and clock outlive it.
class WhatIf {
 public:
  struct View {
    const framework::Snapshot& snapshot;
    const framework::OwnerListers& owners;
    framework::StorageState& storage;  // nothing is assumed unless the asker runs Reserve
    cache::DeviceStores& devices;      // the same
    const framework::PodGroupStates& groups;
    const framework::Nominator& nominator;
    const framework::PodLister& pods;
    const framework::NodeLister& nodes;
    // The asker's own snapshot and nominations, which preemption for a group changes and restores.
    // Null: it is not asked.
    framework::MutableSnapshot* trial = nullptr;
    framework::Nominator* trial_nominator = nullptr;
  };
  // `of`: registry, gates, clock and configuration are taken from it. `remember_verdicts` pays when
  // many pods of one template are asked about. Error: as framework::BuildProfiles.
  static Result<std::unique_ptr<WhatIf>> Make(const scheduler::SchedulerOptions& of,
                                              const View& view, bool remember_verdicts = false);
  // Null when no profile has the pod's scheduler name.
  const framework::Framework* ProfileFor(const api::Pod& pod) const;

 private:
  WhatIf(const scheduler::SchedulerOptions& of, const View& view);

  NominationsOf nominations_;
  const framework::OfflineParts parts_;
  framework::Profiles profiles_;
};

}  // namespace ks::inspect
