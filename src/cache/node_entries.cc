// SPDX-License-Identifier: Apache-2.0
#include "cache/node_entries.h"

#include <utility>

#include "base/check.h"

namespace ks::cache {

using framework::Change;
using framework::NodeInfo;
using framework::PodInfo;
using framework::PodInfoPtr;

NodeEntry& NodeEntries::Touch(const std::string& name) {
  std::unique_ptr<NodeEntry>& slot = entries_[name];
  if (slot == nullptr) {
    slot = std::make_unique<NodeEntry>();
    slot->name = name;
    if (free_slots_.empty()) {
      free_slots_.push_back(static_cast<uint32_t>(by_slot_.size()));
      by_slot_.push_back(nullptr);
    }
    slot->info.SetPlace(0, free_slots_.back());
    free_slots_.pop_back();
  }
  NodeEntry& entry = *slot;
  if (!entry.alive) {
    const uint32_t index = entry.info.index();
    const uint32_t kept_slot = entry.info.slot();
    entry.info = NodeInfo();
    entry.info.SetPlace(index, kept_slot);  // still its place in the view
    entry.image_version = 0;
    entry.alive = true;
    ++count_;
  }
  MoveToFront(entry);
  return entry;
}

// Requires: left the view.
void NodeEntries::Erase(const NodeEntry& entry) {
  const uint32_t slot = entry.info.slot();
  if (by_slot_[slot] != nullptr) {
    by_slot_[slot] = nullptr;
    changes_.Append(Change::Kind::kNode, slot);
  }
  KS_CHECK(!entry.alive && !entry.in_snapshot, "an entry is forgotten that is still seen");
  free_slots_.push_back(slot);
  entries_.erase(entries_.find(entry.name));
}

void NodeEntries::MoveToFront(NodeEntry& entry) {
  if (newest_ == &entry) return;
  Unlink(entry);
  entry.older = newest_;
  if (newest_ != nullptr) newest_->newer = &entry;
  newest_ = &entry;
}

void NodeEntries::Unlink(NodeEntry& entry) {
  if (newest_ == &entry) newest_ = entry.older;
  if (entry.newer != nullptr) entry.newer->older = entry.older;
  if (entry.older != nullptr) entry.older->newer = entry.newer;
  entry.newer = nullptr;
  entry.older = nullptr;
}

void NodeEntries::Put(NodeEntry& entry, const api::PodPtr& pod) {
  KS_DCHECK(pod->node_name == entry.name, "a pod counts on another node than its own");
  auto charged = std::make_shared<const PodInfo>(pod, charges_.Of(*pod));
  changes_.Append(Change::Kind::kPodAdded, entry.info.slot(), charged);
  entry.info.AddPod(std::move(charged));
}

PodInfoPtr NodeEntries::Take(NodeEntry& entry, const api::Pod& pod) {
  PodInfoPtr removed = entry.info.RemovePod(pod);
  if (removed == nullptr) return nullptr;
  changes_.Append(Change::Kind::kPodRemoved, entry.info.slot(), removed);
  return removed;
}

void NodeEntries::ChargePod(const api::PodPtr& pod) { Put(Touch(pod->node_name.str()), pod); }

void NodeEntries::ReleasePod(const api::Pod& pod) {
  NodeEntry* const found = FindAlive(pod.node_name.view());
  KS_CHECK(found != nullptr, kCorrupted);
  NodeEntry& entry = *found;
  const PodInfoPtr removed = Take(entry, pod);
  KS_CHECK(removed != nullptr,
           "no corresponding pod " + pod.meta.name + " in pods of node " + pod.node_name.str());
  MoveToFront(entry);
  DropIfEmpty(entry);
}

void NodeEntries::DropIfEmpty(NodeEntry& entry) {
  if (entry.info.node() != nullptr || !entry.info.pods().empty()) return;
  Unlink(entry);
  KS_CHECK(count_ > 0, "the cache has lost count of its nodes");
  entry.alive = false;
  --count_;
  if (!entry.in_snapshot) Erase(entry);
}

NodeEntry* NodeEntries::Find(std::string_view name) const {
  const auto it = entries_.find(name);
  return it == entries_.end() ? nullptr : it->second.get();
}

NodeEntry* NodeEntries::FindAlive(std::string_view name) const {
  NodeEntry* entry = Find(name);
  return entry != nullptr && entry->alive ? entry : nullptr;
}

void NodeEntries::ListBySlot(const std::vector<const NodeInfo*>& listed) {
  const std::vector<const NodeInfo*> before = std::move(by_slot_);
  by_slot_.assign(before.size(), nullptr);
  for (const NodeInfo* info : listed) by_slot_[info->slot()] = info;
  for (uint32_t slot = 0; slot < by_slot_.size(); ++slot) {
    if (before[slot] != by_slot_[slot]) changes_.Append(Change::Kind::kNode, slot);
  }
}

}  // namespace ks::cache
