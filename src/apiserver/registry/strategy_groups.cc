// SPDX-License-Identifier: Apache-2.0
// PodGroups and CompositePodGroups: defaults, admission, checks.
#include "apiserver/registry/strategy_groups.h"

#include <algorithm>
#include <set>

#include "apiserver/registry/strategy.h"
#include "apiserver/registry/strategy_devices.h"
#include "apiserver/registry/strategy_parts.h"

namespace ks::apiserver {
namespace {

constexpr size_t kMostClaimStatuses = 4;

bool IsComposite(const KindInfo& kind) { return kind.kind == "CompositePodGroup"; }

void CheckWorkloadRef(const std::string& field, const Json& ref, Causes& causes) {
  const std::string workload = TextAt(ref, "workloadName");
  const std::string template_name = TextAt(ref, "templateName");
  const std::string workload_at = Path(field, "workloadName");
  const std::string template_at = Path(field, "templateName");
  if (workload.empty()) causes.Required(workload_at);
  if (!workload.empty()) causes.All(workload_at, workload, GroupSubdomainErrors(workload));
  if (template_name.empty()) causes.Required(template_at);
  if (!template_name.empty()) {
    causes.All(template_at, template_name, GroupLabelErrors(template_name));
  }
}

void CheckTies(const Json& before, const Json& spec, bool composite, Causes& causes) {
  const Json& parent = At(spec, "parentCompositePodGroupName");
  const Json& ref = At(spec, "workloadRef");
  const std::string ref_at = "spec.workloadRef";
  if (IsNewField("spec", before, spec, "parentCompositePodGroupName", causes) &&
      parent.is_string()) {
    causes.All("spec.parentCompositePodGroupName", parent,
               GroupSubdomainErrors(parent.get<std::string>()));
  }
  const bool is_new = IsNewField("spec", before, spec, "workloadRef", causes);
  if (composite && ref.is_null()) return causes.Required(ref_at);
  if (!is_new) return;
  if (!ref.is_null()) {
    CheckWorkloadRef(ref_at, ref, causes);
  } else if (!parent.is_null()) {
    causes.Required(ref_at, "must be set when parentCompositePodGroupName is set");
  }
}

void CheckGroupSpec(const Json& before, const Json& spec, bool composite, Causes& causes) {
  CheckTies(before, spec, composite, causes);
  // That of a composite is fixed in whole.
  if (!composite) CheckSchedulingPolicy("spec", before, spec, "minCount", causes);
  if (composite && IsNewField("spec", before, spec, "schedulingPolicy", causes)) {
    CheckSchedulingPolicy("spec", before, spec, "minGroupCount", causes);
  }
  CheckGroupFields("spec", before, spec, {"PodGroup", "spec.resourceClaims"}, causes);
}

void CheckClaimStatuses(const Json& group, Causes& causes) {
  const std::string field = "status.resourceClaimStatuses";
  const std::vector<Json>& claims = ElementsOf(At(At(group, "spec"), "resourceClaims"));
  const Json& list = At(At(group, "status"), "resourceClaimStatuses");
  size_t index = 0;
  for (const Json& status : ElementsOf(list)) {
    const std::string at = Path(Path(field, index++), "name");
    const std::string name = TextAt(status, "name");
    const bool known = std::any_of(claims.begin(), claims.end(), [&](const Json& claim) {
      return TextAt(claim, "name") == name;
    });
    if (known) continue;
    causes.Invalid(at, name, "must match the name of an entry in `spec.resourceClaims`");
  }
  const std::vector<Json>& statuses = AtMost(field, list, kMostClaimStatuses, causes);
  std::set<std::string> names;
  for (size_t i = 0; i < statuses.size(); ++i) {
    if (!names.insert(TextAt(statuses[i], "name")).second) {
      AddDuplicate(Path(field, i), statuses[i], "PodGroup", field, causes);
    }
    const Json& claim = At(statuses[i], "resourceClaimName");
    if (!claim.is_string()) continue;
    causes.All(Path(Path(field, i), "resourceClaimName"), claim,
               GroupSubdomainErrors(claim.get<std::string>()));
  }
}

}  // namespace

bool IsGroupKind(const KindInfo& kind) {
  return kind.kind == "PodGroup" || IsComposite(kind) || kind.kind == "Workload";
}

void SetGroupKindDefaults(const KindInfo& kind, Json& object) {
  if (!IsGroupKind(kind) || kind.kind == "Workload") return;
  Json* spec = FindObject(object, "spec");
  if (spec == nullptr) return;
  SetDefault(*spec, "disruptionMode", {{"single", Json::object()}});
  SetDefault(*spec, "preemptionPolicy", "PreemptLowerPriority");
}

void CheckGroupKind(const KindInfo& kind, const Json& before, const Json& object, Part part,
                    Causes& causes) {
  if (kind.kind == "Workload") return CheckWorkload(before, object, causes);
  if (part == Part::kMain) {
    const Json& spec = At(object, "spec");
    return CheckGroupSpec(At(before, "spec"), spec, IsComposite(kind), causes);
  }
  CheckConditions("status.conditions", At(At(object, "status"), "conditions"), causes);
  if (!IsComposite(kind)) CheckClaimStatuses(object, causes);
}

void ProtectGroup(Json& group) {
  Json* metadata = FindObject(group, "metadata");
  if (metadata == nullptr) return;
  Json& finalizers = (*metadata)["finalizers"];
  if (finalizers.is_null()) finalizers = Json::array();
  if (!finalizers.is_array()) return;
  const auto found = std::find(finalizers.begin(), finalizers.end(), kGroupProtection);
  if (found == finalizers.end()) finalizers.push_back(kGroupProtection);
}

}  // namespace ks::apiserver
