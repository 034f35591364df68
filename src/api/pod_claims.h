// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which ResourceClaims a pod names.
//
// Upstream: docs/spec/plugins-dra.md section 2.1.

#include <algorithm>
#include <string>

#include "api/pod.h"

namespace ks::api {

// What the pod's status says of an entry of spec.resourceClaims with a template; null: nothing yet.
inline const PodResourceClaimStatus* ClaimStatusOf(const Pod& pod, const PodResourceClaim& entry) {
  const auto& statuses = pod.status.claims->resource_claims;
  const auto found = std::find_if(
      statuses.begin(), statuses.end(),
      [&entry](const PodResourceClaimStatus& status) { return status.name == entry.name; });
  return found == statuses.end() ? nullptr : &*found;
}

// The claim's name, as far as it is known; null: it is not, or no claim is needed.
inline const std::string* ResourceClaimName(const Pod& pod, const PodResourceClaim& entry) {
  if (!entry.resource_claim_name.empty()) return &entry.resource_claim_name;
  if (entry.resource_claim_template_name.empty()) return nullptr;
  const PodResourceClaimStatus* status = ClaimStatusOf(pod, entry);
  if (status == nullptr || !status->resource_claim_name) return nullptr;
  return &*status->resource_claim_name;
}

}  // namespace ks::api
