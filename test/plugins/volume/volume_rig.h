// SPDX-License-Identifier: Apache-2.0
#pragma once
// A plugin that reads claims and volumes, with builders for what it reads.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/storage.h"
#include "plugins/plugin_rig.h"
#include "testing/deltas.h"

namespace ks::plugins {

using Source = api::Volume::Source;

inline api::Volume ClaimVolume(const std::string& claim, const std::string& name = "v") {
  api::Volume volume;
  volume.name = name;
  volume.source = Source::kPersistentVolumeClaim;
  volume.id = claim;
  return volume;
}
inline api::Volume EphemeralVolume(const std::string& name) {
  api::Volume volume;
  volume.name = name;
  volume.source = Source::kEphemeral;
  return volume;
}
inline api::Volume InlineVolume(Source source, const std::string& id, bool read_only = false) {
  api::Volume volume;
  volume.name = "b";
  volume.source = source;
  volume.id = id;
  volume.read_only = read_only;
  return volume;
}

inline testing::PodBuilder PodWith(const std::string& name, std::vector<api::Volume> volumes,
                                   const std::string& ns = "ns") {
  testing::PodBuilder pod;
  pod.Name(name).Namespace(ns);
  pod.spec().volumes = std::move(volumes);
  return pod;
}

// "ns/<name>", bound to `volume` unless that is empty, of class "wait" unless another one is named.
inline api::PersistentVolumeClaim MakeClaim(const std::string& name, const std::string& volume = "",
                                            const std::string& storage_class = "wait") {
  api::PersistentVolumeClaim claim;
  claim.meta.name = name;
  claim.meta.ns = Symbol("ns");
  claim.meta.uid = "uid-" + name;
  claim.volume_name = volume;
  if (!storage_class.empty()) claim.storage_class_name = Symbol(storage_class);
  return claim;
}
inline api::PersistentVolumeClaim MakeOwnedClaim(const std::string& name, const std::string& pod,
                                                 const std::string& volume = "") {
  api::PersistentVolumeClaim claim = MakeClaim(name, volume);
  api::OwnerReference& owner = claim.meta.owner_references.Mutable().emplace_back();
  owner.uid = "uid-" + pod;
  owner.controller = true;
  return claim;
}

// A volume of a CSI driver; its handle is "h-<name>".
inline api::PersistentVolume MakeVolume(const std::string& name, const std::string& driver = "drv",
                                        const testing::Texts& labels = {}) {
  api::PersistentVolume volume;
  volume.meta.name = name;
  volume.meta.labels = testing::MakeLabels(labels);
  volume.source = Source::kCsi;
  volume.source_id = driver;
  volume.volume_handle = "h-" + name;
  return volume;
}
inline api::PersistentVolume MakeInTreeVolume(const std::string& name, Source source,
                                              const std::string& id) {
  api::PersistentVolume volume = MakeVolume(name);
  volume.source = source;
  volume.source_id = id;
  volume.volume_handle.clear();
  return volume;
}

inline api::StorageClass MakeClass(const std::string& name, const std::string& provisioner,
                                   std::optional<std::string> mode = "WaitForFirstConsumer") {
  api::StorageClass storage_class;
  storage_class.meta.name = name;
  storage_class.provisioner = provisioner;
  if (mode) storage_class.volume_binding_mode = Symbol(*mode);
  return storage_class;
}

inline api::CsiNode MakeCsiNode(const std::string& name,
                                std::vector<api::CsiNode::Driver> drivers = {}) {
  api::CsiNode node;
  node.meta.name = name;
  node.drivers = std::move(drivers);
  return node;
}

inline api::VolumeAttachment MakeAttachment(const std::string& node, const std::string& attacher,
                                            std::optional<std::string> volume) {
  api::VolumeAttachment attachment;
  attachment.meta.name = node + "-" + attacher + "-" + volume.value_or("inline");
  attachment.attacher = attacher;
  attachment.node_name = node;
  attachment.persistent_volume_name = std::move(volume);
  return attachment;
}

// Adds objects to the stores, replaces and deletes them.
class StorageChanger {
 public:
  explicit StorageChanger(cache::StorageStores& stores) : stores_(stores) {}

  template <class T>
  std::shared_ptr<const T> Put(T object) {
    object.meta.resource_version = std::to_string(++version_);
    auto shared = std::make_shared<const T>(std::move(object));
    Apply(testing::Upsert(shared));
    return shared;
  }
  template <class T>
  void Delete(T object) {
    object.meta.resource_version = std::to_string(++version_);
    Apply(testing::Delete(std::make_shared<const T>(std::move(object))));
  }

 private:
  template <class T>
  void Apply(api::Delta<T> delta) {
    stores_.Apply(std::vector<api::Delta<T>>{std::move(delta)},
                  [](auto, auto, const auto&, const auto&) {});
  }

  cache::StorageStores& stores_;
  int64_t version_ = 0;
};

class VolumeRig : public PluginRig {
 public:
  using PluginRig::PluginRig;

  StorageChanger storage{handle.fake_storage()};

  std::string PreFilterText(const testing::PodBuilder& pod) {
    state.Reset();
    return Describe(PreFilter(*pod.Obj()).status);
  }
  // PreFilter, then Filter of all nodes.
  std::vector<std::string> Verdicts(const testing::PodBuilder& pod) {
    return FilterAll(*pod.Obj());
  }

  // The answer of the registration for the resource and action: "Queue", "Skip", or the error.
  // "none" when nothing is registered.
  std::string Hint(framework::EventResource resource, uint32_t action,
                   const testing::PodBuilder& pod, const framework::EventObject& before,
                   const framework::EventObject& after) {
    for (const auto& registration : As<framework::EnqueueExtensions>()->EventsToRegister()) {
      if (registration.event.resource != resource || (registration.event.actions & action) == 0) {
        continue;
      }
      if (!registration.hint) return "Queue";
      const auto hint = registration.hint(*pod.Obj(), before, after);
      if (!hint.ok()) return hint.error().message;
      return hint.value() == framework::QueueingHint::kQueue ? "Queue" : "Skip";
    }
    return "none";
  }
};

}  // namespace ks::plugins
