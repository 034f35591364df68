// SPDX-License-Identifier: Apache-2.0
#pragma once
// Volumes of in-tree types as the CSI driver that serves them in their place knows them: under
// which driver and handle, and on which nodes. Who asks decides on which nodes the driver is in
// charge: IsMigratedOn is VolumeBinding's rule, NodeVolumeLimits has another one.
//
// Upstream: docs/spec/plugins-volume.md section 1.7.

#include <optional>
#include <string>
#include <string_view>

#include "api/selector.h"
#include "api/storage.h"
#include "base/result.h"

namespace ks::plugins {

// A volume type of which api::IsMigratable says yes. Static data.
struct InTreePlugin {
  api::Volume::Source source = api::Volume::Source::kOther;
  std::string_view name;      // "kubernetes.io/gce-pd"
  std::string_view driver;    // "pd.csi.storage.gke.io"
  bool migrated = false;      // whether the scheduler takes the type for migrated at all: "on"
  std::string_view zone_key;  // node label of the driver's zones; empty: topology stays as it is
};

// Null unless api::IsMigratable(source).
const InTreePlugin* FindInTreePlugin(api::Volume::Source source);
// Null unless it is one of the names of the table, spelled so.
const InTreePlugin* FindInTreePlugin(std::string_view name);

// Whether the type is "on", the node's CSINode exists, and its annotation
// storage.alpha.kubernetes.io/migrated-plugins lists `in_tree_name` exactly: split at every comma,
// nothing trimmed. `csi_node` may be null.
bool IsMigratedOn(const api::CsiNode* csi_node, std::string_view in_tree_name);

// The handle of a pod's inline volume or of a PersistentVolume of an in-tree type. Error: the
// translation fails, for example
// `failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z/xx)`.
// Requires: api::IsMigratable(volume.source); of types that are not "on" it is not upstream's.
Result<std::string> TranslatedHandle(const api::Volume& volume);
Result<std::string> TranslatedHandle(const api::PersistentVolume& volume);

// spec.nodeAffinity.required of the volume as its CSI driver would have written it; absent: it
// matches every node. To be compiled and evaluated as PersistentVolume::node_affinity is. Error:
// the volume cannot be translated, be it for its handle; without the prefix
// `could not translate pv: `.
// Requires: FindInTreePlugin(volume.source) is migrated.
Result<std::optional<api::NodeSelectorSpec>> TranslatedNodeAffinity(
    const api::PersistentVolume& volume);

}  // namespace ks::plugins
