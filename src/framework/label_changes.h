// SPDX-License-Identifier: Apache-2.0
#pragma once
// LabelChanges: where in the change log the pods with a certain label stand. Who counts pods of one
// label among thousands reads these places instead of every change.

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "api/selector.h"
#include "framework/snapshot.h"

namespace ks::framework {

struct Label {
  Symbol key;
  Symbol value;

  friend bool operator==(const Label&, const Label&) = default;
  template <class H>
  friend H AbslHashValue(H state, const Label& label) {
    return H::combine(std::move(state), label.key, label.value);
  }
};

// Appends to `labels` those that every pod has which the selector matches.
void AppendNeededLabels(const api::LabelSelector& selector, std::vector<Label>* labels);

// Threads: the scheduling thread.
class LabelChanges {
 public:
  using Positions = std::vector<uint64_t>;  // in the log, ascending; some are no longer held
  using List = std::shared_ptr<const Positions>;

  // Reads on to the end of the log.
  void Refresh(const Snapshot& snapshot);

  // The changes of pods that have the label, complete from the last Refresh on, as far as the log
  // reaches back. Kept up to date as long as somebody has it.
  List Watch(const Label& label);
  // The same for nodes (Change::Kind::kNode).
  const Positions& nodes() const { return nodes_; }
  // Another one than before: something was missed, all lists are new, and readers begin anew.
  uint64_t epoch() const { return epoch_; }

 private:
  void Sweep(const ChangeLog& log);

  uint64_t epoch_ = 0;
  uint64_t position_ = 0;
  uint64_t sweep_at_ = 0;
  Positions nodes_;
  absl::flat_hash_map<Label, std::shared_ptr<Positions>> by_label_;
};

}  // namespace ks::framework
