// SPDX-License-Identifier: Apache-2.0
#pragma once
// PreBind of DynamicResources: writes what Reserve has decided into the claims, one after the
// other, reserves them for the pod or its group, and waits until the devices are ready.
//
//   next claim --to be created--> create ----.   (under another name while one is taken)
//       | ^  '--none left--> pod status -->  conditions --ready--> over
//       | '------ (the informer shows a created one) <-- status written
//       '--> finalizer --> status --conflict--> wait, GET --> finalizer, five times
//
// Upstream: docs/spec/plugins-dra.md sections 4.7, 4.8, 10.4, 12.

#include <memory>
#include <string>

#include "api/pod.h"
#include "base/clock.h"
#include "framework/handle.h"
#include "plugins/dynamic_resources/claim_turns.h"
#include "plugins/dynamic_resources/claims_attempt.h"
#include "plugins/dynamic_resources/pending_releases.h"

namespace ks::plugins {

struct ClaimBindingWork {
  // Lifetime: of the cycle state.
  ClaimsAttempt& attempt;
  std::shared_ptr<PendingReleases> releases;
  std::shared_ptr<ClaimTurns> turns;
  api::PodPtr pod;
  std::string node_name;
  bool has_siblings = false;   // other members of its group may bind the same claims
  bool conditions = false;     // devices may have binding conditions
  Duration binding_timeout{};  // of the wait for them
};

// Lifetime: `handle` outlives the sequence.
std::unique_ptr<framework::PreBindSequence> NewClaimBinding(framework::Handle& handle,
                                                            ClaimBindingWork work);

}  // namespace ks::plugins
