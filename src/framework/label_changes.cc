// SPDX-License-Identifier: Apache-2.0
#include "framework/label_changes.h"

#include <algorithm>

namespace ks::framework {

void AppendNeededLabels(const api::LabelSelector& selector, std::vector<Label>* labels) {
  if (selector.MatchesNothing()) return;
  for (const api::Requirement& requirement : selector.requirements()) {
    if (requirement.op == api::Requirement::Op::kIn && requirement.values.size() == 1) {
      labels->push_back({requirement.key, requirement.values.front()});
    }
  }
}

void LabelChanges::Refresh(const Snapshot& snapshot) {
  const ChangeLog& log = snapshot.changes();
  if (position_ == log.end()) return;
  if (!log.Holds(position_)) {
    ++epoch_;
    nodes_.clear();
    for (auto& [key, positions] : by_label_) positions->clear();
    position_ = log.end();
    return;
  }
  for (; position_ < log.end(); ++position_) {
    const Change& change = log.At(position_);
    if (change.kind == Change::Kind::kNode) {
      nodes_.push_back(position_);
      continue;
    }
    for (const auto& [key, value] : change.pod->pod().meta.labels) {
      const auto found = by_label_.find(Label{key, value});
      if (found != by_label_.end()) found->second->push_back(position_);
    }
  }
  if (position_ >= sweep_at_) Sweep(log);
}

LabelChanges::List LabelChanges::Watch(const Label& label) {
  std::shared_ptr<Positions>& positions = by_label_[label];
  if (positions == nullptr) positions = std::make_shared<Positions>();
  return positions;
}

// Once in a log's length: the lists together are no longer than a few logs.
void LabelChanges::Sweep(const ChangeLog& log) {
  const auto drop_old = [&log](Positions& positions) {
    const auto held = std::partition_point(positions.begin(), positions.end(),
                                           [&log](uint64_t at) { return !log.Holds(at); });
    positions.erase(positions.begin(), held);
  };
  drop_old(nodes_);
  absl::erase_if(by_label_, [](const auto& entry) { return entry.second.use_count() == 1; });
  for (auto& [key, positions] : by_label_) drop_old(*positions);
  sweep_at_ = position_ + ChangeLog::kDefaultCapacity;
}

}  // namespace ks::framework
