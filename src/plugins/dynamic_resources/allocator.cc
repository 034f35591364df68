// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/allocator.h"

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

NodeAllocation Found(const AllocationPlan& plan, const NodePools& pools, DevicePicks picks) {
  std::string problem = FindUnsupportedSelector(plan, pools, picks);
  if (!problem.empty()) return Fatal(std::move(problem));
  return {.verdict = Verdict::kAllocated, .picks = std::move(picks)};
}

}  // namespace

NodeAllocation AllocateDevices(const AllocationPlan& plan, const NodePools& pools,
                               const AllocatedState& allocated,
                               const std::function<std::string()>& cancelled, size_t patience) {
  if (!pools.error.empty()) return Fatal(pools.error);
  DeviceCandidates candidates(plan, pools);
  const auto prepared = candidates.Prepare();
  if (!prepared.ok()) return Fatal(prepared.error().message);
  DeviceSearch search(plan, pools, allocated, candidates, cancelled, patience);
  switch (search.Run()) {
    case DeviceSearch::Outcome::kFound:
      return Found(plan, pools, search.TakePicks());
    case DeviceSearch::Outcome::kFatal:
      return Fatal(search.error());
    case DeviceSearch::Outcome::kNone:
    case DeviceSearch::Outcome::kTooMany:
      break;
  }
  if (pools.any_invalid) {
    return {.verdict = Verdict::kNotOnNode, .text = "invalid resource pools were encountered"};
  }
  return {};
}

}  // namespace ks::plugins
