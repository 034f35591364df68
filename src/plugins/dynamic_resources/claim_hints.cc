// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/claim_hints.h"

#include <algorithm>

#include "plugins/kit/hinting.h"

namespace ks::plugins {
namespace {

using framework::DeviceState;
using framework::EventResource;
using framework::HintScope;
using framework::QueueingHint;

bool SameStatus(const api::ResourceClaim& a, const api::ResourceClaim& b) {
  return a.status_fingerprint == b.status_fingerprint;
}

framework::QueueingHintFn OnClaim(const DeviceState& devices, ClaimOwners owners) {
  using Claim = api::ResourceClaim;
  return HintOn<Claim>([&devices, owners](const api::Pod& pod, const Claim* before,
                                          const Claim* after) {
    if (after == nullptr) return QueueIf(before->allocation != nullptr);
    const bool freed =
        before != nullptr && before->allocation != nullptr && after->allocation == nullptr;
    const Result<ClaimList> claims = ResolveClaims(devices, pod, owners);
    if (!claims.ok()) return QueueingHint::kSkip;
    if (freed) return QueueingHint::kQueue;
    const bool used = std::any_of(
        claims->begin(), claims->end(),
        [after](const api::ResourceClaimPtr& claim) { return claim->meta.uid == after->meta.uid; });
    return QueueIf(used && (before == nullptr || !SameStatus(*before, *after)));
  });
}

framework::QueueingHintFn OnGeneratedClaim(const DeviceState& devices, ClaimOwners owners) {
  return HintOn<api::Pod>(
      [&devices, owners](const api::Pod& pod, const api::Pod*, const api::Pod* after) {
        return QueueIf(ResolveClaims(devices, after != nullptr ? *after : pod, owners).ok());
      });
}

}  // namespace

std::vector<framework::EventRegistration> DynamicResourcesEvents(const DeviceState& devices,
                                                                 ClaimOwners owners) {
  constexpr uint32_t kAddOrUpdate = framework::kActionAdd | framework::kActionUpdate;
  constexpr uint32_t kNodeActions = framework::kActionAdd | framework::kActionUpdateNodeLabel |
                                    framework::kActionUpdateNodeAllocatable;
  return {
      {{EventResource::kNode, kNodeActions, {}}, {}, HintScope::kSpec},
      {{EventResource::kResourceClaim, kAddOrUpdate | framework::kActionDelete, {}},
       OnClaim(devices, owners),
       HintScope::kClaims},
      {{EventResource::kTargetPod, framework::kActionUpdatePodGeneratedResourceClaim, {}},
       OnGeneratedClaim(devices, owners),
       HintScope::kPod},
      {{EventResource::kDeviceClass, kAddOrUpdate, {}}, {}, HintScope::kSpec},
      {{EventResource::kResourceSlice, kAddOrUpdate, {}}, {}, HintScope::kSpec},
  };
}

}  // namespace ks::plugins
