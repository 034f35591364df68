// SPDX-License-Identifier: Apache-2.0
#pragma once
// DeviceStores: the last known ResourceClaims, ResourceSlices, DeviceClasses and DeviceTaintRules,
// the versions of claims that were assumed, and the allocations that are decided but not written
// yet. Empty and free of cost while nobody watches them.
//
// Upstream: docs/spec/plugins-dra.md sections 2.2, 2.3, 2.4, 3.3, 3.4.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "api/delta.h"
#include "api/kinds.h"
#include "base/string_map.h"
#include "cache/claim_versions.h"
#include "cache/object_store.h"
#include "framework/device_classes.h"
#include "framework/device_state.h"
#include "framework/events.h"

namespace ks::cache {

// One batch of one kind, as its reflector delivers it.
using DeviceDeltas = api::DeviceKinds::Into<api::DeltasOfOne>;

// Threads: the scheduling thread; workers read while a cycle runs. A copy is independent.
class DeviceStores final : public framework::DeviceState {
 public:
  // Told of each change, in order: of claims in their latest version, of slices with the taints of
  // rules, of classes. `action`: Add, Update or Delete.
  using Changed = std::function<void(framework::EventResource resource, uint32_t action,
                                     const framework::EventObject& old_object,
                                     const framework::EventObject& new_object)>;

  void Apply(const DeviceDeltas& deltas);
  // Hands over what has changed since the last call, by Apply, Assume or Restore: later, because
  // the last two are called from inside an attempt.
  void TellChanges(const Changed& changed);

  // Whether each of these kinds delivered its first full state. Kinds that are not kept here count
  // as delivered.
  bool Synced(framework::OptionalKinds kinds) const;

  const framework::DeviceClassLister& device_classes() const { return served_by_; }

  api::ResourceClaimPtr FindClaim(std::string_view key) const override { return claims_.Find(key); }
  api::ResourceClaimPtr FindExtendedResourceClaim(const api::Pod& pod) const override;
  api::ResourceSlicePtr FindSlice(std::string_view name) const override;
  std::vector<api::ResourceSlicePtr> Slices() const override;
  api::DeviceClassPtr FindDeviceClass(std::string_view name) const override;

  Result<void> Assume(const api::ResourceClaimPtr& claim) override;

  api::ClaimAllocationPtr PendingAllocation(std::string_view uid) const override;
  Result<void> AddPendingAllocation(const api::ResourceClaimPtr& claim,
                                    ClaimOrigin origin) override;
  bool RemovePendingAllocation(std::string_view uid, Sharers sharers) override;
  void SettlePendingAllocation(std::string_view uid) override;

  std::vector<api::ClaimAllocationPtr> Allocations() const override;
  struct AllocatedClaim {
    api::ResourceClaimPtr claim;  // with the allocation
    bool pending = false;         // it is decided, but not written yet
  };
  // Whose allocations those are. In no particular order.
  std::vector<AllocatedClaim> AllocatedClaims() const;
  const framework::AllocationLog& allocation_changes() const override {
    return allocation_changes_;
  }
  const framework::ObjectLog& changes() const override { return changes_; }

 private:
  static constexpr size_t kLogCapacity = size_t{1} << 12;

  template <class T>
  class Handler;
  template <class... T>
  using Stores = std::tuple<ObjectStore<T>...>;

  struct Event {
    framework::EventResource resource;
    uint32_t action;
    framework::EventObject old_object;
    framework::EventObject new_object;
  };
  struct Pending {
    api::ResourceClaimPtr claim;  // with the allocation
    int sharers = 0;
    ClaimOrigin origin = ClaimOrigin::kApi;
    bool awaited = true;   // the claim was not shown since, nor a list that it is not in
    bool settled = false;  // the claim has the allocation, and was not shown so
  };
  // What a claim occupies.
  struct Occupied {
    api::ClaimAllocationPtr allocation;
    bool pending = false;
  };

  template <class T>
  const ObjectStore<T>& Stored() const {
    return std::get<ObjectStore<T>>(stores_);
  }
  template <class T>
  void ApplyTo(const std::vector<api::Delta<T>>& deltas);
  template <class T>
  void Tell(const std::shared_ptr<const T>& before, const std::shared_ptr<const T>& after);

  // After the stores have changed; null: there was none, or is none any more.
  void Note(const api::ResourceClaimPtr& before, const api::ResourceClaimPtr& after);
  void Note(const api::ResourceSlicePtr& before, const api::ResourceSlicePtr& after);
  void Note(const api::DeviceClassPtr& before, const api::DeviceClassPtr& after);
  void Note(const api::DeviceTaintRulePtr& before, const api::DeviceTaintRulePtr& after);
  void NoteLatest(const ClaimVersions::Change& change);
  void CountAllocation(const std::string& uid, const api::ResourceClaim* latest);
  void NotePending(const ClaimVersions::Change& change);
  void NoteListOfClaims();
  void ShowSlice(const api::ResourceSlicePtr& before, const api::ResourceSlicePtr& after);

  api::DeviceKinds::Into<Stores> stores_;
  ClaimVersions claims_;
  // Keys of claims for extended resources by the uid of the pod that controls them.
  std::map<std::string, std::set<std::string>, std::less<>> extended_claims_;
  std::map<std::string, api::ResourceSlicePtr, std::less<>> slices_;  // with the taints of rules
  framework::DeviceClassTable served_by_;
  StringMap<Pending> pending_;    // by uid
  StringMap<Occupied> occupied_;  // by uid
  std::vector<Event> events_;
  framework::AllocationLog allocation_changes_{kLogCapacity};
  framework::ObjectLog changes_{kLogCapacity};
  framework::OptionalKinds synced_;
};

}  // namespace ks::cache
