// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/group_post_filter.h"

#include <set>
#include <string>
#include <utility>

#include "plugins/dynamic_resources/claim_release.h"
#include "plugins/dynamic_resources/group_claims.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::Status;

// A claim that kept some member from a node, and that nobody but the group has reserved; null:
// there is none. Upstream tries them in random order.
api::ResourceClaimPtr FindUnavailable(const std::vector<TriedMember>& members,
                                      const api::PodGroup& group) {
  for (const TriedMember& member : members) {
    const std::vector<AttemptClaim>& claims = member.attempt.claims();
    for (size_t i = 0; i < claims.size(); ++i) {
      if (claims[i].extended || !member.attempt.WasUnavailable(i)) continue;
      if (IsUsedByNobodyElse(*claims[i].claim, group)) return claims[i].claim;
    }
  }
  return nullptr;
}

}  // namespace

Status FreeForGroup(framework::Handle& handle, const std::shared_ptr<PendingReleases>& releases,
                    const std::vector<TriedMember>& members,
                    const framework::PodGroupState* group) {
  Status completed(Code::kUnschedulable, {"deallocation and deletion of ResourceClaims completed"});
  std::set<std::string> freed;  // uids: members share claims
  bool left_out = false;
  for (const TriedMember& member : members) {
    const ClaimToFree what = FindClaimToFree(member.pod, member.attempt);
    if (what.claim == nullptr) {
      left_out = true;
    } else if (freed.insert(what.claim->meta.uid).second) {
      Free(handle, releases, what);
    }
  }
  if (!left_out || group == nullptr || group->scheduled() > 0) return completed;
  if (const api::ResourceClaimPtr claim = FindUnavailable(members, *group->object)) {
    if (!freed.contains(claim->meta.uid)) Free(handle, releases, {.claim = claim});
    return Status(Code::kUnschedulable, {"deallocation of PodGroup ResourceClaim completed"});
  }
  const auto reserved = FindReservedClaim(handle.devices(), *group->object);
  if (!reserved.ok()) return Status::Error(reserved.error().message);
  if (*reserved == nullptr) return completed;
  Unreserve(handle, releases, **reserved, ConsumerOf(*group->object));
  return Status(Code::kUnschedulableAndUnresolvable, {"ResourceClaim unreserved for PodGroup"});
}

}  // namespace ks::plugins
