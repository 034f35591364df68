// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/claim_objects.h"

#include <algorithm>

#include "apiserver/controllers/volume_controller_objects.h"
#include "apiserver/store/json_fields.h"

namespace ks::apiserver::claims {
namespace {

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

}  // namespace

Pod ReadPod(const Json& json) {
  Pod pod{.ns = TextIn(json, "metadata", "namespace"),
          .name = TextIn(json, "metadata", "name"),
          .uid = TextIn(json, "metadata", "uid"),
          .node = TextIn(json, "spec", "nodeName"),
          .terminating = Find(json, "metadata", "deletionTimestamp") != nullptr,
          .claims = {}};
  const std::string phase = TextIn(json, "status", "phase");
  pod.done = phase == "Succeeded" || phase == "Failed" || (pod.terminating && pod.node.empty());
  for (const Json& entry : ListAt(json, "spec", "resourceClaims")) {
    pod.claims.push_back({.entry = Text(entry, "name"),
                          .template_name = Text(entry, "resourceClaimTemplateName"),
                          .claim = Text(entry, "resourceClaimName")});
  }
  for (const Json& status : ListAt(json, "status", "resourceClaimStatuses")) {
    for (PodClaim& claim : pod.claims) {
      if (claim.template_name.empty() || claim.entry != Text(status, "name")) continue;
      claim.claim = Text(status, "resourceClaimName");
      claim.noted = true;
    }
  }
  return pod;
}

Claim ReadClaim(const Json& json) {
  Claim claim{.uid = TextIn(json, "metadata", "uid"),
              .owner = {},
              .owner_uid = {},
              .entry = {},
              .consumers = {},
              .allocated = Find(json, "status", "allocation") != nullptr,
              .terminating = Find(json, "metadata", "deletionTimestamp") != nullptr};
  for (const Json& owner : ListAt(json, "metadata", "ownerReferences")) {
    const Json* controls = Find(owner, "controller");
    const bool pod = Text(owner, "kind") == "Pod" && Text(owner, "apiVersion") == "v1";
    if (!pod || controls == nullptr || *controls != true) continue;
    claim.owner = Text(owner, "name");
    claim.owner_uid = Text(owner, "uid");
  }
  if (const Json* annotations = Find(json, "metadata", "annotations")) {
    claim.entry = Text(*annotations, kPodClaimName);
  }
  for (const Json& consumer : ListAt(json, "status", "reservedFor")) {
    const bool pod = Text(consumer, "resource") == "pods" && Text(consumer, "apiGroup").empty();
    claim.consumers.push_back(
        {.pod = pod ? Text(consumer, "name") : "", .uid = Text(consumer, "uid")});
  }
  const std::vector<Json>& finalizers = ListAt(json, "metadata", "finalizers");
  claim.is_protected =
      std::find(finalizers.begin(), finalizers.end(), kProtection) != finalizers.end();
  return claim;
}

Json GeneratedClaim(const Pod& pod, const std::string& entry, const Json& claim_template) {
  Json metadata = Json::object();
  for (const char* key : {"labels", "annotations"}) {
    const Json* outer = Find(claim_template, "spec", "metadata");
    const Json* found = outer == nullptr ? nullptr : Find(*outer, key);
    if (found != nullptr) metadata[key] = *found;
  }
  metadata["annotations"][std::string(kPodClaimName)] = entry;
  metadata["generateName"] = pod.name + "-" + entry + "-";
  metadata["ownerReferences"] = Json::array({{{"apiVersion", "v1"},
                                              {"kind", "Pod"},
                                              {"name", pod.name},
                                              {"uid", pod.uid},
                                              {"controller", true}}});
  const Json* spec = Find(claim_template, "spec", "spec");
  return {{"metadata", std::move(metadata)}, {"spec", spec == nullptr ? Json::object() : *spec}};
}

void NoteClaims(const Pod& pod, Json& json) {
  Json& statuses = json["status"]["resourceClaimStatuses"];
  if (!statuses.is_array()) statuses = Json::array();
  for (const PodClaim& claim : pod.claims) {
    if (claim.template_name.empty() || claim.noted) continue;
    statuses.push_back({{"name", claim.entry}, {"resourceClaimName", claim.claim}});
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

void AddConsumer(const Pod& pod, Json& claim) {
  claim["status"]["reservedFor"].push_back(
      {{"resource", "pods"}, {"name", pod.name}, {"uid", pod.uid}});
}

void Deallocate(Json& claim) {
  claim["status"].erase("allocation");
  claim["status"].erase("devices");
  volumes::RemoveFinalizer(claim, kProtection);
}

}  // namespace ks::apiserver::claims
