// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/verdict_table.h"

#include <utility>

namespace ks::plugins {

DevicePlaces::DevicePlaces(const SliceList& slices) {
  begins_.reserve(slices.size());
  for (const SliceEntryPtr& slice : slices) {
    begins_.emplace(slice->serial, devices_);
    devices_ += slice->content.size();
  }
}

size_t DevicePlaces::BeginOf(const SliceEntry& slice) const {
  const auto found = begins_.find(slice.serial);
  return found == begins_.end() ? kNowhere : found->second;
}

VerdictTable::Kept* VerdictTable::Of(const SliceEntry& slice) {
  const size_t begin = places_->BeginOf(slice);
  return begin == DevicePlaces::kNowhere ? nullptr : verdicts_.data() + begin;
}

void VerdictTable::TakeOver(VerdictTable& other, const DeviceRow& row) {
  Kept* kept = verdicts_.data();
  for (const SliceEntryPtr& slice : row.slices) {
    const Kept* theirs = other.Of(*slice);
    for (size_t i = 0; i < slice->content.size(); ++i, ++kept) {
      if (theirs == nullptr || kept->load(std::memory_order_relaxed) != 0) continue;
      kept->store(theirs[i].load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
  }
}

std::shared_ptr<VerdictTable> VerdictTables::Find(const SelectorSet& set) {
  const MutexLock lock(mutex_);
  const std::shared_ptr<Place> place = tables_.Find(set.texts());
  return place == nullptr ? nullptr : place->table;
}

void VerdictTables::Keep(const SelectorSet& set, std::shared_ptr<VerdictTable> table) {
  const size_t bytes = table->bytes() + 2 * set.texts().size();
  const MutexLock lock(mutex_);
  const auto& place = tables_.GetOrMake(
      set.texts(), {.bytes = bytes_},
      [&] { return std::make_shared<Place>(Place{.table = table, .bytes = bytes}); },
      [](const Place& each) { return each.bytes; });
  *place = {.table = std::move(table), .bytes = bytes};
}

}  // namespace ks::plugins
