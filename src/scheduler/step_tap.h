// SPDX-License-Identifier: Apache-2.0
#pragma once
// Makes a scheduler's rounds a function of what a StepRecord holds, and collects that. For
// recordings (recording.h) and their replay; a scheduler that nobody observes has none.
//
// Three things in a scheduler are not in its inbox. Time: within a round it stands still. Answers
// of the API server and of extenders: they come in as messages of their own, so that a callback
// runs on the scheduling thread, in a round; those that a round waits for are noted in it. Whether
// it may attempt: noted.

#include <atomic>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "api/delta.h"
#include "base/clock.h"
#include "framework/api_writer.h"
#include "framework/extender_transport.h"
#include "scheduler/step_record.h"

namespace ks::scheduler {

// Threads: the scheduling thread; clock and writer any.
// Lifetime: clock, writer and inbox outlive it; it outlives the calls that are made through it.
class StepTap {
 public:
  StepTap(const Clock& clock, framework::ApiWriter& api, Inbox& inbox, StepObserver observer);
  ~StepTap();
  StepTap(const StepTap&) = delete;
  StepTap& operator=(const StepTap&) = delete;

  // The one that goes on within a round, too.
  const Clock& outer_clock() const;
  // What the scheduler uses in their place.
  const Clock& clock() const;
  framework::ApiWriter& api();
  framework::ExtenderTransportFactory Wrap(framework::ExtenderTransportFactory factory);

  void Begin();
  void End(bool worked);
  void Note(StepInput input) { record_.inputs.push_back(std::move(input)); }
  // Of deltas with texts these alone are kept (StepRecord::inputs). `deltas`: of one kind, or of
  // one of several.
  template <class Deltas>
  void NoteDeltas(Deltas deltas) {
    DropObjects(deltas);
    Note(std::move(deltas));
  }
  void NoteDecision(const Decision& decision) { record_.decisions.push_back(decision); }
  void NoteMayAttempt(bool may) { record_.may_attempt = may; }

 private:
  class StepClock;
  class Api;
  class Transport;

  template <class T>
  static void DropObjects(std::vector<api::Delta<T>>& deltas) {
    for (api::Delta<T>& delta : deltas) {
      if (!delta.text.empty()) delta.object.reset();
      if (delta.texts.size() == delta.items.size()) delta.items.clear();
    }
  }
  template <class... T>
  static void DropObjects(api::DeltasOfOne<T...>& deltas) {
    std::visit([](auto& of_kind) { DropObjects(of_kind); }, deltas);
  }

  // Runs `task` in a round, after it has noted the input.
  void Deliver(StepInput input, Task task);

  const std::unique_ptr<StepClock> clock_;
  const std::unique_ptr<Api> api_;
  Inbox& inbox_;
  const StepObserver observer_;
  StepRecord record_;
  bool idle_ = false;
  bool in_round_ = false;
  std::atomic<uint64_t> calls_{0};
  std::atomic<uint64_t> requests_{0};
};

}  // namespace ks::scheduler
