// SPDX-License-Identifier: Apache-2.0
// What objects of the kinds besides pods must look like.
#include <algorithm>
#include <set>

#include "api/quantity.h"
#include "apiserver/registry/strategy_parts.h"

namespace ks::apiserver {
namespace {

using api::Quantity;

std::optional<Quantity> QuantityOf(const Json& value) {
  if (!value.is_string()) return std::nullopt;
  Result<Quantity> parsed = Quantity::Parse(value.get_ref<const std::string&>());
  if (!parsed.ok()) return std::nullopt;
  return *parsed;
}

void CheckTaint(const std::string& field, const Json& taint, Causes& causes) {
  const std::string key = TextAt(taint, "key");
  const std::string value = TextAt(taint, "value");
  const std::string effect = TextAt(taint, "effect");
  causes.All(Path(field, "key"), key, QualifiedNameErrors(key));
  causes.All(Path(field, "value"), value, LabelValueErrors(value));
  if (effect.empty()) {
    causes.Required(Path(field, "effect"));
  } else {
    causes.OneOf(Path(field, "effect"), effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"});
  }
}

void CheckTaints(const Json& node, Causes& causes) {
  std::set<std::pair<std::string, std::string>> seen;
  const std::vector<Json>& taints = ElementsOf(At(At(node, "spec"), "taints"));
  for (size_t i = 0; i < taints.size(); ++i) {
    const std::string field = Path("metadata.taints", i);
    const Json& taint = taints[i];
    CheckTaint(field, taint, causes);
    if (seen.emplace(TextAt(taint, "key"), TextAt(taint, "effect")).second) continue;
    causes.Add({"FieldValueDuplicate",
                "Duplicate value: {\"Key\":" + Json(TextAt(taint, "key")).dump() +
                    ",\"Value\":" + Json(TextAt(taint, "value")).dump() +
                    ",\"Effect\":" + Json(TextAt(taint, "effect")).dump() +
                    ",\"TimeAdded\":" + At(taint, "timeAdded").dump() +
                    "}: taints must be unique by key and effect pair",
                field});
  }
}

void CheckNode(const Json& node, Causes& causes) {
  CheckTaints(node, causes);
  for (const char* list : {"capacity", "allocatable"}) {
    const Json& resources = At(At(node, "status"), list);
    if (!resources.is_object()) continue;
    for (const auto& [name, value] : resources.items()) {
      const auto quantity = QuantityOf(value);
      if (!quantity) continue;
      const std::string field = Path(Path("status", list), name);
      if (*quantity < Quantity()) {
        causes.Invalid(field, value, "must be greater than or equal to 0");
      }
      if (name.find('/') != std::string::npos && quantity->MilliValue() % 1000 != 0) {
        causes.Invalid(field, value, "must be an integer");
      }
    }
  }
}

void CheckPod(const Json& pod, Causes& causes) { CheckPodSpec("spec", At(pod, "spec"), causes); }

void CheckPriorityClass(const Json& object, Causes& causes) {
  constexpr int64_t kMostUserValue = 1000000000;
  const std::string name = TextAt(At(object, "metadata"), "name");
  const bool known = name == "system-cluster-critical" || name == "system-node-critical";
  const int64_t value = NumberAt(object, "value").value_or(0);
  if (name.starts_with("system-") && !known) {
    causes.Forbidden("metadata.name",
                     "priority class names with 'system-' prefix are reserved for system use only. "
                     "error: " +
                         name + " is not a known system priority class");
  } else if (!known && value > kMostUserValue) {
    causes.Forbidden("value", "maximum allowed value of a user defined priority is 1000000000");
  }
  causes.OneOf("preemptionPolicy", TextAt(object, "preemptionPolicy"),
               {"PreemptLowerPriority", "Never"});
}

// A number or percentage of pods.
void CheckAmount(const Json& spec, const char* key, Causes& causes) {
  const Json& amount = At(spec, key);
  const std::string field = Path("spec", key);
  if (amount.is_number_integer()) {
    if (amount < 0) causes.Invalid(field, amount, "must be greater than or equal to 0");
    return;
  }
  if (!amount.is_string()) return;
  const std::string& text = amount.get_ref<const std::string&>();
  const std::string digits = text.substr(0, text.empty() ? 0 : text.size() - 1);
  const bool percent = text.ends_with('%') && !digits.empty() &&
                       digits.find_first_not_of("0123456789") == std::string::npos;
  if (!percent) {
    causes.Invalid(field, amount,
                   "a valid percent string must be a numeric string followed by an ending '%' "
                   "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')");
  } else if (digits.size() > 3 || std::stoi(digits) > 100) {
    causes.Invalid(field, amount, "must not be greater than 100%");
  }
}

void CheckDisruptionBudget(const Json& object, Causes& causes) {
  const Json& spec = At(object, "spec");
  const Json& available = At(spec, "minAvailable");
  const Json& unavailable = At(spec, "maxUnavailable");
  if (!available.is_null() && !unavailable.is_null()) {
    causes.Add(
        {"FieldValueInvalid",
         "Invalid value: {\"MinAvailable\":" + available.dump() + ",\"Selector\":" +
             At(spec, "selector").dump() + ",\"MaxUnavailable\":" + unavailable.dump() +
             ",\"UnhealthyPodEvictionPolicy\":" + At(spec, "unhealthyPodEvictionPolicy").dump() +
             "}: minAvailable and maxUnavailable cannot be both set",
         "spec"});
  }
  CheckAmount(spec, "minAvailable", causes);
  CheckAmount(spec, "maxUnavailable", causes);
  CheckLabelSelector("spec.selector", At(spec, "selector"), causes);
  const std::string policy = TextAt(spec, "unhealthyPodEvictionPolicy");
  if (policy.empty()) return;
  causes.OneOf("spec.unhealthyPodEvictionPolicy", policy, {"AlwaysAllow", "IfHealthyBudget"});
}

void CheckServicePorts(const Json& spec, Causes& causes) {
  constexpr std::string_view kRange = "must be between 1 and 65535, inclusive";
  const std::vector<Json>& ports = ElementsOf(At(spec, "ports"));
  const auto in_range = [](int64_t port) { return port >= 1 && port <= 65535; };
  for (size_t i = 0; i < ports.size(); ++i) {
    const std::string field = Path("spec.ports", i);
    const int64_t port = NumberAt(ports[i], "port").value_or(0);
    const auto target = NumberAt(ports[i], "targetPort");
    if (ports.size() > 1 && TextAt(ports[i], "name").empty()) {
      causes.Required(Path(field, "name"));
    }
    if (!in_range(port)) causes.Invalid(Path(field, "port"), port, kRange);
    causes.OneOf(Path(field, "protocol"), TextAt(ports[i], "protocol"), {"SCTP", "TCP", "UDP"});
    if (target && !in_range(*target)) causes.Invalid(Path(field, "targetPort"), *target, kRange);
  }
}

void CheckService(const Json& object, Causes& causes) {
  const Json& spec = At(object, "spec");
  const std::string type = TextAt(spec, "type");
  const bool headless = TextAt(spec, "clusterIP") == "None";
  if (ElementsOf(At(spec, "ports")).empty() && !headless && type != "ExternalName") {
    causes.Required("spec.ports");
  }
  CheckServicePorts(spec, causes);
  CheckLabels("spec.selector", At(spec, "selector"), causes);
  causes.OneOf("spec.type", type, {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"});
}

// The template of a workload that keeps its pods running; `selects`: its labels are in order.
void CheckLastingTemplate(const Json& spec, bool selects, Causes& causes) {
  const Json& pod_template = At(spec, "template");
  CheckPodTemplate(pod_template, selects, causes);
  const std::string policy = TextAt(At(pod_template, "spec"), "restartPolicy");
  if (policy == "OnFailure" || policy == "Never") {
    causes.NotSupported("spec.template.spec.restartPolicy", policy, {"Always"});
  }
}

void CheckReplicas(const Json& object, bool labels_only, Causes& causes) {
  const Json& spec = At(object, "spec");
  const Json& selector = At(spec, "selector");
  CheckNotNegative("spec", spec, "replicas", causes);
  CheckNotNegative("spec", spec, "minReadySeconds", causes);
  const Json wrapped = labels_only ? Json{{"matchLabels", selector}} : selector;
  const bool given = selector.is_object();
  const bool empty = given && selector.empty();
  if (!given || (labels_only && empty)) {
    causes.Required("spec.selector");
  } else if (!labels_only) {
    CheckLabelSelector("spec.selector", selector, causes);
    if (empty) {
      causes.Invalid("spec.selector", selector, "empty selector is invalid for deployment");
    }
  }
  const Json& pod_template = At(spec, "template");
  if (labels_only && !pod_template.is_object()) {
    causes.Required("spec.template");
    return;
  }
  const bool selects =
      (given && SelectsLabels(wrapped, At(At(pod_template, "metadata"), "labels"))) ||
      (labels_only && !given);
  CheckLastingTemplate(spec, selects, causes);
}

void CheckReplicaSet(const Json& object, Causes& causes) { CheckReplicas(object, false, causes); }
void CheckReplicationController(const Json& object, Causes& causes) {
  CheckReplicas(object, true, causes);
}

void CheckStatefulSet(const Json& object, Causes& causes) {
  const std::string policy = TextAt(At(object, "spec"), "podManagementPolicy");
  if (policy != "OrderedReady" && policy != "Parallel") {
    causes.Invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'");
  }
  CheckReplicas(object, false, causes);
}

void CheckLease(const Json& object, Causes& causes) {
  const Json& spec = At(object, "spec");
  const auto duration = NumberAt(spec, "leaseDurationSeconds");
  if (duration && *duration <= 0) {
    causes.Invalid("spec.leaseDurationSeconds", *duration, "must be greater than 0");
  }
  CheckNotNegative("spec", spec, "leaseTransitions", causes);
}

void CheckLength(const char* field, const Json& object, const char* key, size_t most,
                 Causes& causes) {
  if (TextAt(object, key).size() <= most) return;
  causes.Invalid(field, "", "can have at most " + std::to_string(most) + " characters");
}

// docs/spec/api.md section 10.2. Events with an event time are of the new form; the old one is
// hardly checked.
void CheckEvent(const Json& event, Causes& causes) {
  constexpr size_t kMostText = 128;
  constexpr size_t kMostNote = 1024;
  const std::string own = TextAt(At(event, "metadata"), "namespace");
  const std::string other = TextAt(At(event, "involvedObject"), "namespace");
  if (TextAt(event, "eventTime").empty()) {
    if (!other.empty() && other != own) {
      causes.Invalid("involvedObject.namespace", other, "does not match event.namespace");
    }
    return;
  }
  const std::string controller = TextAt(event, "reportingComponent");
  if (controller.empty()) causes.Required("reportingController");
  causes.All("reportingController", controller, QualifiedNameErrors(controller));
  for (const char* key : {"reportingInstance", "action", "reason"}) {
    if (TextAt(event, key).empty()) causes.Required(key);
    CheckLength(key, event, key, kMostText, causes);
  }
  const std::string type = TextAt(event, "type");
  if (type != "Normal" && type != "Warning") {
    causes.Invalid("type", "", "has invalid value: " + type);
  }
  CheckLength("message", event, "message", kMostNote, causes);
  const Json& series = At(event, "series");
  if (!series.is_object()) return;
  if (NumberAt(series, "count").value_or(0) < 2) {
    causes.Invalid("series.count", "", "should be at least 2");
  }
  if (TextAt(series, "lastObservedTime").empty()) causes.Required("series.lastObservedTime");
}

void CheckDataKeys(const Json& object, Causes& causes) {
  const Json& binary = At(object, "binaryData");
  for (const char* list : {"data", "binaryData"}) {
    const Json& data = At(object, list);
    if (!data.is_object()) continue;
    for (const auto& [key, value] : data.items()) {
      const bool good = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.';
      });
      if (!good) {
        causes.Invalid(PathKey(list, key), key,
                       "a valid config key must consist of alphanumeric characters, '-', '_' or "
                       "'.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for "
                       "validation is '[-._a-zA-Z0-9]+')");
      }
      if (&data != &binary && !At(binary, key).is_null()) {
        causes.Invalid(PathKey(list, key), key, "duplicate of key present in binaryData");
      }
    }
  }
}

void CheckSecret(const Json& object, Causes& causes) {
  CheckDataKeys(object, causes);
  if (TextAt(object, "type") != "kubernetes.io/tls") return;
  for (const char* key : {"tls.crt", "tls.key"}) {
    if (!At(At(object, "data"), key).is_string()) causes.Required(PathKey("data", key));
  }
}

struct Row {
  std::string_view kind;
  void (*check)(const Json& object, Causes& causes);
};
constexpr Row kRows[] = {
    {"ConfigMap", CheckDataKeys},
    {"Event", CheckEvent},
    {"Job", CheckJob},
    {"Lease", CheckLease},
    {"Node", CheckNode},
    {"Pod", CheckPod},
    {"PodDisruptionBudget", CheckDisruptionBudget},
    {"PriorityClass", CheckPriorityClass},
    {"ReplicaSet", CheckReplicaSet},
    {"ReplicationController", CheckReplicationController},
    {"Secret", CheckSecret},
    {"Service", CheckService},
    {"StatefulSet", CheckStatefulSet},
};

}  // namespace

bool SelectsLabels(const Json& selector, const Json& labels) {
  const Json& wanted = At(selector, "matchLabels");
  if (wanted.is_object()) {
    for (const auto& [key, value] : wanted.items()) {
      if (At(labels, key) != value) return false;
    }
  }
  for (const Json& expression : ElementsOf(At(selector, "matchExpressions"))) {
    const std::string op = TextAt(expression, "operator");
    const Json& value = At(labels, TextAt(expression, "key"));
    const std::vector<Json>& values = ElementsOf(At(expression, "values"));
    const bool listed = std::find(values.begin(), values.end(), value) != values.end();
    if (op == "Exists" && value.is_null()) return false;
    if (op == "DoesNotExist" && !value.is_null()) return false;
    if (op == "In" && !listed) return false;
    if (op == "NotIn" && listed) return false;
  }
  return true;
}

void CheckKind(const KindInfo& kind, const Json& object, Causes& causes) {
  for (const Row& row : kRows) {
    if (row.kind == kind.kind) row.check(object, causes);
  }
  CheckStorageKind(kind, object, causes);
  if (kind.group == "resource.k8s.io") CheckDeviceKind(kind, object, causes);
}

}  // namespace ks::apiserver
