// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cache: the scheduler's picture of the cluster, fed by watch events and by its own decisions
// (assumed pods), and the view of it that an attempt reads. Not for volumes, and not for waking
// queued pods: event routing does that.
//
// Upstream: docs/spec/cache.md sections 2 to 9.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "api/node.h"
#include "api/pod.h"
#include "base/result.h"
#include "cache/affinity_lists.h"
#include "cache/image_table.h"
#include "cache/node_entries.h"
#include "cache/node_tree.h"
#include "cache/pod_groups.h"
#include "cache/snapshot_changes.h"
#include "framework/node_info.h"
#include "framework/snapshot.h"

namespace ks::cache {

// Upstream copies what changed into a snapshot at the start of an attempt. Here one thread owns
// everything, so the node entries themselves are the snapshot: RefreshSnapshot only does what makes
// the copy differ from the original in upstream (which nodes are listed in which order, image
// figures, affinity lists). Between two refreshes the view stays readable: an entry whose node is
// gone keeps its place with its last node object until the next refresh.
//
// Invariants: every pod of the pod table is on exactly one entry, the one of its spec.nodeName; an
// entry without pods and node object lives only until the next refresh.
// Threads: the scheduling thread; workers may use the Snapshot part while a cycle runs.
// Lifetime: NodeInfo pointers and spans are valid until the next RefreshSnapshot.
class Cache final : public framework::Snapshot {
 public:
  // `groups`: records of pod groups that follow the pods; null: there are none. Outlives the cache.
  explicit Cache(PodGroups* groups = nullptr);
  ~Cache() override;
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  // Pods, keyed by uid. Errors are upstream's texts (docs/spec/cache.md 5.2); nothing has changed
  // then. An empty uid is an error of every operation.
  //
  // Requires: pod->node_name is set. Error: the pod is known, in whatever state.
  Result<void> AssumePod(const api::PodPtr& pod);
  // Takes an assumed pod back. Success for unknown pods. Errors: another node, not assumed.
  Result<void> ForgetPod(const api::Pod& pod);
  // As ForgetPod, for an assumed pod whose deletion was seen.
  Result<void> RemoveAssumedPod(const api::Pod& pod);
  // An assigned pod was seen. An assumed one is confirmed, on whatever node it is seen.
  Result<void> AddPod(const api::PodPtr& pod);
  // Requires: both on the node that the cache knows (a pod that was deleted and created again
  // elsewhere is RemovePod and AddPod). The uids may differ.
  Result<void> UpdatePod(const api::Pod& old_pod, const api::PodPtr& new_pod);
  // Removes what the cache holds for the uid. Requires: `pod` has no node or the known one.
  Result<void> RemovePod(const api::Pod& pod);
  Result<api::PodPtr> GetPod(const api::Pod& pod) const;
  bool IsAssumedPod(const api::Pod& pod) const;

  // Nodes, keyed by name.
  void AddNode(const api::NodePtr& node);
  void UpdateNode(const api::Node& old_node, const api::NodePtr& new_node);
  // Pods of the node stay until their own removal. Error: unknown name.
  Result<void> RemoveNode(const api::Node& node);

  // Call at the start of an attempt. Costs O(entries touched since the last call), and O(nodes)
  // when nodes joined or left. An error is final for the attempt: the list did not agree with the
  // tree and was rebuilt.
  Result<void> RefreshSnapshot();

  // For trying out where the members of a group fit. Only inside an attempt.
  framework::MutableSnapshot& mutable_snapshot() { return trial_; }

  // Snapshot: as of the last refresh.
  std::span<const framework::NodeInfo* const> nodes() const override { return list_; }
  std::span<const framework::NodeInfo* const> nodes_with_affinity() const override {
    return affinity_.with_affinity();
  }
  std::span<const framework::NodeInfo* const> nodes_with_required_anti_affinity() const override {
    return affinity_.with_required_anti_affinity();
  }
  // Listed nodes only.
  const framework::NodeInfo* Find(std::string_view name) const override;
  size_t slots() const override { return entries_.by_slot().size(); }
  std::span<const uint32_t> node_slots() const override { return list_slots_; }
  const framework::NodeInfo* AtSlot(uint32_t slot) const override {
    return entries_.by_slot()[slot];
  }
  const framework::ChangeLog& changes() const override { return entries_.changes(); }

  struct Counts {
    size_t assumed_pods = 0;
    size_t pods = 0;   // assumed included
    size_t nodes = 0;  // entries that have no node object (any more) included
  };
  Counts counts() const;

  // Every entry, ascending by name; node() is null for entries without a node object. For dumps.
  void ForEachEntry(const std::function<void(const std::string& name,
                                             const framework::NodeInfo& info)>& visit) const;
  // Uids of all pods, ascending. For dumps.
  std::vector<std::string> PodUids() const;

 private:
  struct PodState {
    api::PodPtr pod;
    bool assumed = false;
  };
  // A pod is found by its uid, which it has itself.
  struct UidHash {
    using is_transparent = void;
    size_t operator()(std::string_view uid) const { return absl::HashOf(uid); }
    size_t operator()(const PodState& state) const { return (*this)(state.pod->meta.uid); }
  };
  struct UidEqual {
    using is_transparent = void;
    bool operator()(const PodState& state, std::string_view uid) const {
      return state.pod->meta.uid == uid;
    }
    bool operator()(const PodState& a, const PodState& b) const {
      return (*this)(a, b.pod->meta.uid);
    }
  };

  void SetNode(NodeEntry& entry, const api::NodePtr& node);

  // snapshot.cc
  bool SettleLostNodes();
  bool RefreshEntry(NodeEntry& entry);
  void ReplaceInLists(const NodeEntry& entry, const framework::NodeInfo* info);
  void RebuildLists();
  Result<void> RecoverLists();

  absl::flat_hash_set<PodState, UidHash, UidEqual> pods_;
  size_t assumed_count_ = 0;

  PodGroups* const groups_;
  NodeEntries entries_;
  NodeTree tree_;
  ImageTable images_;
  AffinityLists affinity_;
  SnapshotChanges trial_;

  // The view.
  uint64_t generation_ = 0;   // of the newest entry at the last refresh
  size_t snapshot_size_ = 0;  // entries in the view's map
  std::vector<const framework::NodeInfo*> list_;
  std::vector<uint32_t> list_slots_;
  std::vector<NodeEntry*>
      lost_nodes_;  // in the view, lost their node object since the last refresh
  // Last states of lost nodes; the lists point to them until the next refresh.
  std::vector<std::unique_ptr<framework::NodeInfo>> last_states_;
};

}  // namespace ks::cache
