// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "apiserver/registry/strategy_parts.h"

namespace ks::apiserver {
namespace {

// The pod template's spec, if there is one.
void SetTemplateDefaults(Json& spec) {
  Json* pod_template = Find(spec, "template");
  Json* pod_spec = pod_template == nullptr ? nullptr : FindObject(*pod_template, "spec");
  if (pod_spec != nullptr) SetPodSpecDefaults(*pod_spec);
}

void SetNodeDefaults(Json& node) {
  if (Json* spec = Find(node, "spec")) {
    const std::string cidr = TextAt(*spec, "podCIDR");
    if (!cidr.empty()) SetDefault(*spec, "podCIDRs", Json::array({cidr}));
  }
  Json* status = Find(node, "status");
  if (status == nullptr || !At(*status, "capacity").is_object()) return;
  Json* allocatable = FindObject(*status, "allocatable");
  if (allocatable == nullptr || !allocatable->empty()) return;
  *allocatable = At(*status, "capacity");
}

void SetNamespaceDefaults(Json& ns) {
  const std::string name = TextAt(At(ns, "metadata"), "name");
  Json* labels = FindObject(ns["metadata"], "labels");
  if (labels != nullptr && !name.empty()) (*labels)["kubernetes.io/metadata.name"] = name;
  if (Json* spec = FindObject(ns, "spec")) SetDefault(*spec, "finalizers", {"kubernetes"});
  if (Json* status = FindObject(ns, "status")) SetDefault(*status, "phase", "Active");
}

void SetServiceDefaults(Json& service) {
  Json* spec = FindObject(service, "spec");
  if (spec == nullptr) return;
  SetDefault(*spec, "type", "ClusterIP");
  SetDefault(*spec, "sessionAffinity", "None");
  if (Json* ports = Find(*spec, "ports"); ports != nullptr && ports->is_array()) {
    for (Json& port : *ports) {
      SetDefault(port, "protocol", "TCP");
      const Json& target = At(port, "targetPort");
      if (target.is_null() || target == 0 || target == "") port["targetPort"] = At(port, "port");
    }
  }
  if (TextAt(*spec, "type") == "ExternalName") return;
  SetDefault(*spec, "internalTrafficPolicy", "Cluster");
  const std::string address = TextAt(*spec, "clusterIP");
  // Whoever makes the addresses of such a service may use both families.
  const bool both = address == "None" && At(*spec, "selector").is_null();
  SetDefault(*spec, "ipFamilies", both ? Json{"IPv4", "IPv6"} : Json::array({"IPv4"}));
  SetDefault(*spec, "ipFamilyPolicy", both ? "RequireDualStack" : "SingleStack");
  if (!address.empty()) SetDefault(*spec, "clusterIPs", Json::array({address}));
}

void SetReplicationControllerDefaults(Json& controller) {
  Json* spec = FindObject(controller, "spec");
  if (spec == nullptr) return;
  SetDefault(*spec, "replicas", 1);
  SetTemplateDefaults(*spec);
  const Json labels = At(At(At(*spec, "template"), "metadata"), "labels");
  if (!labels.is_object() || labels.empty()) return;
  SetDefault(*spec, "selector", labels);
  if (Json* metadata = FindObject(controller, "metadata")) SetDefault(*metadata, "labels", labels);
}

void SetStatefulSetDefaults(Json& set) {
  Json* spec = FindObject(set, "spec");
  if (spec == nullptr) return;
  SetDefault(*spec, "replicas", 1);
  SetDefault(*spec, "podManagementPolicy", "OrderedReady");
  SetDefault(*spec, "revisionHistoryLimit", 10);
  Json* retention = FindObject(*spec, "persistentVolumeClaimRetentionPolicy");
  if (retention != nullptr) {
    SetDefault(*retention, "whenDeleted", "Retain");
    SetDefault(*retention, "whenScaled", "Retain");
  }
  Json* strategy = FindObject(*spec, "updateStrategy");
  if (strategy != nullptr) {
    SetDefault(*strategy, "type", "RollingUpdate");
    Json* rolling = TextAt(*strategy, "type") == "RollingUpdate"
                        ? FindObject(*strategy, "rollingUpdate")
                        : nullptr;
    if (rolling != nullptr) {
      SetDefault(*rolling, "partition", 0);
      SetDefault(*rolling, "maxUnavailable", 1);
    }
  }
  SetTemplateDefaults(*spec);
  Json* claims = Find(*spec, "volumeClaimTemplates");
  if (claims == nullptr || !claims->is_array()) return;
  for (Json& claim : *claims) {
    SetDefault(claim, "apiVersion", "v1");
    SetDefault(claim, "kind", "PersistentVolumeClaim");
    if (Json* claim_spec = FindObject(claim, "spec")) SetVolumeClaimSpecDefaults(*claim_spec);
    if (Json* status = FindObject(claim, "status")) SetDefault(*status, "phase", "Pending");
  }
}

void SetVolumeDefaults(Json& volume) {
  Json* spec = FindObject(volume, "spec");
  if (spec == nullptr) return;
  SetDefault(*spec, "persistentVolumeReclaimPolicy", "Retain");
  SetDefault(*spec, "volumeMode", "Filesystem");
  if (Json* path = Find(*spec, "hostPath")) SetDefault(*path, "type", "");
  if (Json* status = FindObject(volume, "status")) SetDefault(*status, "phase", "Pending");
}

void SetDriverDefaults(Json& driver) {
  Json* spec = FindObject(driver, "spec");
  if (spec == nullptr) return;
  SetDefault(*spec, "attachRequired", true);
  SetDefault(*spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
  SetDefault(*spec, "volumeLifecycleModes", {"Persistent"});
  for (const char* name : {"podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount",
                           "preventPodSchedulingIfMissing"}) {
    SetDefault(*spec, name, false);
  }
}

void AppendBase64(const std::string& bytes, std::string& text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i) {
      group = group << 8 | (at + i < bytes.size() ? static_cast<uint8_t>(bytes[at + i]) : 0);
    }
    for (size_t i = 0; i < 4; ++i) {
      text += at + i <= bytes.size() ? kDigits[group >> (18 - 6 * i) & 63] : '=';
    }
  }
}

// stringData goes over data.
void SetSecretDefaults(Json& secret) {
  SetDefault(secret, "type", "Opaque");
  const Json plain = At(secret, "stringData");
  if (!plain.is_object()) return;
  secret.erase("stringData");
  Json* data = FindObject(secret, "data");
  if (data == nullptr) return;
  for (const auto& [key, value] : plain.items()) {
    std::string text;
    if (value.is_string()) AppendBase64(value.get_ref<const std::string&>(), text);
    (*data)[key] = std::move(text);
  }
}

void SetStorageClassDefaults(Json& object) {
  SetDefault(object, "reclaimPolicy", "Delete");
  SetDefault(object, "volumeBindingMode", "Immediate");
}

void SetVolumeClaimDefaults(Json& object) {
  if (Json* spec = FindObject(object, "spec")) SetVolumeClaimSpecDefaults(*spec);
  if (Json* status = FindObject(object, "status")) SetDefault(*status, "phase", "Pending");
}

void SetReplicaSetDefaults(Json& object) {
  Json* spec = FindObject(object, "spec");
  if (spec == nullptr) return;
  SetDefault(*spec, "replicas", 1);
  SetTemplateDefaults(*spec);
}

void SetPriorityClassDefaults(Json& object) {
  SetDefault(object, "preemptionPolicy", "PreemptLowerPriority");
}

struct Row {
  std::string_view kind;
  void (*set)(Json& object);
};
constexpr Row kRows[] = {
    {"CSIDriver", SetDriverDefaults},
    {"Job", SetJobDefaults},
    {"Namespace", SetNamespaceDefaults},
    {"Node", SetNodeDefaults},

    {"PersistentVolume", SetVolumeDefaults},
    {"PersistentVolumeClaim", SetVolumeClaimDefaults},
    {"PriorityClass", SetPriorityClassDefaults},
    {"ReplicaSet", SetReplicaSetDefaults},
    {"ReplicationController", SetReplicationControllerDefaults},
    {"Secret", SetSecretDefaults},
    {"Service", SetServiceDefaults},
    {"StatefulSet", SetStatefulSetDefaults},
    {"StorageClass", SetStorageClassDefaults},
};

}  // namespace

void SetKindDefaults(const KindInfo& kind, Json& object, bool is_new) {
  // Load tools and snapshots create nodes with their status.
  if (is_new && kind.has_status && kind.kind != "Node") object.erase("status");
  if (kind.kind == "Pod") SetPodDefaults(object, is_new);
  for (const Row& row : kRows) {
    if (row.kind == kind.kind) row.set(object);
  }
  if (kind.group == "resource.k8s.io") SetDeviceKindDefaults(kind, object);
  SetGroupKindDefaults(kind, object);
}

}  // namespace ks::apiserver
