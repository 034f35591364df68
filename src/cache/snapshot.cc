// SPDX-License-Identifier: Apache-2.0
// The view of the cache: docs/spec/cache.md section 9.

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/logging.h"
#include "cache/cache.h"

namespace ks::cache {
namespace {

using framework::NodeInfo;
using InfoList = std::vector<const NodeInfo*>;

// Longer lists are not looked at, whatever the build: tests with thousands of nodes would only do
// that.
[[maybe_unused]] constexpr size_t kMostChecked = 64;

// Each listed node knows where it stands, by index and by slot.
[[maybe_unused]] bool ListsAgree(const InfoList& list, const std::vector<uint32_t>& slots,
                                 const InfoList& by_slot) {
  for (size_t i = 0; i < list.size(); ++i) {
    const NodeInfo& info = *list[i];
    if (info.index() != i || slots[i] != info.slot() || by_slot[info.slot()] != &info) return false;
  }
  return true;
}

}  // namespace

void Cache::ReplaceInLists(const NodeEntry& entry, const NodeInfo* info) {
  list_[entry.info.index()] = info;
  entries_.ShowAtSlot(info);
  affinity_.Replace(info);
}

// Nodes that came back keep their place; the others leave the view. True when one left.
bool Cache::SettleLostNodes() {
  bool left = false;
  for (NodeEntry* entry : lost_nodes_) {
    entry->lost_node = false;
    if (entry->info.node() != nullptr) {
      if (entry->listed) ReplaceInLists(*entry, &entry->info);
      continue;
    }
    // Upstream drops such names only while its map is larger than the tree. That is always so
    // unless the tree kept a name of which no node is left, and then RecoverLists reports it.
    left = true;
    entry->in_snapshot = false;
    entry->listed = false;
    entry->had_affinity = false;
    entry->had_anti_affinity = false;
    --snapshot_size_;
    if (!entry->alive) entries_.Erase(*entry);
  }
  lost_nodes_.clear();
  return left;
}

// Brings one touched entry up to date in the view. True when it is new there.
bool Cache::RefreshEntry(NodeEntry& entry) {
  if (entry.info.node() == nullptr) return false;
  if (entry.image_version != images_.version()) {
    entry.info.SetImages(images_.States(entry.info.node()->images));
    entry.image_version = images_.version();
  }
  affinity_.Update(entry);
  if (entry.in_snapshot) return false;
  entry.in_snapshot = true;
  ++snapshot_size_;
  return true;
}

void Cache::RebuildLists() {
  for (const NodeInfo* info : list_) {
    if (NodeEntry* entry = entries_.Find(info->node()->meta.name)) entry->listed = false;
  }
  entries_.changes().NoteNewList();
  list_.clear();
  list_slots_.clear();
  affinity_.Clear();
  for (const std::string_view name : tree_.List()) {
    NodeEntry* const found = entries_.Find(name);
    if (found == nullptr || !found->in_snapshot) continue;
    NodeEntry& entry = *found;
    entry.listed = true;
    entry.info.SetPlace(static_cast<uint32_t>(list_.size()), entry.info.slot());
    list_.push_back(&entry.info);
    list_slots_.push_back(entry.info.slot());
    affinity_.Append(entry);
  }
  entries_.ListBySlot(list_);
}

// The tree lists names that are no nodes. They are taken out, so that the next attempt works.
Result<void> Cache::RecoverLists() {
  Error error{
      "snapshot state is not consistent, length of NodeInfoList=" + std::to_string(list_.size()) +
      " not equal to length of nodes in tree=" + std::to_string(tree_.size()) +
      " , length of NodeInfoMap=" + std::to_string(snapshot_size_) +
      ", length of nodes in cache=" + std::to_string(entries_.count()) + ", trying to recover"};
  std::vector<std::string> stale;
  for (const std::string_view name : tree_.List()) {
    const NodeEntry* entry = entries_.Find(name);
    if (entry == nullptr || !entry->in_snapshot) stale.emplace_back(name);
  }
  for (const std::string& name : stale) tree_.Forget(name);
  RebuildLists();
  log::Error(error.message, "Node snapshot was not consistent and was rebuilt");
  return error;
}

Result<void> Cache::RefreshSnapshot() {
  KS_CHECK(trial_.idle(), "the snapshot is refreshed while something is tried in it");
  bool rebuild = SettleLostNodes();
  for (NodeEntry* entry = entries_.newest();
       entry != nullptr && entry->info.generation() > generation_; entry = entry->older) {
    rebuild |= RefreshEntry(*entry);
  }
  if (const NodeEntry* newest = entries_.newest()) {
    generation_ = std::max(generation_, newest->info.generation());
  }
  if (rebuild) RebuildLists();
  last_states_.clear();
  KS_CHECK(lost_nodes_.empty() && list_.size() == list_slots_.size(),
           "the snapshot's lists are not those of one refresh");
  KS_DCHECK(list_.size() > kMostChecked || ListsAgree(list_, list_slots_, entries_.by_slot()),
            "a listed node stands elsewhere");
  if (list_.size() != tree_.size()) return RecoverLists();
  return {};
}

const NodeInfo* Cache::Find(std::string_view name) const {
  const NodeEntry* entry = entries_.Find(name);
  if (entry == nullptr || !entry->listed) return nullptr;
  return list_[entry->info.index()];
}

}  // namespace ks::cache
