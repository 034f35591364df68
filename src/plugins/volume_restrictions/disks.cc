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
    Uses& uses = disks_[KeyOf(volume)];
    std::optional<Monitors>& monitors = volume.read_only ? uses.reading : uses.writing;
    if (!monitors.has_value()) monitors.emplace();
    if (volume.source != Source::kRbd) continue;
    monitors->insert(volume.monitors.begin(), volume.monitors.end());
  }
}

Disks::Key Disks::KeyOf(const api::Volume& volume) {
  const bool is_rbd = volume.source == Source::kRbd;
  return {volume.source, volume.id, is_rbd ? std::string_view(volume.pool) : std::string_view()};
}

bool Disks::ConflictWith(const api::Pod& other) const {
  return std::any_of(
      other.spec->volumes.begin(), other.spec->volumes.end(),
      [this](const api::Volume& volume) { return IsDisk(volume) && ConflictWith(volume); });
}

bool Disks::ConflictWith(const api::Volume& other) const {
  const auto found = disks_.find(KeyOf(other));
  if (found == disks_.end()) return false;
  if (other.source == Source::kAwsElasticBlockStore) return true;
  const auto meets = [&other](const std::optional<Monitors>& monitors) {
    if (!monitors.has_value()) return false;
    return other.source != Source::kRbd ||
           std::any_of(other.monitors.begin(), other.monitors.end(),
                       [&monitors](const auto& monitor) { return monitors->contains(monitor); });
  };
  const Uses& uses = found->second;
  return meets(uses.writing) || (!other.read_only && meets(uses.reading));
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
