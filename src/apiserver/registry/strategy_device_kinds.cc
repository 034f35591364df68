// SPDX-License-Identifier: Apache-2.0
// The kinds of resource.k8s.io: defaults, checks, what may not change, what the clock adds.

#include "apiserver/registry/strategy.h"
#include "apiserver/registry/strategy_devices.h"
#include "apiserver/registry/strategy_parts.h"

namespace ks::apiserver {
namespace {

constexpr std::string_view kAdminAccess = "resource.kubernetes.io/admin-access";

// The spec of the claim that an object is or makes; null: of another kind.
const Json& ClaimSpecOf(const KindInfo& kind, const Json& object) {
  static const auto* none = new Json;
  const Json& spec = At(object, "spec");
  if (kind.kind == "ResourceClaim") return spec;
  return kind.kind == "ResourceClaimTemplate" ? At(spec, "spec") : *none;
}

void SetTolerationDefaults(Json& holder) {
  Json* tolerations = Find(holder, "tolerations");
  if (tolerations == nullptr || !tolerations->is_array()) return;
  for (Json& toleration : *tolerations) SetDefault(toleration, "operator", "Equal");
}

void SetRequestDefaults(Json& request) {
  SetDefault(request, "allocationMode", "ExactCount");
  if (TextAt(request, "allocationMode") == "ExactCount") SetDefault(request, "count", 1);
  SetTolerationDefaults(request);
}

void SetClaimSpecDefaults(Json& spec) {
  Json* devices = Find(spec, "devices");
  Json* requests = devices == nullptr ? nullptr : Find(*devices, "requests");
  if (requests == nullptr || !requests->is_array()) return;
  for (Json& request : *requests) {
    if (Json* exactly = Find(request, "exactly")) SetRequestDefaults(*exactly);
    Json* choices = Find(request, "firstAvailable");
    if (choices == nullptr || !choices->is_array()) continue;
    for (Json& choice : *choices) SetRequestDefaults(choice);
  }
}

void SetResultDefaults(Json& status) {
  Json* allocation = Find(status, "allocation");
  Json* devices = allocation == nullptr ? nullptr : Find(*allocation, "devices");
  Json* results = devices == nullptr ? nullptr : Find(*devices, "results");
  if (results == nullptr || !results->is_array()) return;
  for (Json& result : *results) SetTolerationDefaults(result);
}

void CheckClaimTemplate(const Json& object, Causes& causes) {
  const Json& spec = At(object, "spec");
  const Json& metadata = At(spec, "metadata");
  CheckLabels("spec.metadata.labels", At(metadata, "labels"), causes);
  if (metadata.is_object()) {
    for (const auto& [key, value] : metadata.items()) {
      const bool allowed = key == "labels" || key == "annotations" || value.is_null();
      if (!allowed) causes.Forbidden(Path("spec.metadata", key), "cannot be set");
    }
  }
  CheckDeviceClaim("spec.spec", At(spec, "spec"), causes);
}

void CheckExtendedName(const std::string& name, Causes& causes) {
  const std::string field = "spec.extendedResourceName";
  if (name.find('/') == std::string::npos) {
    causes.Invalid(field, name,
                   "a name must be a domain-prefixed path, such as 'example.com/my-prop'");
  } else if (name.find("kubernetes.io/") != std::string::npos) {
    causes.Invalid(field, name, "must not have \"kubernetes.io/\" domain");
  } else if (name.starts_with("requests.")) {
    causes.Invalid(field, name, "must not have \"requests.\" prefix");
  } else {
    causes.All(field, name, QualifiedNameErrors(name));
  }
}

void CheckDeviceClass(const Json& object, Causes& causes) {
  const Json& spec = At(object, "spec");
  CheckSelectors("spec.selectors", At(spec, "selectors"), causes);
  const std::vector<Json>& config =
      AtMost("spec.config", At(spec, "config"), kMostRequests, causes);
  for (size_t i = 0; i < config.size(); ++i) {
    CheckOpaque(Path("spec.config", i), config[i], causes);
  }
  const Json& name = At(spec, "extendedResourceName");
  if (name.is_string()) CheckExtendedName(name.get<std::string>(), causes);
}

void CheckTaintRule(const Json& object, Causes& causes) {
  const Json& spec = At(object, "spec");
  const std::string field = "spec.deviceSelector";
  const Json& selector = At(spec, "deviceSelector");
  const Json& driver = At(selector, "driver");
  const Json& pool = At(selector, "pool");
  const Json& device = At(selector, "device");
  if (driver.is_string()) CheckDriver(Path(field, "driver"), driver, Spelling::kLower, causes);
  if (pool.is_string()) CheckPool(Path(field, "pool"), pool, false, causes);
  if (device.is_string()) CheckDnsLabel(Path(field, "device"), device, causes);
  CheckDeviceTaint("spec.taint", At(spec, "taint"), causes);
}

// A taint has had an effect since when?
void SetTaintTime(Json& taint, const std::string& now) {
  if (!TextAt(taint, "effect").empty()) SetDefault(taint, "timeAdded", now);
}

void SetTaintTimes(Json& slice, const std::string& now) {
  Json* spec = Find(slice, "spec");
  Json* devices = spec == nullptr ? nullptr : Find(*spec, "devices");
  if (devices == nullptr || !devices->is_array()) return;
  for (Json& device : *devices) {
    Json* taints = Find(device, "taints");
    if (taints == nullptr || !taints->is_array()) continue;
    for (Json& taint : *taints) SetTaintTime(taint, now);
  }
}

void PrepareTaintRule(const Json& before, const std::string& now, Json& rule) {
  Json* spec = Find(rule, "spec");
  Json* taint = spec == nullptr ? nullptr : Find(*spec, "taint");
  if (taint == nullptr || !taint->is_object()) return;
  const Json& old = At(At(before, "spec"), "taint");
  const bool changed = TextAt(old, "effect") != TextAt(*taint, "effect");
  if (changed && At(old, "timeAdded") == At(*taint, "timeAdded")) taint->erase("timeAdded");
  SetTaintTime(*taint, now);
}

}  // namespace

void SetDeviceKindDefaults(const KindInfo& kind, Json& object) {
  Json* spec = Find(object, "spec");
  if (kind.kind == "ResourceClaim") {
    if (spec != nullptr) SetClaimSpecDefaults(*spec);
    if (Json* status = Find(object, "status")) SetResultDefaults(*status);
  }
  if (kind.kind != "ResourceClaimTemplate" || spec == nullptr) return;
  if (Json* claim_spec = Find(*spec, "spec")) SetClaimSpecDefaults(*claim_spec);
}

void CheckDeviceKind(const KindInfo& kind, const Json& object, Causes& causes) {
  if (kind.kind == "ResourceClaim") CheckDeviceClaim("spec", At(object, "spec"), causes);
  if (kind.kind == "ResourceClaimTemplate") CheckClaimTemplate(object, causes);
  if (kind.kind == "ResourceSlice") CheckSlice(object, causes);
  if (kind.kind == "DeviceClass") CheckDeviceClass(object, causes);
  if (kind.kind == "DeviceTaintRule") CheckTaintRule(object, causes);
}

void CheckDeviceKindUpdate(const KindInfo& kind, const Json& before, const Json& object, Part part,
                           Causes& causes) {
  if (kind.kind == "ResourceSlice") CheckSliceUpdate(before, object, causes);
  if (part == Part::kMain) return;
  if (kind.kind == "ResourceClaim") CheckClaimStatus(before, object, causes);
  if (kind.kind == "DeviceTaintRule") {
    CheckConditions("status.conditions", At(At(object, "status"), "conditions"), causes);
  }
}

std::optional<Failure> AdmitAdminAccess(const KindInfo& kind, const Registry& registry,
                                        const Json& object) {
  const Json& metadata = At(object, "metadata");
  const std::vector<Json>& requests =
      ElementsOf(At(At(ClaimSpecOf(kind, object), "devices"), "requests"));
  std::vector<Cause> causes;
  for (size_t i = 0; i < requests.size(); ++i) {
    if (At(At(requests[i], "exactly"), "adminAccess") != true) continue;
    causes.push_back({"FieldValueForbidden",
                      "Forbidden: admin access to devices requires the `" +
                          std::string(kAdminAccess) + ": true` label on the containing namespace",
                      Path("spec.devices.requests", i) + ".adminAccess"});
  }
  if (causes.empty()) return std::nullopt;
  const KindInfo& namespaces = *FindResource("", "v1", "namespaces");
  const ObjectPtr ns = registry.store().Find(namespaces, "", TextAt(metadata, "namespace"));
  if (ns != nullptr) {
    for (const auto& [key, value] : ns->labels) {
      if (key == kAdminAccess && value == "true") return std::nullopt;
    }
  }
  return Invalid(kind, TextAt(metadata, "name"), std::move(causes));
}

void Prepare(const KindInfo& kind, const Json& before, const std::string& now, Json& object) {
  if (kind.kind == "ResourceClaim" && before.is_object()) DropDeallocated(before, object);
  if (kind.kind == "ResourceSlice") SetTaintTimes(object, now);
  if (kind.kind == "DeviceTaintRule") PrepareTaintRule(before, now, object);
}

}  // namespace ks::apiserver
