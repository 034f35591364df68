// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/group_claims.h"

#include <algorithm>
#include <string>
#include <vector>

namespace ks::plugins {
namespace {

constexpr std::string_view kGroup = "scheduling.k8s.io";
constexpr std::string_view kResource = "podgroups";
constexpr std::string_view kPods = "pods";

const api::PodResourceClaimStatus* StatusOf(const api::PodGroup& group, const std::string& entry) {
  const auto& statuses = group.resource_claim_statuses;
  const auto found = std::find_if(statuses.begin(), statuses.end(),
                                  [&entry](const auto& status) { return status.name == entry; });
  return found == statuses.end() ? nullptr : &*found;
}

bool IsConsumer(const api::ClaimConsumer& consumer, const api::PodGroup& group) {
  return consumer.uid == group.meta.uid && consumer.name == group.meta.name &&
         consumer.resource == kResource && consumer.api_group == kGroup;
}

// Null: the entry needs none, or it was made for somebody else.
Result<api::ResourceClaimPtr> Find(const framework::DeviceState& devices,
                                   const api::PodGroup& group, const api::PodResourceClaim& entry) {
  const bool generated = entry.resource_claim_name.empty();
  const std::string* name = &entry.resource_claim_name;
  if (generated) {
    const api::PodResourceClaimStatus* status = StatusOf(group, entry.name);
    if (status == nullptr) {
      return Error{"PodGroup " + group.meta.Key() + ": ResourceClaim not created yet"};
    }
    if (!status->resource_claim_name) return api::ResourceClaimPtr();
    name = &*status->resource_claim_name;
  }
  const std::string key = group.meta.ns.str() + '/' + *name;
  api::ResourceClaimPtr claim = devices.FindClaim(key);
  if (claim == nullptr) return Error{"could not find ResourceClaim \"" + key + '"'};
  if (generated && !IsMadeForGroup(*claim, group.meta.name)) return api::ResourceClaimPtr();
  return claim;
}

}  // namespace

bool IsMadeForGroup(const api::ResourceClaim& claim, std::string_view group) {
  const api::OwnerReference* owner = claim.meta.Controller();
  if (owner == nullptr || owner->kind != "PodGroup" || owner->name != group) return false;
  const std::string_view version = owner->api_version;
  return version.substr(0, version.find('/')) == kGroup && version.size() > kGroup.size();
}

bool IsEntryOfGroup(const api::PodGroup& group, const api::PodResourceClaim& entry) {
  const auto& entries = group.resource_claims;
  return std::find(entries.begin(), entries.end(), entry) != entries.end();
}

api::ClaimConsumer ConsumerOf(const api::Pod& pod) {
  return {
      .api_group = {}, .resource = std::string(kPods), .name = pod.meta.name, .uid = pod.meta.uid};
}

api::ClaimConsumer ConsumerOf(const api::PodGroup& group) {
  return {.api_group = std::string(kGroup),
          .resource = std::string(kResource),
          .name = group.meta.name,
          .uid = group.meta.uid};
}

bool IsPod(const api::ClaimConsumer& consumer) {
  return consumer.api_group.empty() && consumer.resource == kPods;
}

bool IsReservedForGroup(const api::ResourceClaim& claim, const api::PodGroup& group) {
  return std::any_of(
      claim.reserved_for.begin(), claim.reserved_for.end(),
      [&group](const api::ClaimConsumer& consumer) { return IsConsumer(consumer, group); });
}

bool IsUsedByNobodyElse(const api::ResourceClaim& claim, const api::PodGroup& group) {
  return std::all_of(
      claim.reserved_for.begin(), claim.reserved_for.end(),
      [&group](const api::ClaimConsumer& consumer) { return IsConsumer(consumer, group); });
}

Result<api::ResourceClaimPtr> FindReservedClaim(const framework::DeviceState& devices,
                                                const api::PodGroup& group) {
  for (const api::PodResourceClaim& entry : group.resource_claims) {
    Result<api::ResourceClaimPtr> claim = Find(devices, group, entry);
    if (!claim.ok()) return claim.error();
    if (*claim != nullptr && IsReservedForGroup(**claim, group)) return claim;
  }
  return api::ResourceClaimPtr();
}

}  // namespace ks::plugins
