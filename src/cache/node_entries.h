// SPDX-License-Identifier: Apache-2.0
#pragma once
// The node names that the cache knows, by name, by slot and by recency, with the log of what
// changed. Private to src/cache.
//
// Upstream: docs/spec/cache.md sections 4 and 9.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"
#include "framework/change_log.h"
#include "framework/node_info.h"

namespace ks::cache {

inline constexpr std::string_view kCorrupted =
    "Scheduler cache is corrupted and can badly affect scheduling decisions";

// The state of a node name, its place in the recency list and what the view remembers about it.
struct NodeEntry {
  std::string name;
  framework::NodeInfo info;  // the images of its node are registered in the image table

  // The recency list, most recent first. An entry that is not alive waits in the view for the next
  // refresh; for everybody else it does not exist.
  bool alive = false;
  NodeEntry* newer = nullptr;
  NodeEntry* older = nullptr;

  bool in_snapshot = false;
  bool listed = false;             // info.index() is its place
  bool lost_node = false;          // lost its node since the last refresh
  bool had_affinity = false;       // at the last refresh
  bool had_anti_affinity = false;  // at the last refresh
  uint64_t image_version = 0;      // of the image table when the figures were frozen
};

// Invariant: an entry without pods and node object lives only until it has left the view.
// Threads: the scheduling thread. Lifetime: an entry stays where it is until it is erased.
class NodeEntries {
 public:
  // The entry of that name, made if need be, alive and the most recent one.
  NodeEntry& Touch(const std::string& name);
  // Null: unknown.
  NodeEntry* Find(std::string_view name) const;
  NodeEntry* FindAlive(std::string_view name) const;
  // Forgets it. Requires: it left the view.
  void Erase(const NodeEntry& entry);
  void MoveToFront(NodeEntry& entry);
  // For everybody but the view it is gone, unless it has a node object or pods.
  void DropIfEmpty(NodeEntry& entry);

  // The pod counts on the entry's node from now on; or no longer, null when it did not. The entry's
  // place among the newest stays.
  void Put(NodeEntry& entry, const api::PodPtr& pod);
  framework::PodInfoPtr Take(NodeEntry& entry, const api::Pod& pod);

  // The same on the pod's node, which becomes the newest. Requires: it has one, and counts there.
  void ChargePod(const api::PodPtr& pod);
  void ReleasePod(const api::Pod& pod);

  // The most recent first; null: none.
  NodeEntry* newest() const { return newest_; }
  // Without entries that only wait for the next refresh.
  size_t count() const { return count_; }

  // Slots of entries; null where the entry is not listed.
  const std::vector<const framework::NodeInfo*>& by_slot() const { return by_slot_; }
  // A listed entry is shown as that from now on.
  void ShowAtSlot(const framework::NodeInfo* info) { by_slot_[info->slot()] = info; }
  // Exactly these are listed from now on.
  void ListBySlot(const std::vector<const framework::NodeInfo*>& listed);

  framework::ChangeLog& changes() { return changes_; }
  const framework::ChangeLog& changes() const { return changes_; }

 private:
  void Unlink(NodeEntry& entry);

  StringMap<std::unique_ptr<NodeEntry>> entries_;
  size_t count_ = 0;
  NodeEntry* newest_ = nullptr;
  std::vector<const framework::NodeInfo*> by_slot_;
  std::vector<uint32_t> free_slots_;
  framework::ChangeLog changes_;
  framework::PodCharges charges_;
};

}  // namespace ks::cache
