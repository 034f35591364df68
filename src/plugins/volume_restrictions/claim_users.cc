// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_restrictions/claim_users.h"

#include <algorithm>
#include <string>

#include "api/storage.h"

namespace ks::plugins {
namespace {

bool IsClaim(const api::Volume& volume) {
  return volume.source == api::Volume::Source::kPersistentVolumeClaim;
}

}  // namespace

bool ClaimUsers::Matters(const api::Pod& pod) {
  return std::any_of(pod.spec->volumes.begin(), pod.spec->volumes.end(), IsClaim);
}

void ClaimUsers::Count(const api::Pod& pod, int sign) {
  for (const api::Volume& volume : pod.spec->volumes) {
    if (!IsClaim(volume)) continue;
    const auto entry = volumes_.try_emplace(api::ClaimKey(pod, volume), 0).first;
    entry->second += sign;
    if (entry->second == 0) volumes_.erase(entry);
  }
}

}  // namespace ks::plugins
