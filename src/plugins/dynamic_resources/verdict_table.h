// SPDX-License-Identifier: Apache-2.0
#pragma once
// What selectors that are expensive say about all devices of the cluster, made before an attempt
// asks (verdicts_ahead.h). Others ask device by device (SliceVerdicts).
//
// Upstream: none; decision 0067.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/bounded_cache.h"
#include "base/mutex.h"
#include "base/thread_annotations.h"
#include "plugins/dynamic_resources/pools.h"
#include "plugins/dynamic_resources/selectors.h"

namespace ks::plugins {

// Where the devices of each slice stand in one row of all devices. Immutable. Keeps no slices, so
// that tables may outlive them.
class DevicePlaces {
 public:
  explicit DevicePlaces(const SliceList& slices);

  static constexpr size_t kNowhere = static_cast<size_t>(-1);
  // Where the slice's devices begin; kNowhere if it is not among them.
  size_t BeginOf(const SliceEntry& slice) const;
  size_t devices() const { return devices_; }
  size_t bytes() const { return begins_.capacity() * (sizeof(decltype(begins_)::value_type) + 1); }

 private:
  absl::flat_hash_map<uint64_t, size_t> begins_;  // by SliceEntry::serial
  size_t devices_ = 0;
};

// All slices at one time, with the places of their devices. Immutable.
struct DeviceRow {
  SliceList slices;
  std::shared_ptr<const DevicePlaces> places;
};
using DeviceRowPtr = std::shared_ptr<const DeviceRow>;

// The verdicts of one set. Threads: any; `complete` the scheduling thread's.
class VerdictTable {
 public:
  using Kept = std::atomic<uint8_t>;  // SelectorSet::Verdict

  explicit VerdictTable(const DeviceRow& row)
      : places_(row.places), verdicts_(places_->devices()) {}

  bool IsOf(const DeviceRow& row) const { return places_ == row.places; }
  // By position in the slice; null if the slice has no place.
  Kept* Of(const SliceEntry& slice);
  // What the other table knows of this row's devices and this one does not. Requires: IsOf(row).
  void TakeOver(VerdictTable& other, const DeviceRow& row);
  // `visit` gets what is kept of each device that was not asked yet, and its content; false ends
  // it, and is what it returns. Requires: IsOf(row).
  template <class Visit>
  bool ForEachUnasked(const DeviceRow& row, Visit visit) {
    Kept* kept = verdicts_.data();
    for (const SliceEntryPtr& slice : row.slices) {
      for (const auto& content : slice->content) {
        const bool asked = kept->load(std::memory_order_relaxed) != 0;
        if (!asked && !visit(*kept, *content)) return false;
        ++kept;
      }
    }
    return true;
  }

  // All of its devices were asked.
  bool complete() const { return complete_; }
  void set_complete() { complete_ = true; }
  // The places count in full, although tables share them.
  size_t bytes() const { return sizeof(*this) + verdicts_.size() + places_->bytes(); }

 private:
  const std::shared_ptr<const DevicePlaces> places_;
  std::vector<Kept> verdicts_;
  bool complete_ = false;
};

// The tables of the sets that were asked for last. Threads: any.
class VerdictTables {
 public:
  // `bytes`: what all of them may take.
  explicit VerdictTables(size_t bytes = size_t{64} << 20) : bytes_(bytes) {}

  // Null: none is kept. Also of another set of the same texts.
  std::shared_ptr<VerdictTable> Find(const SelectorSet& set);
  // Instead of the set's former one.
  void Keep(const SelectorSet& set, std::shared_ptr<VerdictTable> table);

 private:
  struct Place {
    std::shared_ptr<VerdictTable> table;
    size_t bytes = 0;
  };

  const size_t bytes_;
  Mutex mutex_;
  BoundedCache<std::string, Place> tables_ KS_GUARDED_BY(mutex_);  // by SelectorSet::texts
};

}  // namespace ks::plugins
