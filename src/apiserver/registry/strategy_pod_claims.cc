// SPDX-License-Identifier: Apache-2.0
// What a pod's status may say about its resource claims.
#include <algorithm>

#include "apiserver/registry/strategy_parts.h"

namespace ks::apiserver {
namespace {

std::vector<const Json*> ContainersOf(const Json& spec) {
  std::vector<const Json*> all;
  for (const char* list : {"initContainers", "containers"}) {
    for (const Json& container : ElementsOf(At(spec, list))) all.push_back(&container);
  }
  return all;
}

void CheckMapping(const std::string& field, const Json& spec, const Json& mapping, Causes& causes) {
  const std::vector<const Json*> containers = ContainersOf(spec);
  const std::string container = TextAt(mapping, "containerName");
  const bool known = std::any_of(containers.begin(), containers.end(), [&](const Json* each) {
    return TextAt(*each, "name") == container;
  });
  if (!known) {
    causes.Invalid(Path(field, "containerName"), container,
                   "must match the name of an entry in spec.initContainers.name or "
                   "spec.containers.name");
  }
  const std::string resource = TextAt(mapping, "resourceName");
  const bool asked = std::any_of(containers.begin(), containers.end(), [&](const Json* each) {
    return !At(At(At(*each, "resources"), "requests"), resource).is_null();
  });
  if (!asked) {
    causes.Invalid(Path(field, "resourceName"), resource,
                   "must match the extended resource name of an entry in "
                   "spec.initContainers.resources.requests or spec.containers.resources.requests");
  }
  // Upstream names this field without the index.
  const std::string request = TextAt(mapping, "requestName");
  causes.All("status.extendedResourceClaimStatus.requestName", request, LabelErrors(request));
}

void CheckExtended(const Json& spec, const Json& extended, Causes& causes) {
  if (!extended.is_object()) return;
  const std::string field = "status.extendedResourceClaimStatus";
  const std::string mappings_at = Path(field, "requestMappings");
  const std::vector<Json>& mappings = ElementsOf(At(extended, "requestMappings"));
  if (mappings.empty()) causes.Required(mappings_at, "at least one request mapping is required");
  for (size_t i = 0; i < mappings.size(); ++i) {
    CheckMapping(Path(mappings_at, i), spec, mappings[i], causes);
  }
  const std::string name = TextAt(extended, "resourceClaimName");
  causes.All(Path(field, "resourceClaimName"), name, SubdomainErrors(name));
}

}  // namespace

void CheckPodClaimStatuses(const Json& pod, Causes& causes) {
  const Json& spec = At(pod, "spec");
  const std::vector<Json>& claims = ElementsOf(At(spec, "resourceClaims"));
  const std::string field = "status.resourceClaimStatuses";
  const std::vector<Json>& statuses = ElementsOf(At(At(pod, "status"), "resourceClaimStatuses"));
  for (size_t i = 0; i < statuses.size(); ++i) {
    const std::string name = TextAt(statuses[i], "name");
    const bool known = std::any_of(claims.begin(), claims.end(), [&](const Json& claim) {
      return TextAt(claim, "name") == name;
    });
    if (!known) {
      causes.Invalid(Path(Path(field, i), "name"), name,
                     "must match the name of an entry in `spec.resourceClaims`");
    }
    const Json& claim = At(statuses[i], "resourceClaimName");
    if (!claim.is_string()) continue;
    causes.All(Path(Path(field, i), "resourceClaimName"), claim,
               SubdomainErrors(claim.get<std::string>()));
  }
  CheckExtended(spec, At(At(pod, "status"), "extendedResourceClaimStatus"), causes);
}

}  // namespace ks::apiserver
