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
#include "framework/queued_pod.h"
#include "framework/runtime/prebind_runner.h"
#include "scheduler/context.h"
#include "scheduler/extenders/extender_set.h"
#include "scheduler/failure_handler.h"
#include "scheduler/prebind_waits.h"

namespace ks::scheduler {

// The diagnosis of a rejection that concerns the chosen node alone: "0/1 nodes are available: 1
// <reason>."
framework::Diagnosis OneNodeDiagnosis(const framework::Status& status);

// One pod on its way. Owned by BindingCycles from Start to the end.
struct Binding {
  const framework::Framework* framework = nullptr;
  framework::QueuedPodPtr queued;
  api::PodPtr assumed;  // spec.nodeName set
  framework::CycleState state;
  framework::PermitOutcome permit;         // Success or Wait
  std::shared_ptr<ExtenderSet> extenders;  // in force at the attempt; null: none
  size_t evaluated_nodes = 0;
  size_t feasible_nodes = 0;
  uint64_t decision = 0;  // number in the decision ring; 0: not recorded

  TimePoint began;               // the attempt
  TimePoint wait_start;          // at Permit
  bool may_be_canceled = false;  // registered as a pod in PreBind
  framework::PointTimer pre_bind_timer;
  std::unique_ptr<framework::PreBindRunner> pre_bind;

  const std::string& node() const { return assumed->node_name; }
};

// Threads: the scheduling thread. Lifetime: `context` and `failures` outlive it.
class BindingCycles {
 public:
  BindingCycles(Context& context, FailureHandler& failures);

  // Takes over an assumed and reserved pod. Requires: it was pending, not one that runs and waits
  // for its resize.
  void Start(std::unique_ptr<Binding> binding);
  // Undoes Reserve and assume, in that order. True when the cache forgot the pod.
  bool Undo(const framework::Framework& framework, framework::CycleState& state,
            const api::PodPtr& assumed);

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
  void ForEach(const std::function<void(const Binding& binding)>& visit) const;
  // Pods between Start and their end; of these, pods whose Bind call is unanswered.
  size_t active() const { return active_.size(); }
  size_t binding() const { return binding_; }

 private:
  void WaitOnPermit(Binding& binding);
  void ContinueAfterPermit(const std::string& uid, const framework::Status& verdict);
  void StartPreBind(Binding& binding);
  // What the pod's PreBind waits for is to be known to Poll.
  void NoteWait(const Binding& binding);
  void FinishPreBind(const std::string& uid, const framework::Status& status);
  void StartBind(Binding& binding);
  void StartBindPlugins(Binding& binding);
  void FinishBind(const std::string& uid, const framework::Status& status);
  // Takes the pod out of everything that knows it as on its way.
  std::unique_ptr<Binding> End(const std::string& uid);
  void Succeed(const std::string& uid);
  void Fail(const std::string& uid, const framework::Status& status, bool rejected_by_permit);
  void PatchNomination(const Binding& binding);
  Binding* Find(const std::string& uid);

  Context& context_;
  FailureHandler& failures_;
  std::map<std::string, std::unique_ptr<Binding>, std::less<>> active_;
  PreBindWaits waits_;  // by uid, of pods whose PreBind plugins run
  size_t binding_ = 0;
  BlockingPool blocking_;
  framework::PreBindEnvironment pre_bind_environment_;
};

}  // namespace ks::scheduler
