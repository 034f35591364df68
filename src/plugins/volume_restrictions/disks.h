// SPDX-License-Identifier: Apache-2.0
#pragma once
// Volumes that pods name themselves and cannot share at will: GCE's and AWS's disks, iSCSI, RBD.
//
// Upstream: docs/spec/plugins-volume.md section 3.1.

#include <memory>
#include <optional>
#include <string_view>
#include <tuple>

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include "api/pod.h"

namespace ks::plugins {

bool IsDisk(const api::Volume& volume);
bool HasDisk(const api::Pod& pod);

// The disks of a pod that may have thousands. Threads: immutable.
class Disks {
 public:
  explicit Disks(const api::Pod& pod);

  // Whether some disk of the other pod cannot be used beside one of them. O(the other's volumes).
  bool ConflictWith(const api::Pod& other) const;

 private:
  // With which each conflict is the same; of RBD also the pool.
  using Key = std::tuple<api::Volume::Source, std::string_view, std::string_view>;
  using Monitors = absl::flat_hash_set<std::string_view>;
  // The volumes of one disk that are for writing, too, and those for reading only.
  struct Uses {
    std::optional<Monitors> writing;  // absent: there are none; empty but of RBD
    std::optional<Monitors> reading;
  };

  static Key KeyOf(const api::Volume& volume);
  bool ConflictWith(const api::Volume& other) const;

  std::shared_ptr<const api::PodSpec> spec_;  // whose texts they are
  absl::flat_hash_map<Key, Uses> disks_;
};

// The same for two pods, of which one may be asked once only.
bool DisksConflict(const api::Pod& a, const api::Pod& b);
// Whether comparing their volumes in pairs takes long.
bool HaveManyPairs(const api::Pod& a, const api::Pod& b);

}  // namespace ks::plugins
