// SPDX-License-Identifier: Apache-2.0
// pods/resize: what a pod and its containers ask for, and nothing else.
#include <array>

#include "api/quantity.h"
#include "apiserver/registry/strategy.h"
#include "apiserver/registry/strategy_parts.h"

namespace ks::apiserver {
namespace {

using api::Quantity;

constexpr std::array<const char*, 2> kLists = {"containers", "initContainers"};
constexpr std::array<const char*, 2> kAmounts = {"requests", "limits"};
constexpr std::string_view kMirror = "kubernetes.io/config.mirror";

// `kept` is a container as it was; what `sent` may bring in is checked later.
void TakeResources(const Json& sent, Json& kept) {
  if (!sent.is_object() || !kept.is_object()) return;
  for (const char* key : {"name", "resources", "resizePolicy"}) {
    const auto found = sent.find(key);
    if (found == sent.end()) {
      kept.erase(key);
    } else {
      kept[key] = *found;
    }
  }
}

void TakeContainers(const Json& sent, const char* list, Json& kept_spec) {
  const std::vector<Json>& containers = ElementsOf(At(sent, list));
  const std::vector<Json>& before = ElementsOf(At(kept_spec, list));
  if (containers.size() != before.size()) {
    kept_spec[list] = At(sent, list);
    return;
  }
  for (size_t i = 0; i < containers.size(); ++i) TakeResources(containers[i], kept_spec[list][i]);
}

bool CheckSameContainers(const char* list, const Json& before, const Json& spec, Causes& causes) {
  const std::vector<Json>& old = ElementsOf(At(before, list));
  const std::vector<Json>& now = ElementsOf(At(spec, list));
  const std::string field = Path("spec", list);
  if (old.size() != now.size()) {
    causes.Forbidden(field, std::string(list) + " may not be added or removed on resize");
    return false;
  }
  bool same = true;
  for (size_t i = 0; i < now.size(); ++i) {
    if (TextAt(old[i], "name") == TextAt(now[i], "name")) continue;
    causes.Forbidden(Path(Path(field, i), "name"),
                     std::string(list) + " may not be renamed or reordered on resize");
    same = false;
  }
  return same;
}

void CheckNothingRemoved(const std::string& field, const Json& before, const Json& now,
                         Causes& causes) {
  for (const char* amounts : kAmounts) {
    const Json& old = At(before, amounts);
    if (!old.is_object()) continue;
    bool removed = false;
    for (const auto& [resource, value] : old.items()) {
      removed = removed || At(At(now, amounts), resource).is_null();
    }
    if (!removed) continue;
    causes.Forbidden(Path(field, amounts),
                     "resource " + std::string(amounts) + " cannot be removed");
  }
}

// Without what may change: cpu and memory.
Json Fixed(Json resources) {
  if (!resources.is_object()) return Json::object();
  for (const char* amounts : kAmounts) {
    Json* values = Find(resources, amounts);
    if (values == nullptr) continue;
    if (values->is_object()) {
      values->erase("cpu");
      values->erase("memory");
    }
    if (values->empty()) resources.erase(amounts);
  }
  return resources;
}

bool SameFixed(const Json& before, const Json& now) {
  return Fixed(At(before, "resources")) == Fixed(At(now, "resources")) &&
         At(before, "resizePolicy") == At(now, "resizePolicy");
}

void CheckList(const char* list, const Json& before, const Json& spec, Causes& causes) {
  const bool init = std::string_view(list) == "initContainers";
  const std::vector<Json>& old = ElementsOf(At(before, list));
  const std::vector<Json>& now = ElementsOf(At(spec, list));
  bool fixed = true;
  for (size_t i = 0; i < now.size(); ++i) {
    const std::string field = Path(Path("spec", list), i);
    CheckNothingRemoved(Path(field, "resources"), At(old[i], "resources"), At(now[i], "resources"),
                        causes);
    if (SameFixed(old[i], now[i])) continue;
    fixed = false;
    if (init) {
      causes.Forbidden(field,
                       "only cpu and memory resources for init or sidecar containers are mutable");
    }
  }
  if (!fixed && !init) causes.Forbidden("spec", "only cpu and memory resources are mutable");
}

}  // namespace

void KeepAllButResources(const Json& before, Json* object) {
  Json kept = before;
  const Json& sent = At(*object, "spec");
  Json* spec = Find(kept, "spec");
  if (spec != nullptr && spec->is_object()) {
    for (const char* list : kLists) TakeContainers(sent, list, *spec);
    if (At(sent, "resources").is_object()) (*spec)["resources"] = At(sent, "resources");
  }
  // Asked for all the same, and looked at by the caller.
  for (const char* key : {"uid", "deletionTimestamp"}) {
    const std::string value = TextAt(At(*object, "metadata"), key);
    if (!value.empty()) kept["metadata"][key] = value;
  }
  *object = std::move(kept);
}

void CheckPodResize(const Json& before, const Json& pod, Causes& causes) {
  const Json& old_spec = At(before, "spec");
  const Json& spec = At(pod, "spec");
  if (At(At(At(before, "metadata"), "annotations"), kMirror).is_string()) {
    causes.Forbidden("[]", "static pods cannot be resized");
    return;
  }
  if (TextAt(At(old_spec, "os"), "name") == "windows") {
    causes.Forbidden("[]", "windows pods cannot be resized");
    return;
  }
  const std::string qos = QosOf(old_spec);
  if (QosOf(spec) != qos) {
    causes.Invalid("spec", qos, "Pod QOS Class may not change as a result of resizing");
  }
  for (const char* list : kLists) {
    if (!CheckSameContainers(list, old_spec, spec, causes)) return;
  }
  for (const char* list : kLists) CheckList(list, old_spec, spec, causes);
  if (Fixed(At(old_spec, "resources")) != Fixed(At(spec, "resources"))) {
    causes.Forbidden("spec", "only cpu and memory resources are mutable at pod-level");
  }
}

namespace {

Quantity AmountOf(const Json& quantities, std::string_view resource) {
  const Result<Quantity> parsed = Quantity::Parse(TextAt(quantities, resource));
  return parsed.ok() ? *parsed : Quantity();
}

// What its containers need at the same time, unless the pod as a whole says so; and its overhead.
Quantity RequestOf(const Json& spec, std::string_view resource) {
  const auto asked = [resource](const Json& holder) {
    return AmountOf(At(At(holder, "resources"), "requests"), resource);
  };
  Quantity running;
  for (const Json& container : ElementsOf(At(spec, "containers"))) running += asked(container);
  Quantity sidecars;
  Quantity starting;
  for (const Json& container : ElementsOf(At(spec, "initContainers"))) {
    Quantity now = sidecars;
    now += asked(container);
    if (TextAt(container, "restartPolicy") == "Always") sidecars = now;
    if (now > starting) starting = now;
  }
  running += sidecars;
  Quantity request = running > starting ? running : starting;
  if (At(At(At(spec, "resources"), "requests"), resource).is_string()) request = asked(spec);
  request += AmountOf(At(spec, "overhead"), resource);
  return request;
}

std::string Lacking(const char* resource, int64_t requested, int64_t allocatable) {
  if (requested <= allocatable) return "";
  return std::string(resource) + ", requested: " + std::to_string(requested) +
         ", allocatable: " + std::to_string(allocatable);
}

}  // namespace

std::optional<Failure> AdmitResize(const Registry& registry, const Json& pod) {
  static const KindInfo& pods = *FindResource("", "v1", "pods");
  static const KindInfo& nodes = *FindResource("", "v1", "nodes");
  const std::string name = TextAt(At(pod, "metadata"), "name");
  const std::string node_name = TextAt(At(pod, "spec"), "nodeName");
  if (node_name.empty()) return std::nullopt;
  const ObjectPtr stored = registry.store().Find(nodes, "", node_name);
  if (stored == nullptr) {
    return Forbidden(pods, name, "node \"" + node_name + "\" not found");
  }
  const Json allocatable = At(At(stored->Parse(), "status"), "allocatable");
  const Json& spec = At(pod, "spec");
  std::string lacking = Lacking("cpu", RequestOf(spec, "cpu").MilliValue(),
                                AmountOf(allocatable, "cpu").MilliValue());
  const std::string memory =
      Lacking("memory", RequestOf(spec, "memory").Value(), AmountOf(allocatable, "memory").Value());
  if (!lacking.empty() && !memory.empty()) lacking += "; ";
  lacking += memory;
  if (lacking.empty()) return std::nullopt;
  Failure failure =
      Forbidden(pods, name, "node didn't have enough allocatable resources: " + lacking);
  failure.causes.push_back({.reason = "NodeCapacity"});
  return failure;
}

}  // namespace ks::apiserver
