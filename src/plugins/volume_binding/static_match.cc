// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/static_match.h"

#include <algorithm>
#include <optional>

namespace ks::plugins {
namespace {

Symbol ModeOf(Symbol mode) {
  static const Symbol filesystem("Filesystem");
  return mode.empty() ? filesystem : mode;
}

// What both a reserved and a free volume need.
bool Suits(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  return ModeOf(volume.volume_mode) == ModeOf(claim.volume_mode) &&
         volume.attributes_class == claim.attributes_class && !volume.meta.deletion_timestamp &&
         (!claim.requested || volume.capacity >= *claim.requested);
}

bool HasModes(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  return std::all_of(claim.access_modes.begin(), claim.access_modes.end(), [&](Symbol mode) {
    return std::find(volume.access_modes.begin(), volume.access_modes.end(), mode) !=
           volume.access_modes.end();
  });
}

// Of volumes without claimRef.
bool IsFree(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  static const Symbol available("Available");
  return volume.phase == available &&
         (!claim.selector || claim.selector->Matches(volume.meta.labels)) &&
         HasModes(volume, claim);
}

// An In requirement that every node of the volume fulfils; absent: none is known.
std::optional<api::Requirement> CommonIn(const api::PersistentVolume& volume) {
  const std::optional<api::NodeSelectorSpec>& spec = volume.node_affinity_spec;
  if (!spec || spec->terms.size() != 1) return std::nullopt;
  for (const api::SelectorRequirement& written : spec->terms.front().match_expressions) {
    if (written.op != "In") continue;
    api::Requirement common;
    common.key = Symbol(written.key);
    for (const std::string& value : written.values) common.values.emplace_back(value);
    return common;
  }
  return std::nullopt;
}

bool Contains(std::span<const VolumeRef> taken, VolumeRef volume) {
  return std::find(taken.begin(), taken.end(), volume) != taken.end();
}

}  // namespace

bool MayBelongTo(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  if (!volume.claim_ref) return true;
  const api::ClaimReference& reference = *volume.claim_ref;
  return reference.name == claim.meta.name && reference.ns == claim.meta.ns.view() &&
         (reference.uid.empty() || reference.uid == claim.meta.uid);
}

StaticMatch::StaticMatch(const api::PersistentVolumeClaim& claim,
                         std::span<const api::PersistentVolumePtr> volumes) {
  if (!claim.selector_error.empty()) {
    error_ = "error creating internal label selector for claim: " + claim.meta.Key() + ": " +
             claim.selector_error;
    return;
  }
  for (const api::PersistentVolumePtr& volume : volumes) {
    if (!MayBelongTo(*volume, claim) || !Suits(*volume, claim)) continue;
    if (volume->claim_ref) {
      reserved_.push_back(&volume);
    } else if (IsFree(*volume, claim)) {
      free_.push_back(&volume);
    }
  }
  const auto smaller = [](VolumeRef a, VolumeRef b) { return (*a)->capacity < (*b)->capacity; };
  if (!std::is_sorted(free_.begin(), free_.end(), smaller)) {
    std::stable_sort(free_.begin(), free_.end(), smaller);
  }
  for (uint32_t i = 0; i < free_.size(); ++i) {
    const std::optional<api::Requirement> common = CommonIn(**free_[i]);
    free_by_node_.Add(i, common ? &*common : nullptr);
  }
  free_by_node_.Finish();
}

VolumeRef StaticMatch::On(const api::LabelMap& node_labels,
                          std::span<const VolumeRef> taken) const {
  // A reserved volume decides as soon as it is reached, free ones only after the whole list.
  for (const VolumeRef volume : reserved_) {
    if (Contains(taken, volume)) continue;
    return AffinityMatches(**volume, node_labels) ? volume : nullptr;
  }
  const std::optional<uint32_t> found = free_by_node_.First(node_labels, [&](uint32_t position) {
    return !Contains(taken, free_[position]) && AffinityMatches(**free_[position], node_labels);
  });
  return found ? free_[*found] : nullptr;
}

}  // namespace ks::plugins
