// SPDX-License-Identifier: Apache-2.0
#pragma once
// Attempts of pods that extenders manage. Such an attempt stops while the extenders are asked and
// goes on with their answers; meanwhile the scheduling thread does everything else. Members of
// groups are not attempted here (awaited_extenders.h); their group waits for the end of the line.
//
// Upstream: docs/spec/cycle.md sections 8, 10.1 to 10.3, 12.2, 12.3; docs/decisions/0032.

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/diagnosis.h"
#include "scheduler/algorithm/attempt.h"
#include "scheduler/algorithm/scheduling_algorithm.h"
#include "scheduler/context.h"
#include "scheduler/extender_choice.h"
#include "scheduler/extenders/extender_set.h"

namespace ks::scheduler {

// One attempt at a time; the pods behind it stand in line, ordered as the queue orders. A pod in
// line is in flight for the queue, so that events are kept for it, and its nomination counts.
// Invariant: a pod is in line, or in the attempt, or neither.
// Threads: the scheduling thread. Lifetime: what the constructor takes outlives it; the extenders
// outlive their use.
class ExtenderAttempts {
 public:
  // The attempt has its result. The snapshot is fresh.
  using Conclude = std::function<void(std::unique_ptr<Attempt> attempt)>;

  ExtenderAttempts(Context& context, SchedulingAlgorithm& algorithm, Conclude conclude)
      : context_(context), algorithm_(algorithm), conclude_(std::move(conclude)) {}

  // The extenders from now on; null: none. An attempt under the former ones begins anew.
  void Use(ExtenderSet* extenders);

  // Whether this pod's attempts are made here.
  bool Takes(const api::Pod& pod) const {
    return extenders_ != nullptr && extenders_->IsInterestedIn(pod);
  }
  // Puts a popped pod in line. Requires: Takes(pod).
  void PutInLine(const framework::Framework& framework, const framework::QueuedPodPtr& queued);
  // The pod to be attempted next, with Begin; null while another attempt runs or nobody waits.
  framework::QueuedPodPtr Next();
  void Begin(std::unique_ptr<Attempt> attempt);
  // The attempt that has just ended without a node goes on when the extenders that its PostFilter
  // asked have answered: then it ends the same way once more. Requires: no attempt since.
  void AwaitPreemption(std::unique_ptr<Attempt> attempt);

  // Nothing is to be popped now: every pod would end in line, or the line is full, or the next is a
  // group with such members, which must not overtake the line.
  bool HoldsQueue() const;
  // Whole objects are on their way (a reload asked for them): no attempt begins before. Told again
  // with false.
  void set_objects_missing(bool missing) { objects_missing_ = missing; }
  // In line or in the attempt.
  bool Has(std::string_view uid) const;
  bool asking() const { return inquiry_ != nullptr; }
  size_t waiting() const { return line_.size(); }
  // Whether the attempt needs the framework's plugins.
  bool Uses(const framework::Framework* framework) const {
    return inquiry_ != nullptr && &inquiry_->attempt->framework == framework;
  }
  // Something that plugins read changed, beyond nodes and pods.
  void NoteOtherChange() { ++other_changes_; }

 private:
  bool IsGroupToTake(queue::Record* record) const;  // null: no
  // What PreFilter and Filter have read.
  struct Seen {
    Seen() = default;
    Seen(const cache::Cache& cache, uint64_t others)
        : changes(cache.changes().end()), other_changes(others) {}
    uint64_t changes = 0;
    uint64_t other_changes = 0;
    bool operator==(const Seen&) const = default;
  };
  // An attempt that waits for the extenders' answers.
  struct Inquiry {
    uint64_t serial = 0;
    std::unique_ptr<Attempt> attempt;
    bool nominated_only = false;  // the nominated node alone is asked about
    bool about_preemption = false;
    size_t asked = 0;  // nodes asked about
    int restarts = 0;
    Seen seen;
    // The node statuses at the time of the question, to be found again when the list has changed.
    std::vector<std::pair<api::NodePtr, framework::Status>> statuses;
    framework::Status absent;
  };

  void Search();
  void SearchAllNodes();
  void Ask();
  void NoteWhatWasSeen();
  void Answered(const ExtenderVerdict& verdict);
  void PreemptionAnswered();
  bool StillPending() const;
  // False: the pod is gone, bound by somebody else, resized, or another one of that name by now,
  // and the attempt is over.
  bool DropUnlessPending();
  // Brings the attempt to the present state if that has changed; an empty optional: the attempt
  // has ended over it.
  std::optional<bool> Renew();
  ExtenderCandidates Keep(const ExtenderVerdict& verdict, bool changed);
  void NoneLeft(const ExtenderVerdict& verdict);
  void Select(const ExtenderVerdict& verdict, const ExtenderCandidates& candidates);
  void Fail(framework::Status status);
  // With the result that the attempt has.
  void End();
  const api::Pod& pod() const { return *inquiry_->attempt->pod; }

  Context& context_;
  SchedulingAlgorithm& algorithm_;
  const Conclude conclude_;
  ExtenderSet* extenders_ = nullptr;
  std::unique_ptr<Inquiry> inquiry_;
  uint64_t serial_ = 0;  // of the last attempt; answers to others are dropped
  std::list<framework::QueuedPodPtr> line_;
  bool objects_missing_ = false;
  uint64_t other_changes_ = 0;
};

}  // namespace ks::scheduler
