// SPDX-License-Identifier: Apache-2.0
#pragma once
// A Handle for tests of single plugins: a fake snapshot, clock and API writer. The parts that only
// a whole framework has (nominations, waiting pods, what-if runs) stop the process when asked for.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "cache/storage_stores.h"
#include "framework/handle.h"
#include "framework/metrics/volume_metrics.h"
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

// Threads: one.
class FakeHandle final : public framework::Handle {
 public:
  FakeSnapshot& fake_snapshot() { return snapshot_; }
  FakeOwnerListers& fake_owner_listers() { return owner_listers_; }
  FakeApiWriter& fake_api() { return api_; }
  FakeClock& fake_clock() { return clock_; }

  const std::string& ProfileName() const override { return profile_name_; }
  const framework::Snapshot& snapshot() const override {
    return used_snapshot_ != nullptr ? *used_snapshot_ : snapshot_;
  }
  // Instead of fake_snapshot(). Lifetime: `snapshot` outlives the handle.
  void UseSnapshot(const framework::Snapshot& snapshot) { used_snapshot_ = &snapshot; }
  const framework::OwnerListers& owner_listers() const override { return owner_listers_; }
  framework::StorageState& storage() override { return storage_; }
  cache::StorageStores& fake_storage() { return storage_; }
  const framework::DeviceClassLister& device_classes() const override { return device_classes_; }
  framework::DeviceClassTable& fake_device_classes() { return device_classes_; }
  const Clock& clock() const override { return clock_; }
  const config::FeatureGates& gates() const override { return gates_; }
  config::FeatureGates& fake_gates() { return gates_; }
  Random& random() override { return random_; }
  framework::ApiWriter& api() override { return api_; }
  framework::Nominator& nominator() override { Absent("nominator"); }
  framework::PodActivator& activator() override { Absent("activator"); }
  const framework::PodLister& pods() override { return pods_; }
  const framework::NodeLister& nodes() override { return nodes_; }
  FakeNodeLister& fake_nodes() { return nodes_; }
  FakePodLister& fake_pods() { return pods_; }
  framework::TaskInbox& tasks() override { Absent("task inbox"); }
  framework::WaitingPodAccess& waiting_pods() override { Absent("waiting pods"); }
  framework::PodsInPreBindAccess& pods_in_pre_bind() override { return pods_in_pre_bind_; }
  uint32_t NewStateSlot() override { return next_slot_++; }
  framework::VolumeMetrics* volume_metrics() const override { return &volume_metrics_; }
  metrics::Registry& metrics() { return metrics_; }

  framework::Status RunFilterPlugins(const framework::CycleState&, const api::Pod&,
                                     const framework::NodeInfo&) const override {
    Absent("RunFilterPlugins");
  }
  framework::Status RunFilterPluginsWithNominatedPods(const framework::CycleState&, const api::Pod&,
                                                      const framework::NodeInfo&) const override {
    Absent("RunFilterPluginsWithNominatedPods");
  }
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
  [[noreturn]] static void Absent(std::string_view part) {
    internal::CheckFailed(__FILE__, __LINE__, "part exists", part);
  }

  std::string profile_name_ = "default-scheduler";
  FakeSnapshot snapshot_;
  const framework::Snapshot* used_snapshot_ = nullptr;
  FakeOwnerListers owner_listers_;
  framework::DeviceClassTable device_classes_;
  FakeClock clock_;
  config::FeatureGates gates_;
  framework::PodsInPreBind pods_in_pre_bind_;
  FakePodLister pods_;
  FakeNodeLister nodes_;
  cache::StorageStores storage_;
  FakeApiWriter api_;
  metrics::Registry metrics_;
  mutable framework::VolumeMetrics volume_metrics_{metrics_};
  Random random_{1};
  uint32_t next_slot_ = 0;
};

}  // namespace ks::testing
