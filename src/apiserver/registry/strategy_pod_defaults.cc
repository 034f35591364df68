// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "api/quantity.h"
#include "apiserver/registry/strategy_parts.h"

namespace ks::apiserver {
namespace {

constexpr const char* kContainerLists[] = {"initContainers", "containers", "ephemeralContainers"};
constexpr int kFileMode = 420;

// Kubelets pull always what has no tag or the tag latest.
std::string PullPolicyOf(const std::string& image) {
  if (image.find('@') != std::string::npos) return "IfNotPresent";
  const size_t slash = image.rfind('/');
  const size_t colon = image.rfind(':');
  const bool tagged = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  return !tagged || image.substr(colon + 1) == "latest" ? "Always" : "IfNotPresent";
}

void SetHttpDefaults(Json& handler) {
  if (Json* http = Find(handler, "httpGet")) {
    SetDefault(*http, "path", "/");
    SetDefault(*http, "scheme", "HTTP");
  }
}

void SetProbeDefaults(Json& container, const char* name) {
  Json* probe = Find(container, name);
  if (probe == nullptr) return;
  SetDefault(*probe, "timeoutSeconds", 1);
  SetDefault(*probe, "periodSeconds", 10);
  SetDefault(*probe, "successThreshold", 1);
  SetDefault(*probe, "failureThreshold", 3);
  SetHttpDefaults(*probe);
  if (Json* grpc = Find(*probe, "grpc")) SetDefault(*grpc, "service", "");
}

void SetFieldRefDefaults(Json& outer) {
  if (Json* ref = Find(outer, "fieldRef")) SetDefault(*ref, "apiVersion", "v1");
}

// Parts of a thousandth are rounded up.
void RoundQuantities(Json& resources) {
  for (const char* list : {"limits", "requests"}) {
    Json* quantities = Find(resources, list);
    if (quantities == nullptr || !quantities->is_object()) continue;
    for (Json& value : *quantities) {
      if (!value.is_string()) continue;
      const auto quantity = api::Quantity::Parse(value.get_ref<const std::string&>());
      if (!quantity.ok()) continue;
      const api::Quantity rounded = api::Quantity::FromMilli(quantity->MilliValue());
      if (rounded > *quantity) value = rounded.ToString();
    }
  }
}

void SetContainerDefaults(Json& container, bool host_network) {
  if (!container.is_object()) return;
  SetDefault(container, "imagePullPolicy", PullPolicyOf(TextAt(container, "image")));
  SetDefault(container, "terminationMessagePath", "/dev/termination-log");
  SetDefault(container, "terminationMessagePolicy", "File");
  SetDefault(container, "resources", Json::object());
  RoundQuantities(container["resources"]);
  if (Json* ports = Find(container, "ports"); ports != nullptr && ports->is_array()) {
    for (Json& port : *ports) {
      SetDefault(port, "protocol", "TCP");
      if (host_network) SetDefault(port, "hostPort", At(port, "containerPort"));
    }
  }
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    SetProbeDefaults(container, probe);
  }
  if (Json* lifecycle = Find(container, "lifecycle")) {
    for (const char* hook : {"postStart", "preStop"}) {
      if (Json* handler = Find(*lifecycle, hook)) SetHttpDefaults(*handler);
    }
  }
  if (Json* env = Find(container, "env"); env != nullptr && env->is_array()) {
    for (Json& variable : *env) {
      if (Json* from = Find(variable, "valueFrom")) SetFieldRefDefaults(*from);
    }
  }
}

void SetItemsDefaults(Json& source) {
  Json* items = Find(source, "items");
  if (items == nullptr || !items->is_array()) return;
  for (Json& item : *items) SetFieldRefDefaults(item);
}

void SetProjectedDefaults(Json& projected) {
  Json* sources = Find(projected, "sources");
  if (sources == nullptr || !sources->is_array()) return;
  for (Json& source : *sources) {
    if (Json* token = Find(source, "serviceAccountToken")) {
      SetDefault(*token, "expirationSeconds", 3600);
    }
    if (Json* downward = Find(source, "downwardAPI")) SetItemsDefaults(*downward);
  }
}

void SetVolumeDefaults(Json& volume) {
  if (!volume.is_object()) return;
  if (volume.size() == (volume.contains("name") ? 1U : 0U)) volume["emptyDir"] = Json::object();
  for (const char* source : {"configMap", "secret", "downwardAPI", "projected"}) {
    if (Json* found = Find(volume, source)) SetDefault(*found, "defaultMode", kFileMode);
  }
  if (Json* downward = Find(volume, "downwardAPI")) SetItemsDefaults(*downward);
  if (Json* path = Find(volume, "hostPath")) SetDefault(*path, "type", "");
  if (Json* iscsi = Find(volume, "iscsi")) SetDefault(*iscsi, "iscsiInterface", "default");
  if (Json* projected = Find(volume, "projected")) SetProjectedDefaults(*projected);
  Json* ephemeral = Find(volume, "ephemeral");
  Json* claim = ephemeral == nullptr ? nullptr : Find(*ephemeral, "volumeClaimTemplate");
  Json* spec = claim == nullptr ? nullptr : Find(*claim, "spec");
  if (spec != nullptr) SetVolumeClaimSpecDefaults(*spec);
}

// What a container does not request but limits, it requests as limited.
void SetRequestsFromLimits(Json& container) {
  Json* resources = Find(container, "resources");
  const Json& limits = resources == nullptr ? At(container, "") : At(*resources, "limits");
  if (!limits.is_object() || limits.empty()) return;
  const Json copy = limits;
  Json* requests = FindObject(*resources, "requests");
  if (requests == nullptr) return;
  for (const auto& [name, value] : copy.items()) SetDefault(*requests, name, value);
}

bool IsPositive(const Json& value) {
  if (!value.is_string()) return false;
  const auto quantity = api::Quantity::Parse(value.get_ref<const std::string&>());
  return quantity.ok() && *quantity > api::Quantity();
}

// A pod's own resources: what its containers request together, else what the pod is limited to.
void SetPodResourceDefaults(Json& spec) {
  Json* resources = Find(spec, "resources");
  if (resources == nullptr || !At(*resources, "limits").is_object()) return;
  const Json limits = At(*resources, "limits");
  Json* requests = FindObject(*resources, "requests");
  if (requests == nullptr) return;
  for (const auto& [name, limit] : limits.items()) {
    if (requests->contains(name)) continue;
    api::Quantity sum;
    for (const Json& container : ElementsOf(At(spec, "containers"))) {
      const std::string text = TextAt(At(At(container, "resources"), "requests"), name);
      const auto quantity = api::Quantity::Parse(text);
      if (quantity.ok()) sum += *quantity;
    }
    (*requests)[name] = sum.IsZero() ? limit : Json(sum.ToString());
  }
}

// Unless the pod says otherwise it leaves a node that is not ready after five minutes.
void AddTolerations(Json& spec) {
  Json& tolerations = spec["tolerations"];
  if (tolerations.is_null()) tolerations = Json::array();
  if (!tolerations.is_array()) return;
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    const bool there =
        std::any_of(tolerations.begin(), tolerations.end(), [key](const Json& toleration) {
          const std::string own_key = TextAt(toleration, "key");
          const std::string effect = TextAt(toleration, "effect");
          return (own_key == key || own_key.empty()) && (effect.empty() || effect == "NoExecute");
        });
    if (there) continue;
    tolerations.push_back({{"key", key},
                           {"operator", "Exists"},
                           {"effect", "NoExecute"},
                           {"tolerationSeconds", 300}});
  }
}

}  // namespace

std::string QosOf(const Json& spec) {
  bool any = false;
  bool guaranteed = true;
  const auto look = [&](const Json& resources) {
    const Json& limits = At(resources, "limits");
    const Json& requests = At(resources, "requests");
    for (const char* name : {"cpu", "memory"}) {
      const bool limited = IsPositive(At(limits, name));
      any = any || limited || IsPositive(At(requests, name));
      guaranteed = guaranteed && limited && At(limits, name) == At(requests, name);
    }
  };
  const Json& whole = At(spec, "resources");
  if (whole.is_object() && !whole.empty()) {
    look(whole);
  } else {
    for (const char* list : {"containers", "initContainers"}) {
      for (const Json& container : ElementsOf(At(spec, list))) look(At(container, "resources"));
    }
  }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

void SetVolumeClaimSpecDefaults(Json& spec) { SetDefault(spec, "volumeMode", "Filesystem"); }

void SetPodSpecDefaults(Json& spec) {
  if (!spec.is_object()) return;
  SetDefault(spec, "restartPolicy", "Always");
  SetDefault(spec, "dnsPolicy", "ClusterFirst");
  SetDefault(spec, "terminationGracePeriodSeconds", 30);
  if (NumberAt(spec, "terminationGracePeriodSeconds").value_or(0) < 0) {
    spec["terminationGracePeriodSeconds"] = 1;
  }
  SetDefault(spec, "securityContext", Json::object());
  if (TextAt(spec, "schedulerName").empty()) spec["schedulerName"] = "default-scheduler";
  for (const char* name : {"serviceAccountName", "serviceAccount"}) {
    const char* other = name[14] == 'N' ? "serviceAccount" : "serviceAccountName";
    if (!TextAt(spec, name).empty() && TextAt(spec, other).empty()) spec[other] = spec[name];
  }
  const bool host_network = At(spec, "hostNetwork") == true;
  for (const char* list : kContainerLists) {
    Json* containers = Find(spec, list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (Json& container : *containers) SetContainerDefaults(container, host_network);
  }
  if (Json* volumes = Find(spec, "volumes"); volumes != nullptr && volumes->is_array()) {
    for (Json& volume : *volumes) SetVolumeDefaults(volume);
  }
}

void SetPodDefaults(Json& pod, bool is_new) {
  Json* spec = FindObject(pod, "spec");
  if (spec == nullptr) return;
  SetPodSpecDefaults(*spec);
  SetDefault(*spec, "enableServiceLinks", true);
  for (const char* list : {"initContainers", "containers"}) {
    Json* containers = Find(*spec, list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (Json& container : *containers) SetRequestsFromLimits(container);
  }
  SetPodResourceDefaults(*spec);
  AddTolerations(*spec);
  if (is_new) pod["status"] = {{"phase", "Pending"}, {"qosClass", QosOf(*spec)}};
}

}  // namespace ks::apiserver
