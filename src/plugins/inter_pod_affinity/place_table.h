// SPDX-License-Identifier: Apache-2.0
#pragma once
// PlaceTable: a value per place (the domains of a key, or the slots of nodes), of which most may
// have none. An array where all places are low numbers, as the domains of a zone, or where many
// have a value; else a hash table.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <absl/container/flat_hash_map.h>

namespace ks::plugins {

// T() stands for no value. Threads: changed by the scheduling thread; read also by workers while a
// cycle runs.
template <class T>
class PlaceTable {
 public:
  // T() for places below 0, too.
  T At(int32_t place) const {
    if (place < 0) return T();
    if (!dense_.empty()) {
      return static_cast<size_t>(place) < dense_.size() ? dense_[static_cast<size_t>(place)] : T();
    }
    const auto found = sparse_.find(place);
    return found == sparse_.end() ? T() : found->second;
  }

  // Calls change(T&). Requires: place >= 0.
  template <class Change>
  void Update(int32_t place, Change change) {
    const bool is_low = place < kLowPlaces && sparse_.empty();
    if (dense_.empty() && !is_low) return UpdateSparse(place, change);
    if (static_cast<size_t>(place) >= dense_.size()) {
      if (!is_low && dense_.size() <= kLowPlaces) {
        MakeSparse();
        return UpdateSparse(place, change);
      }
      dense_.resize(static_cast<size_t>(place) + 1);
    }
    change(dense_[static_cast<size_t>(place)]);
  }

  // Calls visit(place, value) for all that have one, and perhaps for others.
  template <class Visit>
  void ForEach(Visit visit) const {
    for (size_t place = 0; place < dense_.size(); ++place) visit(place, dense_[place]);
    for (const auto& [place, value] : sparse_) visit(static_cast<size_t>(place), value);
  }

  // Bytes held beyond itself, roughly.
  size_t MemoryBytes() const {
    return sparse_.capacity() * kBytesPerSparse + dense_.capacity() * sizeof(T);
  }

 private:
  static constexpr int32_t kLowPlaces = 64;
  // An array takes 8 bytes a place, the table about 30.
  static constexpr size_t kFewPlaces = 16;
  static constexpr size_t kPlacesPerEntry = 8;
  static constexpr size_t kBytesPerSparse = sizeof(int32_t) + sizeof(T) + 5;

  template <class Change>
  void UpdateSparse(int32_t place, Change change) {
    highest_ = std::max(highest_, place);
    const auto value = sparse_.try_emplace(place).first;
    change(value->second);
    if (value->second == T()) sparse_.erase(value);
    if (sparse_.size() >= kFewPlaces &&
        sparse_.size() * kPlacesPerEntry >= static_cast<size_t>(highest_)) {
      MakeDense();
    }
  }
  void MakeDense() {
    absl::flat_hash_map<int32_t, T> table;
    table.swap(sparse_);
    dense_.resize(static_cast<size_t>(highest_) + 1);
    for (const auto& [at, held] : table) dense_[static_cast<size_t>(at)] = held;
  }
  void MakeSparse() {
    std::vector<T> array;
    array.swap(dense_);
    for (size_t place = 0; place < array.size(); ++place) {
      if (array[place] != T()) sparse_.emplace(static_cast<int32_t>(place), array[place]);
    }
    highest_ = std::max(highest_, static_cast<int32_t>(array.size()) - 1);
  }

  int32_t highest_ = 0;                     // place that was in the table
  absl::flat_hash_map<int32_t, T> sparse_;  // without T(); empty once dense_ is in use
  std::vector<T> dense_;
};

}  // namespace ks::plugins
