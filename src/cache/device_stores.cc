// SPDX-License-Identifier: Apache-2.0
#include "cache/device_stores.h"

#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "api/taken_devices.h"
#include "base/canary.h"
#include "base/check.h"

namespace ks::cache {

using framework::EventResource;

namespace {

// The events of a kind's objects.
template <class T>
constexpr EventResource kResourceOf{};
template <>
constexpr EventResource kResourceOf<api::ResourceClaim> = EventResource::kResourceClaim;
template <>
constexpr EventResource kResourceOf<api::ResourceSlice> = EventResource::kResourceSlice;
template <>
constexpr EventResource kResourceOf<api::DeviceClass> = EventResource::kDeviceClass;

bool Selects(const api::DeviceTaintRule::Selector& selector, const api::ResourceSlice& slice,
             const api::Device& device) {
  return selector.driver.value_or(slice.driver) == slice.driver &&
         selector.pool.value_or(slice.pool) == slice.pool &&
         selector.device.value_or(device.name) == device.name;
}

bool SameTaints(const api::ResourceSlice& a, const api::ResourceSlice& b) {
  for (size_t i = 0; i < a.devices.size(); ++i) {
    if (a.devices[i].taints != b.devices[i].taints) return false;
  }
  return true;
}

// The slice with the taints of the rules that concern its devices.
api::ResourceSlicePtr WithRules(const api::ResourceSlicePtr& slice,
                                const ObjectStore<api::DeviceTaintRule>& rules) {
  std::shared_ptr<api::ResourceSlice> tainted;
  for (const api::DeviceTaintRulePtr& rule : rules.List()) {
    if (!rule->selector) continue;
    for (size_t i = 0; i < slice->devices.size(); ++i) {
      if (!Selects(*rule->selector, *slice, slice->devices[i])) continue;
      if (tainted == nullptr) tainted = std::make_shared<api::ResourceSlice>(*slice);
      tainted->devices[i].taints.push_back(rule->taint);
    }
  }
  return tainted == nullptr ? slice : tainted;
}

// The uid of the pod that a claim for extended resources belongs to; empty: it is another claim.
std::string_view PodOfExtendedClaim(const api::ResourceClaim& claim) {
  const api::OwnerReference* owner =
      claim.for_extended_resources ? claim.meta.Controller() : nullptr;
  return owner == nullptr ? std::string_view() : owner->uid;
}

// Null: the claim is not shown, or another one of its name is.
api::ResourceClaimPtr Latest(const DeviceStores& stores, const api::ResourceClaim& claim) {
  api::ResourceClaimPtr latest = stores.FindClaim(claim.meta.Key());
  return latest != nullptr && latest->meta.uid == claim.meta.uid ? latest : nullptr;
}

}  // namespace

// What the API server's objects become here.
template <class T>
class DeviceStores::Handler final : public ObjectHandler<T> {
 public:
  using Ptr = std::shared_ptr<const T>;

  explicit Handler(DeviceStores& stores) : stores_(stores) {}

  void Add(const Ptr& object) override { stores_.Note(Ptr(), object); }
  void Update(const Ptr& old_object, const Ptr& new_object) override {
    stores_.Note(old_object, new_object);
  }
  void Delete(const Ptr& object, bool) override { stores_.Note(object, Ptr()); }

 private:
  DeviceStores& stores_;
};

template <class T>
void DeviceStores::ApplyTo(const std::vector<api::Delta<T>>& deltas) {
  Handler<T> handler(*this);
  for (const api::Delta<T>& delta : deltas) {
    std::get<ObjectStore<T>>(stores_).Apply(delta, handler);
    if (delta.type != api::Delta<T>::Type::kReplace) continue;
    synced_.Add(framework::kOptionalKindOf<T>);
    if constexpr (std::is_same_v<T, api::ResourceClaim>) NoteListOfClaims();
  }
}

void DeviceStores::Apply(const DeviceDeltas& deltas) {
  std::visit([this](const auto& of_kind) { ApplyTo(of_kind); }, deltas);
}

void DeviceStores::TellChanges(const Changed& changed) {
  for (const Event& event : std::exchange(events_, {})) {
    changed(event.resource, event.action, event.old_object, event.new_object);
  }
}

template <class T>
void DeviceStores::Tell(const std::shared_ptr<const T>& before,
                        const std::shared_ptr<const T>& after) {
  Event event{.resource = kResourceOf<T>,
              .action = framework::kActionUpdate,
              .old_object = {},
              .new_object = {}};
  if (before == nullptr) event.action = framework::kActionAdd;
  if (after == nullptr) event.action = framework::kActionDelete;
  if (before != nullptr) event.old_object = before;
  if (after != nullptr) event.new_object = after;
  events_.push_back(std::move(event));
}

void DeviceStores::Note(const api::ResourceClaimPtr& before, const api::ResourceClaimPtr& after) {
  const auto change = after == nullptr ? claims_.Delete(before->meta.Key()) : claims_.Show(after);
  if (change) NoteLatest(*change);
}

void DeviceStores::NoteLatest(const ClaimVersions::Change& change) {
  const api::ResourceClaim* before = change.before.get();
  const api::ResourceClaim* after = change.after.get();
  NotePending(change);
  if (before != nullptr && (after == nullptr || after->meta.uid != before->meta.uid)) {
    CountAllocation(before->meta.uid, nullptr);
  }
  if (after != nullptr) CountAllocation(after->meta.uid, after);
  if (before != nullptr && !PodOfExtendedClaim(*before).empty()) {
    const auto found = extended_claims_.find(PodOfExtendedClaim(*before));
    KS_CHECK(found != extended_claims_.end(), "a pod's claim for extended resources is lost");
    found->second.erase(before->meta.Key());
    if (found->second.empty()) extended_claims_.erase(found);
  }
  if (after != nullptr && !PodOfExtendedClaim(*after).empty()) {
    extended_claims_[std::string(PodOfExtendedClaim(*after))].insert(after->meta.Key());
  }
  changes_.Append({framework::kOptionalKindOf<api::ResourceClaim>,
                   (after != nullptr ? after : before)->meta.Key()});
  Tell(change.before, change.after);
}

// A pending allocation stands for the claim's own: what is counted once cannot be freed by half.
void DeviceStores::CountAllocation(const std::string& uid, const api::ResourceClaim* latest) {
  Occupied now;
  const auto found = KS_CANARY(PendingAllocationsIgnored) ? pending_.end() : pending_.find(uid);
  if (found != pending_.end()) {
    now = {.allocation = found->second.claim->allocation, .pending = true};
  } else if (latest != nullptr) {
    now.allocation = latest->allocation;
  }
  Occupied& counted = occupied_[uid];
  const bool both_shown = counted.allocation != nullptr && now.allocation != nullptr &&
                          !counted.pending && !now.pending;
  // Allocations never change, but a list may show what came after two changes.
  const bool same = counted.allocation == now.allocation ||
                    (both_shown && api::TakeSameDevices(*counted.allocation, *now.allocation));
  if (!same) allocation_changes_.Append({.removed = counted.allocation, .added = now.allocation});
  counted = now;
  if (now.allocation == nullptr) occupied_.erase(uid);
}

void DeviceStores::Note(const api::ResourceSlicePtr& before, const api::ResourceSlicePtr& after) {
  api::ResourceSlicePtr shown_before;
  if (before != nullptr) shown_before = FindSlice(before->meta.name);
  ShowSlice(shown_before,
            after == nullptr ? nullptr : WithRules(after, Stored<api::DeviceTaintRule>()));
}

void DeviceStores::ShowSlice(const api::ResourceSlicePtr& before,
                             const api::ResourceSlicePtr& after) {
  const std::string& name = (after ? after : before)->meta.name;
  if (after == nullptr) {
    const size_t erased = slices_.erase(name);
    KS_CHECK(erased == 1, "a slice goes that was never shown");
  } else {
    slices_[name] = after;
  }
  changes_.Append({framework::kOptionalKindOf<api::ResourceSlice>, name});
  Tell(before, after);
}

void DeviceStores::Note(const api::DeviceTaintRulePtr&, const api::DeviceTaintRulePtr&) {
  const size_t told = events_.size();
  for (const api::ResourceSlicePtr& slice : Stored<api::ResourceSlice>().List()) {
    const api::ResourceSlicePtr before = FindSlice(slice->meta.name);
    const api::ResourceSlicePtr after = WithRules(slice, Stored<api::DeviceTaintRule>());
    if (!SameTaints(*before, *after)) ShowSlice(before, after);
  }
  if (KS_CANARY(TaintRuleUnheard)) events_.resize(told);
}

void DeviceStores::Note(const api::DeviceClassPtr& before, const api::DeviceClassPtr& after) {
  const auto entry_of = [](const api::DeviceClass& device_class) {
    return framework::DeviceClass{.name = device_class.meta.name,
                                  .creation_timestamp = device_class.meta.creation_timestamp,
                                  .extended_resource_name = device_class.extended_resource_name};
  };
  if (after == nullptr) {
    served_by_.Remove(entry_of(*before));
  } else if (before == nullptr) {
    served_by_.Put(entry_of(*after));
  } else {
    const framework::DeviceClass former = entry_of(*before);
    served_by_.Put(entry_of(*after), &former);
  }
  changes_.Append(
      {framework::kOptionalKindOf<api::DeviceClass>, (after ? after : before)->meta.name});
  Tell(before, after);
}

bool DeviceStores::Synced(framework::OptionalKinds kinds) const {
  bool synced = true;
  api::DeviceKinds::ForEach([&]<class T>(const T*) {
    const framework::OptionalKind kind = framework::kOptionalKindOf<T>;
    if (kinds.Contains(kind) && !synced_.Contains(kind)) synced = false;
  });
  return synced;
}

api::ResourceClaimPtr DeviceStores::FindExtendedResourceClaim(const api::Pod& pod) const {
  const auto found = extended_claims_.find(pod.meta.uid);
  if (found == extended_claims_.end()) return nullptr;
  for (const std::string& key : found->second) {
    api::ResourceClaimPtr claim = FindClaim(key);
    if (claim->meta.Controller()->name == pod.meta.name) return claim;
  }
  return nullptr;
}

api::ResourceSlicePtr DeviceStores::FindSlice(std::string_view name) const {
  const auto found = slices_.find(name);
  return found == slices_.end() ? nullptr : found->second;
}

std::vector<api::ResourceSlicePtr> DeviceStores::Slices() const {
  std::vector<api::ResourceSlicePtr> list;
  list.reserve(slices_.size());
  for (const auto& [name, slice] : slices_) list.push_back(slice);
  return list;
}

api::DeviceClassPtr DeviceStores::FindDeviceClass(std::string_view name) const {
  return Stored<api::DeviceClass>().Get(name);
}

Result<void> DeviceStores::Assume(const api::ResourceClaimPtr& claim) {
  Result<ClaimVersions::Change> change = claims_.Assume(claim);
  if (!change.ok()) return change.error();
  NoteLatest(*change);
  return {};
}

api::ClaimAllocationPtr DeviceStores::PendingAllocation(std::string_view uid) const {
  const auto found = pending_.find(uid);
  return found == pending_.end() ? nullptr : found->second.claim->allocation;
}

Result<void> DeviceStores::AddPendingAllocation(const api::ResourceClaimPtr& claim,
                                                ClaimOrigin origin) {
  KS_CHECK(claim != nullptr && claim->allocation != nullptr, "no allocation is pending");
  const std::string& uid = claim->meta.uid;
  if (const auto found = pending_.find(uid); found != pending_.end()) {
    KS_CHECK(found->second.sharers > 0, "a pending allocation is nobody's");
    ++found->second.sharers;
    return {};
  }
  const std::string key = claim->meta.Key();
  const api::ResourceClaimPtr latest = FindClaim(key);
  const bool shown = latest != nullptr && latest->meta.uid == uid;
  if (origin == ClaimOrigin::kApi) {
    if (latest == nullptr) {
      return Error{"look up assumed claim " + key + ", UID=" + uid +
                   ": could not find ResourceClaim \"" + key + '"'};
    }
    if (shown && latest->allocation != nullptr) return {};
  }
  pending_[uid] = {.claim = claim, .sharers = 1, .origin = origin, .awaited = !shown};
  CountAllocation(uid, latest.get());
  return {};
}

bool DeviceStores::RemovePendingAllocation(std::string_view uid, Sharers sharers) {
  const auto found = pending_.find(uid);
  if (found == pending_.end()) return false;
  if (sharers == Sharers::kOne && found->second.sharers > 1) {
    --found->second.sharers;
    return false;
  }
  const api::ResourceClaimPtr claim = std::move(found->second.claim);
  pending_.erase(found);
  CountAllocation(claim->meta.uid, Latest(*this, *claim).get());
  return true;
}

void DeviceStores::SettlePendingAllocation(std::string_view uid) {
  const auto found = pending_.find(uid);
  if (found == pending_.end()) return;
  Pending& pending = found->second;
  const api::ResourceClaimPtr latest = Latest(*this, *pending.claim);
  const bool is_to_come = latest != nullptr ? latest->allocation == nullptr : pending.awaited;
  if (is_to_come && pending.origin == ClaimOrigin::kInMemory) {
    pending.settled = true;
  } else {
    RemovePendingAllocation(uid, Sharers::kAll);
  }
}

// Of a settled one, what the claim itself says counts from now on. Its first versions had no
// devices yet.
void DeviceStores::NotePending(const ClaimVersions::Change& change) {
  if (pending_.empty()) return;
  const auto forget = [this](const std::string& uid) {
    const auto found = pending_.find(uid);
    if (found != pending_.end() && found->second.settled) pending_.erase(found);
  };
  const bool is_same = change.before != nullptr && change.after != nullptr &&
                       change.before->meta.uid == change.after->meta.uid;
  if (change.before != nullptr && !is_same) forget(change.before->meta.uid);
  if (change.after == nullptr) return;
  if (change.after->allocation != nullptr) forget(change.after->meta.uid);
  const auto found = pending_.find(change.after->meta.uid);
  if (found != pending_.end()) found->second.awaited = false;
}

// What is in no list is gone, and will never be shown.
void DeviceStores::NoteListOfClaims() {
  std::vector<std::string> settled;
  for (auto& [uid, pending] : pending_) {
    pending.awaited = false;
    if (pending.settled) settled.push_back(uid);
  }
  for (const std::string& uid : settled) RemovePendingAllocation(uid, Sharers::kAll);
}

std::vector<api::ClaimAllocationPtr> DeviceStores::Allocations() const {
  std::vector<api::ClaimAllocationPtr> list;
  list.reserve(occupied_.size());
  for (const auto& [uid, occupied] : occupied_) list.push_back(occupied.allocation);
  return list;
}

std::vector<DeviceStores::AllocatedClaim> DeviceStores::AllocatedClaims() const {
  std::vector<AllocatedClaim> list;
  list.reserve(occupied_.size());
  for (const auto& [uid, pending] : pending_) list.push_back({pending.claim, true});
  claims_.ForEach([&](const api::ResourceClaimPtr& claim) {
    if (claim->allocation == nullptr || pending_.contains(claim->meta.uid)) return;
    list.push_back({claim, false});
  });
  return list;
}

}  // namespace ks::cache
