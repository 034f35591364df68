// SPDX-License-Identifier: Apache-2.0
#pragma once
// DeviceState: claims, slices and classes of devices, as plugins read them, with the versions of
// claims that this scheduler wrote and the allocations that it has decided on. Kinds that no
// enabled plugin asks for look empty (framework/optional_kinds.h).
//
// All profiles share it, so that two of them never take one device.
//
// Upstream: docs/spec/plugins-dra.md sections 2.2, 2.3, 2.4, 3.3.

#include <string>
#include <string_view>
#include <vector>

#include "api/devices.h"
#include "api/pod.h"
#include "base/result.h"
#include "framework/object_change.h"
#include "framework/ring_log.h"

namespace ks::framework {

// What a claim occupies became something else: an allocation came, went, or both.
struct AllocationChange {
  api::ClaimAllocationPtr removed;  // null: nothing was allocated
  api::ClaimAllocationPtr added;    // null: nothing is allocated
};
using AllocationLog = RingLog<AllocationChange>;

// Threads: the scheduling thread; workers read while a cycle runs.
class DeviceState {
 public:
  virtual ~DeviceState() = default;

  // The latest version: the API server's, or one that was assumed; null when unknown. `key`:
  // "namespace/name".
  virtual api::ResourceClaimPtr FindClaim(std::string_view key) const = 0;
  // The claim that was made for the extended resources of the pod: controlled by it, by name and
  // uid. Null: there is none. Of several the one with the smallest name (upstream: undefined).
  virtual api::ResourceClaimPtr FindExtendedResourceClaim(const api::Pod& pod) const = 0;
  // With the taints of the rules that concern its devices; null when unknown.
  virtual api::ResourceSlicePtr FindSlice(std::string_view name) const = 0;
  // All of them, ascending by name.
  virtual std::vector<api::ResourceSlicePtr> Slices() const = 0;
  virtual api::DeviceClassPtr FindDeviceClass(std::string_view name) const = 0;

  // Takes a version that the API server answered with in place of the latest one, until the API
  // server shows a newer one. Errors: `could not find ResourceClaim "ns/n"`,
  // `ResourceClaim "ns/n" is out of sync (stored: 8, assume: 7)`,
  // `error parsing ResourceVersion "v" for ResourceClaim "ns/n": …`.
  virtual Result<void> Assume(const api::ResourceClaimPtr& claim) = 0;

  // The allocation that is decided for the claim of this uid, but not written yet; null: none.
  virtual api::ClaimAllocationPtr PendingAllocation(std::string_view uid) const = 0;
  // Whether a claim exists before it is bound.
  enum class ClaimOrigin : uint8_t { kApi, kInMemory };
  // Decides on the allocation of `claim` (by uid), or joins those who have: one sharer more. Does
  // nothing if the latest version has that uid and is allocated. Error: `look up assumed claim
  // ns/n, UID=u: could not find ResourceClaim "ns/n"`; claims that are in memory only are not
  // looked up.
  virtual Result<void> AddPendingAllocation(const api::ResourceClaimPtr& claim,
                                            ClaimOrigin origin) = 0;
  enum class Sharers : uint8_t { kOne, kAll };
  // Takes one sharer, or all of them, back; whether nobody is left. False, too, if it was not
  // there.
  virtual bool RemovePendingAllocation(std::string_view uid, Sharers sharers) = 0;
  // The claim has its allocation at the API server: nothing is pending any more. Of a claim that
  // was in memory only and has not been shown yet, the devices stay taken until it is shown with
  // its allocation, or was deleted, or is in no list. Upstream: they are free until it is shown.
  virtual void SettlePendingAllocation(std::string_view uid) = 0;

  // The allocations of all claims, each claim once: the pending one, or else that of the latest
  // version. In no particular order.
  virtual std::vector<api::ClaimAllocationPtr> Allocations() const = 0;
  // How they changed.
  virtual const AllocationLog& allocation_changes() const = 0;
  // How claims, in their latest version, slices, with the taints of rules, and classes changed.
  virtual const ObjectLog& changes() const = 0;
};

}  // namespace ks::framework
