// SPDX-License-Identifier: Apache-2.0
#pragma once
// One popped pod after the other: begins its attempt, has a node chosen, and sees to what that
// means: the pod is assumed and goes on to the binding cycle, or the attempt fails. Nothing here
// waits; an attempt whose extenders are asked goes on in extender_attempts.h and comes back.
//
// Upstream: docs/spec/cycle.md sections 4, 5, 10.4, 13 and 21.

#include <map>
#include <memory>

#include "framework/metrics/batch_metrics.h"
#include "scheduler/algorithm/attempt.h"
#include "scheduler/algorithm/batching.h"
#include "scheduler/algorithm/scheduling_algorithm.h"
#include "scheduler/binding_cycle.h"
#include "scheduler/context.h"
#include "scheduler/extender_attempts.h"
#include "scheduler/failure_handler.h"

namespace ks::scheduler {

// Threads: the scheduling thread. Lifetime: what the parts refer to outlives its use.
class SchedulingCycle {
 public:
  struct Parts {
    Context& context;
    SchedulingAlgorithm& algorithm;
    FailureHandler& failures;
    BindingCycles& bindings;
    ExtenderAttempts& extender_attempts;
    framework::BatchMetrics* batch_metrics = nullptr;  // null: nothing is measured
  };
  explicit SchedulingCycle(const Parts& parts)
      : context_(parts.context),
        algorithm_(parts.algorithm),
        failures_(parts.failures),
        bindings_(parts.bindings),
        extender_attempts_(parts.extender_attempts),
        batch_metrics_(parts.batch_metrics) {}

  // A pod that the queue has handed out.
  void ScheduleOne(const framework::QueuedPodPtr& queued);
  // The next pod in the extenders' line; it may have waited for long.
  void ScheduleManaged(const framework::QueuedPodPtr& queued);
  // What the attempt's result means for the pod. The snapshot is fresh.
  void Conclude(std::unique_ptr<Attempt> attempt);

  // A pod that must not be attempted: it is being deleted, or its decision is made already.
  bool SkipPod(const framework::Framework& framework, const api::PodPtr& pod);
  // The attempt has a node: assumed, Reserve, Permit, and on to the binding cycle.
  void AssumeAndBind(std::unique_ptr<Attempt> attempt);

  // The profiles are others from now on.
  void ForgetProfiles() { batching_.clear(); }

 private:
  // Whether the pod's own binding is unanswered, although the pod runs and waits for a resize.
  bool RunsUnanswered(const api::Pod& pod) const {
    return !pod.node_name.empty() && bindings_.IsActive(pod.meta.uid);
  }
  std::unique_ptr<Attempt> BeginAttempt(const framework::Framework& framework,
                                        const framework::QueuedPodPtr& queued);
  void ChooseNode(Attempt& attempt);
  Batching* BatchingOf(const framework::Framework& framework);
  void FitError(std::unique_ptr<Attempt> attempt);
  // Reserve or Permit said no.
  void RejectAssumed(Attempt& attempt, const framework::Status& status);
  void Reject(const Attempt& attempt, const framework::Status& status);
  // A pod that runs fits with its resize on its node.
  void ParkResize(Attempt& attempt);

  Context& context_;
  SchedulingAlgorithm& algorithm_;
  FailureHandler& failures_;
  BindingCycles& bindings_;
  ExtenderAttempts& extender_attempts_;
  framework::BatchMetrics* const batch_metrics_;
  std::map<const framework::Framework*, std::unique_ptr<Batching>> batching_;  // made when needed
};

}  // namespace ks::scheduler
