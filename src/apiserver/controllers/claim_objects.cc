// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/claim_objects.h"

#include <algorithm>

#include "apiserver/controllers/volume_controller_objects.h"
#include "apiserver/store/json_fields.h"

namespace ks::apiserver::claims {
namespace {

constexpr std::string_view kGroupsApi = "scheduling.k8s.io";

const std::vector<Json>& ListAt(const Json& object, std::string_view key, std::string_view inner) {
  static const auto* none = new std::vector<Json>;
  const Json* found = Find(object, key, inner);
  if (found == nullptr || !found->is_array()) return *none;
  return found->get_ref<const std::vector<Json>&>();
}

std::string TextIn(const Json& object, std::string_view key, std::string_view inner) {
  const Json* outer = Find(object, key);
  return outer == nullptr ? "" : Text(*outer, inner);
}

User ReadUser(UserKind kind, const Json& json) {
  return {.kind = kind,
          .ns = TextIn(json, "metadata", "namespace"),
          .name = TextIn(json, "metadata", "name"),
          .uid = TextIn(json, "metadata", "uid")};
}

bool IsTerminating(const Json& json) {
  return Find(json, "metadata", "deletionTimestamp") != nullptr;
}

std::vector<EntryClaim> ReadEntries(const Json& json) {
  std::vector<EntryClaim> claims;
  for (const Json& entry : ListAt(json, "spec", "resourceClaims")) {
    claims.push_back({.entry = Text(entry, "name"),
                      .template_name = Text(entry, "resourceClaimTemplateName"),
                      .claim = Text(entry, "resourceClaimName")});
  }
  for (const Json& status : ListAt(json, "status", "resourceClaimStatuses")) {
    for (EntryClaim& claim : claims) {
      if (claim.template_name.empty() || claim.entry != Text(status, "name")) continue;
      claim.claim = Text(status, "resourceClaimName");
      claim.noted = true;
    }
  }
  return claims;
}

// The kind of user that an owner reference or a consumer stands for.
std::optional<UserKind> OwnerKind(const Json& owner) {
  const std::string version = Text(owner, "apiVersion");
  const std::string kind = Text(owner, "kind");
  if (kind == "Pod" && version == "v1") return UserKind::kPod;
  if (kind == "PodGroup" && version.starts_with(std::string(kGroupsApi) + "/")) {
    return UserKind::kGroup;
  }
  return std::nullopt;
}
std::optional<UserKind> ConsumerKind(const Json& consumer) {
  const std::string group = Text(consumer, "apiGroup");
  const std::string resource = Text(consumer, "resource");
  if (resource == "pods" && group.empty()) return UserKind::kPod;
  if (resource == "podgroups" && group == kGroupsApi) return UserKind::kGroup;
  return std::nullopt;
}

}  // namespace

Pod ReadPod(const Json& json) {
  Pod pod{.self = ReadUser(UserKind::kPod, json),
          .node = TextIn(json, "spec", "nodeName"),
          .group = {},
          .terminating = IsTerminating(json),
          .claims = ReadEntries(json)};
  if (const Json* group = Find(json, "spec", "schedulingGroup")) {
    pod.group = Text(*group, "podGroupName");
  }
  const std::string phase = TextIn(json, "status", "phase");
  pod.done = phase == "Succeeded" || phase == "Failed" || (pod.terminating && pod.node.empty());
  return pod;
}

Group ReadGroup(const Json& json) {
  return {.self = ReadUser(UserKind::kGroup, json),
          .terminating = IsTerminating(json),
          .claims = ReadEntries(json)};
}

Claim ReadClaim(const Json& json) {
  Claim claim{.uid = TextIn(json, "metadata", "uid"),
              .owner = {},
              .entry = {},
              .consumers = {},
              .allocated = Find(json, "status", "allocation") != nullptr,
              .terminating = IsTerminating(json)};
  for (const Json& owner : ListAt(json, "metadata", "ownerReferences")) {
    const Json* controls = Find(owner, "controller");
    const std::optional<UserKind> kind = OwnerKind(owner);
    if (!kind || controls == nullptr || *controls != true) continue;
    claim.owner = {.kind = *kind,
                   .ns = TextIn(json, "metadata", "namespace"),
                   .name = Text(owner, "name"),
                   .uid = Text(owner, "uid")};
  }
  if (const Json* annotations = Find(json, "metadata", "annotations")) {
    claim.entry = Text(*annotations, kPodClaimName);
  }
  for (const Json& consumer : ListAt(json, "status", "reservedFor")) {
    claim.consumers.push_back({.kind = ConsumerKind(consumer),
                               .name = Text(consumer, "name"),
                               .uid = Text(consumer, "uid")});
  }
  const std::vector<Json>& finalizers = ListAt(json, "metadata", "finalizers");
  claim.is_protected =
      std::find(finalizers.begin(), finalizers.end(), kProtection) != finalizers.end();
  return claim;
}

Json GeneratedClaim(const User& user, const std::string& entry, const Json& claim_template) {
  Json metadata = Json::object();
  for (const char* key : {"labels", "annotations"}) {
    const Json* outer = Find(claim_template, "spec", "metadata");
    const Json* found = outer == nullptr ? nullptr : Find(*outer, key);
    if (found != nullptr) metadata[key] = *found;
  }
  const bool is_pod = user.kind == UserKind::kPod;
  metadata["annotations"][std::string(kPodClaimName)] = entry;
  metadata["generateName"] = user.name + "-" + entry + "-";
  metadata["ownerReferences"] =
      Json::array({{{"apiVersion", is_pod ? "v1" : std::string(kGroupsApi) + "/v1beta1"},
                    {"kind", is_pod ? "Pod" : "PodGroup"},
                    {"name", user.name},
                    {"uid", user.uid},
                    {"controller", true}}});
  const Json* spec = Find(claim_template, "spec", "spec");
  return {{"metadata", std::move(metadata)}, {"spec", spec == nullptr ? Json::object() : *spec}};
}

void NoteClaims(const std::vector<EntryClaim>& claims, Json& json) {
  Json& statuses = json["status"]["resourceClaimStatuses"];
  if (!statuses.is_array()) statuses = Json::array();
  for (const EntryClaim& claim : claims) {
    if (claim.template_name.empty() || claim.noted) continue;
    Json said{{"name", claim.entry}, {"resourceClaimName", claim.claim}};
    const auto found = std::find_if(statuses.begin(), statuses.end(), [&](const Json& status) {
      return Text(status, "name") == claim.entry;
    });
    if (found == statuses.end()) {
      statuses.push_back(std::move(said));
    } else {
      *found = std::move(said);
    }
  }
}

void KeepConsumers(const std::vector<std::string>& uids, Json& claim) {
  Json kept = Json::array();
  for (const Json& consumer : ListAt(claim, "status", "reservedFor")) {
    if (std::find(uids.begin(), uids.end(), Text(consumer, "uid")) == uids.end()) continue;
    kept.push_back(consumer);
  }
  if (kept.empty()) {
    claim["status"].erase("reservedFor");
  } else {
    claim["status"]["reservedFor"] = std::move(kept);
  }
}

void AddConsumer(const User& user, Json& claim) {
  const bool is_pod = user.kind == UserKind::kPod;
  Json consumer{
      {"resource", is_pod ? "pods" : "podgroups"}, {"name", user.name}, {"uid", user.uid}};
  if (!is_pod) consumer["apiGroup"] = kGroupsApi;
  claim["status"]["reservedFor"].push_back(std::move(consumer));
}

void Deallocate(Json& claim) {
  claim["status"].erase("allocation");
  claim["status"].erase("devices");
  volumes::RemoveFinalizer(claim, kProtection);
}

}  // namespace ks::apiserver::claims
