// SPDX-License-Identifier: Apache-2.0
#pragma once
// Giving claims back: what Unreserve and PostFilter take away from them.
//
// Upstream: docs/spec/plugins-dra.md sections 4.4, 4.9, 10.5. There the calls are waited for; here
// they are sent, a failure is logged, and the claim's next event tells what became of it.

#include <memory>
#include <string>
#include <string_view>

#include "api/pod.h"
#include "framework/handle.h"
#include "plugins/dynamic_resources/claims_attempt.h"
#include "plugins/dynamic_resources/pending_releases.h"

namespace ks::plugins {

// Takes one reservation back. `releases` has those that are not answered yet; what is answered is
// assumed.
void Unreserve(framework::Handle& handle, const std::shared_ptr<PendingReleases>& releases,
               const api::ResourceClaim& claim, const api::ClaimConsumer& consumer);
// Takes back what Reserve decided, and the pod's reservations; that of its group stays. Where a
// write failed that may have been done, the devices are free once the API server has been asked.
// Idempotent.
void ReleaseClaims(framework::Handle& handle, const std::shared_ptr<PendingReleases>& releases,
                   const api::PodPtr& pod, ClaimsAttempt& attempt);

// A claim that keeps the pod from nodes, and that nobody else uses.
struct ClaimToFree {
  api::ResourceClaimPtr claim;  // null: there is none
  bool is_deleted = false;      // the whole claim; else its allocation

  // The reason that PostFilter gives. Requires: claim != null.
  std::string_view Reason() const;
};
ClaimToFree FindClaimToFree(const api::Pod& pod, const ClaimsAttempt& attempt);
// Nothing is sent for a claim that has nothing; of others the reservations are in `releases` until
// that is answered. Requires: claim != null.
void Free(framework::Handle& handle, const std::shared_ptr<PendingReleases>& releases,
          const ClaimToFree& what);

}  // namespace ks::plugins
