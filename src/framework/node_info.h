// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeInfo: one node with everything that scheduling keeps about it: the object, the pods on it,
// and sums over them. Not thread-safe accounting: one owner changes it between cycles, workers read
// it during one.
//
// Upstream: docs/spec/cache.md section 4, docs/spec/plugins-node.md 2.6.

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/node.h"
#include "api/pod.h"
#include "base/result.h"
#include "framework/pod_charges.h"
#include "framework/resource.h"

namespace ks::framework {

// A pod as the node accounts it. What it takes is computed before it is counted, and reused for
// removal. Threads: immutable.
class PodInfo {
 public:
  explicit PodInfo(api::PodPtr pod)
      : pod_(std::move(pod)), charge_(std::make_shared<const PodCharge>(*pod_)) {}
  // Requires: `charge` is that of the pod.
  PodInfo(api::PodPtr pod, PodChargePtr charge)
      : pod_(std::move(pod)), charge_(std::move(charge)) {}

  const api::Pod& pod() const { return *pod_; }
  const api::PodPtr& ptr() const { return pod_; }
  const AccountedRequest& request() const { return charge_->request; }
  const HostPortSet& host_ports() const { return charge_->ports; }
  // What it takes in memory, its spec included (api::RoughBytes).
  size_t RoughBytes() const { return charge_->spec_bytes + api::RoughBytesWithoutSpec(*pod_); }

 private:
  api::PodPtr pod_;
  PodChargePtr charge_;
};
using PodInfoPtr = std::shared_ptr<const PodInfo>;

// Size and spread of one image name as seen from a node, frozen at the node's last refresh
// (docs/spec/cache.md section 8).
struct ImageState {
  Symbol name;
  int32_t num_nodes = 0;
  int64_t size_bytes = 0;
};

// Invariant: requested() and non-zero sums equal the sums over pods().
// Threads: see the file comment. Lifetime: owned by the cache; a copy is independent (used for
// what-if filtering).
class NodeInfo {
 public:
  NodeInfo();
  explicit NodeInfo(api::NodePtr node) { SetNode(std::move(node)); }

  // Null for entries whose node object is not known (never in a snapshot).
  const api::Node* node() const { return node_.get(); }
  const api::NodePtr& node_ptr() const { return node_; }
  const std::string& name() const { return node_->meta.name; }

  const Resource& allocatable() const { return allocatable_; }
  const Resource& requested() const { return requested_; }
  int64_t non_zero_milli_cpu() const { return non_zero_milli_cpu_; }
  int64_t non_zero_memory() const { return non_zero_memory_; }
  std::span<const PodInfoPtr> pods() const { return pods_; }
  // Subsets of pods(), in their own order (swap-removed): with any (anti-)affinity, with a required
  // anti-affinity term.
  std::span<const PodInfoPtr> pods_with_affinity() const { return pods_with_affinity_; }
  std::span<const PodInfoPtr> pods_with_required_anti_affinity() const {
    return pods_with_required_anti_affinity_;
  }
  // The lowest among pods(); kNoPriority when there are none.
  int32_t lowest_priority() const { return lowest_priority_; }
  const HostPortSet& used_ports() const { return used_ports_; }
  // Sorted by name id.
  std::span<const ImageState> images() const { return images_; }
  const ImageState* FindImage(const Symbol& name) const;
  // Bit set of known declared features (docs/spec/plugins-node.md 4.11; bit 0 is the first in
  // sorted order).
  uint32_t declared_features() const { return declared_features_; }
  // Some taint has effect NoSchedule or NoExecute / PreferNoSchedule: lets TaintToleration pass
  // most nodes at once.
  bool has_hard_taints() const { return has_hard_taints_; }
  bool has_soft_taints() const { return has_soft_taints_; }
  // spec.unschedulable.
  bool unschedulable() const { return unschedulable_; }

  // Process-wide counter value of the last change; never reused.
  uint64_t generation() const { return generation_; }
  // Back to that of the same state.
  void set_generation(uint64_t generation) { generation_ = generation; }
  // Position in the snapshot's node list; valid only while the node is listed.
  uint32_t index() const { return index_; }
  // Place of the node in arrays that outlive changes of the list: see Snapshot.
  uint32_t slot() const { return slot_; }
  void SetPlace(uint32_t index, uint32_t slot) {
    index_ = index;
    slot_ = slot;
  }

  // Object, allocatable, features, taint flags, generation. Pods and sums stay.
  void SetNode(api::NodePtr node);
  // Object gone; the rest stays as it was.
  void UnsetNode();
  void AddPod(PodInfoPtr pod);
  // By uid; swap-removes. The cached vector is subtracted. Returns what was removed, null when the
  // uid is not here.
  PodInfoPtr RemovePod(const api::Pod& pod);
  // Requires: sorted by name id.
  void SetImages(std::vector<ImageState> images) { images_ = std::move(images); }

  static constexpr int32_t kNoPriority = std::numeric_limits<int32_t>::max();

 private:
  void CountPriority(int32_t priority);
  void UncountPriority(int32_t priority);

  // Hot row: read for every node in every cycle.
  Resource allocatable_;
  Resource requested_;
  int64_t non_zero_milli_cpu_ = 0;
  int64_t non_zero_memory_ = 0;
  uint64_t generation_ = 0;
  uint32_t index_ = 0;
  uint32_t slot_ = 0;
  uint32_t declared_features_ = 0;
  int32_t lowest_priority_ = kNoPriority;
  uint32_t lowest_priority_pods_ = 0;
  bool has_hard_taints_ = false;
  bool has_soft_taints_ = false;
  bool unschedulable_ = false;
  api::NodePtr node_;
  std::vector<PodInfoPtr> pods_;
  HostPortSet used_ports_;

  // Cold part.
  std::vector<ImageState> images_;
  std::vector<PodInfoPtr> pods_with_affinity_;
  std::vector<PodInfoPtr> pods_with_required_anti_affinity_;
};

}  // namespace ks::framework
