// SPDX-License-Identifier: Apache-2.0
#pragma once
// CountingReader: a ChangeReader for counters of pods by labels. It looks at few of the pods and
// changes: at the changes of pods that have a label, and at one pod of each group of pods alike.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "framework/change_reader.h"
#include "framework/label_changes.h"
#include "framework/pods_by_labels.h"
#include "framework/snapshot.h"

namespace ks::plugins {

// What the counters of one owner have in common. Threads: the scheduling thread.
struct CountingHelp {
  framework::LabelChanges changes;
  framework::PodsByLabels pods;
};

// Threads: the scheduling thread.
class CountingReader {
 public:
  // All changes, and no groups.
  CountingReader() = default;
  // Every pod that counts has all of `labels`. Whether it does depends on nothing but its
  // namespace, its labels and whether it is being deleted. Lifetime: `help` outlives the last
  // Follow.
  CountingReader(CountingHelp& help, std::vector<framework::Label> labels)
      : help_(&help), labels_(std::move(labels)) {
    for (const framework::Label& label : labels_) lists_.push_back(help.changes.Watch(label));
  }

  // As ChangeReader::Follow; changes of pods that lack a label may be left out.
  template <class Follower>
  void Follow(const framework::Snapshot& snapshot, Follower& follower) {
    snapshot_ = &snapshot;
    if (lists_.empty()) {
      reader_.Follow(snapshot, follower);
      return;
    }
    framework::LabelChanges& changes = help_->changes;
    changes.Refresh(snapshot);
    if (epoch_ != changes.epoch()) reader_.Forget();
    epoch_ = changes.epoch();
    const auto shortest =
        std::min_element(lists_.begin(), lists_.end(),
                         [](const auto& a, const auto& b) { return a->size() < b->size(); });
    reader_.Follow(snapshot, follower, changes.nodes(), **shortest);
  }

  // In the follower's Restart: calls visit(const framework::PodsByLabels::Group&) for each group on
  // listed nodes whose pods may count. False: nothing was called, as there are no groups.
  // `questions`: how many are asked about a pod.
  template <class Visit>
  bool ForEachGroup(size_t questions, Visit visit) const {
    if (help_ == nullptr || !help_->pods.Refresh(*snapshot_, questions)) return false;
    help_->pods.ForEach(labels_, visit);
    return true;
  }

  // The next Follow restarts.
  void Forget() { reader_.Forget(); }

 private:
  CountingHelp* help_ = nullptr;
  std::vector<framework::Label> labels_;
  std::vector<framework::LabelChanges::List> lists_;  // of each label; empty: all changes are read
  uint64_t epoch_ = 0;                                // of the lists
  const framework::Snapshot* snapshot_ = nullptr;     // of the last Follow
  framework::ChangeReader reader_;
};

}  // namespace ks::plugins
