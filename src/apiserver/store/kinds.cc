// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/kinds.h"

#include <algorithm>

#include "base/check.h"

namespace ks::apiserver {
namespace {

using Kinds = std::vector<KindInfo>;

const std::vector<std::string>& EventFields() {
  static const auto* fields = new std::vector<std::string>{"involvedObject.kind",
                                                           "involvedObject.namespace",
                                                           "involvedObject.name",
                                                           "involvedObject.uid",
                                                           "involvedObject.apiVersion",
                                                           "involvedObject.resourceVersion",
                                                           "involvedObject.fieldPath",
                                                           "reason",
                                                           "reportingComponent",
                                                           "type",
                                                           "source"};
  return *fields;
}

// The same fields, in the same places, by the names that events.k8s.io/v1 has for them.
const std::vector<std::string>& EventsV1Fields() {
  static const auto* fields =
      new std::vector<std::string>{"regarding.kind",       "regarding.namespace",
                                   "regarding.name",       "regarding.uid",
                                   "regarding.apiVersion", "regarding.resourceVersion",
                                   "regarding.fieldPath",  "reason",
                                   "reportingController",  "type"};
  return *fields;
}

void AddCore(Kinds& kinds) {
  const auto add = [&kinds](KindInfo kind) {
    kind.version = "v1";
    kinds.push_back(std::move(kind));
  };
  add({.kind = "Namespace",
       .plural = "namespaces",
       .singular = "namespace",
       .short_names = {"ns"},
       .namespaced = false,
       .has_status = true,
       .selectable_fields = {"status.phase"}});
  add({.kind = "Node",
       .plural = "nodes",
       .singular = "node",
       .short_names = {"no"},
       .namespaced = false,
       .has_status = true,
       .selectable_fields = {"spec.unschedulable"}});
  add({.kind = "Pod",
       .plural = "pods",
       .singular = "pod",
       .short_names = {"po"},
       .categories = {"all"},
       .has_status = true,
       .has_spec_generation = true,
       .graceful_deletion = true,
       .selectable_fields = {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName",
                             "spec.serviceAccountName", "spec.hostNetwork", "status.phase",
                             "status.podIP", "status.nominatedNodeName"}});
  add({.kind = "Event",
       .plural = "events",
       .singular = "event",
       .short_names = {"ev"},
       .selectable_fields = EventFields()});
  add({.kind = "ConfigMap",
       .plural = "configmaps",
       .singular = "configmap",
       .short_names = {"cm"}});
  add({.kind = "Secret", .plural = "secrets", .singular = "secret", .selectable_fields = {"type"}});
  add({.kind = "ServiceAccount",
       .plural = "serviceaccounts",
       .singular = "serviceaccount",
       .short_names = {"sa"}});
  add({.kind = "Service",
       .plural = "services",
       .singular = "service",
       .short_names = {"svc"},
       .categories = {"all"},
       .has_status = true,
       .selectable_fields = {"spec.clusterIP", "spec.type"}});
  add({.kind = "ReplicationController",
       .plural = "replicationcontrollers",
       .singular = "replicationcontroller",
       .short_names = {"rc"},
       .categories = {"all"},
       .has_status = true,
       .has_spec_generation = true,
       .selectable_fields = {"status.replicas"}});
  add({.kind = "PersistentVolume",
       .plural = "persistentvolumes",
       .singular = "persistentvolume",
       .short_names = {"pv"},
       .namespaced = false,
       .has_status = true});
  add({.kind = "PersistentVolumeClaim",
       .plural = "persistentvolumeclaims",
       .singular = "persistentvolumeclaim",
       .short_names = {"pvc"},
       .has_status = true});
}

void AddWorkloads(Kinds& kinds) {
  kinds.push_back({.group = "apps",
                   .version = "v1",
                   .kind = "ReplicaSet",
                   .plural = "replicasets",
                   .singular = "replicaset",
                   .short_names = {"rs"},
                   .categories = {"all"},
                   .has_status = true,
                   .has_spec_generation = true});
  kinds.push_back({.group = "apps",
                   .version = "v1",
                   .kind = "StatefulSet",
                   .plural = "statefulsets",
                   .singular = "statefulset",
                   .short_names = {"sts"},
                   .categories = {"all"},
                   .has_status = true,
                   .has_spec_generation = true});
  kinds.push_back({.group = "batch",
                   .version = "v1",
                   .kind = "Job",
                   .plural = "jobs",
                   .singular = "job",
                   .categories = {"all"},
                   .has_status = true,
                   .has_spec_generation = true});
  kinds.push_back({.group = "policy",
                   .version = "v1",
                   .kind = "PodDisruptionBudget",
                   .plural = "poddisruptionbudgets",
                   .singular = "poddisruptionbudget",
                   .short_names = {"pdb"},
                   .has_status = true,
                   .has_spec_generation = true});
  kinds.push_back({.group = "coordination.k8s.io",
                   .version = "v1",
                   .kind = "Lease",
                   .plural = "leases",
                   .singular = "lease"});
  kinds.push_back({.group = "events.k8s.io",
                   .version = "v1",
                   .kind = "Event",
                   .plural = "events",
                   .singular = "event",
                   .short_names = {"ev"},
                   .selectable_fields = EventsV1Fields()});
}

void AddStorage(Kinds& kinds) {
  const auto add = [&kinds](KindInfo kind) {
    kind.group = "storage.k8s.io";
    kind.version = "v1";
    kinds.push_back(std::move(kind));
  };
  add({.kind = "StorageClass",
       .plural = "storageclasses",
       .singular = "storageclass",
       .short_names = {"sc"},
       .namespaced = false});
  add({.kind = "CSINode", .plural = "csinodes", .singular = "csinode", .namespaced = false});
  add({.kind = "CSIDriver", .plural = "csidrivers", .singular = "csidriver", .namespaced = false});
  add({.kind = "CSIStorageCapacity",
       .plural = "csistoragecapacities",
       .singular = "csistoragecapacity"});
  add({.kind = "VolumeAttachment",
       .plural = "volumeattachments",
       .singular = "volumeattachment",
       .namespaced = false,
       .has_status = true});
}

void AddScheduling(Kinds& kinds) {
  kinds.push_back({.group = "scheduling.k8s.io",
                   .version = "v1",
                   .kind = "PriorityClass",
                   .plural = "priorityclasses",
                   .singular = "priorityclass",
                   .short_names = {"pc"},
                   .namespaced = false,
                   .has_spec_generation = true});
}

void AddDevices(Kinds& kinds) {
  const auto add = [&kinds](const char* version, KindInfo kind) {
    kind.group = "resource.k8s.io";
    kind.version = version;
    kinds.push_back(std::move(kind));
  };
  for (const char* version : {"v1", "v1beta2"}) {
    add(version, {.kind = "ResourceClaim",
                  .plural = "resourceclaims",
                  .singular = "resourceclaim",
                  .has_status = true});
    add(version, {.kind = "ResourceClaimTemplate",
                  .plural = "resourceclaimtemplates",
                  .singular = "resourceclaimtemplate"});
    add(version, {.kind = "ResourceSlice",
                  .plural = "resourceslices",
                  .singular = "resourceslice",
                  .namespaced = false,
                  .has_spec_generation = true,
                  .selectable_fields = {"spec.nodeName", "spec.driver"}});
    add(version, {.kind = "DeviceClass",
                  .plural = "deviceclasses",
                  .singular = "deviceclass",
                  .namespaced = false,
                  .has_spec_generation = true});
  }
  add("v1", {.kind = "DeviceTaintRule",
             .plural = "devicetaintrules",
             .singular = "devicetaintrule",
             .namespaced = false,
             .has_status = true,
             .has_spec_generation = true});
}

void AddGroups(Kinds& kinds) {
  const auto add = [&kinds](const char* version, KindInfo kind) {
    kind.group = "scheduling.k8s.io";
    kind.version = version;
    kinds.push_back(std::move(kind));
  };
  for (const char* version : {"v1beta1", "v1alpha3"}) {
    add(version,
        {.kind = "PodGroup", .plural = "podgroups", .singular = "podgroup", .has_status = true});
    add(version, {.kind = "Workload", .plural = "workloads", .singular = "workload"});
  }
  add("v1alpha3", {.kind = "CompositePodGroup",
                   .plural = "compositepodgroups",
                   .singular = "compositepodgroup",
                   .has_status = true});
}

Kinds MakeKinds() {
  Kinds kinds;
  AddCore(kinds);
  AddWorkloads(kinds);
  AddStorage(kinds);
  AddScheduling(kinds);
  AddDevices(kinds);
  AddGroups(kinds);
  return kinds;
}

// For each kind of the table: the first of its group that has its name, and core's events for both.
std::vector<const KindInfo*> MakeStorageKinds() {
  std::vector<const KindInfo*> stored;
  for (const KindInfo& kind : AllKinds()) {
    const auto first =
        std::find_if(AllKinds().begin(), AllKinds().end(), [&kind](const KindInfo& other) {
          return other.kind == kind.kind && (other.group == kind.group || kind.kind == "Event");
        });
    stored.push_back(&*first);
  }
  return stored;
}

}  // namespace

const std::vector<KindInfo>& AllKinds() {
  static const auto* kinds = new Kinds(MakeKinds());
  return *kinds;
}

const KindInfo* FindResource(std::string_view group, std::string_view version,
                             std::string_view plural) {
  const Kinds& kinds = AllKinds();
  const auto it = std::find_if(kinds.begin(), kinds.end(), [&](const KindInfo& kind) {
    return kind.plural == plural && kind.group == group && kind.version == version;
  });
  return it == kinds.end() ? nullptr : &*it;
}

const KindInfo* FindKind(std::string_view api_version, std::string_view kind_name) {
  const Kinds& kinds = AllKinds();
  const auto it = std::find_if(kinds.begin(), kinds.end(), [&](const KindInfo& kind) {
    return kind.kind == kind_name && kind.api_version() == api_version;
  });
  return it == kinds.end() ? nullptr : &*it;
}

const KindInfo& StorageKind(const KindInfo& kind) {
  static const auto* stored = new std::vector<const KindInfo*>(MakeStorageKinds());
  return *(*stored)[KindIndex(kind)];
}

size_t KindIndex(const KindInfo& kind) {
  const Kinds& kinds = AllKinds();
  KS_CHECK(&kind >= kinds.data() && &kind < kinds.data() + kinds.size(), "not a kind of the table");
  return static_cast<size_t>(&kind - kinds.data());
}

}  // namespace ks::apiserver
