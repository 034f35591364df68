// SPDX-License-Identifier: Apache-2.0
#pragma once
// ClaimUsers: which claims the pods on nodes use, without looking at those pods in a cycle.
//
// Upstream: docs/spec/plugins-volume.md section 3.2 ("used").

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/string_map.h"
#include "plugins/kit/volume/tracked_pods.h"

namespace ks::plugins {

struct ClaimUser {
  explicit ClaimUser(api::PodPtr of) : pod(std::move(of)) {}
  api::PodPtr pod;
};

// Pods that are assigned or assumed to a listed node, by the persistentVolumeClaim volumes they
// have; claims of generic ephemeral volumes do not count. Threads: the scheduling thread.
class ClaimUsers : private TrackedPods<ClaimUsers, ClaimUser> {
 public:
  // O(changes since the last call); everything anew where the snapshot's log does not reach back.
  void Refresh(const framework::Snapshot& snapshot) { FollowPods(snapshot); }

  // Whether some pod uses the claim. `key`: "namespace/name".
  bool InUse(std::string_view key) const { return volumes_.contains(key); }
  // Claims in use.
  size_t size() const { return volumes_.size(); }

 private:
  friend framework::ChangeReader;
  friend TrackedPods;
  static bool Matters(const api::Pod& pod);
  void Clear(size_t) { volumes_.clear(); }
  void Join(uint32_t, ClaimUser& user) { Count(*user.pod, 1); }
  void Leave(uint32_t, ClaimUser& user) { Count(*user.pod, -1); }
  void Count(const api::Pod& pod, int sign);

  StringMap<int32_t> volumes_;  // by key of their claim; none is 0
};

}  // namespace ks::plugins
