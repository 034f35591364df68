// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/slices.h"

#include <algorithm>
#include <atomic>

#include "base/check.h"
#include "plugins/kit/device_content.h"

namespace ks::plugins {
namespace {

uint64_t NextSerial() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

SliceEntryPtr SliceInventory::MakeEntry(const api::ResourceSlicePtr& slice) {
  auto entry = std::make_shared<SliceEntry>();
  entry->slice = slice;
  entry->serial = NextSerial();
  entry->pool_number = numbers_.PoolNumber(slice->driver, slice->pool);
  for (const api::Device& device : slice->devices) {
    entry->numbers.push_back(numbers_.Number(slice->driver, slice->pool, device.name));
    entry->content.push_back(engine_.Intern(DeviceContentOf(slice->driver, device)));
  }
  return entry;
}

// Whoever sees a slice of the same pool is concerned: completeness looks at all of them.
void SliceInventory::Changed(const SliceEntry& entry) {
  const auto mark = [this](const SliceEntry& one) {
    if (one.slice->nodes.node_name.empty()) {
      ++general_version_;
    } else {
      ++by_node_[one.slice->nodes.node_name].version;
    }
  };
  row_ = nullptr;
  mark(entry);
  for (const SliceEntryPtr& other : by_pool_[{entry.slice->driver, entry.slice->pool}]) {
    mark(*other);
  }
}

void SliceInventory::Set(const api::ResourceSlicePtr& slice) {
  Remove(slice->meta.name);
  const SliceEntryPtr entry = MakeEntry(slice);
  by_name_[slice->meta.name] = entry;
  devices_ += entry->content.size();
  by_pool_[{slice->driver, slice->pool}].push_back(entry);
  if (slice->nodes.node_name.empty()) {
    general_.push_back(entry);
  } else {
    by_node_[slice->nodes.node_name].slices.push_back(entry);
  }
  Changed(*entry);
}

void SliceInventory::Remove(std::string_view name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return;
  const SliceEntryPtr entry = found->second;
  by_name_.erase(found);
  devices_ -= entry->content.size();
  Changed(*entry);
  const PoolKey key{entry->slice->driver, entry->slice->pool};
  std::erase(by_pool_[key], entry);
  if (by_pool_[key].empty()) by_pool_.erase(key);
  if (entry->slice->nodes.node_name.empty()) {
    std::erase(general_, entry);
  } else {
    std::erase(by_node_[entry->slice->nodes.node_name].slices, entry);
  }
}

const DeviceRowPtr& SliceInventory::Row() {
  if (row_ != nullptr) return row_;
  auto row = std::make_shared<DeviceRow>();
  row->slices.reserve(by_name_.size());
  for (const auto& [name, entry] : by_name_) row->slices.push_back(entry);
  row->places = std::make_shared<const DevicePlaces>(row->slices);
  row_ = std::move(row);
  return row_;
}

std::shared_ptr<const NodePools> SliceInventory::PoolsOf(const api::Node& node) const {
  const Symbol name(node.meta.name);
  const auto own = by_node_.find(name);
  const uint64_t own_version = own == by_node_.end() ? 0 : own->second.version;
  {
    const MutexLock lock(mutex_);
    const auto found = kept_.find(name);
    if (found != kept_.end() && found->second.general == general_version_ &&
        found->second.own == own_version &&
        (!found->second.pools->depends_on_labels || found->second.labels == node.meta.labels) &&
        (!features_.optional_node_operations ||
         found->second.pools->operations_optional == DeclaresOptionalOperations(node))) {
      return found->second.pools;
    }
  }
  SliceList relevant = general_;
  if (own != by_node_.end()) {
    relevant.insert(relevant.end(), own->second.slices.begin(), own->second.slices.end());
  }
  const auto pool_slices = [this](const Symbol& driver, const Symbol& pool) -> const SliceList& {
    static const SliceList none;
    const auto found = by_pool_.find({driver, pool});
    return found == by_pool_.end() ? none : found->second;
  };
  auto pools =
      std::make_shared<const NodePools>(MakeNodePools(node, relevant, pool_slices, features_));
  const MutexLock lock(mutex_);
  kept_[name] = {
      .pools = pools, .general = general_version_, .own = own_version, .labels = node.meta.labels};
  return pools;
}

}  // namespace ks::plugins
