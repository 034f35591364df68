// SPDX-License-Identifier: Apache-2.0
#pragma once
// Storage objects as in the worked examples (docs/spec/plugins-volume.md section 7), and
// VolumeBinding on a fake handle that knows them.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache/storage_stores.h"
#include "plugins/plugin_rig.h"
#include "plugins/volume_binding/volume_binding.h"

namespace ks::plugins {

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

// Of class "wait"; for nodes with label h of that value. Empty: for all nodes.
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
inline testing::PodBuilder PodWith(const std::vector<std::string>& claims) {
  testing::PodBuilder pod = testing::MakePod();
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

inline testing::NodeBuilder NodeNamed(const std::string& name) {
  return testing::MakeNode().Name(name).Label("h", name);
}

// Puts objects into a store as the API server would.
class StoragePutter {
 public:
  explicit StoragePutter(cache::StorageStores& stores) : stores_(stores) {}

  template <class T>
  StoragePutter& operator()(const std::shared_ptr<T>& object) {
    Apply<T>(api::Delta<T>::Type::kUpsert, object);
    return *this;
  }
  template <class T>
  void Delete(const std::shared_ptr<T>& object) {
    Apply<T>(api::Delta<T>::Type::kDelete, object);
  }

 private:
  template <class T>
  void Apply(typename api::Delta<T>::Type type, std::shared_ptr<const T> object) {
    stores_.Apply(std::vector<api::Delta<T>>{{type, std::move(object), {}}},
                  [](framework::EventResource, uint32_t, const framework::EventObject&,
                     const framework::EventObject&) {});
  }

  cache::StorageStores& stores_;
};

// Nodes n1 and n2 and the class "wait".
struct VolumeWorld {
  explicit VolumeWorld(const std::string& args = "null") : rig(NewVolumeBinding, args) {
    put(Class());
    rig.AddNode(NodeNamed("n1"));
    rig.AddNode(NodeNamed("n2"));
  }

  std::string PreFilter(const api::Pod& pod) {
    rig.state.Reset();
    return Describe(rig.PreFilter(pod).status);
  }
  // "n1: <status or score>; n2: ...", after PreFilter.
  std::string Judge(const api::Pod& pod) {
    rig.state.Reset();
    const framework::PreFilterResult before = rig.PreFilter(pod);
    if (!before.status.ok()) return Describe(before.status);
    std::string text;
    for (const framework::NodeInfo* node : rig.nodes()) {
      if (!text.empty()) text += "; ";
      text += node->name() + ": " + JudgeNode(pod, *node);
    }
    return text;
  }
  std::string JudgeNode(const api::Pod& pod, const framework::NodeInfo& node) {
    const framework::Status status =
        rig.As<framework::FilterPlugin>()->Filter(rig.state, pod, node);
    if (!status.ok()) return Describe(status);
    int64_t score = -1;
    EXPECT_TRUE(rig.As<framework::ScorePlugin>()->Score(rig.state, pod, node, &score).ok());
    return std::to_string(score);
  }
  framework::Status Reserve(const api::PodPtr& pod, const std::string& node) {
    return rig.As<framework::ReservePlugin>()->Reserve(rig.state, pod, node);
  }
  void Unreserve(const api::PodPtr& pod, const std::string& node) {
    rig.As<framework::ReservePlugin>()->Unreserve(rig.state, pod, node);
  }

  PluginRig rig;
  cache::StorageStores& storage = rig.handle.fake_storage();
  StoragePutter put{storage};
};

}  // namespace ks::plugins
