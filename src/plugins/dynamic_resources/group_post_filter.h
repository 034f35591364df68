// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pod-group PostFilter of DynamicResources: gives claims back that keep a group from its nodes.
//
// Upstream: docs/spec/plugins-dra.md section 12.

#include <memory>
#include <vector>

#include "api/pod.h"
#include "framework/handle.h"
#include "framework/pod_group_state.h"
#include "framework/status.h"
#include "plugins/dynamic_resources/claims_attempt.h"
#include "plugins/dynamic_resources/pending_releases.h"

namespace ks::plugins {

struct TriedMember {
  const api::Pod& pod;
  const ClaimsAttempt& attempt;
};

// A claim of each member that has one which can be freed. `group`, unless null: claims of the group
// as well, if that leaves a member out and no member is on a node. U, UU or Error. Requests are
// sent and not waited for.
framework::Status FreeForGroup(framework::Handle& handle,
                               const std::shared_ptr<PendingReleases>& releases,
                               const std::vector<TriedMember>& members,
                               const framework::PodGroupState* group);

}  // namespace ks::plugins
