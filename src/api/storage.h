// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kinds that volumes are made of: PersistentVolume, PersistentVolumeClaim, StorageClass,
// CSINode, CSIDriver, CSIStorageCapacity, VolumeAttachment, as far as scheduling reads them. Of
// annotations only those named here are kept.
//
// Upstream: docs/spec/plugins-volume.md.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/labels.h"
#include "api/object.h"
#include "api/pod.h"
#include "api/quantity.h"
#include "api/selector.h"

namespace ks::api {

// Annotations that scheduling reads or writes.
inline constexpr std::string_view kStorageClassAnnotation =
    "volume.beta.kubernetes.io/storage-class";
inline constexpr std::string_view kBindCompletedAnnotation = "pv.kubernetes.io/bind-completed";
inline constexpr std::string_view kBoundByControllerAnnotation =
    "pv.kubernetes.io/bound-by-controller";
inline constexpr std::string_view kSelectedNodeAnnotation = "volume.kubernetes.io/selected-node";
inline constexpr std::string_view kMigratedPluginsAnnotation =
    "storage.alpha.kubernetes.io/migrated-plugins";

// spec.claimRef: the claim that a volume belongs to, or is kept for.
struct ClaimReference {
  std::string kind;
  std::string api_version;
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;

  friend bool operator==(const ClaimReference&, const ClaimReference&) = default;
};

// core/v1. Of the metadata: name, uid, resource version, labels, deletion time.
// Threads: immutable once shared.
struct PersistentVolume {
  ObjectMeta meta;
  Symbol storage_class_name;               // spec.storageClassName
  std::optional<Symbol> class_annotation;  // kStorageClassAnnotation
  bool bound_by_controller = false;        // has kBoundByControllerAnnotation
  Quantity capacity;                       // spec.capacity.storage; zero when absent
  std::vector<Symbol> access_modes;
  Symbol volume_mode;  // empty: Filesystem
  Symbol attributes_class;
  std::optional<ClaimReference> claim_ref;
  Symbol phase;
  // The source, in the fields of a pod's volume: `id` is pdName, volumeID, diskURI or the CSI
  // driver, `pool` the kind of an Azure disk.
  Volume::Source source = Volume::Source::kOther;
  std::string source_id;
  std::string azure_kind;
  std::string volume_handle;  // csi only
  // spec.nodeAffinity.required; absent matches every node. Evaluated over labels alone: give
  // Matches an empty node name.
  std::optional<NodeSelector> node_affinity;
  // The same as written: for translation and for indexes.
  std::optional<NodeSelectorSpec> node_affinity_spec;

  // The class by annotation or field (section 1.4).
  Symbol StorageClass() const { return class_annotation.value_or(storage_class_name); }
};

// core/v1. Of the metadata: name, namespace, uid, resource version, deletion time, owners.
// Threads: immutable once shared.
struct PersistentVolumeClaim {
  ObjectMeta meta;
  std::optional<Symbol> storage_class_name;  // spec.storageClassName
  std::optional<Symbol> class_annotation;    // kStorageClassAnnotation
  bool bind_completed = false;               // has kBindCompletedAnnotation
  std::optional<std::string> selected_node;  // kSelectedNodeAnnotation
  bool has_annotations = false;              // any at all
  std::optional<Quantity> requested;         // spec.resources.requests.storage
  std::vector<Symbol> access_modes;
  Symbol volume_mode;  // empty: Filesystem
  Symbol attributes_class;
  std::string volume_name;
  // spec.selector; absent matches every volume. With `selector_error` it could not be compiled.
  std::optional<LabelSelector> selector;
  std::string selector_error;
  Symbol phase;

  // The class by annotation or field (section 1.4); empty: none.
  Symbol StorageClass() const {
    return class_annotation.value_or(storage_class_name.value_or(Symbol()));
  }
  // Bound in the scheduler's sense (section 2.5).
  bool FullyBound() const { return !volume_name.empty() && bind_completed; }

  bool operator==(const PersistentVolumeClaim&) const = default;
};

// One way to say where volumes of a class may be: all expressions must hold.
struct TopologySelectorTerm {
  struct Expression {
    Symbol key;
    std::vector<Symbol> values;

    friend bool operator==(const Expression&, const Expression&) = default;
  };
  std::vector<Expression> expressions;

  friend bool operator==(const TopologySelectorTerm&, const TopologySelectorTerm&) = default;
};

// storage.k8s.io/v1. Threads: immutable once shared.
struct StorageClass {
  ObjectMeta meta;
  std::string provisioner;
  std::optional<Symbol> volume_binding_mode;
  std::vector<TopologySelectorTerm> allowed_topologies;

  bool operator==(const StorageClass&) const = default;
};

// storage.k8s.io/v1; named like its node. Threads: immutable once shared.
struct CsiNode {
  struct Driver {
    std::string name;
    std::optional<int32_t> allocatable_count;

    friend bool operator==(const Driver&, const Driver&) = default;
  };
  ObjectMeta meta;
  std::string migrated_plugins;  // kMigratedPluginsAnnotation
  std::vector<Driver> drivers;

  bool operator==(const CsiNode&) const = default;
};

// storage.k8s.io/v1. Threads: immutable once shared.
struct CsiDriver {
  ObjectMeta meta;
  std::optional<bool> storage_capacity;
  std::optional<bool> prevent_pod_scheduling_if_missing;

  bool operator==(const CsiDriver&) const = default;
};

// storage.k8s.io/v1. Threads: immutable once shared.
struct CsiStorageCapacity {
  ObjectMeta meta;
  Symbol storage_class_name;
  std::optional<Quantity> capacity;
  std::optional<Quantity> maximum_volume_size;
  LabelSelector node_topology;  // matches nothing when null or invalid

  // The largest volume that can be made (section 2.7.3).
  const std::optional<Quantity>& Limit() const {
    return maximum_volume_size ? maximum_volume_size : capacity;
  }

  bool operator==(const CsiStorageCapacity&) const = default;
};

// storage.k8s.io/v1. Threads: immutable once shared.
struct VolumeAttachment {
  ObjectMeta meta;
  std::string attacher;
  std::string node_name;
  std::optional<std::string> persistent_volume_name;  // absent: an inline source

  bool operator==(const VolumeAttachment&) const = default;
};

using PersistentVolumePtr = std::shared_ptr<const PersistentVolume>;
using PersistentVolumeClaimPtr = std::shared_ptr<const PersistentVolumeClaim>;
using StorageClassPtr = std::shared_ptr<const StorageClass>;
using CsiNodePtr = std::shared_ptr<const CsiNode>;
using CsiDriverPtr = std::shared_ptr<const CsiDriver>;
using CsiStorageCapacityPtr = std::shared_ptr<const CsiStorageCapacity>;
using VolumeAttachmentPtr = std::shared_ptr<const VolumeAttachment>;

// Whether the source is of an in-tree type that a CSI driver can serve (section 1.7).
constexpr bool IsMigratable(Volume::Source source) {
  switch (source) {
    case Volume::Source::kGcePersistentDisk:
    case Volume::Source::kAwsElasticBlockStore:
    case Volume::Source::kCinder:
    case Volume::Source::kAzureDisk:
    case Volume::Source::kPortworx:
    case Volume::Source::kAzureFile:
    case Volume::Source::kVsphere:
      return true;
    default:
      return false;
  }
}

// The key of the claim that a volume of the pod means, "namespace/name" (section 1.3); empty: none.
std::string ClaimKey(const Pod& pod, const Volume& volume);
// The name alone.
std::string ClaimName(const Pod& pod, const Volume& volume);
inline bool MeansClaim(const Volume& volume) {
  return volume.source == Volume::Source::kPersistentVolumeClaim ||
         volume.source == Volume::Source::kEphemeral;
}
// Whether the claim of a generic ephemeral volume was made for the pod (section 1.3). If not, the
// text is NotOwnerText.
bool IsMadeFor(const PersistentVolumeClaim& claim, const Pod& pod);
// `PVC ns/claim was not created for pod ns/pod (pod is not owner)`.
std::string NotOwnerText(const PersistentVolumeClaim& claim, const Pod& pod);

}  // namespace ks::api
