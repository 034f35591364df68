// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "apiserver/registry/strategy_parts.h"

namespace ks::apiserver {
namespace {

constexpr std::string_view kFixed =
    "pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec."
    "tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` "
    "(allow it to be set to 1 if it was previously negative)\n";
constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";

bool Contains(const Json& list, const Json& element) {
  const std::vector<Json>& elements = ElementsOf(list);
  return std::find(elements.begin(), elements.end(), element) != elements.end();
}

void CheckGates(const Json& before, const Json& spec, Causes& causes) {
  const std::vector<Json>& gates = ElementsOf(At(spec, "schedulingGates"));
  for (size_t i = 0; i < gates.size(); ++i) {
    if (Contains(At(before, "schedulingGates"), gates[i])) continue;
    causes.Forbidden(Path(Path("spec.schedulingGates", i), "name"),
                     "only deletion is allowed, but found new scheduling gate '" +
                         TextAt(gates[i], "name") + "'");
  }
}

// Existing tolerations stay; their seconds may change.
void CheckTolerationsKept(const Json& before, const Json& spec, Causes& causes) {
  const auto without_seconds = [](Json toleration) {
    if (toleration.is_object()) toleration.erase("tolerationSeconds");
    return toleration;
  };
  const std::vector<Json>& now = ElementsOf(At(spec, "tolerations"));
  for (const Json& old : ElementsOf(At(before, "tolerations"))) {
    const bool kept = std::any_of(now.begin(), now.end(), [&](const Json& each) {
      return without_seconds(each) == without_seconds(old);
    });
    if (kept) continue;
    causes.Forbidden("spec.tolerations",
                     "existing toleration can not be modified except its tolerationSeconds");
    return;
  }
}

void CheckDeadline(const Json& before, const Json& spec, Causes& causes) {
  const auto old = NumberAt(before, "activeDeadlineSeconds");
  const auto now = NumberAt(spec, "activeDeadlineSeconds");
  if (!old || (now && *now <= *old)) return;
  if (!now) {
    causes.Invalid("spec.activeDeadlineSeconds", nullptr,
                   "must not update from a positive integer to nil value");
    return;
  }
  causes.Invalid("spec.activeDeadlineSeconds", *now,
                 "must be less than or equal to previous value");
}

// A gated pod's requirements may become narrower: each term keeps its expressions.
bool OnlyNarrower(const Json& before, const Json& now) {
  const std::vector<Json>& old_terms = ElementsOf(At(before, "nodeSelectorTerms"));
  const std::vector<Json>& terms = ElementsOf(At(now, "nodeSelectorTerms"));
  if (before.is_null()) return true;
  if (old_terms.size() != terms.size()) return false;
  for (size_t i = 0; i < terms.size(); ++i) {
    for (const char* list : {"matchExpressions", "matchFields"}) {
      for (const Json& expression : ElementsOf(At(old_terms[i], list))) {
        if (!Contains(At(terms[i], list), expression)) return false;
      }
    }
  }
  return true;
}

// What a gated pod may change is put into `allowed`.
void AllowGated(const Json& before, const Json& spec, Json& allowed, Causes& causes) {
  const Json& old_selector = At(before, "nodeSelector");
  const Json& selector = At(spec, "nodeSelector");
  bool kept = true;
  if (old_selector.is_object()) {
    for (const auto& [key, value] : old_selector.items()) {
      kept = kept && At(selector, key) == value;
    }
  }
  if (!kept) {
    causes.Invalid("spec.nodeSelector", selector,
                   "only additions are allowed to spec.nodeSelector (no mutations or deletions)");
  }
  const Json& affinity = At(At(spec, "affinity"), "nodeAffinity");
  const Json& old_affinity = At(At(before, "affinity"), "nodeAffinity");
  if (!OnlyNarrower(At(old_affinity, kRequired), At(affinity, kRequired))) {
    causes.Invalid(
        "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
        "nodeSelectorTerms",
        At(At(affinity, kRequired), "nodeSelectorTerms"),
        "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
  }
  allowed["nodeSelector"] = selector;
  if (affinity.is_null()) return;
  if (Json* whole = FindObject(allowed, "affinity")) (*whole)["nodeAffinity"] = affinity;
}

void CopyImages(const Json& spec, const char* list, Json& allowed) {
  const std::vector<Json>& now = ElementsOf(At(spec, list));
  Json* containers = Find(allowed, list);
  if (containers == nullptr || !containers->is_array()) return;
  for (size_t i = 0; i < containers->size() && i < now.size(); ++i) {
    if ((*containers)[i].is_object()) (*containers)[i]["image"] = At(now[i], "image");
  }
}

// Nulls and absent members are the same here.
bool Same(const Json& a, const Json& b) {
  if (a.is_array() && b.is_array()) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), Same);
  }
  if (!a.is_object() || !b.is_object()) return a == b;
  for (const auto& [key, value] : a.items()) {
    if (!Same(value, At(b, key))) return false;
  }
  for (const auto& [key, value] : b.items()) {
    if (!value.is_null() && At(a, key).is_null()) return false;
  }
  return true;
}

std::string ChangedFields(const Json& a, const Json& b) {
  std::string text;
  Json all = a;
  all.update(b);
  for (const auto& [key, value] : all.items()) {
    if (!Same(At(a, key), At(b, key))) text += (text.empty() ? "" : ", ") + ("spec." + key);
  }
  return "changed: " + text + "\n";
}

void CheckSpecKept(const Json& before, const Json& spec, Causes& causes) {
  for (const char* list : {"containers", "initContainers"}) {
    if (ElementsOf(At(before, list)).size() == ElementsOf(At(spec, list)).size()) continue;
    causes.Forbidden(Path("spec", list), "pod updates may not add or remove containers");
    return;
  }
  CheckDeadline(before, spec, causes);
  CheckGates(before, spec, causes);
  CheckTolerationsKept(before, spec, causes);
  Json allowed = before;
  for (const char* list : {"containers", "initContainers"}) CopyImages(spec, list, allowed);
  for (const char* key :
       {"activeDeadlineSeconds", "tolerations", "schedulingGates", "ephemeralContainers"}) {
    allowed[key] = At(spec, key);
  }
  if (NumberAt(before, "terminationGracePeriodSeconds").value_or(0) < 0 &&
      NumberAt(spec, "terminationGracePeriodSeconds") == 1) {
    allowed["terminationGracePeriodSeconds"] = 1;
  }
  if (!ElementsOf(At(before, "schedulingGates")).empty()) AllowGated(before, spec, allowed, causes);
  if (Same(allowed, spec)) return;
  causes.Forbidden("spec", std::string(kFixed) + ChangedFields(allowed, spec));
}

}  // namespace

void CheckPodUpdate(const Json& before, const Json& pod, Part part, Causes& causes) {
  if (part == Part::kStatus) {
    const std::string nominated = TextAt(At(pod, "status"), "nominatedNodeName");
    if (!nominated.empty()) {
      causes.All("status.nominatedNodeName", nominated, SubdomainErrors(nominated));
    }
    CheckPodClaimStatuses(pod, causes);
    return;
  }
  if (part == Part::kResize) return CheckPodResize(before, pod, causes);
  const Json& old_spec = At(before, "spec");
  const Json& spec = At(pod, "spec");
  if (old_spec.is_object() && spec.is_object()) CheckSpecKept(old_spec, spec, causes);
}

}  // namespace ks::apiserver
