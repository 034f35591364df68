// SPDX-License-Identifier: Apache-2.0
// Rows of namespaces, controllers, services, budgets, leases and what else is neither pod nor node
// nor storage.
#include <algorithm>

#include "apiserver/table/table_cells.h"
#include "base/join.h"

namespace ks::apiserver {
namespace {

std::string Name(const Json& object) { return TextAt(object, {"metadata", "name"}); }
std::string Age(const Json& object, TimePoint now) {
  return Since(At(object, {"metadata", "creationTimestamp"}), now);
}

int64_t SizeAt(const Json& object, const char* key) {
  const Json& found = At(object, {key});
  return found.is_object() || found.is_array() ? static_cast<int64_t>(found.size()) : 0;
}

std::string OfContainers(const Json& object, const char* field) {
  std::vector<std::string> words;
  const Json& containers = At(object, {"spec", "template", "spec", "containers"});
  if (containers.is_array()) {
    for (const Json& container : containers) words.push_back(TextAt(container, {field}));
  }
  return Join(words, ",");
}

std::string LabelText(const Json& labels) {
  std::vector<std::string> words;
  if (labels.is_object()) {
    for (const auto& [key, value] : labels.items()) {
      words.push_back(key + "=" + (value.is_string() ? value.get<std::string>() : ""));
    }
  }
  return words.empty() ? "<none>" : Join(words, ",");
}

// `a=b,c in (d,e),!f`: requirements sorted by key.
std::string SelectorText(const Json& selector) {
  std::vector<std::pair<std::string, std::string>> parts;
  const Json& labels = At(selector, {"matchLabels"});
  if (labels.is_object()) {
    for (const auto& [key, value] : labels.items()) {
      parts.emplace_back(key, key + "=" + (value.is_string() ? value.get<std::string>() : ""));
    }
  }
  const Json& expressions = At(selector, {"matchExpressions"});
  if (expressions.is_array()) {
    for (const Json& expression : expressions) {
      const std::string key = TextAt(expression, {"key"});
      const std::string op = TextAt(expression, {"operator"});
      std::vector<std::string> values;
      const Json& list = At(expression, {"values"});
      if (list.is_array()) {
        for (const Json& value : list) values.push_back(value.is_string() ? value : "");
      }
      std::sort(values.begin(), values.end());
      std::string text = (op == "DoesNotExist" ? "!" : "") + key;
      if (op == "In") text += " in (" + Join(values, ",") + ")";
      if (op == "NotIn") text += " notin (" + Join(values, ",") + ")";
      parts.emplace_back(key, text);
    }
  }
  std::sort(parts.begin(), parts.end());
  std::vector<std::string> words;
  for (auto& part : parts) words.push_back(std::move(part.second));
  return words.empty() ? "<none>" : Join(words, ",");
}

Json NamespaceCells(const Json& object, TimePoint now) {
  return Json::array({Name(object), TextAt(object, {"status", "phase"}), Age(object, now)});
}

Json ReplicaSetCells(const Json& object, TimePoint now) {
  const Json& selector = At(object, {"spec", "selector"});
  const bool controller = TextAt(object, {"kind"}) == "ReplicationController";
  return Json::array({Name(object), NumberAt(object, {"spec", "replicas"}),
                      NumberAt(object, {"status", "replicas"}),
                      NumberAt(object, {"status", "readyReplicas"}), Age(object, now),
                      OfContainers(object, "name"), OfContainers(object, "image"),
                      controller ? LabelText(selector) : SelectorText(selector)});
}

Json StatefulSetCells(const Json& object, TimePoint now) {
  return Json::array({Name(object),
                      std::to_string(NumberAt(object, {"status", "readyReplicas"})) + "/" +
                          std::to_string(NumberAt(object, {"spec", "replicas"})),
                      Age(object, now), OfContainers(object, "name"),
                      OfContainers(object, "image")});
}

std::string JobStatus(const Json& job) {
  std::string status = "Running";
  const Json& conditions = At(job, {"status", "conditions"});
  if (!conditions.is_array()) return status;
  for (const char* type :
       {"Suspended", "FailureTarget", "SuccessCriteriaMet", "Failed", "Complete"}) {
    const bool holds = std::any_of(conditions.begin(), conditions.end(), [&](const Json& each) {
      return TextAt(each, {"type"}) == type && TextAt(each, {"status"}) == "True";
    });
    if (holds) status = type;
  }
  return status;
}

std::string JobCompletions(const Json& job) {
  const std::string done = std::to_string(NumberAt(job, {"status", "succeeded"})) + "/";
  if (const Json& wanted = At(job, {"spec", "completions"}); wanted.is_number_integer()) {
    return done + std::to_string(wanted.get<int64_t>());
  }
  const int64_t parallelism = NumberAt(job, {"spec", "parallelism"});
  return done + (parallelism > 1 ? "1 of " + std::to_string(parallelism) : "1");
}

Json JobCells(const Json& object, TimePoint now) {
  const auto start = ParseTime(At(object, {"status", "startTime"}));
  const auto end = ParseTime(At(object, {"status", "completionTime"}));
  return Json::array({Name(object), JobStatus(object), JobCompletions(object),
                      start ? HumanDuration(end.value_or(now) - *start) : "", Age(object, now),
                      OfContainers(object, "name"), OfContainers(object, "image"),
                      SelectorText(At(object, {"spec", "selector"}))});
}

std::string ServicePorts(const Json& service) {
  std::vector<std::string> words;
  const Json& ports = At(service, {"spec", "ports"});
  if (!ports.is_array()) return "<none>";
  for (const Json& port : ports) {
    std::string text = std::to_string(NumberAt(port, {"port"}));
    const int64_t node_port = NumberAt(port, {"nodePort"});
    if (node_port > 0) text += ":" + std::to_string(node_port);
    words.push_back(text + "/" + TextAt(port, {"protocol"}, "TCP"));
  }
  return words.empty() ? "<none>" : Join(words, ",");
}

Json ServiceCells(const Json& object, TimePoint now) {
  return Json::array({Name(object), TextAt(object, {"spec", "type"}),
                      TextAt(object, {"spec", "clusterIP"}, "<none>"), "<none>",
                      ServicePorts(object), Age(object, now),
                      LabelText(At(object, {"spec", "selector"}))});
}

Json ConfigMapCells(const Json& object, TimePoint now) {
  return Json::array(
      {Name(object), SizeAt(object, "data") + SizeAt(object, "binaryData"), Age(object, now)});
}

Json SecretCells(const Json& object, TimePoint now) {
  return Json::array(
      {Name(object), TextAt(object, {"type"}), SizeAt(object, "data"), Age(object, now)});
}

Json AgeCells(const Json& object, TimePoint now) {
  return Json::array({Name(object), Age(object, now)});
}

std::string NumberOrPercent(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number() ? std::to_string(value.get<int64_t>()) : "N/A";
}

Json BudgetCells(const Json& object, TimePoint now) {
  return Json::array({Name(object), NumberOrPercent(At(object, {"spec", "minAvailable"})),
                      NumberOrPercent(At(object, {"spec", "maxUnavailable"})),
                      NumberAt(object, {"status", "disruptionsAllowed"}), Age(object, now)});
}

Json LeaseCells(const Json& object, TimePoint now) {
  return Json::array({Name(object), TextAt(object, {"spec", "holderIdentity"}), Age(object, now)});
}

Json PriorityClassCells(const Json& object, TimePoint now) {
  return Json::array({Name(object), NumberAt(object, {"value"}),
                      At(object, {"globalDefault"}) == true, Age(object, now),
                      TextAt(object, {"preemptionPolicy"})});
}

const Column kName{.name = "Name", .format = "name"};

std::vector<Column> ReplicaColumns() {
  return {kName,   {"Desired", "integer"},      {"Current", "integer"},  {"Ready", "integer"},
          {"Age"}, {"Containers", "string", 1}, {"Images", "string", 1}, {"Selector", "string", 1}};
}

}  // namespace

const std::vector<Printer>& WorkloadPrinters() {
  static const auto* printers = new std::vector<Printer>{
      {"", "Namespace", {kName, {"Status"}, {"Age"}}, NamespaceCells},
      {"apps", "ReplicaSet", ReplicaColumns(), ReplicaSetCells},
      {"", "ReplicationController", ReplicaColumns(), ReplicaSetCells},
      {"apps",
       "StatefulSet",
       {kName, {"Ready"}, {"Age"}, {"Containers", "string", 1}, {"Images", "string", 1}},
       StatefulSetCells},
      {"batch",
       "Job",
       {kName,
        {"Status"},
        {"Completions"},
        {"Duration"},
        {"Age"},
        {"Containers", "string", 1},
        {"Images", "string", 1},
        {"Selector", "string", 1}},
       JobCells},
      {"",
       "Service",
       {kName,
        {"Type"},
        {"Cluster-IP"},
        {"External-IP"},
        {"Port(s)"},
        {"Age"},
        {"Selector", "string", 1}},
       ServiceCells},
      {"", "ConfigMap", {kName, {"Data"}, {"Age"}}, ConfigMapCells},
      {"", "Secret", {kName, {"Type"}, {"Data"}, {"Age"}}, SecretCells},
      {"", "ServiceAccount", {kName, {"Age"}}, AgeCells},
      {"policy",
       "PodDisruptionBudget",
       {kName, {"Min Available"}, {"Max Unavailable"}, {"Allowed Disruptions", "integer"}, {"Age"}},
       BudgetCells},
      {"coordination.k8s.io", "Lease", {kName, {"Holder"}, {"Age"}}, LeaseCells},
      {"scheduling.k8s.io",
       "PriorityClass",
       {kName, {"Value", "integer"}, {"Global-Default", "boolean"}, {"Age"}, {"PreemptionPolicy"}},
       PriorityClassCells},
  };
  return *printers;
}

}  // namespace ks::apiserver
