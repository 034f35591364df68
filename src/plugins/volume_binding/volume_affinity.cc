// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/volume_affinity.h"

#include <utility>

#include "plugins/kit/volume/csi_translation.h"

namespace ks::plugins {

std::optional<MigratedAffinity> MigratedAffinity::Of(const api::PersistentVolume& volume) {
  const InTreePlugin* plugin = FindInTreePlugin(volume.source);
  if (plugin == nullptr || !plugin->migrated) return std::nullopt;
  MigratedAffinity affinity;
  affinity.in_tree_name_ = plugin->name;
  Result<std::optional<api::NodeSelectorSpec>> translated = TranslatedNodeAffinity(volume);
  if (!translated.ok()) {
    affinity.error_ = "could not translate pv: " + translated.error().message;
  } else if (translated->has_value()) {
    affinity.selector_ = api::NodeSelector::Compile(**translated);
  }
  return affinity;
}

bool MigratedAffinity::CountsOn(const framework::StorageState& storage,
                                std::string_view node_name) const {
  return IsMigratedOn(storage.FindCsiNode(node_name).get(), in_tree_name_);
}

Result<const api::NodeSelector*> AffinityOn(const api::PersistentVolume& volume,
                                            const std::optional<MigratedAffinity>& migrated,
                                            const framework::StorageState& storage,
                                            std::string_view node_name) {
  const std::optional<api::NodeSelector>* affinity = &volume.node_affinity;
  if (migrated && migrated->CountsOn(storage, node_name)) {
    if (!migrated->error().empty()) return Error{migrated->error()};
    affinity = &migrated->selector();
  }
  return affinity->has_value() ? &**affinity : nullptr;
}

}  // namespace ks::plugins
