// SPDX-License-Identifier: Apache-2.0
#include "framework/runtime/spec_ranking.h"

#include <utility>

namespace ks::framework {

void SpecRanking::Forget(uint32_t slot) {
  if (!list_version_) return;
  changed_slots_.push_back(slot);
  if (changed_slots_.size() > kMostChanged) ForgetAll();
}

// Where the basis changes again and again, all nodes would be asked for nothing. Twice is what the
// first pod of a workload does.
NodeRanking& SpecRanking::Refresh(const Snapshot& snapshot, size_t filters, size_t columns,
                                  const std::vector<uint64_t>& basis) {
  if (ranking_ == nullptr) ranking_ = std::make_unique<NodeRanking>();
  if (basis_ != basis) {
    early_changes_ = looks_ < kFewLooks ? early_changes_ + 1 : 0;
    if (early_changes_ > 1) Rest();
    looks_ = 0;
    basis_ = basis;
    ForgetAll();
  }
  ++looks_;
  if (highest_.size() != columns) {
    highest_.assign(columns, 0);
    ForgetAll();
  }
  if (list_version_ == snapshot.changes().list_version()) {
    for (const uint32_t slot : changed_slots_) {
      if (const NodeInfo* node = snapshot.AtSlot(slot)) ranking_->Forget(node->index());
    }
  } else {
    ranking_->Reset(snapshot.nodes().size(), filters);
    places_.clear();
    list_version_ = snapshot.changes().list_version();
  }
  changed_slots_.clear();
  return *ranking_;
}

std::optional<uint8_t> SpecRanking::NumberOf(const std::vector<int64_t>& place) {
  const auto number = static_cast<uint8_t>(places_.size());
  const auto found = places_.find(place);
  if (found != places_.end()) return found->second;
  if (places_.size() == NodeRanking::kMostPlaces) return std::nullopt;
  places_.emplace(place, number);
  return number;
}

void SpecRanking::Assume(std::vector<int64_t> highest) {
  highest_ = std::move(highest);
  ForgetAll();
}

// A highest score of 0 is every node's.
bool SpecRanking::IsHighest(uint8_t marks) const {
  for (size_t column = 0; column < highest_.size(); ++column) {
    if ((marks & HigherMark(column)) != 0 || (marks & HighestMark(column)) == 0) return false;
  }
  return true;
}

}  // namespace ks::framework
