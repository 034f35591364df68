// SPDX-License-Identifier: Apache-2.0
#pragma once
// A Handle for tests of single plugins: a fake snapshot, clock and API writer. What only a whole
// framework has is empty (nominations, waiting pods) or stops the process (what-if runs).

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "cache/device_stores.h"
#include "cache/group_stores.h"
#include "cache/pod_groups.h"
#include "cache/storage_stores.h"
#include "framework/handle.h"
#include "framework/metrics/volume_metrics.h"
#include "framework/runtime/offline_parts.h"
#include "framework/runtime/pods_in_prebind.h"
#include "testing/fake_api_writer.h"
#include "testing/fake_clock.h"
#include "testing/fake_owner_listers.h"
#include "testing/fake_snapshot.h"

namespace ks::testing {

// Threads: one.
class FakePodLister final : public framework::PodLister {
 public:
  void Add(const api::PodPtr& pod) { pods_[pod->meta.Key()] = pod; }
  api::PodPtr FindPod(std::string_view key) const override {
    const auto found = pods_.find(key);
    return found == pods_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::string, api::PodPtr, std::less<>> pods_;
};

class FakeNodeLister final : public framework::NodeLister {
 public:
  void Put(const api::NodePtr& node) { nodes_[node->meta.name] = node; }
  void Remove(std::string_view name) { nodes_.erase(nodes_.find(name)); }
  api::NodePtr FindNode(std::string_view name) const override {
    const auto found = nodes_.find(name);
    return found == nodes_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::string, api::NodePtr, std::less<>> nodes_;
};

// Stops the process when asked for anything.
class NoPlugins final : public framework::PluginsRunner {
 public:
  framework::Status RunFilterPlugins(const framework::CycleState&, const api::Pod&,
                                     const framework::NodeInfo&) const override {
    Absent("RunFilterPlugins");
  }
  framework::Status RunFilterPluginsWithNominatedPods(const framework::CycleState&, const api::Pod&,
                                                      const framework::NodeInfo&) const override {
    Absent("RunFilterPluginsWithNominatedPods");
  }
  bool HasPreFilterExtensions(const framework::CycleState&) const override {
    Absent("HasPreFilterExtensions");
  }
  bool HasReserve(const framework::CycleState&) const override { Absent("HasReserve"); }
  framework::Status RunPreFilterExtensionAddPod(framework::CycleState&, const api::Pod&,
                                                const framework::PodInfo&,
                                                const framework::NodeInfo&) const override {
    Absent("RunPreFilterExtensionAddPod");
  }
  framework::Status RunPreFilterExtensionRemovePod(framework::CycleState&, const api::Pod&,
                                                   const framework::PodInfo&,
                                                   const framework::NodeInfo&) const override {
    Absent("RunPreFilterExtensionRemovePod");
  }
  framework::Status RunPreScorePlugins(framework::CycleState&, const api::Pod&,
                                       std::span<const framework::NodeInfo* const>) const override {
    Absent("RunPreScorePlugins");
  }
  framework::Status RunScorePlugins(const framework::CycleState&, const api::Pod&,
                                    std::span<const framework::NodeInfo* const>,
                                    framework::NodeScores*) const override {
    Absent("RunScorePlugins");
  }
  framework::Status RunReservePluginsReserve(framework::CycleState&, const api::PodPtr&,
                                             const std::string&) const override {
    Absent("RunReservePluginsReserve");
  }
  void RunReservePluginsUnreserve(framework::CycleState&, const api::PodPtr&,
                                  const std::string&) const override {
    Absent("RunReservePluginsUnreserve");
  }
  framework::SignOutcome SignPod(const api::Pod&) const override { Absent("SignPod"); }

 private:
  [[noreturn]] static void Absent(std::string_view what) {
    internal::CheckFailed(__FILE__, __LINE__, "plugins exist", what);
  }
};

// Runs what is posted at once, or, once told so, keeps it for later, as a scheduler does.
class FakeTasks final : public framework::TaskInbox {
 public:
  void PostTask(std::function<void()> task) override {
    if (keeps_) {
      kept_.push_back(std::move(task));
    } else {
      task();
    }
  }
  void Keep() { keeps_ = true; }
  void RunKept() {
    for (const std::function<void()>& task : std::exchange(kept_, {})) task();
  }

 private:
  bool keeps_ = false;
  std::vector<std::function<void()>> kept_;
};

// What a FakeHandle gives. `snapshot`: instead of the fake one; null: that one.
struct FakeParts {
  explicit FakeParts(const framework::Snapshot* snapshot)
      : offline({.snapshot = snapshot == nullptr ? &fake_snapshot : snapshot,
                 .owner_listers = &owner_listers,
                 .storage = &storage,
                 .devices = &devices,
                 .device_classes = &device_classes,
                 .pod_groups = &pod_groups,
                 .clock = &clock,
                 .gates = &gates,
                 .random = &random,
                 .api = &api,
                 .pods = &pods,
                 .nodes = &nodes,
                 .tasks = &tasks,
                 .pods_in_pre_bind = &pods_in_pre_bind}) {}

  FakeSnapshot fake_snapshot;
  FakeOwnerListers owner_listers;
  framework::DeviceClassTable device_classes;
  FakeClock clock;
  config::FeatureGates gates;
  framework::PodsInPreBind pods_in_pre_bind;
  FakePodLister pods;
  FakeNodeLister nodes;
  FakeTasks tasks;
  cache::StorageStores storage;
  cache::DeviceStores devices;
  cache::GroupStores group_objects;
  cache::PodGroups pod_groups{group_objects, true};
  FakeApiWriter api;
  metrics::Registry metrics;
  framework::VolumeMetrics volume_metrics{metrics};
  Random random{1};
  NoPlugins no_plugins;
  framework::OfflineParts offline;
};

// Before the handle that is made of them.
struct WithFakeParts {
  explicit WithFakeParts(const framework::Snapshot* snapshot) : fakes(snapshot) {}
  FakeParts fakes;
};

// Threads: one.
class FakeHandle final : private WithFakeParts, public framework::Handle {
 public:
  FakeHandle() : FakeHandle(nullptr) {}
  // Lifetime: `snapshot` outlives the handle.
  explicit FakeHandle(const framework::Snapshot& snapshot) : FakeHandle(&snapshot) {}

  FakeSnapshot& fake_snapshot() { return fakes.fake_snapshot; }
  FakeOwnerListers& fake_owner_listers() { return fakes.owner_listers; }
  FakeApiWriter& fake_api() { return fakes.api; }
  FakeClock& fake_clock() { return fakes.clock; }
  cache::StorageStores& fake_storage() { return fakes.storage; }
  cache::DeviceStores& fake_devices() { return fakes.devices; }
  cache::GroupStores& fake_group_objects() { return fakes.group_objects; }
  cache::PodGroups& fake_pod_groups() { return fakes.pod_groups; }
  framework::DeviceClassTable& fake_device_classes() { return fakes.device_classes; }
  config::FeatureGates& fake_gates() { return fakes.gates; }
  FakeNodeLister& fake_nodes() { return fakes.nodes; }
  FakeTasks& fake_tasks() { return fakes.tasks; }
  FakePodLister& fake_pods() { return fakes.pods; }
  metrics::Registry& metrics() { return fakes.metrics; }

 private:
  explicit FakeHandle(const framework::Snapshot* snapshot)
      : WithFakeParts(snapshot),
        Handle(fakes.offline.parts(),
               {.name = "default-scheduler", .volume_metrics = &fakes.volume_metrics},
               fakes.no_plugins) {}
};

}  // namespace ks::testing
