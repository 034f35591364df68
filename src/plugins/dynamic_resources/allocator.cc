// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/allocator.h"

#include <algorithm>
#include <utility>

#include "plugins/dynamic_resources/candidates.h"
#include "plugins/dynamic_resources/results.h"
#include "plugins/dynamic_resources/search.h"

namespace ks::plugins {
namespace {

using Verdict = NodeAllocation::Verdict;

NodeAllocation Fatal(std::string text) {
  return {.verdict = Verdict::kFatal, .text = std::move(text)};
}

NodeAllocation Solution(const AllocationPlan& plan, const NodePools& pools, const api::Node& node,
                        const std::vector<DevicePick>& picks, const AllocationHooks& hooks) {
  NodeAllocation made{.verdict = Verdict::kAllocated};
  auto next = picks.begin();
  for (uint32_t claim = 0; claim < plan.claims().size(); ++claim) {
    const auto end = std::find_if(next, picks.end(),
                                  [claim](const DevicePick& pick) { return pick.claim != claim; });
    auto allocation =
        MakeClaimAllocation(plan.claims()[claim], pools, node, {next, end}, hooks.new_share_id);
    if (!allocation.ok()) return Fatal(allocation.error().message);
    made.claims.push_back(std::move(*allocation));
    next = end;
  }
  return made;
}

}  // namespace

NodeAllocation AllocateDevices(const AllocationPlan& plan, const NodePools& pools,
                               const AllocatedState& allocated, const api::Node& node,
                               const AllocationHooks& hooks) {
  if (!pools.error.empty()) return Fatal(pools.error);
  DeviceCandidates candidates(plan, pools);
  const auto prepared = candidates.Prepare();
  if (!prepared.ok()) return Fatal(prepared.error().message);
  DeviceSearch search(plan, pools, allocated, candidates, hooks.cancelled);
  switch (search.Run()) {
    case DeviceSearch::Outcome::kFound:
      return Solution(plan, pools, node, search.picks(), hooks);
    case DeviceSearch::Outcome::kFatal:
      return Fatal(search.error());
    case DeviceSearch::Outcome::kNone:
      break;
  }
  if (pools.any_invalid) {
    return {.verdict = Verdict::kNotOnNode, .text = "invalid resource pools were encountered"};
  }
  return {};
}

}  // namespace ks::plugins
