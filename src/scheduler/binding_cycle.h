// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the decision to the bound pod: pre-flight, Permit wait, PreBind, Bind, PostBind, and the
// undo when a step fails. A state machine on the scheduling thread: waiting holds no thread, API
// calls come back through the inbox.
//
// Upstream: docs/spec/cycle.md section 15.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/blocking_pool.h"
#include "framework/runtime/prebind_runner.h"
#include "scheduler/algorithm/attempt.h"
#include "scheduler/context.h"
#include "scheduler/failure_handler.h"
#include "scheduler/prebind_waits.h"

namespace ks::scheduler {

// The diagnosis of a rejection that concerns the chosen node alone: "0/1 nodes are available: 1
// <reason>."
framework::Diagnosis OneNodeDiagnosis(const framework::Status& status);

// Threads: the scheduling thread. Lifetime: `context` and `failures` outlive it.
class BindingCycles {
 public:
  BindingCycles(Context& context, FailureHandler& failures);

  // Who runs what blocks in PreBind from now on, in the place of threads.
  void RunBlockingBy(std::function<void(framework::PreBindEnvironment::Task task)> run) {
    pre_bind_environment_.run_blocking = std::move(run);
  }

  // Takes over an attempt that has assumed and reserved. Requires: its pod was pending, not one
  // that runs and waits for its resize.
  void Start(std::unique_ptr<Attempt> attempt);
  // Undoes Reserve and assume, in that order. True when the cache forgot the pod.
  bool Undo(Attempt& attempt);

  // Gives PreBind waits a chance to see changed cluster state and passed deadlines. Costs the pods
  // that these concern.
  void Poll();
  // When Poll has work next without a change of state.
  std::optional<TimePoint> NextDeadline() const { return waits_.NextDeadline(); }

  bool IsActive(std::string_view uid) const { return active_.find(uid) != active_.end(); }
  // Whether a pod on its way was decided by this framework and needs its plugins: a retired profile
  // must not be destroyed before.
  bool Uses(const framework::Framework* framework) const;
  // In the order of uids. For reports.
  void ForEach(const std::function<void(const Attempt& attempt)>& visit) const;
  // Pods between Start and their end; of these, pods whose Bind call is unanswered.
  size_t active() const { return active_.size(); }
  size_t binding() const { return binding_; }

 private:
  // The attempt of a pod that is on its way: where the answer comes in to something that ends
  // before the pod's cycle does.
  Attempt& At(std::string_view uid);
  // Null: it is not on its way any more.
  Attempt* Find(std::string_view uid);

  void WaitOnPermit(Attempt& attempt);
  void ContinueAfterPermit(Attempt& attempt, const framework::Status& verdict);
  void StartPreBind(Attempt& attempt);
  // What the pod's PreBind waits for is to be known to Poll.
  void NoteWait(const Attempt& attempt);
  // These end the attempt or lead to steps that may.
  void FinishPreBind(Attempt& attempt, const framework::Status& status);
  void StartBind(Attempt& attempt);
  void StartBindPlugins(Attempt& attempt);
  void FinishBind(Attempt& attempt, const framework::Status& status);
  void Succeed(Attempt& attempt);
  void Fail(Attempt& attempt, const AttemptFailure& failure);
  // Takes the attempt out of everything that knows its pod as on its way.
  std::unique_ptr<Attempt> End(Attempt& attempt);
  void PatchNomination(const Attempt& attempt);

  Context& context_;
  FailureHandler& failures_;
  std::map<std::string, std::unique_ptr<Attempt>, std::less<>> active_;  // by uid
  PreBindWaits waits_;  // by uid, of pods whose PreBind plugins run
  size_t binding_ = 0;
  BlockingPool blocking_;
  framework::PreBindEnvironment pre_bind_environment_;
};

}  // namespace ks::scheduler
