// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/pod_claims.h"

#include <string>
#include <utility>

#include "api/pod_claims.h"
#include "plugins/dynamic_resources/group_claims.h"

namespace ks::plugins {
namespace {

// The claim that an entry names.
struct NamedClaim {
  const std::string* name = nullptr;  // null: none is needed
  bool generated = false;             // made from a template, for the pod or its group
};

Result<NamedClaim> NameOf(const api::Pod& pod, const api::PodResourceClaim& entry) {
  if (!entry.resource_claim_name.empty()) return NamedClaim{.name = &entry.resource_claim_name};
  if (entry.resource_claim_template_name.empty()) {
    return Error{"pod \"" + pod.meta.Key() + "\", spec.resourceClaim \"" + entry.name +
                 "\": none of the supported fields are set"};
  }
  if (api::ClaimStatusOf(pod, entry) == nullptr) {
    return Error{"pod \"" + pod.meta.Key() + "\": ResourceClaim not created yet"};
  }
  return NamedClaim{.name = api::ResourceClaimName(pod, entry), .generated = true};
}

// Whether the claim was made for the pod. Else the error.
Result<void> CheckOwner(const api::Pod& pod, const api::ResourceClaim& claim, ClaimOwners owners) {
  const api::OwnerReference* owner = claim.meta.Controller();
  if (owner != nullptr && owner->uid == pod.meta.uid) return {};
  std::string why = "Pod is not owner";
  if (owners == ClaimOwners::kPodsAndGroups && pod.spec->scheduling_group) {
    const std::string& group = *pod.spec->scheduling_group;
    if (IsMadeForGroup(claim, group)) return {};
    why = "neither Pod nor PodGroup " + group + " is the owner";
  }
  return Error{"ResourceClaim " + claim.meta.Key() + " was not created for Pod " + pod.meta.Key() +
               " (" + why + ")"};
}

Result<api::ResourceClaimPtr> Find(const framework::DeviceState& devices, const api::Pod& pod,
                                   const NamedClaim& named, ClaimOwners owners) {
  const std::string key = pod.meta.ns.str() + '/' + *named.name;
  api::ResourceClaimPtr claim = devices.FindClaim(key);
  if (claim == nullptr) return Error{"could not find ResourceClaim \"" + key + '"'};
  if (claim->meta.deletion_timestamp) {
    return Error{"resourceclaim \"" + claim->meta.name + "\" is being deleted"};
  }
  if (!named.generated) return claim;
  if (Result<void> owned = CheckOwner(pod, *claim, owners); !owned.ok()) return owned.error();
  return claim;
}

}  // namespace

Result<std::vector<ClaimOfEntry>> ResolveEntries(const framework::DeviceState& devices,
                                                 const api::Pod& pod, ClaimOwners owners) {
  std::vector<ClaimOfEntry> claims;
  for (const api::PodResourceClaim& entry : pod.spec->resource_claims) {
    const Result<NamedClaim> named = NameOf(pod, entry);
    if (!named.ok()) return named.error();
    if (named->name == nullptr) continue;
    Result<api::ResourceClaimPtr> claim = Find(devices, pod, *named, owners);
    if (!claim.ok()) return claim.error();
    claims.push_back({.entry = &entry, .claim = *std::move(claim)});
  }
  return claims;
}

Result<ClaimList> ResolveClaims(const framework::DeviceState& devices, const api::Pod& pod,
                                ClaimOwners owners) {
  Result<std::vector<ClaimOfEntry>> resolved = ResolveEntries(devices, pod, owners);
  if (!resolved.ok()) return resolved.error();
  ClaimList claims;
  for (ClaimOfEntry& each : *resolved) claims.push_back(std::move(each.claim));
  return claims;
}

}  // namespace ks::plugins
