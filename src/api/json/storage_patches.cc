// SPDX-License-Identifier: Apache-2.0
#include "api/json/storage_patches.h"

#include <initializer_list>
#include <string_view>
#include <utility>

#include "api/json/encode.h"
#include "base/canary.h"
#include "golang/json_text.h"

namespace ks::api {
namespace {

// A JSON object of these fields, in this order. Values are JSON.
std::string Object(std::initializer_list<std::pair<std::string_view, std::string>> fields) {
  std::string text = "{";
  for (const auto& [key, value] : fields) {
    if (text.size() > 1) text += ',';
    text += golang::JsonString(key) + ':' + value;
  }
  return text + '}';
}

}  // namespace

std::string VolumeBindingPatch(const PersistentVolume& version) {
  const std::string resource_version =
      KS_CANARY(VolumePatchUnguarded) ? "null" : golang::JsonString(version.meta.resource_version);
  const std::string metadata =
      version.bound_by_controller
          ? Object({{"resourceVersion", resource_version},
                    {"annotations", Object({{kBoundByControllerAnnotation, "\"yes\""}})}})
          : Object({{"resourceVersion", resource_version}});
  if (!version.claim_ref) return Object({{"metadata", metadata}});
  const ClaimReference& claim = *version.claim_ref;
  const std::string reference =
      Object({{"kind", golang::JsonString(claim.kind)},
              {"namespace", golang::JsonString(claim.ns)},
              {"name", golang::JsonString(claim.name)},
              {"uid", golang::JsonString(claim.uid)},
              {"apiVersion", golang::JsonString(claim.api_version)},
              {"resourceVersion", golang::JsonString(claim.resource_version)},
              {"fieldPath", "null"}});
  return Object({{"metadata", metadata}, {"spec", Object({{"claimRef", reference}})}});
}

std::string SelectedNodePatch(const PersistentVolumeClaim& version) {
  const std::string annotations =
      Object({{kSelectedNodeAnnotation, golang::JsonString(version.selected_node.value_or(""))}});
  return Object(
      {{"metadata", Object({{"resourceVersion", golang::JsonString(version.meta.resource_version)},
                            {"annotations", annotations}})}});
}

}  // namespace ks::api
