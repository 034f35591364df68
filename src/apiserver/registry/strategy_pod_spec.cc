// SPDX-License-Identifier: Apache-2.0
// What a pod says about where and when it runs.
#include <arpa/inet.h>

#include <array>
#include <set>

#include "apiserver/registry/strategy_parts.h"

namespace ks::apiserver {
namespace {

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
constexpr int64_t kMostWeight = 100;
constexpr int64_t kMostSeconds = 2147483647;

void CheckWeight(const std::string& field, const Json& term, Causes& causes) {
  const int64_t weight = NumberAt(term, "weight").value_or(0);
  if (weight >= 1 && weight <= kMostWeight) return;
  causes.Invalid(Path(field, "weight"), weight, "must be in the range 1-100");
}

void CheckNodeAffinity(const std::string& field, const Json& affinity, Causes& causes) {
  CheckNodeSelector(Path(field, kRequired), At(affinity, kRequired), causes);
  const std::vector<Json>& preferred = ElementsOf(At(affinity, kPreferred));
  for (size_t i = 0; i < preferred.size(); ++i) {
    const std::string at = Path(Path(field, kPreferred), i);
    CheckWeight(at, preferred[i], causes);
    CheckNodeSelectorTerm(Path(at, "preference"), At(preferred[i], "preference"), causes);
  }
}

// matchLabelKeys or mismatchLabelKeys: they need a selector, and no key may stand in both.
void CheckLabelKeys(const std::string& field, const Json& owner, std::string_view name,
                    Causes& causes) {
  const std::vector<Json>& keys = ElementsOf(At(owner, name));
  if (keys.empty()) return;
  if (!At(owner, "labelSelector").is_object()) {
    causes.Forbidden(Path(field, name), "must not be specified when labelSelector is not set");
    return;
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!keys[i].is_string()) continue;
    causes.All(Path(Path(field, name), i), keys[i],
               QualifiedNameErrors(keys[i].get_ref<const std::string&>()));
  }
}

void CheckPodAffinityTerm(const std::string& field, const Json& term, Causes& causes) {
  CheckLabelSelector(Path(field, "labelSelector"), At(term, "labelSelector"), causes);
  CheckLabelSelector(Path(field, "namespaceSelector"), At(term, "namespaceSelector"), causes);
  for (const Json& ns : ElementsOf(At(term, "namespaces"))) {
    if (!ns.is_string()) continue;
    causes.All(Path(field, "namespace"), ns, LabelErrors(ns.get_ref<const std::string&>()));
  }
  CheckLabelKeys(field, term, "matchLabelKeys", causes);
  CheckLabelKeys(field, term, "mismatchLabelKeys", causes);
  const std::vector<Json>& keys = ElementsOf(At(term, "matchLabelKeys"));
  for (size_t i = 0; i < keys.size(); ++i) {
    for (const Json& other : ElementsOf(At(term, "mismatchLabelKeys"))) {
      if (keys[i] != other) continue;
      causes.Invalid(Path(Path(field, "matchLabelKeys"), i), other,
                     "exists in both matchLabelKeys and mismatchLabelKeys");
    }
  }
  const std::string key = TextAt(term, "topologyKey");
  if (key.empty()) causes.Required(Path(field, "topologyKey"), "can not be empty");
  causes.All(Path(field, "topologyKey"), key, QualifiedNameErrors(key));
}

void CheckPodAffinity(const std::string& field, const Json& affinity, Causes& causes) {
  const std::vector<Json>& required = ElementsOf(At(affinity, kRequired));
  for (size_t i = 0; i < required.size(); ++i) {
    CheckPodAffinityTerm(Path(Path(field, kRequired), i), required[i], causes);
  }
  const std::vector<Json>& preferred = ElementsOf(At(affinity, kPreferred));
  for (size_t i = 0; i < preferred.size(); ++i) {
    const std::string at = Path(Path(field, kPreferred), i);
    CheckWeight(at, preferred[i], causes);
    CheckPodAffinityTerm(Path(at, "podAffinityTerm"), At(preferred[i], "podAffinityTerm"), causes);
  }
}

void CheckMinDomains(const std::string& field, const Json& constraint, Causes& causes) {
  const auto domains = NumberAt(constraint, "minDomains");
  if (!domains) return;
  if (*domains <= 0) {
    causes.Invalid(Path(field, "minDomains"), *domains, "must be greater than zero");
  }
  const std::string when = TextAt(constraint, "whenUnsatisfiable");
  if (when == "DoNotSchedule") return;
  causes.Invalid(Path(field, "minDomains"), *domains,
                 "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " + when);
}

void CheckSpread(const std::string& field, const Json& constraints, Causes& causes) {
  const std::vector<Json>& list = ElementsOf(constraints);
  for (size_t i = 0; i < list.size(); ++i) {
    const Json& each = list[i];
    const std::string at = Path(field, i);
    const int64_t skew = NumberAt(each, "maxSkew").value_or(0);
    const std::string key = TextAt(each, "topologyKey");
    const std::string when = TextAt(each, "whenUnsatisfiable");
    if (skew <= 0) causes.Invalid(Path(at, "maxSkew"), skew, "must be greater than zero");
    if (key.empty()) causes.Required(Path(at, "topologyKey"), "can not be empty");
    causes.OneOf(Path(at, "whenUnsatisfiable"), when, {"DoNotSchedule", "ScheduleAnyway"});
    for (size_t j = i + 1; j < list.size(); ++j) {
      if (TextAt(list[j], "topologyKey") != key || TextAt(list[j], "whenUnsatisfiable") != when) {
        continue;
      }
      causes.Duplicate(Path(at, "{topologyKey, whenUnsatisfiable}"), "{" + key + ", " + when + "}");
      break;
    }
    CheckMinDomains(at, each, causes);
    for (const char* policy : {"nodeAffinityPolicy", "nodeTaintsPolicy"}) {
      if (At(each, policy).is_null()) continue;
      causes.OneOf(Path(at, policy), TextAt(each, policy), {"Honor", "Ignore"});
    }
    CheckLabelKeys(at, each, "matchLabelKeys", causes);
    CheckLabelSelector(Path(at, "labelSelector"), At(each, "labelSelector"), causes);
  }
}

void CheckGates(const std::string& field, const Json& spec, Causes& causes) {
  std::set<std::string> names;
  const std::vector<Json>& gates = ElementsOf(At(spec, "schedulingGates"));
  for (size_t i = 0; i < gates.size(); ++i) {
    const std::string name = TextAt(gates[i], "name");
    const std::string at = Path(Path(field, "schedulingGates"), i);
    causes.All(at, name, QualifiedNameErrors(name));
    if (!names.insert(name).second) causes.Duplicate(at, name);
  }
}

void CheckSchedulingGroup(const std::string& field, const Json& spec, Causes& causes) {
  const Json& group = At(spec, "schedulingGroup");
  if (group.is_null()) return;
  const std::string at = Path(field, "schedulingGroup.podGroupName");
  const Json& name = At(group, "podGroupName");
  if (name.is_null()) return causes.Invalid(at, nullptr, "must specify one of: `podGroupName`");
  causes.All(at, name, SubdomainErrors(TextAt(group, "podGroupName")));
}

void CheckPodClaims(const std::string& field, const Json& claims, Causes& causes) {
  std::set<std::string> names;
  const std::vector<Json>& list = ElementsOf(claims);
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string at = Path(field, i);
    const std::string name = TextAt(list[i], "name");
    if (name.empty()) {
      causes.Required(Path(at, "name"));
    } else if (!names.insert(name).second) {
      causes.Duplicate(Path(at, "name"), name);
    }
    const Json& claim = At(list[i], "resourceClaimName");
    const Json& claim_template = At(list[i], "resourceClaimTemplateName");
    const Json shown = {{"Name", name},
                        {"ResourceClaimName", claim},
                        {"ResourceClaimTemplateName", claim_template}};
    if (claim.is_null() && claim_template.is_null()) {
      causes.Invalid(at, shown,
                     "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
    } else if (!claim.is_null() && !claim_template.is_null()) {
      causes.Invalid(
          at, shown,
          "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified");
    }
  }
}

void CheckHostAliases(const std::string& field, const Json& aliases, Causes& causes) {
  const std::vector<Json>& list = ElementsOf(aliases);
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string ip = TextAt(list[i], "ip");
    std::array<unsigned char, sizeof(in6_addr)> address{};
    if (inet_pton(AF_INET, ip.c_str(), address.data()) == 1) continue;
    if (inet_pton(AF_INET6, ip.c_str(), address.data()) == 1) continue;
    causes.Invalid(Path(Path(field, i), "ip"), ip,
                   "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  }
}

void CheckNames(const std::string& field, const Json& spec, Causes& causes) {
  for (const char* key : {"serviceAccountName", "nodeName"}) {
    const std::string name = TextAt(spec, key);
    if (!name.empty()) causes.All(Path(field, key), name, SubdomainErrors(name));
  }
  if (!TextAt(spec, "nodeName").empty() && !ElementsOf(At(spec, "schedulingGates")).empty()) {
    causes.Forbidden(Path(field, "nodeName"),
                     "cannot be set until all schedulingGates have been cleared");
  }
  CheckSchedulingGroup(field, spec, causes);
  const auto deadline = NumberAt(spec, "activeDeadlineSeconds");
  if (deadline && (*deadline < 1 || *deadline > kMostSeconds)) {
    causes.Invalid(Path(field, "activeDeadlineSeconds"), *deadline,
                   "must be between 1 and 2147483647, inclusive");
  }
  for (const char* key : {"hostname", "subdomain"}) {
    const std::string name = TextAt(spec, key);
    if (!name.empty()) causes.All(Path(field, key), name, LabelErrors(name));
  }
}

}  // namespace

void CheckTolerations(const std::string& field, const Json& tolerations, Causes& causes) {
  const std::vector<Json>& list = ElementsOf(tolerations);
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string at = Path(field, i);
    const std::string key = TextAt(list[i], "key");
    const std::string op = TextAt(list[i], "operator");
    const std::string value = TextAt(list[i], "value");
    const std::string effect = TextAt(list[i], "effect");
    if (!key.empty()) causes.All(Path(at, "key"), key, QualifiedNameErrors(key));
    if (key.empty() && op != "Exists") {
      causes.Invalid(Path(at, "operator"), op,
                     "operator must be Exists when `key` is empty, which means \"match all values "
                     "and all keys\"");
    }
    if (!At(list[i], "tolerationSeconds").is_null() && effect != "NoExecute") {
      causes.Invalid(Path(at, "effect"), effect,
                     "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    if (op == "Equal" || op.empty()) {
      causes.All(Path(at, "operator"), value, LabelValueErrors(value));
    } else if (op == "Exists") {
      if (!value.empty()) {
        causes.Invalid(Path(at, "operator"), value,
                       "value must be empty when `operator` is 'Exists'");
      }
    } else {
      causes.OneOf(Path(at, "operator"), op, {"Equal", "Exists"});
    }
    if (effect.empty()) continue;
    causes.OneOf(Path(at, "effect"), effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"});
  }
}

void CheckPodSpec(const std::string& field, const Json& spec, Causes& causes) {
  CheckVolumes(field, spec, causes);
  CheckPodClaims(Path(field, "resourceClaims"), At(spec, "resourceClaims"), causes);
  CheckContainers(field, spec, causes);
  causes.OneOf(Path(field, "restartPolicy"), TextAt(spec, "restartPolicy"),
               {"Always", "OnFailure", "Never"});
  const std::string dns = TextAt(spec, "dnsPolicy");
  causes.OneOf(Path(field, "dnsPolicy"), dns,
               {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"});
  CheckLabels(Path(field, "nodeSelector"), At(spec, "nodeSelector"), causes);
  const Json& affinity = At(spec, "affinity");
  const std::string affinity_field = Path(field, "affinity");
  CheckNodeAffinity(Path(affinity_field, "nodeAffinity"), At(affinity, "nodeAffinity"), causes);
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    CheckPodAffinity(Path(affinity_field, kind), At(affinity, kind), causes);
  }
  if (dns == "None" && !At(spec, "dnsConfig").is_object()) {
    causes.Required(Path(field, "dnsConfig"), "must provide `dnsConfig` when `dnsPolicy` is None");
  }
  CheckGates(field, spec, causes);
  CheckSpread(Path(field, "topologySpreadConstraints"), At(spec, "topologySpreadConstraints"),
              causes);
  CheckNames(field, spec, causes);
  CheckHostAliases(Path(field, "hostAliases"), At(spec, "hostAliases"), causes);
  CheckTolerations(Path(field, "tolerations"), At(spec, "tolerations"), causes);
  const std::string policy = TextAt(spec, "preemptionPolicy");
  if (!policy.empty()) {
    causes.OneOf(Path(field, "preemptionPolicy"), policy, {"PreemptLowerPriority", "Never"});
  }
  const std::string os = TextAt(At(spec, "os"), "name");
  if (At(spec, "os").is_object()) causes.OneOf(Path(field, "os"), os, {"linux", "windows"});
}

void CheckPodTemplate(const Json& pod_template, bool selects, Causes& causes) {
  const Json& labels = At(At(pod_template, "metadata"), "labels");
  if (!selects) {
    causes.Invalid("spec.template.metadata.labels", labels,
                   "`selector` does not match template `labels`");
  }
  CheckLabels("spec.template.labels", labels, causes);
  CheckPodSpec("spec.template.spec", At(pod_template, "spec"), causes);
}

}  // namespace ks::apiserver
