// SPDX-License-Identifier: Apache-2.0
#pragma once
// What VolumeBinding remembers during one attempt: the claims of the pod and, for each node that
// passed, what it would give them.
//
// Upstream: docs/spec/plugins-volume.md sections 2.3, 2.4 (step 5) and 2.6.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/cycle_state.h"
#include "framework/handle.h"
#include "plugins/volume_binding/class_volumes.h"
#include "plugins/volume_binding/classify.h"
#include "plugins/volume_binding/provisioning.h"
#include "plugins/volume_binding/reservation.h"
#include "plugins/volume_binding/static_match.h"
#include "plugins/volume_binding/volume_affinity.h"

namespace ks::plugins {

// What a node offers.
struct NodeOffer {
  std::string node_name;
  std::vector<StaticBinding> bindings;  // in matching order
  std::vector<Provision> provisions;    // in provisioning order
};

// The outcome of Filter, one bit per reason, in the order in which they are told.
enum OfferProblem : uint8_t {
  kVolumeNodeConflict = 1U << 0,
  kNoVolumeToBind = 1U << 1,
  kNotEnoughSpace = 1U << 2,
  kVolumeMissing = 1U << 3,
};

// Threads: the scheduling thread; workers call Offer for different nodes at the same time.
// Lifetime: of an attempt and what follows it; all clones of the cycle state share it.
class BindingState final : public framework::StateData {
 public:
  // The state of a pod without claims.
  BindingState() = default;
  // Requires: none of the claims is unbound and immediate.
  BindingState(const framework::StorageState& storage, VolumeIndex& volumes, PodClaims claims,
               size_t node_slots);

  // Judges the node and remembers what it offers. Returns a set of OfferProblems, empty if it
  // passes.
  Result<uint8_t> Judge(const framework::StorageState& storage,
                        const framework::NodeInfo& node) const;

  // Null when the node did not pass, or no claim waits for a node.
  const NodeOffer* OfferOf(const framework::NodeInfo& node) const;

  // Whether some claim waits for a node.
  bool has_offers() const { return !offers_.empty(); }

  // Gives back what served to choose a node. Nothing is judged any more, and no node offers
  // anything; not so once it is fixed.
  void NodeChosen();
  std::shared_ptr<StateData> Fix(const std::shared_ptr<StateData>& self,
                                 const framework::NodeInfo& /*node*/) override {
    fixed_ = true;
    return self;
  }

  // Set by Reserve, taken back by Unreserve.
  bool all_bound = false;
  std::shared_ptr<Reservation> reservation;

 private:
  // A bound claim's volume; null: unknown.
  struct BoundVolume {
    api::PersistentVolumePtr volume;
    std::optional<MigratedAffinity> migrated;
  };
  struct DelayedClaim {
    DelayedClaim(const framework::StorageState& storage, DelayedClaimOfPod of_pod);

    api::PersistentVolumeClaimPtr claim;
    Provisioning provisioning;
    std::optional<StaticMatch> match;  // absent: pinned to a node
  };

  Result<uint8_t> JudgeBound(const framework::StorageState& storage, const api::Node& node) const;
  Result<uint8_t> JudgeDelayed(const api::Node& node, NodeOffer* offer) const;
  uint8_t JudgeProvisions(const api::Node& node, std::span<const DelayedClaim* const> claims,
                          NodeOffer* offer) const;

  std::vector<BoundVolume> bound_;
  std::vector<DelayedClaim> pinned_;  // to some node
  std::vector<DelayedClaim> open_;    // by size
  // By slot; empty when no claim waits for a node. Each worker writes its nodes'.
  mutable std::vector<std::unique_ptr<const NodeOffer>> offers_;
  bool fixed_ = false;
};

}  // namespace ks::plugins
