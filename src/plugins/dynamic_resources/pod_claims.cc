// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/pod_claims.h"

#include <string>

#include "api/pod_claims.h"

namespace ks::plugins {
namespace {

// The claim that an entry names.
struct NamedClaim {
  const std::string* name = nullptr;  // null: none is needed
  bool generated = false;             // made from a template, for the pod alone
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

Result<api::ResourceClaimPtr> Find(const framework::DeviceState& devices, const api::Pod& pod,
                                   const NamedClaim& named) {
  const std::string key = pod.meta.ns.str() + '/' + *named.name;
  api::ResourceClaimPtr claim = devices.FindClaim(key);
  if (claim == nullptr) return Error{"could not find ResourceClaim \"" + key + '"'};
  if (claim->meta.deletion_timestamp) {
    return Error{"resourceclaim \"" + claim->meta.name + "\" is being deleted"};
  }
  if (!named.generated) return claim;
  const api::OwnerReference* owner = claim->meta.Controller();
  if (owner != nullptr && owner->uid == pod.meta.uid) return claim;
  return Error{"ResourceClaim " + key + " was not created for Pod " + pod.meta.Key() +
               " (Pod is not owner)"};
}

}  // namespace

Result<ClaimList> ResolveClaims(const framework::DeviceState& devices, const api::Pod& pod) {
  ClaimList claims;
  for (const api::PodResourceClaim& entry : pod.spec->resource_claims) {
    const Result<NamedClaim> named = NameOf(pod, entry);
    if (!named.ok()) return named.error();
    if (named->name == nullptr) continue;
    Result<api::ResourceClaimPtr> claim = Find(devices, pod, *named);
    if (!claim.ok()) return claim.error();
    claims.push_back(*std::move(claim));
  }
  return claims;
}

}  // namespace ks::plugins
