// SPDX-License-Identifier: Apache-2.0
// Bindings. Evictions are in subresources_eviction.cc, reviews in subresources_reviews.cc.
#include "apiserver/service/subresources.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "apiserver/service/own_kinds.h"
#include "apiserver/store/json_fields.h"

namespace ks::apiserver {
namespace {

// What the Binding asks for, taken apart and checked.
struct Wish {
  std::string pod;
  std::string uid;
  std::string resource_version;
  std::string node;
  bool takes_topology = false;  // admission looks at it: pods/binding with a target of kind Node
};

const Json& Member(const Json& object, const char* key) {
  static const Json* none = new Json();
  if (!object.is_object()) return *none;
  const auto it = object.find(key);
  return it == object.end() ? *none : *it;
}

bool IsSubdomain(std::string_view name) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (name.empty() || name.size() > 253) return false;
  char before = '.';
  for (const char c : name) {
    if (!plain(c) && c != '-' && c != '.') return false;
    if (!plain(c) && before == '.') return false;
    if (c == '.' && before == '-') return false;
    before = c;
  }
  return plain(before);
}

// The server refuses a bad target with a bare text: code 500, no reason.
std::optional<Failure> CheckTarget(const Json& target) {
  const std::string kind = Text(target, "kind");
  const std::string name = Text(target, "name");
  const auto refuse = [](std::string message) {
    return Failure{.code = 500, .reason = "", .message = std::move(message)};
  };
  if (!kind.empty() && kind != "Node") {
    return refuse("target.kind: Unsupported value: " + Json(kind).dump() +
                  ": supported values: \"Node\", \"<empty>\"");
  }
  if (name.empty()) return refuse("target.name: Required value");
  if (!IsSubdomain(name)) {
    return refuse(
        "target.name: Invalid value: " + Json(name).dump() +
        ": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
        "or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex "
        "used for validation is "
        R"('[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'))");
  }
  return {};
}

Outcome<Wish> ReadBinding(std::string_view ns, std::string_view url_name, const Json& binding) {
  if (!binding.is_object()) return BadRequest("the body of the request is no Binding");
  const std::string kind = Text(binding, "kind");
  if (!kind.empty() && kind != "Binding") {
    return BadRequest(kind + " in version \"v1\" cannot be handled as a Binding: converting (v1." +
                      kind + ") to (core.Binding): unknown conversion");
  }
  const Json& metadata = Member(binding, "metadata");
  const std::string own_ns = Text(metadata, "namespace");
  if (!own_ns.empty() && own_ns != ns) {
    return BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  Wish wish;
  wish.pod = Text(metadata, "name");
  if (url_name.empty() && wish.pod.empty()) return BadRequest("Name parameter required.");
  if (!url_name.empty() && wish.pod != url_name) {
    return BadRequest("name in URL does not match name in Binding object");
  }
  const Json& target = Member(binding, "target");
  if (auto failure = CheckTarget(target)) return *std::move(failure);
  wish.uid = Text(metadata, "uid");
  wish.resource_version = Text(metadata, "resourceVersion");
  wish.node = Text(target, "name");
  wish.takes_topology = !url_name.empty() && Text(target, "kind") == "Node";
  return wish;
}

Failure PreconditionFailed(std::string_view ns, const Wish& wish, std::string_view what,
                           std::string_view wanted, std::string_view actual) {
  std::string cause = "StorageError: invalid object, Code: 4, Key: /registry/pods/";
  cause.append(ns).append("/").append(wish.pod);
  cause += ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ";
  cause.append(what).append(" in precondition: ").append(wanted);
  cause.append(", ").append(what).append(" in object meta: ").append(actual);
  return Conflict("pods", wish.pod, cause);
}

std::optional<Failure> CheckBindable(std::string_view ns, const Wish& wish, const Json& pod) {
  const Json& metadata = Member(pod, "metadata");
  const std::string uid = Text(metadata, "uid");
  if (!wish.uid.empty() && wish.uid != uid) {
    return PreconditionFailed(ns, wish, "UID", wish.uid, uid);
  }
  const std::string version = Text(metadata, "resourceVersion");
  if (!wish.resource_version.empty() && wish.resource_version != version) {
    return PreconditionFailed(ns, wish, "ResourceVersion", wish.resource_version, version);
  }
  if (!Text(metadata, "deletionTimestamp").empty()) {
    return Conflict("pods/binding", wish.pod,
                    "pod " + wish.pod + " is being deleted, cannot be assigned to a host");
  }
  const Json& spec = Member(pod, "spec");
  const std::string node = Text(spec, "nodeName");
  if (!node.empty()) {
    return Conflict("pods/binding", wish.pod,
                    "pod " + wish.pod + " is already assigned to node " + Json(node).dump());
  }
  const Json& gates = Member(spec, "schedulingGates");
  if (gates.is_array() && !gates.empty()) {
    return Conflict("pods/binding", wish.pod,
                    "pod " + wish.pod + " has non-empty .spec.schedulingGates");
  }
  return {};
}

void Merge(const Json& from, const char* key, Json& metadata) {
  const Json& values = Member(from, key);
  if (!values.is_object() || values.empty()) return;
  Json& into = metadata[key];
  if (!into.is_object()) into = Json::object();
  into.update(values);
}

// As admission PodTopologyLabels: where the pod runs, readable from within by the downward API.
void CopyTopology(const Store& store, const Wish& wish, Json& metadata) {
  static constexpr std::array<std::string_view, 2> kCopied = {"topology.kubernetes.io/region",
                                                              "topology.kubernetes.io/zone"};
  static const KindInfo* nodes = FindResource("", "v1", "nodes");
  if (!wish.takes_topology) return;
  const ObjectPtr node = store.Find(*nodes, "", wish.node);
  if (node == nullptr) return;
  for (const auto& [key, value] : node->labels) {
    if (std::find(kCopied.begin(), kCopied.end(), key) == kCopied.end()) continue;
    Json& labels = metadata["labels"];
    if (!labels.is_object()) labels = Json::object();
    labels[key] = value;
  }
}

void SetScheduled(const std::string& now, Json& pod) {
  Json& status = pod["status"];
  if (!status.is_object()) status = Json::object();
  status.erase("nominatedNodeName");
  Json& conditions = status["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  const auto it = std::find_if(conditions.begin(), conditions.end(), [](const Json& condition) {
    return Text(condition, "type") == "PodScheduled";
  });
  std::string since = now;
  if (it != conditions.end() && Text(*it, "status") == "True") {
    since = Text(*it, "lastTransitionTime");
  }
  Json scheduled = {{"type", "PodScheduled"},
                    {"status", "True"},
                    {"lastProbeTime", nullptr},
                    {"lastTransitionTime", since}};
  if (it != conditions.end()) {
    *it = std::move(scheduled);
  } else {
    conditions.push_back(std::move(scheduled));
  }
}

}  // namespace

Json CreatedStatus() {
  return Json{{"kind", "Status"},
              {"apiVersion", "v1"},
              {"metadata", Json::object()},
              {"status", "Success"},
              {"code", 201}};
}

Outcome<Json> BindPod(Registry& registry, std::string_view ns, std::string_view url_name,
                      const Json& binding, bool dry_run) {
  auto wish = ReadBinding(ns, url_name, binding);
  if (!wish.ok()) return wish.failure();
  if (dry_run) {
    const auto pod = registry.Get(Pods(), ns, wish->pod);
    if (!pod.ok()) return pod.failure();
    if (auto failure = CheckBindable(ns, *wish, (*pod)->Parse())) return *std::move(failure);
  } else {
    const std::string now = registry.Now();
    const auto assign = [&](Json& pod) -> std::optional<Failure> {
      if (auto failure = CheckBindable(ns, *wish, pod)) return failure;
      pod["spec"]["nodeName"] = wish->node;
      Json& metadata = pod["metadata"];
      Merge(Member(binding, "metadata"), "labels", metadata);
      Merge(Member(binding, "metadata"), "annotations", metadata);
      CopyTopology(registry.store(), *wish, metadata);
      SetScheduled(now, pod);
      return {};
    };
    const auto written = registry.Overwrite(Pods(), ns, wish->pod, assign);
    if (!written.ok()) return written.failure();
  }
  return CreatedStatus();
}

}  // namespace ks::apiserver
