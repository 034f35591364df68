// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/results.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace ks::plugins {
namespace {

constexpr std::string_view kFromClass = "FromClass";
constexpr std::string_view kFromClaim = "FromClaim";

api::DeviceResult MakeResult(const AllocationPlan& plan, const DevicePick& pick,
                             const NodePools& pools,
                             const std::function<std::string()>& new_share_id) {
  const AlternativePlan& alternative = plan.Alternative(pick.alternative);
  const PoolDevice& one = pools.devices[pick.device];
  const Pool& pool = pools.pools[one.pool];
  api::DeviceResult result{.request = alternative.request_name,
                           .driver = pool.driver,
                           .pool = pool.name,
                           .device = one.device->name,
                           .admin_access = alternative.admin};
  result.tolerations = alternative.spec->tolerations;
  result.binding_conditions = one.device->binding_conditions;
  result.binding_failure_conditions = one.device->binding_failure_conditions;
  if (plan.features().optional_node_operations) {
    result.skip_node_operations = pools.slices[one.slice]->slice->skip_node_operations;
  }
  if (pick.amounts == nullptr) return result;
  result.share_id = new_share_id();
  for (size_t i = 0; i < one.device->capacity.size(); ++i) {
    result.consumed_capacity.push_back(
        {.name = one.device->capacity[i].name, .value = pick.amounts->amounts[i]});
  }
  return result;
}

// The chosen alternative of each request, in order.
std::vector<const AlternativePlan*> Chosen(const ClaimPlan& claim,
                                           std::span<const DevicePick> picks) {
  std::vector<const AlternativePlan*> chosen;
  for (const RequestPlan& request : claim.requests) {
    for (const AlternativePlan& alternative : request.alternatives) {
      const bool picked = std::any_of(picks.begin(), picks.end(), [&](const DevicePick& pick) {
        return pick.alternative == alternative.index;
      });
      if (picked) chosen.push_back(&alternative);
    }
  }
  return chosen;
}

bool Names(const std::vector<std::string>& requests, const std::string& name) {
  return std::find(requests.begin(), requests.end(), name) != requests.end();
}

// "r", also of "r/sub".
std::string MainName(const std::string& request_name) {
  return request_name.substr(0, request_name.find('/'));
}

bool Concerns(const std::vector<std::string>& requests, const AlternativePlan& chosen) {
  return Names(requests, chosen.request_name) || Names(requests, MainName(chosen.request_name));
}

std::vector<api::DeviceConfig> MakeConfig(const ClaimPlan& claim,
                                          const std::vector<const AlternativePlan*>& chosen) {
  std::vector<api::DeviceConfig> made;
  std::vector<std::pair<const api::DeviceClass*, std::pair<size_t, size_t>>> classes;
  for (const AlternativePlan* alternative : chosen) {
    const api::DeviceClass* device_class = alternative->device_class.get();
    const auto listed = std::find_if(classes.begin(), classes.end(),
                                     [&](const auto& one) { return one.first == device_class; });
    if (listed != classes.end()) {
      for (size_t i = listed->second.first; i < listed->second.second; ++i) {
        made[i].requests.push_back(alternative->request_name);
      }
      continue;
    }
    const size_t begin = made.size();
    for (const api::DeviceConfig& config : device_class->config) {
      made.push_back({.source = std::string(kFromClass),
                      .requests = {alternative->request_name},
                      .opaque = config.opaque});
    }
    classes.push_back({device_class, {begin, made.size()}});
  }
  for (const api::DeviceConfig& config : claim.claim->config) {
    const bool concerns =
        config.requests.empty() || std::any_of(chosen.begin(), chosen.end(), [&](const auto* one) {
          return Concerns(config.requests, *one);
        });
    if (!concerns) continue;
    made.push_back(
        {.source = std::string(kFromClaim), .requests = config.requests, .opaque = config.opaque});
  }
  for (api::DeviceConfig& config : made) {
    const bool all = std::all_of(chosen.begin(), chosen.end(),
                                 [&](const auto* one) { return Concerns(config.requests, *one); });
    if (all) config.requests.clear();
  }
  return made;
}

bool SameRequirement(const api::SelectorRequirement& a, const api::SelectorRequirement& b) {
  return a.key == b.key && a.op == b.op &&
         std::set<std::string>(a.values.begin(), a.values.end()) ==
             std::set<std::string>(b.values.begin(), b.values.end());
}

void Merge(const std::vector<api::SelectorRequirement>& from,
           std::vector<api::SelectorRequirement>& into) {
  for (const api::SelectorRequirement& one : from) {
    const bool known = std::any_of(into.begin(), into.end(), [&one](const auto& other) {
      return SameRequirement(one, other);
    });
    if (!known) into.push_back(one);
  }
}

api::DeviceNodeSelectorPtr Compiled(api::NodeSelectorTerm term) {
  auto selector = std::make_shared<api::DeviceNodeSelector>();
  selector->spec.terms.push_back(std::move(term));
  selector->compiled = api::NodeSelector::Compile(selector->spec);
  return selector;
}

// Which nodes the device is for: the slice's word, or its own.
const api::DeviceNodes& NodesOf(const PoolDevice& one, const api::ResourceSlice& slice) {
  return slice.per_device_node_selection.value_or(false) ? one.device->nodes : slice.nodes;
}

// The slices' own selectors have one term each.
api::DeviceNodeSelectorPtr MakeNodeSelector(const NodePools& pools, std::string_view node_name,
                                            std::span<const DevicePick> picks) {
  api::NodeSelectorTerm merged;
  for (const DevicePick& pick : picks) {
    const PoolDevice& one = pools.devices[pick.device];
    const api::DeviceNodes& nodes = NodesOf(one, *pools.slices[one.slice]->slice);
    if (!nodes.node_name.empty() || one.device->binds_to_node) {
      api::NodeSelectorTerm named;
      named.match_fields.push_back(
          {.key = "metadata.name", .op = "In", .values = {std::string(node_name)}});
      return Compiled(std::move(named));
    }
    if (nodes.selector == nullptr) continue;
    const api::NodeSelectorTerm& term = nodes.selector->spec.terms.front();
    Merge(term.match_expressions, merged.match_expressions);
    Merge(term.match_fields, merged.match_fields);
  }
  return merged.empty() ? nullptr : Compiled(std::move(merged));
}

}  // namespace

std::string FindUnsupportedSelector(const AllocationPlan& plan, const NodePools& pools,
                                    const DevicePicks& picks) {
  std::optional<uint32_t> settled;  // a claim that is available on this node only
  for (const DevicePick& pick : picks) {
    if (pick.claim == settled) continue;
    const PoolDevice& one = pools.devices[pick.device];
    const api::DeviceNodes& nodes = NodesOf(one, *pools.slices[one.slice]->slice);
    if (!nodes.node_name.empty() || one.device->binds_to_node) {
      settled = pick.claim;
    } else if (nodes.selector != nullptr && nodes.selector->spec.terms.size() != 1) {
      return fmt::format(
          "create NodeSelector for claim {}: unsupported ResourceSlice.NodeSelector with {} terms",
          plan.claims()[pick.claim].claim->meta.name, nodes.selector->spec.terms.size());
    }
  }
  return {};
}

std::vector<api::ClaimAllocation> MakeAllocations(
    const AllocationPlan& plan, const NodePools& pools, std::string_view node_name,
    const DevicePicks& picks, const std::function<std::string()>& new_share_id) {
  std::vector<api::ClaimAllocation> made;
  auto next = picks.begin();
  for (uint32_t claim = 0; claim < plan.claims().size(); ++claim) {
    const auto end = std::find_if(next, picks.end(),
                                  [claim](const DevicePick& pick) { return pick.claim != claim; });
    const std::span<const DevicePick> own(next, end);
    api::ClaimAllocation& allocation = made.emplace_back();
    for (const DevicePick& pick : own) {
      allocation.results.push_back(MakeResult(plan, pick, pools, new_share_id));
    }
    const ClaimPlan& of_claim = plan.claims()[claim];
    allocation.config = MakeConfig(of_claim, Chosen(of_claim, own));
    allocation.node_selector = MakeNodeSelector(pools, node_name, own);
    next = end;
  }
  return made;
}

}  // namespace ks::plugins
