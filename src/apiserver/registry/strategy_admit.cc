// SPDX-License-Identifier: Apache-2.0
// Admission on creation: what other objects and the clock add.
#include <algorithm>

#include "apiserver/registry/strategy.h"
#include "apiserver/registry/strategy_parts.h"

namespace ks::apiserver {
namespace {

struct ResolvedPriority {
  std::string class_name{};
  int64_t value = 0;
  std::string policy = "PreemptLowerPriority";
};

ResolvedPriority PriorityOf(const Json& priority_class) {
  const std::string policy = TextAt(priority_class, "preemptionPolicy");
  return {.class_name = TextAt(At(priority_class, "metadata"), "name"),
          .value = NumberAt(priority_class, "value").value_or(0),
          .policy = policy.empty() ? "PreemptLowerPriority" : policy};
}

// The class that pods without one get: of several the lowest. Absent: none.
std::optional<ResolvedPriority> DefaultPriority(const KindInfo& classes, const Registry& registry) {
  std::optional<ResolvedPriority> found;
  for (const auto& [key, object] : registry.store().objects(classes)) {
    if (object->text.find("\"globalDefault\":true") == std::string::npos) continue;
    const Json priority_class = object->Parse();
    if (At(priority_class, "globalDefault") != true) continue;
    ResolvedPriority priority = PriorityOf(priority_class);
    if (!found || priority.value < found->value) found = std::move(priority);
  }
  return found;
}

// The class that the object names, or the default one. Without either the class name is empty.
Outcome<ResolvedPriority> ResolvePriority(const KindInfo& kind, const Registry& registry,
                                          const Json& object, const std::string& wanted) {
  const KindInfo& classes = *FindResource("scheduling.k8s.io", "v1", "priorityclasses");
  if (wanted.empty()) return DefaultPriority(classes, registry).value_or(ResolvedPriority());
  const ObjectPtr found = registry.store().Find(classes, "", wanted);
  if (found != nullptr) return PriorityOf(found->Parse());
  return Forbidden(kind, TextAt(At(object, "metadata"), "name"),
                   "no PriorityClass with name " + wanted + " was found");
}

std::string WrongPolicy(const std::string& policy, std::string_view owner,
                        const ResolvedPriority& priority) {
  return "the string value of PreemptionPolicy (" + policy + ") must not be provided in " +
         std::string(owner) + " spec; priority admission controller computed " + priority.policy +
         " from the given PriorityClass name";
}

void TakePriority(const ResolvedPriority& priority, Json& spec) {
  if (!priority.class_name.empty()) spec["priorityClassName"] = priority.class_name;
  spec["priority"] = priority.value;
  spec["preemptionPolicy"] = priority.policy;
}

std::optional<Failure> AdmitPriority(const KindInfo& kind, const Registry& registry, Json& pod) {
  Json* spec = Find(pod, "spec");
  if (spec == nullptr || !spec->is_object()) return std::nullopt;
  const std::string name = TextAt(At(pod, "metadata"), "name");
  const auto priority = ResolvePriority(kind, registry, pod, TextAt(*spec, "priorityClassName"));
  if (!priority.ok()) return priority.failure();
  const auto given = NumberAt(*spec, "priority");
  if (given && *given != priority->value) {
    return Forbidden(kind, name,
                     "the integer value of priority (" + std::to_string(*given) +
                         ") must not be provided in pod spec; priority admission controller "
                         "computed " +
                         std::to_string(priority->value) + " from the given PriorityClass name");
  }
  const std::string policy = TextAt(*spec, "preemptionPolicy");
  if (!policy.empty() && policy != priority->policy) {
    return Forbidden(kind, name, WrongPolicy(policy, "pod", *priority));
  }
  TakePriority(*priority, *spec);
  return std::nullopt;
}

// As upstream: the default of preemptionPolicy stands there already, so that groups cannot have a
// class of another policy without naming the policy, too.
std::optional<Failure> AdmitGroupPriority(const KindInfo& kind, const Registry& registry,
                                          Json& group) {
  Json* spec = Find(group, "spec");
  if (spec == nullptr || !spec->is_object()) return std::nullopt;
  const std::string owner = kind.kind == "PodGroup" ? "pod group" : "composite pod group";
  const std::string name = TextAt(At(group, "metadata"), "name");
  const auto priority = ResolvePriority(kind, registry, group, TextAt(*spec, "priorityClassName"));
  if (!priority.ok()) return priority.failure();
  const auto given = NumberAt(*spec, "priority");
  if (given && *given != priority->value) {
    return Forbidden(kind, name,
                     "priority set in the " + owner + " (" + std::to_string(*given) +
                         ") must match the priority computed (" + std::to_string(priority->value) +
                         ") based on the priority class set in the spec");
  }
  const std::string policy = TextAt(*spec, "preemptionPolicy");
  if (policy != priority->policy) {
    return Forbidden(kind, name, WrongPolicy(policy, owner, *priority));
  }
  TakePriority(*priority, *spec);
  return std::nullopt;
}

// matchLabelKeys and mismatchLabelKeys become expressions over the pod's own labels.
void MergeLabelKeys(const Json& labels, std::string_view name, const char* op, Json& owner) {
  const Json keys = At(owner, name);
  Json* selector = Find(owner, "labelSelector");
  if (selector == nullptr || !selector->is_object()) return;
  for (const Json& key : ElementsOf(keys)) {
    if (!key.is_string()) continue;
    const std::string value = TextAt(labels, key.get_ref<const std::string&>());
    if (!labels.is_object() || !labels.contains(key.get_ref<const std::string&>())) continue;
    Json& expressions = (*selector)["matchExpressions"];
    if (expressions.is_null()) expressions = Json::array();
    if (!expressions.is_array()) return;
    expressions.push_back({{"key", key}, {"operator", op}, {"values", Json::array({value})}});
  }
}

void MergeTermKeys(const Json& labels, Json& term) {
  MergeLabelKeys(labels, "matchLabelKeys", "In", term);
  MergeLabelKeys(labels, "mismatchLabelKeys", "NotIn", term);
}

void MergeAllLabelKeys(Json& pod) {
  const Json labels = At(At(pod, "metadata"), "labels");
  Json* spec = Find(pod, "spec");
  if (spec == nullptr) return;
  Json* constraints = Find(*spec, "topologySpreadConstraints");
  if (constraints != nullptr && constraints->is_array()) {
    for (Json& constraint : *constraints) {
      MergeLabelKeys(labels, "matchLabelKeys", "In", constraint);
    }
  }
  Json* affinity = Find(*spec, "affinity");
  if (affinity == nullptr) return;
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    Json* terms = Find(*affinity, kind);
    if (terms == nullptr) continue;
    Json* required = Find(*terms, "requiredDuringSchedulingIgnoredDuringExecution");
    if (required != nullptr && required->is_array()) {
      for (Json& term : *required) MergeTermKeys(labels, term);
    }
    Json* preferred = Find(*terms, "preferredDuringSchedulingIgnoredDuringExecution");
    if (preferred == nullptr || !preferred->is_array()) continue;
    for (Json& weighted : *preferred) {
      if (Json* term = Find(weighted, "podAffinityTerm")) MergeTermKeys(labels, *term);
    }
  }
}

void AddGatedCondition(const std::string& now, Json& pod) {
  if (ElementsOf(At(At(pod, "spec"), "schedulingGates")).empty()) return;
  Json* status = FindObject(pod, "status");
  if (status == nullptr || status->contains("conditions")) return;
  (*status)["conditions"] =
      Json::array({{{"type", "PodScheduled"},
                    {"status", "False"},
                    {"lastProbeTime", nullptr},
                    {"lastTransitionTime", now},
                    {"reason", "SchedulingGated"},
                    {"message", "Scheduling is blocked due to non-empty scheduling gates"}}});
}

}  // namespace

std::optional<Failure> Admit(const KindInfo& kind, const Registry& registry, Json& object) {
  if (kind.kind == "PersistentVolume") {
    if (Json* status = FindObject(object, "status")) {
      SetDefault(*status, "lastPhaseTransitionTime", registry.Now());
    }
  }
  if (kind.group == "resource.k8s.io") return AdmitAdminAccess(kind, registry, object);
  if (kind.kind == "PodGroup") ProtectGroup(object);
  if (IsGroupKind(kind) && kind.kind != "Workload") {
    return AdmitGroupPriority(kind, registry, object);
  }
  if (kind.kind != "Pod") return std::nullopt;
  if (auto failure = AdmitPriority(kind, registry, object)) return failure;
  MergeAllLabelKeys(object);
  AddGatedCondition(registry.Now(), object);
  return std::nullopt;
}

}  // namespace ks::apiserver
