// SPDX-License-Identifier: Apache-2.0
#pragma once
// A scheduler that schedules groups of pods, for the reports about them.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/gates/feature_gates.h"
#include "scheduler/rig.h"
#include "testing/deltas.h"
#include "testing/no_objects.h"

namespace ks::scheduler {

class GroupRig {
 public:
  // `gates`: further ones that are on: ",TopologyAwareWorkloadScheduling=true".
  explicit GroupRig(std::vector<api::NodePtr> nodes, const std::string& gates = "",
                    bool standby = false)
      : gates_(
            config::FeatureGates::Make({.feature_gates = {"GenericWorkload=true" + gates}}, nullptr)
                .value()) {
    Rig::Options options;
    options.configuration = config::DefaultConfiguration(gates_);
    options.gates = &gates_;
    options.standby = standby;
    rig_ = std::make_unique<Rig>(std::move(options));
    testing::PostNoGroups(*rig_->scheduler);
    rig_->Sync(std::move(nodes));
    rig_->Settle();
  }

  Rig& rig() { return *rig_; }
  Scheduler& scheduler() { return *rig_->scheduler; }

  static api::NodePtr Node(const std::string& name, const std::string& cpu,
                           const std::string& rack = "") {
    auto node = testing::MakeNode().Name(name).Allocatable({{"cpu", cpu}, {"pods", "110"}});
    if (!rack.empty()) node.Label("rack", rack);
    return node.Obj();
  }
  // `topology`: key of a constraint; empty: none.
  void ShowGroup(const std::string& name, std::optional<int32_t> min_count,
                 const std::string& topology = "", const std::string& parent = "") {
    auto group = std::make_shared<api::PodGroup>();
    SetMeta(name, *group);
    group->min_count = min_count;
    if (!topology.empty()) group->spec.topology_keys = {Symbol(topology)};
    group->spec.parent_composite_pod_group_name = parent;
    Show<api::PodGroup>(group);
  }
  void ShowComposite(const std::string& name, int32_t min_groups, const std::string& topology) {
    auto group = std::make_shared<api::CompositePodGroup>();
    SetMeta(name, *group);
    group->min_group_count = min_groups;
    if (!topology.empty()) group->spec.topology_keys = {Symbol(topology)};
    Show<api::CompositePodGroup>(group);
  }
  static api::PodPtr Pod(const std::string& name, const std::string& cpu,
                         const std::string& group) {
    auto pod = testing::MakePod().Name(name).Req({{"cpu", cpu}});
    pod.spec().scheduling_group = group;
    return pod.Obj();
  }
  void Add(const std::string& name, const std::string& cpu, const std::string& group = "g") {
    rig_->UpsertPod(Pod(name, cpu, group));
  }
  void Settle() { rig_->Settle(); }

 private:
  template <class T>
  void Show(const std::shared_ptr<const T>& group) {
    rig_->scheduler->Post(GroupDeltas(std::vector<api::Delta<T>>{testing::Upsert<T>(group)}));
    rig_->Settle();
  }
  template <class T>
  void SetMeta(const std::string& name, T& group) {
    group.meta.ns = Symbol("ns");
    group.meta.name = name;
    group.meta.uid = "group-" + name;
    group.meta.resource_version = std::to_string(++version_);
  }

  const config::FeatureGates gates_;
  std::unique_ptr<Rig> rig_;
  int version_ = 0;
};

}  // namespace ks::scheduler
