// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tally: a sum per place (the domains of a key, or single nodes) for one kind of term of existing
// pods. There may be as many kinds as pods, and each may occur at few places.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/serial.h"
#include "framework/node_info.h"
#include "plugins/inter_pod_affinity/place_table.h"
#include "plugins/kit/cross_pod/places.h"
#include "plugins/kit/cross_pod/topology.h"

namespace ks::plugins {

// Threads: changed by the scheduling thread; read also by workers while a cycle runs.
class Tally {
 public:
  // 0 for places below 0, too.
  int64_t At(int32_t place) const { return sums_.At(place); }

  // Contributions, also those of amount 0. Without one the table of upstream is empty.
  int64_t entries() const { return entries_; }
  uint64_t serial() const { return serial_.value(); }

  // `sign` is +1 or -1. Requires: place >= 0; what is taken away was added before.
  void Add(int32_t place, int64_t amount, int sign) {
    entries_ += sign;
    Change(place, sign * amount);
  }

  // Adds every sum of the other, and its contributions.
  void Add(const Tally& other) {
    other.sums_.ForEach(
        [this](size_t place, int64_t sum) { Change(static_cast<int32_t>(place), sum); });
    entries_ += other.entries_;
  }

  // Adds every sum to sums[place], which grows as needed.
  void AddTo(std::vector<int64_t>* sums) const {
    sums_.ForEach([sums](size_t place, int64_t sum) {
      if (place >= sums->size()) sums->resize(place + 1);
      (*sums)[place] += sum;
    });
  }

 private:
  void Change(int32_t place, int64_t difference) {
    sums_.Update(place, [difference](int64_t& sum) { sum += difference; });
  }

  Serial serial_;
  int64_t entries_ = 0;
  PlaceTable<int64_t> sums_;
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
      rest_serials_.push_back(tally.serial());
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

  // As framework::PlaceWisePlugin.
  bool FindPlaces(std::vector<uint64_t>* basis) const {
    const auto add_serials = [this](auto* to) {
      for (const Tally* tally : few_) to->push_back(tally->serial());
      to->insert(to->end(), rest_serials_.begin(), rest_serials_.end());
    };
    return AppendBasis(*topology_, per_node_, add_serials, basis);
  }
  void AppendPlace(const framework::NodeInfo& node, std::vector<int64_t>* place) const {
    plugins::AppendPlace(
        *topology_, per_node_, node, [&](int32_t) { return At(node); }, place);
  }

 private:
  // Tallies that are asked per node; more are added up beforehand.
  static constexpr size_t kFew = 4;

  const Topology* topology_;
  bool per_node_;
  std::vector<const Tally*> few_;
  std::vector<int64_t> rest_;  // by place
  std::vector<uint64_t> rest_serials_;
  int64_t fixed_ = 0;
};

}  // namespace ks::plugins
