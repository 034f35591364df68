// SPDX-License-Identifier: Apache-2.0
#include "api/storage.h"

namespace ks::api {

std::string ClaimName(const Pod& pod, const Volume& volume) {
  if (volume.source == Volume::Source::kPersistentVolumeClaim) return volume.id;
  if (volume.source == Volume::Source::kEphemeral) return pod.meta.name + '-' + volume.name;
  return {};
}

std::string ClaimKey(const Pod& pod, const Volume& volume) {
  if (!MeansClaim(volume)) return {};
  std::string key(pod.meta.ns.view());
  key += '/';
  key += ClaimName(pod, volume);
  return key;
}

bool IsMadeFor(const PersistentVolumeClaim& claim, const Pod& pod) {
  const OwnerReference* owner = claim.meta.Controller();
  return claim.meta.ns == pod.meta.ns && owner != nullptr && owner->uid == pod.meta.uid;
}

std::string NotOwnerText(const PersistentVolumeClaim& claim, const Pod& pod) {
  return "PVC " + claim.meta.Key() + " was not created for pod " + pod.meta.Key() +
         " (pod is not owner)";
}

}  // namespace ks::api
