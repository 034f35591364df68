// SPDX-License-Identifier: Apache-2.0
#pragma once
// AttachedVolumes: which volumes the pods of each node have attached there, by driver. Kept change
// by change, of pods as well as of claims and volumes, so that a scheduling cycle looks at no pod
// and no claim of the cluster.
//
// Everything is identified as on nodes that have a CSINode, although some have none: only the
// limits in a CSINode make anybody ask what is attached, so a node without one is never asked for.
//
// Upstream: docs/spec/plugins-volume.md sections 5.2 and 5.3 step 5.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/string_map.h"
#include "plugins/kit/volume/tracked_pods.h"
#include "plugins/node_volume_limits/volume_identity.h"

namespace ks::plugins {

// Distinct volumes, and how many of each driver. Threads: like a value.
class VolumeCounts {
 public:
  void Add(const AttachableVolume& volume);
  void Remove(const AttachableVolume& volume);

  bool Contains(std::string_view name) const { return uses_.contains(name); }
  int64_t Count(const Symbol& driver) const;
  size_t size() const { return uses_.size(); }

 private:
  StringMap<uint32_t> uses_;                         // by name; none is 0
  std::vector<std::pair<Symbol, int64_t>> drivers_;  // few; some may be 0
};

// What the pods have attached, counted by looking at each of them. Error: of the first volume that
// cannot be told.
framework::Status CountAttached(std::span<const framework::PodInfoPtr> pods,
                                const framework::StorageState& storage, VolumeCounts* counts);

// A pod on a node and what was counted for it.
struct AttachingPod {
  explicit AttachingPod(api::PodPtr of) : pod(std::move(of)) {}
  api::PodPtr pod;
  uint32_t slot = 0;
  std::vector<AttachableVolume> volumes;
  bool failed = false;  // some volume cannot be told
};

// Threads: Refresh by the scheduling thread; the rest also by workers while a cycle runs.
// Lifetime: the storage state, always the same, outlives it.
class AttachedVolumes : private TrackedPods<AttachedVolumes, AttachingPod> {
 public:
  // O(changes since the last call). Everything anew where a log does not reach back, and after a
  // change of a class, which is rare and may concern any claim.
  void Refresh(const framework::Snapshot& snapshot, const framework::StorageState& storage);

  // What is attached to the node. Null when that is to be counted from its pods: what is kept here
  // is older than the snapshot or the volumes, the node is not the snapshot's but a what-if copy,
  // or the volumes of one of its pods cannot be told, which CountAttached then explains.
  const VolumeCounts* Find(const framework::NodeInfo& node,
                           const framework::Snapshot& snapshot) const;

  // Claims and volumes that are watched because a pod uses them; for tests of what is kept.
  size_t claims() const { return claims_.size(); }
  size_t volumes() const { return claims_of_volume_.size(); }

 private:
  friend framework::ChangeReader;
  friend TrackedPods;
  struct Claim {
    absl::flat_hash_set<AttachingPod*> users;  // of any order: each is counted on its own
    std::string volume_name;                   // as claims_of_volume_ has it; empty: in none
  };
  struct Slot {
    VolumeCounts counts;
    uint32_t failed_pods = 0;
  };

  static bool Matters(const api::Pod& pod) { return MayAttach(pod); }
  void Clear(size_t slots);
  void Join(uint32_t slot, AttachingPod& pod);
  void Leave(uint32_t slot, AttachingPod& pod);

  void Count(AttachingPod& pod);
  void Uncount(AttachingPod& pod);
  void Recount(const std::string& claim_key);
  // The claim is bound to the volume of that name now; empty: to none.
  void SetVolume(const std::string& claim_key, Claim& claim, const std::string& volume_name);
  bool FollowsStorage() const;
  void CatchUp();

  const framework::StorageState* storage_ = nullptr;  // of the last Refresh
  const framework::Snapshot* snapshot_ = nullptr;     // of the last Refresh
  uint64_t pods_position_ = 0;                        // in its log, then
  std::optional<uint64_t> storage_position_;
  std::vector<Slot> slots_;
  StringMap<Claim> claims_;                            // that a pod on a node uses
  StringMap<std::set<std::string>> claims_of_volume_;  // keys in claims_, by volume name
};

}  // namespace ks::plugins
