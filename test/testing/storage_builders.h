// SPDX-License-Identifier: Apache-2.0
#pragma once
// Storage objects as in the worked examples (docs/spec/plugins-volume.md section 7).

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/storage.h"
#include "testing/builders.h"

namespace ks::testing {

inline api::Quantity Size(std::string_view text) { return api::Quantity::Parse(text).value(); }

inline api::NodeSelectorSpec In(std::string key, std::vector<std::string> values) {
  return {.terms = {{.match_expressions = {{std::move(key), "In", std::move(values)}},
                     .match_fields = {}}}};
}

// Available, ReadWriteOnce, of class "wait".
inline std::shared_ptr<api::PersistentVolume> Volume(std::string name, std::string_view capacity) {
  auto volume = std::make_shared<api::PersistentVolume>();
  volume->meta.uid = "uid-" + name;
  volume->meta.name = std::move(name);
  volume->meta.resource_version = "7";
  volume->storage_class_name = Symbol("wait");
  volume->capacity = Size(capacity);
  volume->access_modes = {Symbol("ReadWriteOnce")};
  volume->phase = Symbol("Available");
  return volume;
}
inline std::shared_ptr<api::PersistentVolume> VolumeIn(std::string name, std::string_view capacity,
                                                       const api::NodeSelectorSpec& affinity) {
  auto volume = Volume(std::move(name), capacity);
  volume->node_affinity = api::NodeSelector::Compile(affinity);
  volume->node_affinity_spec = affinity;
  return volume;
}
// On one node of the examples.
inline std::shared_ptr<api::PersistentVolume> VolumeOn(std::string name, std::string_view capacity,
                                                       const std::string& node) {
  return VolumeIn(std::move(name), capacity, In("h", {node}));
}

// 10Gi, ReadWriteOnce, of class "wait", unbound.
inline std::shared_ptr<api::PersistentVolumeClaim> Claim(std::string name,
                                                         std::string_view size = "10Gi") {
  auto claim = std::make_shared<api::PersistentVolumeClaim>();
  claim->meta.uid = "uid-" + name;
  claim->meta.name = std::move(name);
  claim->meta.ns = Symbol("ns");
  claim->meta.resource_version = "5";
  claim->storage_class_name = Symbol("wait");
  claim->access_modes = {Symbol("ReadWriteOnce")};
  claim->requested = Size(size);
  claim->phase = Symbol("Pending");
  return claim;
}
inline std::shared_ptr<api::PersistentVolumeClaim> BoundClaim(std::string name,
                                                              std::string volume) {
  auto claim = Claim(std::move(name));
  claim->volume_name = std::move(volume);
  claim->bind_completed = true;
  claim->has_annotations = true;
  claim->phase = Symbol("Bound");
  return claim;
}
inline std::shared_ptr<api::PersistentVolumeClaim> Pinned(std::string name, std::string node) {
  auto claim = Claim(std::move(name));
  claim->selected_node = std::move(node);
  claim->has_annotations = true;
  return claim;
}

inline std::shared_ptr<api::StorageClass> Class(
    std::string name = "wait", std::string provisioner = "kubernetes.io/no-provisioner",
    std::optional<std::string> mode = "WaitForFirstConsumer") {
  auto storage_class = std::make_shared<api::StorageClass>();
  storage_class->meta.name = std::move(name);
  storage_class->provisioner = std::move(provisioner);
  if (mode) storage_class->volume_binding_mode = Symbol(*mode);
  return storage_class;
}

inline std::shared_ptr<api::CsiDriver> Driver(std::string name, bool storage_capacity) {
  auto driver = std::make_shared<api::CsiDriver>();
  driver->meta.name = std::move(name);
  driver->storage_capacity = storage_capacity;
  return driver;
}

// A capacity of class "wait" for nodes whose label h is `node`. Empty: for all nodes.
inline std::shared_ptr<api::CsiStorageCapacity> Capacity(std::string name,
                                                         std::string_view capacity,
                                                         const std::string& node) {
  auto object = std::make_shared<api::CsiStorageCapacity>();
  object->meta.name = std::move(name);
  object->meta.ns = Symbol("drivers");
  object->storage_class_name = Symbol("wait");
  object->capacity = Size(capacity);
  api::LabelSelectorSpec spec;
  if (!node.empty()) spec.match_labels = {{"h", node}};
  object->node_topology = api::LabelSelector::Compile(spec).value();
  return object;
}

inline std::shared_ptr<api::CsiNode> MigratedNode(std::string name, std::string plugins) {
  auto node = std::make_shared<api::CsiNode>();
  node->meta.name = std::move(name);
  node->migrated_plugins = std::move(plugins);
  return node;
}

// A pod "p" that uses these claims, in order.
inline PodBuilder PodWith(const std::vector<std::string>& claims) {
  PodBuilder pod = MakePod();
  pod.Name("p");
  for (const std::string& claim : claims) {
    api::Volume volume;
    volume.name = "v-" + claim;
    volume.source = api::Volume::Source::kPersistentVolumeClaim;
    volume.id = claim;
    pod.spec().volumes.push_back(volume);
  }
  return pod;
}

}  // namespace ks::testing
