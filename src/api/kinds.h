// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kinds of objects that a scheduler reads, each once: what a decoder, a watch, a permission, a
// dump or a recording needs to know of a kind follows from these tables.
//
// A new kind: its struct (storage.h, devices.h …), its ReadField (decode/decode_*.cc), a row here,
// a store (src/cache) and, if plugins ask for its events, framework::EventResource.
//
// Upstream: docs/spec/api.md section 2.

#include <string>
#include <string_view>

#include "api/devices.h"
#include "api/lease.h"
#include "api/node.h"
#include "api/pod.h"
#include "api/pod_group.h"
#include "api/storage.h"
#include "api/workloads.h"

namespace ks::api {

// Scope of names.
inline constexpr bool kNamespaced = true;
inline constexpr bool kClusterWide = false;

// X(type, kind, group, version, plural, scope). The group of the core API is empty.
//
// What pods belong to, or are counted by:
#define KS_OWNER_KINDS(X)                                                               \
  X(Service, "Service", "", "v1", "services", kNamespaced)                              \
  X(ReplicationController, "ReplicationController", "", "v1", "replicationcontrollers", \
    kNamespaced)                                                                        \
  X(ReplicaSet, "ReplicaSet", "apps", "v1", "replicasets", kNamespaced)                 \
  X(StatefulSet, "StatefulSet", "apps", "v1", "statefulsets", kNamespaced)              \
  X(Namespace, "Namespace", "", "v1", "namespaces", kClusterWide)                       \
  X(PodDisruptionBudget, "PodDisruptionBudget", "policy", "v1", "poddisruptionbudgets", kNamespaced)
// Volumes, and what they are made of:
#define KS_STORAGE_KINDS(X)                                                                   \
  X(PersistentVolume, "PersistentVolume", "", "v1", "persistentvolumes", kClusterWide)        \
  X(PersistentVolumeClaim, "PersistentVolumeClaim", "", "v1", "persistentvolumeclaims",       \
    kNamespaced)                                                                              \
  X(StorageClass, "StorageClass", "storage.k8s.io", "v1", "storageclasses", kClusterWide)     \
  X(CsiNode, "CSINode", "storage.k8s.io", "v1", "csinodes", kClusterWide)                     \
  X(CsiDriver, "CSIDriver", "storage.k8s.io", "v1", "csidrivers", kClusterWide)               \
  X(CsiStorageCapacity, "CSIStorageCapacity", "storage.k8s.io", "v1", "csistoragecapacities", \
    kNamespaced)                                                                              \
  X(VolumeAttachment, "VolumeAttachment", "storage.k8s.io", "v1", "volumeattachments", kClusterWide)
// Devices, and what they are asked for with:
#define KS_DEVICE_KINDS(X)                                                                   \
  X(ResourceClaim, "ResourceClaim", "resource.k8s.io", "v1", "resourceclaims", kNamespaced)  \
  X(ResourceSlice, "ResourceSlice", "resource.k8s.io", "v1", "resourceslices", kClusterWide) \
  X(DeviceClass, "DeviceClass", "resource.k8s.io", "v1", "deviceclasses", kClusterWide)      \
  X(DeviceTaintRule, "DeviceTaintRule", "resource.k8s.io", "v1", "devicetaintrules", kClusterWide)
// What pods are scheduled together by:
#define KS_GROUP_KINDS(X)                                                                          \
  X(PodGroup, "PodGroup", "scheduling.k8s.io", "v1beta1", "podgroups", kNamespaced)                \
  X(CompositePodGroup, "CompositePodGroup", "scheduling.k8s.io", "v1alpha3", "compositepodgroups", \
    kNamespaced)
// Beside pods and nodes, read only where some plugin asks for them:
#define KS_OPTIONAL_KINDS(X) \
  KS_OWNER_KINDS(X) KS_STORAGE_KINDS(X) KS_DEVICE_KINDS(X) KS_GROUP_KINDS(X)
// What leader election reads and writes:
#define KS_ELECTION_KINDS(X)                                                               \
  X(Lease, "Lease", "coordination.k8s.io", "v1", "leases", kNamespaced)                    \
  X(LeaseCandidate, "LeaseCandidate", "coordination.k8s.io", "v1beta1", "leasecandidates", \
    kNamespaced)
#define KS_ALL_KINDS(X)                            \
  X(Pod, "Pod", "", "v1", "pods", kNamespaced)     \
  X(Node, "Node", "", "v1", "nodes", kClusterWide) \
  KS_OPTIONAL_KINDS(X)                             \
  KS_ELECTION_KINDS(X)

struct KindInfo {
  std::string_view kind;
  std::string_view group;
  std::string_view version;
  std::string_view plural;
  bool namespaced;

  // "v1", "apps/v1".
  std::string ApiVersion() const {
    return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
  }
  // The path of all objects of the kind: "/api/v1/pods".
  std::string Path() const {
    return (group.empty() ? "/api/" : "/apis/") + ApiVersion() + "/" + std::string(plural);
  }
  // As Go prints the type in error texts: "*v1.Pod".
  std::string GoType() const { return "*" + std::string(version) + "." + std::string(kind); }
};

// The row of an object's type.
template <class T>
inline constexpr KindInfo kKindOf{};
#define KS_KIND_OF(type, kind, group, version, plural, scope) \
  template <>                                                 \
  inline constexpr KindInfo kKindOf<type>{kind, group, version, plural, scope};
KS_ALL_KINDS(KS_KIND_OF)
#undef KS_KIND_OF

// A list of types.
template <class... T>
struct Kinds {
  // Template<T...>.
  template <template <class...> class Template>
  using Into = Template<T...>;
  // Calls `visit` with a null pointer to each type.
  template <class Visit>
  static void ForEach(const Visit& visit) {
    (visit(static_cast<const T*>(nullptr)), ...);
  }
};

// One with each of the types of a table, behind a type that is left out.
template <class First, class... T>
using KindsBehind = Kinds<T...>;
#define KS_KIND_TYPE(type, kind, group, version, plural, scope) , type
using OwnerKinds = KindsBehind<void KS_OWNER_KINDS(KS_KIND_TYPE)>;
using StorageKinds = KindsBehind<void KS_STORAGE_KINDS(KS_KIND_TYPE)>;
using DeviceKinds = KindsBehind<void KS_DEVICE_KINDS(KS_KIND_TYPE)>;
using GroupKinds = KindsBehind<void KS_GROUP_KINDS(KS_KIND_TYPE)>;
using OptionalKindTypes = KindsBehind<void KS_OPTIONAL_KINDS(KS_KIND_TYPE)>;
#undef KS_KIND_TYPE

}  // namespace ks::api
