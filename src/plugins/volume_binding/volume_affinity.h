// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a volume may be used once its driver serves it: in-tree volumes, whose affinity is told in
// the terms of their CSI driver on nodes that have migrated.
//
// Upstream: docs/spec/plugins-volume.md sections 1.6 and 1.7.

#include <optional>
#include <string>

#include "api/selector.h"
#include "api/storage.h"
#include "base/result.h"
#include "framework/storage_state.h"

namespace ks::plugins {

// An in-tree volume's affinity, as told to its driver. Threads: immutable.
class MigratedAffinity {
 public:
  // Absent: the volume is of no in-tree type that the scheduler takes for migrated.
  static std::optional<MigratedAffinity> Of(const api::PersistentVolume& volume);

  // Whether it counts on this node, in place of the volume's own.
  bool CountsOn(const framework::StorageState& storage, std::string_view node_name) const;
  // The error of the translation, with its prefix; empty: none.
  const std::string& error() const { return error_; }
  // Absent: matches everywhere.
  const std::optional<api::NodeSelector>& selector() const { return selector_; }

 private:
  std::string_view in_tree_name_;
  std::string error_;
  std::optional<api::NodeSelector> selector_;
};

// The affinity that counts for the volume on the node; null: everything matches. Error: with the
// prefix `could not translate pv: `. `migrated` is MigratedAffinity::Of(volume).
Result<const api::NodeSelector*> AffinityOn(const api::PersistentVolume& volume,
                                            const std::optional<MigratedAffinity>& migrated,
                                            const framework::StorageState& storage,
                                            std::string_view node_name);

}  // namespace ks::plugins
