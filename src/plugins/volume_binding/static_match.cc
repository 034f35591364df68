// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/static_match.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace ks::plugins {
namespace {

bool IsLargeEnough(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  return !claim.requested || volume.capacity >= *claim.requested;
}

// What a reserved volume needs.
bool Suits(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  return IsLargeEnough(volume, claim) &&
         VolumeModeOf(volume.volume_mode) == VolumeModeOf(claim.volume_mode) &&
         volume.attributes_class == claim.attributes_class && !volume.meta.deletion_timestamp;
}

bool Suits(const ClassVolumes::Kind& kind, const api::PersistentVolumeClaim& claim) {
  return kind.mode == VolumeModeOf(claim.volume_mode) &&
         kind.attributes_class == claim.attributes_class &&
         std::all_of(claim.access_modes.begin(), claim.access_modes.end(), [&](const Symbol& mode) {
           return std::find(kind.access_modes.begin(), kind.access_modes.end(), mode) !=
                  kind.access_modes.end();
         });
}

}  // namespace

bool MayBelongTo(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  if (!volume.claim_ref) return true;
  const api::ClaimReference& reference = *volume.claim_ref;
  return reference.name == claim.meta.name && reference.ns == claim.meta.ns.view() &&
         (reference.uid.empty() || reference.uid == claim.meta.uid);
}

StaticMatch::StaticMatch(api::PersistentVolumeClaimPtr claim,
                         std::shared_ptr<const ClassVolumes> volumes)
    : claim_(std::move(claim)), volumes_(std::move(volumes)) {
  if (!claim_->selector_error.empty()) {
    error_ = "error creating internal label selector for claim: " + claim_->meta.Key() + ": " +
             claim_->selector_error;
    return;
  }
  for (const api::PersistentVolumePtr& volume : volumes_->KeptFor(claim_->meta.Key())) {
    if (MayBelongTo(*volume, *claim_) && Suits(*volume, *claim_)) reserved_.push_back(&volume);
  }
  if (claim_->selector) free_.push_back((selected_ = std::make_unique<VolumesByNode>()).get());
  for (const ClassVolumes::Kind& kind : volumes_->kinds()) {
    if (!Suits(kind, *claim_)) continue;
    if (selected_ != nullptr) {
      Select(kind.volumes);
    } else {
      free_.push_back(&kind.volumes);
    }
  }
}

// A selector mostly means few of many volumes, which are looked at once and not for each node.
void StaticMatch::Select(const VolumesByNode& volumes) {
  std::vector<api::PersistentVolumePtr> selected;
  volumes.ForEach([&](const api::PersistentVolumePtr& volume) {
    if (claim_->selector->Matches(volume->meta.labels)) selected.push_back(volume);
  });
  std::sort(selected.begin(), selected.end(), SmallerVolume());
  selected.erase(std::unique(selected.begin(), selected.end()), selected.end());
  for (const api::PersistentVolumePtr& volume : selected) {
    const std::optional<api::Requirement> common = CommonRequirement(*volume);
    selected_->Insert(volume, common ? &*common : nullptr);
  }
}

const api::PersistentVolumePtr* StaticMatch::On(
    const api::LabelMap& node_labels, std::span<const api::PersistentVolume* const> taken) const {
  const auto is_taken = [taken](const api::PersistentVolumePtr& volume) {
    return std::find(taken.begin(), taken.end(), volume.get()) != taken.end();
  };
  // A reserved volume decides as soon as it is reached, free ones only after the whole list.
  for (const api::PersistentVolumePtr* volume : reserved_) {
    if (is_taken(*volume)) continue;
    return AffinityMatches(**volume, node_labels) ? volume : nullptr;
  }
  const api::PersistentVolumePtr* best = nullptr;
  for (const VolumesByNode* volumes : free_) {
    const api::PersistentVolumePtr* first = volumes->First(
        node_labels,
        [this](const api::PersistentVolumePtr& volume) { return !IsLargeEnough(*volume, *claim_); },
        [&](const api::PersistentVolumePtr& volume) {
          return !is_taken(volume) && AffinityMatches(*volume, node_labels);
        });
    if (first != nullptr && (best == nullptr || SmallerVolume()(*first, *best))) best = first;
  }
  return best;
}

}  // namespace ks::plugins
