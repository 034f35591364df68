// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_restrictions/disks.h"

#include <algorithm>
#include <cstddef>

namespace ks::plugins {
namespace {

using Source = api::Volume::Source;

bool HaveCommonMonitor(const api::Volume& a, const api::Volume& b) {
  return std::find_first_of(a.monitors.begin(), a.monitors.end(), b.monitors.begin(),
                            b.monitors.end()) != a.monitors.end();
}

bool Conflict(const api::Volume& a, const api::Volume& b) {
  if (a.source != b.source || !IsDisk(a) || a.id != b.id) return false;
  if (a.source == Source::kAwsElasticBlockStore) return true;
  if (a.source == Source::kRbd && (a.pool != b.pool || !HaveCommonMonitor(a, b))) return false;
  return !a.read_only || !b.read_only;
}

}  // namespace

bool IsDisk(const api::Volume& volume) {
  return volume.source == Source::kGcePersistentDisk ||
         volume.source == Source::kAwsElasticBlockStore || volume.source == Source::kIscsi ||
         volume.source == Source::kRbd;
}

bool HasDisk(const api::Pod& pod) {
  return std::any_of(pod.spec->volumes.begin(), pod.spec->volumes.end(), IsDisk);
}

Disks::Disks(const api::Pod& pod) : spec_(pod.spec) {
  for (const api::Volume& volume : spec_->volumes) {
    if (!IsDisk(volume)) continue;
    Monitors& monitors = disks_[KeyOf(volume, volume.read_only)];
    if (volume.source != Source::kRbd) continue;
    monitors.insert(volume.monitors.begin(), volume.monitors.end());
  }
}

Disks::Key Disks::KeyOf(const api::Volume& volume, bool read_only) {
  const bool is_rbd = volume.source == Source::kRbd;
  return {volume.source, volume.id, is_rbd ? std::string_view(volume.pool) : std::string_view(),
          read_only};
}

bool Disks::ConflictWith(const api::Pod& other) const {
  return std::any_of(
      other.spec->volumes.begin(), other.spec->volumes.end(), [this](const api::Volume& volume) {
        return IsDisk(volume) && (ConflictWith(volume, false) || ConflictWith(volume, true));
      });
}

// With those of them that are, or are not, for reading only.
bool Disks::ConflictWith(const api::Volume& other, bool read_only) const {
  const auto found = disks_.find(KeyOf(other, read_only));
  if (found == disks_.end()) return false;
  if (other.source == Source::kAwsElasticBlockStore) return true;
  if (read_only && other.read_only) return false;
  const Monitors& monitors = found->second;
  return other.source != Source::kRbd ||
         std::any_of(other.monitors.begin(), other.monitors.end(),
                     [&monitors](const auto& monitor) { return monitors.contains(monitor); });
}

bool HaveManyPairs(const api::Pod& a, const api::Pod& b) {
  constexpr size_t kMany = 256;
  return a.spec->volumes.size() * b.spec->volumes.size() > kMany;
}

bool DisksConflict(const api::Pod& a, const api::Pod& b) {
  if (HaveManyPairs(a, b)) return Disks(a).ConflictWith(b);
  for (const api::Volume& volume : a.spec->volumes) {
    if (!IsDisk(volume)) continue;
    for (const api::Volume& other : b.spec->volumes) {
      if (Conflict(volume, other)) return true;
    }
  }
  return false;
}

}  // namespace ks::plugins
