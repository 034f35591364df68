// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/binding_state.h"

#include <algorithm>

namespace ks::plugins {
namespace {

const api::Quantity& SizeOf(const api::PersistentVolumeClaim& claim) {
  static const api::Quantity nothing;
  return claim.requested ? *claim.requested : nothing;
}

}  // namespace

BindingState::DelayedClaim::DelayedClaim(const framework::StorageState& storage,
                                         DelayedClaimOfPod of_pod)
    : claim(std::move(of_pod.claim)),
      provisioning(storage, *claim, std::move(of_pod.storage_class)) {}

BindingState::BindingState(const framework::StorageState& storage, VolumeIndex& volumes,
                           PodClaims claims, size_t node_slots) {
  for (const api::PersistentVolumeClaimPtr& claim : claims.bound) {
    BoundVolume& bound = bound_.emplace_back();
    bound.volume = storage.CurrentVolume(claim->volume_name);
    if (bound.volume != nullptr) bound.migrated = MigratedAffinity::Of(*bound.volume);
  }
  for (DelayedClaimOfPod& claim : claims.delayed) {
    DelayedClaim delayed(storage, std::move(claim));
    (delayed.claim->selected_node ? pinned_ : open_).push_back(std::move(delayed));
  }
  std::stable_sort(open_.begin(), open_.end(), [](const DelayedClaim& a, const DelayedClaim& b) {
    return SizeOf(*a.claim) < SizeOf(*b.claim);
  });
  for (DelayedClaim& open : open_) {
    open.match.emplace(open.claim, volumes.Of(open.claim->StorageClass(), storage));
  }
  if (!claims.delayed.empty()) offers_.resize(node_slots);
}

Result<uint8_t> BindingState::Judge(const framework::StorageState& storage,
                                    const framework::NodeInfo& node) const {
  Result<uint8_t> bound = JudgeBound(storage, *node.node());
  if (!bound.ok() || offers_.empty()) return bound;
  auto offer = std::make_unique<NodeOffer>();
  Result<uint8_t> delayed = JudgeDelayed(*node.node(), offer.get());
  if (!delayed.ok()) return delayed;
  const auto problems = static_cast<uint8_t>(*bound | *delayed);
  if (problems == 0 && node.slot() < offers_.size()) {
    offer->node_name = node.name();
    offers_[node.slot()] = std::move(offer);
  }
  return problems;
}

const NodeOffer* BindingState::OfferOf(const framework::NodeInfo& node) const {
  if (node.slot() >= offers_.size()) return nullptr;
  const NodeOffer* offer = offers_[node.slot()].get();
  return offer != nullptr && offer->node_name == node.name() ? offer : nullptr;
}

void BindingState::NodeChosen() {
  if (fixed_) return;
  bound_.clear();
  pinned_.clear();
  open_.clear();
  offers_ = decltype(offers_)();
}

// The first problem ends it.
Result<uint8_t> BindingState::JudgeBound(const framework::StorageState& storage,
                                         const api::Node& node) const {
  for (const BoundVolume& bound : bound_) {
    if (bound.volume == nullptr) return uint8_t{kVolumeMissing};
    const Result<const api::NodeSelector*> affinity =
        AffinityOn(*bound.volume, bound.migrated, storage, node.meta.name);
    if (!affinity.ok()) return affinity.error();
    if (*affinity != nullptr && !(*affinity)->Matches(node.meta.labels, {})) {
      return uint8_t{kVolumeNodeConflict};
    }
  }
  return uint8_t{0};
}

Result<uint8_t> BindingState::JudgeDelayed(const api::Node& node, NodeOffer* offer) const {
  std::vector<const DelayedClaim*> to_provision;
  to_provision.reserve(pinned_.size() + open_.size());
  for (const DelayedClaim& pinned : pinned_) {
    if (*pinned.claim->selected_node != node.meta.name) return uint8_t{kNoVolumeToBind};
    to_provision.push_back(&pinned);
  }
  std::vector<const api::PersistentVolume*> taken;
  for (const DelayedClaim& open : open_) {
    if (!open.match->error().empty()) return Error{open.match->error()};
    const api::PersistentVolumePtr* volume = open.match->On(node.meta.labels, taken);
    if (volume == nullptr) {
      to_provision.push_back(&open);
      continue;
    }
    taken.push_back(volume->get());
    offer->bindings.push_back({.claim = open.claim, .volume = *volume});
  }
  return JudgeProvisions(node, to_provision, offer);
}

uint8_t BindingState::JudgeProvisions(const api::Node& node,
                                      std::span<const DelayedClaim* const> claims,
                                      NodeOffer* offer) const {
  for (const DelayedClaim* claim : claims) {
    Provision& provision = offer->provisions.emplace_back();
    provision.claim = claim->claim;
    switch (claim->provisioning.On(node.meta.labels, &provision.capacity)) {
      case ProvisioningVerdict::kPossible:
        break;
      case ProvisioningVerdict::kImpossible:
        return kNoVolumeToBind;
      case ProvisioningVerdict::kNotEnoughSpace:
        return kNotEnoughSpace;
    }
  }
  return 0;
}

}  // namespace ks::plugins
