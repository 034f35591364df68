// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/hints.h"

#include <algorithm>
#include <string_view>

#include "api/storage.h"
#include "plugins/kit/hinting.h"

namespace ks::plugins {
namespace {

using framework::EventResource;
using framework::HintScope;
using framework::QueueingHint;

framework::QueueingHintFn OnStorageClass() {
  return HintOn<api::StorageClass>(
      [](const api::Pod&, const api::StorageClass* before, const api::StorageClass* after) {
        return QueueIf(before == nullptr || after == nullptr ||
                       before->allowed_topologies != after->allowed_topologies);
      });
}

framework::QueueingHintFn OnClaim() {
  using Claim = api::PersistentVolumeClaim;
  return HintOn<Claim>([](const api::Pod& pod, const Claim* before, const Claim* after) {
    const Claim& claim = after != nullptr ? *after : *before;
    if (claim.meta.ns != pod.meta.ns) return QueueingHint::kSkip;
    return QueueIf(std::any_of(
        pod.spec->volumes.begin(), pod.spec->volumes.end(), [&](const api::Volume& volume) {
          return api::MeansClaim(volume) && api::ClaimName(pod, volume) == claim.meta.name;
        }));
  });
}

framework::QueueingHintFn OnCsiNode() {
  return HintOn<api::CsiNode>(
      [](const api::Pod&, const api::CsiNode* before, const api::CsiNode* after) {
        return QueueIf(before == nullptr || after == nullptr ||
                       before->migrated_plugins != after->migrated_plugins);
      });
}

// A driver that no longer reports capacity is no longer asked for it. Upstream looks at inline
// volumes only, although they are of no concern to it.
framework::QueueingHintFn OnCsiDriver() {
  return HintOn<api::CsiDriver>(
      [](const api::Pod& pod, const api::CsiDriver* before, const api::CsiDriver* after) {
        if (before == nullptr || after == nullptr) return QueueingHint::kQueue;
        const bool freed =
            before->storage_capacity.value_or(false) && !after->storage_capacity.value_or(false);
        return QueueIf(freed && std::any_of(pod.spec->volumes.begin(), pod.spec->volumes.end(),
                                            [&](const api::Volume& volume) {
                                              return volume.source == api::Volume::Source::kCsi &&
                                                     volume.id == after->meta.name;
                                            }));
      });
}

framework::QueueingHintFn OnCapacity() {
  using Capacity = api::CsiStorageCapacity;
  return HintOn<Capacity>([](const api::Pod&, const Capacity* before, const Capacity* after) {
    if (before == nullptr || after == nullptr) return QueueingHint::kQueue;
    const std::optional<api::Quantity>& limit = after->Limit();
    return QueueIf(limit && (!before->Limit() || *before->Limit() < *limit));
  });
}

}  // namespace

std::vector<framework::EventRegistration> VolumeBindingEvents() {
  constexpr uint32_t kAddOrUpdate = framework::kActionAdd | framework::kActionUpdate;
  return {
      {{EventResource::kStorageClass, kAddOrUpdate, {}}, OnStorageClass(), HintScope::kSpec},
      {{EventResource::kPersistentVolumeClaim, kAddOrUpdate, {}}, OnClaim(), HintScope::kClaims},
      {{EventResource::kPersistentVolume, kAddOrUpdate, {}}, {}, HintScope::kSpec},
      {{EventResource::kNode, framework::kActionAdd | framework::kActionUpdateNodeLabel, {}},
       {},
       HintScope::kSpec},
      {{EventResource::kCsiNode, kAddOrUpdate, {}}, OnCsiNode(), HintScope::kSpec},
      {{EventResource::kCsiDriver, framework::kActionUpdate, {}}, OnCsiDriver(), HintScope::kSpec},
      {{EventResource::kCsiStorageCapacity, kAddOrUpdate, {}}, OnCapacity(), HintScope::kSpec},
  };
}

}  // namespace ks::plugins
