// SPDX-License-Identifier: Apache-2.0
#pragma once
// A pod's volumes that name a claim, and the texts of what is missing.
//
// Upstream: docs/spec/plugins-volume.md sections 1.3 and 1.5.

#include <algorithm>
#include <string>
#include <string_view>

#include "api/storage.h"
#include "framework/events.h"
#include "golang/quote.h"
#include "plugins/kit/hinting.h"

namespace ks::plugins {

// Whether `condition(volume)` holds for a persistentVolumeClaim volume of the pod.
template <class Condition>
bool AnyClaimVolume(const api::Pod& pod, Condition condition) {
  return std::any_of(
      pod.spec->volumes.begin(), pod.spec->volumes.end(), [&](const api::Volume& volume) {
        return volume.source == api::Volume::Source::kPersistentVolumeClaim && condition(volume);
      });
}

// Whether a persistentVolumeClaim volume of the pod names the claim; the namespace is not looked
// at.
inline bool NamesClaim(const api::Pod& pod, std::string_view claim_name) {
  return AnyClaimVolume(pod, [&](const api::Volume& volume) { return volume.id == claim_name; });
}

// The hint after a claim was added or changed, for plugins that do not look at generic ephemeral
// volumes. What of the pod it depends on: HintScope::kClaims.
inline framework::QueueingHint AfterNamedClaim(const api::Pod& pod,
                                               const api::PersistentVolumeClaim* before,
                                               const api::PersistentVolumeClaim* after) {
  const api::PersistentVolumeClaim& claim = after != nullptr ? *after : *before;
  return QueueIf(claim.meta.ns == pod.meta.ns && NamesClaim(pod, claim.meta.name));
}

inline std::string ClaimNotFoundText(std::string_view name) {
  return "persistentvolumeclaim " + golang::Quote(name) + " not found";
}
inline std::string VolumeNotFoundText(std::string_view name) {
  return "persistentvolume " + golang::Quote(name) + " not found";
}
inline std::string StorageClassNotFoundText(std::string_view name) {
  return "storageclass.storage.k8s.io " + golang::Quote(name) + " not found";
}

}  // namespace ks::plugins
