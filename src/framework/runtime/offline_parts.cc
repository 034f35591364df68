// SPDX-License-Identifier: Apache-2.0
#include "framework/runtime/offline_parts.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/runtime/pods_in_prebind.h"
#include "framework/runtime/waiting_pods.h"

namespace ks::framework {
namespace {

class EmptySnapshot final : public Snapshot {
 public:
  std::span<const NodeInfo* const> nodes() const override { return {}; }
  std::span<const NodeInfo* const> nodes_with_affinity() const override { return {}; }
  std::span<const NodeInfo* const> nodes_with_required_anti_affinity() const override { return {}; }
  const NodeInfo* Find(std::string_view) const override { return nullptr; }
  size_t slots() const override { return 0; }
  std::span<const uint32_t> node_slots() const override { return {}; }
  const NodeInfo* AtSlot(uint32_t) const override { return nullptr; }
  const ChangeLog& changes() const override { return changes_; }

 private:
  const ChangeLog changes_{1};
};

class NoOwners final : public OwnerListers {
 public:
  std::span<const api::ServicePtr> Services(const Symbol&) const override { return {}; }
  const api::ReplicationController* FindReplicationController(const Symbol&,
                                                              std::string_view) const override {
    return nullptr;
  }
  const api::ReplicaSet* FindReplicaSet(const Symbol&, std::string_view) const override {
    return nullptr;
  }
  const api::StatefulSet* FindStatefulSet(const Symbol&, std::string_view) const override {
    return nullptr;
  }
  const api::Namespace* FindNamespace(const Symbol&) const override { return nullptr; }
  std::vector<api::NamespacePtr> Namespaces() const override { return {}; }
  std::span<const api::PodDisruptionBudgetPtr> PodDisruptionBudgets(const Symbol&) const override {
    return {};
  }
  uint64_t version() const override { return 0; }
};

class EmptyStorage final : public StorageState {
 public:
  api::PersistentVolumePtr FindVolume(std::string_view) const override { return nullptr; }
  api::PersistentVolumeClaimPtr FindClaim(std::string_view) const override { return nullptr; }
  api::StorageClassPtr FindStorageClass(std::string_view) const override { return nullptr; }
  api::CsiNodePtr FindCsiNode(std::string_view) const override { return nullptr; }
  api::CsiDriverPtr FindCsiDriver(std::string_view) const override { return nullptr; }
  std::span<const api::CsiStorageCapacityPtr> CapacitiesOf(std::string_view) const override {
    return {};
  }
  std::span<const api::VolumeAttachmentPtr> AttachmentsOf(std::string_view) const override {
    return {};
  }
  api::PersistentVolumePtr CurrentVolume(std::string_view) const override { return nullptr; }
  api::PersistentVolumeClaimPtr CurrentClaim(std::string_view) const override { return nullptr; }
  std::vector<api::PersistentVolumePtr> CurrentVolumesOf(const Symbol&) const override {
    return {};
  }
  Result<void> Assume(const api::PersistentVolumePtr& volume) override {
    return Error{"persistentvolumes \"" + volume->meta.name + "\" not found"};
  }
  Result<void> Assume(const api::PersistentVolumeClaimPtr& claim) override {
    return Error{"persistentvolumeclaims \"" + claim->meta.Key() + "\" not found"};
  }
  void Restore(const api::PersistentVolume&) override {}
  void Restore(const api::PersistentVolumeClaim&) override {}
  const ObjectLog& changes() const override { return changes_; }
  const VolumeLog& current_volume_changes() const override { return volume_changes_; }

 private:
  const ObjectLog changes_{1};
  const VolumeLog volume_changes_{1};
};

class EmptyDevices final : public DeviceState {
 public:
  api::ResourceClaimPtr FindClaim(std::string_view) const override { return nullptr; }
  api::ResourceClaimPtr FindExtendedResourceClaim(const api::Pod&) const override {
    return nullptr;
  }
  api::ResourceSlicePtr FindSlice(std::string_view) const override { return nullptr; }
  std::vector<api::ResourceSlicePtr> Slices() const override { return {}; }
  api::DeviceClassPtr FindDeviceClass(std::string_view) const override { return nullptr; }
  Result<void> Assume(const api::ResourceClaimPtr& claim) override {
    return Error{"could not find ResourceClaim \"" + claim->meta.Key() + '"'};
  }
  api::ClaimAllocationPtr PendingAllocation(std::string_view) const override { return nullptr; }
  Result<void> AddPendingAllocation(const api::ResourceClaimPtr&, ClaimOrigin) override {
    return {};
  }
  bool RemovePendingAllocation(std::string_view, Sharers) override { return false; }
  void SettlePendingAllocation(std::string_view) override {}
  std::vector<api::ClaimAllocationPtr> Allocations() const override { return {}; }
  const AllocationLog& allocation_changes() const override { return allocation_changes_; }
  const ObjectLog& changes() const override { return changes_; }

 private:
  const AllocationLog allocation_changes_{1};
  const ObjectLog changes_{1};
};

class NoNominations final : public Nominator {
 public:
  std::span<const PodInfoPtr> NominatedPodsForNode(std::string_view) const override { return {}; }
  bool HasNominatedPods() const override { return false; }
  void ForEachNominatedNode(const std::function<void(std::string_view)>&) const override {}
  std::string_view NodeOf(std::string_view) const override { return {}; }
  const NominationLog& changes() const override { return changes_; }
  void AddNominatedPod(const api::PodPtr&, const std::optional<NominatingInfo>&) override {}
  void DeleteNominatedPodIfExists(const api::Pod&) override {}

 private:
  const NominationLog changes_{1};
};

class NoObjects final : public PodLister, public NodeLister {
 public:
  api::PodPtr FindPod(std::string_view) const override { return nullptr; }
  api::NodePtr FindNode(std::string_view) const override { return nullptr; }
};

// What plugins say to the world is not heard, and nobody answers.
class NoWay final : public ApiWriter, public PodActivator, public TaskInbox {
 public:
  void Bind(api::PodPtr, std::string, Done) override {}
  void PatchPodStatus(api::PodPtr, api::PodStatusChange, Done) override {}
  void PatchPodGroupStatus(api::PodGroupPtr, api::Condition, Done) override {}
  void EvictPod(api::PodPtr, api::Condition, TimePoint, EvictionDone) override {}
  void WriteVolume(api::PersistentVolumePtr, WriteDone) override {}
  void WriteClaim(api::PersistentVolumeClaimPtr, WriteDone) override {}
  void SendClaimRequest(api::ClaimRequest, ClaimDone) override {}
  void RecordEvent(PodEvent) override {}
  void Activate(const std::vector<api::PodPtr>&) override {}
  void ActivateGroup(const PodGroupKey&) override {}
  void PostTask(std::function<void()>) override {}
  bool attended() const override { return false; }
};

template <class T>
T& Or(T* given, T& otherwise) {
  return given == nullptr ? otherwise : *given;
}

}  // namespace

struct OfflineParts::Empty {
  explicit Empty(const Clock& clock) : waiting_pods(clock) {}

  EmptySnapshot snapshot;
  NoOwners owner_listers;
  EmptyStorage storage;
  EmptyDevices devices;
  config::FeatureGates gates;
  Random random{0};
  NoNominations nominator;
  NoObjects objects;
  NoWay no_way;
  WaitingPods waiting_pods;
  PodsInPreBind pods_in_pre_bind;
};

OfflineParts::OfflineParts(const Given& given)
    : empty_(std::make_unique<Empty>(given.clock == nullptr ? RealClock() : *given.clock)),
      given_(given) {}

OfflineParts::~OfflineParts() = default;

HandleParts OfflineParts::parts() const {
  return {.snapshot = Or<const Snapshot>(given_.snapshot, empty_->snapshot),
          .owner_listers = Or<const OwnerListers>(given_.owner_listers, empty_->owner_listers),
          .storage = Or<StorageState>(given_.storage, empty_->storage),
          .devices = Or<DeviceState>(given_.devices, empty_->devices),
          .device_classes = Or(given_.device_classes, NoDeviceClasses()),
          .pod_groups = Or(given_.pod_groups, NoPodGroupStates()),
          .mutable_snapshot = given_.mutable_snapshot,
          .clock = Or(given_.clock, RealClock()),
          .gates = Or<const config::FeatureGates>(given_.gates, empty_->gates),
          .random = Or(given_.random, empty_->random),
          .api = Or<ApiWriter>(given_.api, empty_->no_way),
          .nominator = Or<Nominator>(given_.nominator, empty_->nominator),
          .activator = Or<PodActivator>(given_.activator, empty_->no_way),
          .pods = Or<const PodLister>(given_.pods, empty_->objects),
          .nodes = Or<const NodeLister>(given_.nodes, empty_->objects),
          .tasks = Or<TaskInbox>(given_.tasks, empty_->no_way),
          .waiting_pods = Or<WaitingPodAccess>(given_.waiting_pods, empty_->waiting_pods),
          .pods_in_pre_bind =
              Or<PodsInPreBindAccess>(given_.pods_in_pre_bind, empty_->pods_in_pre_bind)};
}

}  // namespace ks::framework
