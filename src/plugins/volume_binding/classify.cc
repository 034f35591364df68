// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/classify.h"

#include <algorithm>

namespace ks::plugins {
namespace {

using Source = api::Volume::Source;

Symbol LostPhase() {
  static const Symbol lost("Lost");
  return lost;
}

std::optional<std::string> ProblemOf(const framework::StorageState& storage, const api::Pod& pod,
                                     const api::Volume& volume) {
  const bool ephemeral = volume.source == Source::kEphemeral;
  const std::string name = '"' + api::ClaimName(pod, volume) + '"';
  const api::PersistentVolumeClaimPtr claim = storage.FindClaim(api::ClaimKey(pod, volume));
  if (claim == nullptr) {
    return ephemeral ? "waiting for ephemeral volume controller to create the "
                       "persistentvolumeclaim " +
                           name
                     : "persistentvolumeclaim " + name + " not found";
  }
  if (claim->phase == LostPhase()) {
    return "persistentvolumeclaim " + name + " bound to non-existent persistentvolume \"" +
           claim->volume_name + '"';
  }
  if (claim->meta.deletion_timestamp) return "persistentvolumeclaim " + name + " is being deleted";
  if (ephemeral && !api::IsMadeFor(*claim, pod)) return api::NotOwnerText(*claim, pod);
  return std::nullopt;
}

// Null when somebody else has to bind the claim, which is not bound.
Result<api::StorageClassPtr> DelayingClass(const framework::StorageState& storage,
                                           const api::PersistentVolumeClaim& claim) {
  static const Symbol wait_for_consumer("WaitForFirstConsumer");
  const Symbol name = claim.StorageClass();
  if (name.empty()) return api::StorageClassPtr();
  api::StorageClassPtr found = storage.FindStorageClass(name.view());
  if (found == nullptr) return api::StorageClassPtr();
  if (!found->volume_binding_mode) {
    return Error{"VolumeBindingMode not set for StorageClass \"" + name.str() + '"'};
  }
  const bool delays = *found->volume_binding_mode == wait_for_consumer && claim.volume_name.empty();
  return delays ? std::move(found) : api::StorageClassPtr();
}

}  // namespace

bool HasClaims(const api::Pod& pod) {
  return std::any_of(pod.spec->volumes.begin(), pod.spec->volumes.end(), api::MeansClaim);
}

std::optional<std::string> ClaimProblem(const framework::StorageState& storage,
                                        const api::Pod& pod) {
  for (const api::Volume& volume : pod.spec->volumes) {
    if (!api::MeansClaim(volume)) continue;
    if (std::optional<std::string> problem = ProblemOf(storage, pod, volume)) return problem;
  }
  return std::nullopt;
}

Result<PodClaims> ClassifyClaims(const framework::StorageState& storage, const api::Pod& pod) {
  PodClaims claims;
  for (const api::Volume& volume : pod.spec->volumes) {
    if (!api::MeansClaim(volume)) continue;
    const std::string key = api::ClaimKey(pod, volume);
    api::PersistentVolumeClaimPtr claim = storage.CurrentClaim(key);
    if (claim == nullptr) {
      return Error{"error getting PVC \"" + key + "\": persistentvolumeclaims \"" + key +
                   "\" not found"};
    }
    if (claim->FullyBound()) {
      claims.bound.push_back(std::move(claim));
      continue;
    }
    Result<api::StorageClassPtr> delaying = DelayingClass(storage, *claim);
    if (!delaying.ok()) return delaying.error();
    if (*delaying == nullptr) {
      claims.unbound_immediate = true;
    } else {
      claims.delayed.push_back({std::move(claim), *std::move(delaying)});
    }
  }
  return claims;
}

bool AllClaimsBound(const framework::StorageState& storage, const api::Pod& pod) {
  return std::all_of(pod.spec->volumes.begin(), pod.spec->volumes.end(),
                     [&](const api::Volume& volume) {
                       if (!api::MeansClaim(volume)) return true;
                       const auto claim = storage.CurrentClaim(api::ClaimKey(pod, volume));
                       return claim != nullptr && claim->FullyBound();
                     });
}

}  // namespace ks::plugins
