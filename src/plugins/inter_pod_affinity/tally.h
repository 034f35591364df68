// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tally: a sum per place (the domains of a key, or single nodes) for one kind of term of existing
// pods. There may be as many kinds as pods and each may occur at few places, so that a tally begins
// as a small table and becomes an array when it pays.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "framework/node_info.h"
#include "plugins/kit/cross_pod/topology.h"

namespace ks::plugins {

// Threads: changed by the scheduling thread; read also by workers while a cycle runs.
class Tally {
 public:
  int64_t At(int32_t place) const {
    if (place < 0) return 0;
    if (!dense_.empty()) {
      return static_cast<size_t>(place) < dense_.size() ? dense_[static_cast<size_t>(place)] : 0;
    }
    const auto found = sparse_.find(place);
    return found == sparse_.end() ? 0 : found->second;
  }

  // Contributions, also those of amount 0. Without one the table of upstream is empty.
  int64_t entries() const { return entries_; }

  // `sign` is +1 or -1. Requires: place >= 0; what is taken away was added before.
  void Add(int32_t place, int64_t amount, int sign) {
    entries_ += sign;
    Change(place, sign * amount);
  }

  // Adds every sum of the other, and its contributions.
  void Add(const Tally& other) {
    other.ForEach([this](size_t place, int64_t sum) { Change(static_cast<int32_t>(place), sum); });
    entries_ += other.entries_;
  }

  // Adds every sum to sums[place], which grows as needed.
  void AddTo(std::vector<int64_t>* sums) const {
    ForEach([sums](size_t place, int64_t sum) {
      if (place >= sums->size()) sums->resize(place + 1);
      (*sums)[place] += sum;
    });
  }

 private:
  // An array takes 8 bytes a place, the table about 30.
  static constexpr size_t kFewPlaces = 16;
  static constexpr size_t kPlacesPerEntry = 8;

  template <class Visit>
  void ForEach(Visit visit) const {
    for (size_t place = 0; place < dense_.size(); ++place) visit(place, dense_[place]);
    for (const auto& [place, sum] : sparse_) visit(static_cast<size_t>(place), sum);
  }

  void Change(int32_t place, int64_t difference) {
    if (dense_.empty()) {
      AddSparse(place, difference);
      return;
    }
    if (static_cast<size_t>(place) >= dense_.size()) dense_.resize(static_cast<size_t>(place) + 1);
    dense_[static_cast<size_t>(place)] += difference;
  }

  void AddSparse(int32_t place, int64_t difference) {
    highest_ = std::max(highest_, place);
    const auto [it, inserted] = sparse_.try_emplace(place, 0);
    it->second += difference;
    if (it->second == 0) sparse_.erase(it);
    if (sparse_.size() < kFewPlaces ||
        sparse_.size() * kPlacesPerEntry < static_cast<size_t>(highest_)) {
      return;
    }
    absl::flat_hash_map<int32_t, int64_t> table;
    table.swap(sparse_);
    dense_.resize(static_cast<size_t>(highest_) + 1);
    for (const auto& [at, sum] : table) dense_[static_cast<size_t>(at)] = sum;
  }

  int64_t entries_ = 0;
  int32_t highest_ = 0;
  absl::flat_hash_map<int32_t, int64_t> sparse_;  // without zeros; empty once dense_ is in use
  std::vector<int64_t> dense_;
};

// The sum of some tallies over the places of one key.
// Threads: as Tally. Lifetime: the tallies must not change while it is in use; of a fixed one they
// may.
class TallySum {
 public:
  // `per_node`: the places are slots of nodes that have the key, not its domains.
  TallySum(const Topology& topology, bool per_node) : topology_(&topology), per_node_(per_node) {}

  const Topology& topology() const { return *topology_; }
  void Add(const Tally& tally) {
    if (few_.size() < kFew) {
      few_.push_back(&tally);
    } else {
      tally.AddTo(&rest_);
    }
  }

  // As it is now, for this node.
  TallySum Fixed(const framework::NodeInfo& node) const {
    TallySum fixed(*topology_, per_node_);
    fixed.fixed_ = At(node);
    return fixed;
  }

  int64_t At(const framework::NodeInfo& node) const {
    const int32_t domain = topology_->DomainOf(node.slot());
    if (domain == kNoDomain) return 0;
    const int32_t place = per_node_ ? static_cast<int32_t>(node.slot()) : domain;
    int64_t sum = fixed_;
    if (static_cast<size_t>(place) < rest_.size()) sum += rest_[static_cast<size_t>(place)];
    for (const Tally* tally : few_) sum += tally->At(place);
    return sum;
  }

 private:
  // Tallies that are asked per node; more are added up beforehand.
  static constexpr size_t kFew = 4;

  const Topology* topology_;
  bool per_node_;
  std::vector<const Tally*> few_;
  std::vector<int64_t> rest_;  // by place
  int64_t fixed_ = 0;
};

}  // namespace ks::plugins
