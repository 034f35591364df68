// SPDX-License-Identifier: Apache-2.0
#include "scheduler/binding_cycle.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/canary.h"
#include "base/check.h"
#include "base/logging.h"
#include "scheduler/decision_ring.h"
#include "scheduler/extenders/extender_set.h"
#include "scheduler/metrics/scheduler_metrics.h"

namespace ks::scheduler {
using framework::Status;

// The diagnosis of a rejection that concerns the chosen node alone: "0/1 nodes are available: 1
// <reason>."
framework::Diagnosis OneNodeDiagnosis(const Status& status) {
  framework::Diagnosis diagnosis;
  diagnosis.nodes.Reset(1);
  diagnosis.num_all_nodes = 1;
  diagnosis.AddNodeStatus(0, status);
  return diagnosis;
}

BindingCycles::BindingCycles(Context& context, FailureHandler& failures)
    : context_(context), failures_(failures) {
  pre_bind_environment_.api = &context_.api;
  pre_bind_environment_.post_to_scheduling_thread = [this](Task task) {
    context_.inbox.PostTask(std::move(task));
  };
  pre_bind_environment_.run_blocking = [this](Task task) { blocking_.Run(std::move(task)); };
}

bool BindingCycles::Uses(const framework::Framework* framework) const {
  return std::any_of(active_.begin(), active_.end(), [framework](const auto& entry) {
    return &entry.second->framework == framework;
  });
}

Attempt* BindingCycles::Find(std::string_view uid) {
  const auto it = active_.find(uid);
  return it == active_.end() ? nullptr : it->second.get();
}

Attempt& BindingCycles::At(std::string_view uid) {
  Attempt* attempt = Find(uid);
  KS_CHECK(attempt != nullptr, "a step of a binding cycle ended after the cycle");
  return *attempt;
}

void BindingCycles::ForEach(const std::function<void(const Attempt& attempt)>& visit) const {
  for (const auto& [uid, attempt] : active_) visit(*attempt);
}

void BindingCycles::Start(std::unique_ptr<Attempt> owned) {
  Attempt& attempt = *owned;
  const std::string uid = attempt.pod->meta.uid;
  KS_CHECK(attempt.assumed != nullptr && !attempt.node().empty(), "a pod is bound to a node");
  KS_CHECK(attempt.pod->node_name.empty(), "a pod that runs is bound again");
  KS_CHECK(active_.emplace(uid, std::move(owned)).second, "one binding cycle per pod");
  attempt.search.reset();

  if (attempt.permit.status.IsWait()) {
    context_.waiting_pods.Add(attempt.assumed, attempt.permit.timeouts);
  }
  // Also what an earlier attempt left behind, whatever Permit said this time (docs/spec/cycle.md,
  // trap 23).
  const bool waiting = context_.waiting_pods.GetWaitingPod(uid) != nullptr;
  attempt.may_be_canceled = true;
  if (attempt.framework.handle().gates().Enabled(config::Gate::kNominatedNodeNameForExpectation)) {
    const Status flight = attempt.framework.binding_points().RunPreBindPreFlights(
        attempt.state, attempt.assumed, attempt.node());
    if (!flight.ok() && !flight.IsSkip()) {
      Fail(attempt, {.status = flight});
      return;
    }
    attempt.may_be_canceled = flight.ok();
    if (flight.ok() || waiting) PatchNomination(attempt);
  }
  if (waiting) {
    WaitOnPermit(attempt);
  } else {
    ContinueAfterPermit(attempt, Status());
  }
}

void BindingCycles::WaitOnPermit(Attempt& attempt) {
  const std::string uid = attempt.pod->meta.uid;
  attempt.wait_start = context_.clock.Now();
  if (attempt.spans != nullptr) attempt.spans->BeginStep("WaitOnPermit");
  const bool listening = context_.waiting_pods.Listen(uid, [this, uid](Status verdict) {
    if (context_.metrics != nullptr) {
      context_.metrics->ObservePermitWait(verdict.code(),
                                          context_.clock.Now() - At(uid).wait_start);
    }
    // The verdict may fall inside a plugin's call; the cycle goes on from the loop.
    context_.inbox.PostTask(Task([this, uid, verdict = std::move(verdict)] {
      if (Attempt* waiting = Find(uid)) ContinueAfterPermit(*waiting, verdict);
    }));
  });
  if (!listening) ContinueAfterPermit(attempt, Status());  // a pre-flight dropped the entry
}

// The status nomination tells others where the pod is heading while it waits (gate
// NominatedNodeNameForExpectation).
void BindingCycles::PatchNomination(const Attempt& attempt) {
  const api::PodPtr& pod = attempt.queued->pod();
  if (pod->status.nominated_node_name == attempt.node()) return;
  api::PodStatusChange change;
  change.nominated_node_name = attempt.node();
  context_.api.PatchPodStatus(
      pod, std::move(change), [key = pod->meta.Key()](std::optional<api::ApiError> error) {
        if (error) {
          log::Error(error->message, "Failed to update nominated node", {{"pod", key}});
        }
      });
}

void BindingCycles::ContinueAfterPermit(Attempt& attempt, const Status& verdict) {
  if (attempt.spans != nullptr) attempt.spans->EndStep(verdict);
  if (verdict.IsRejected()) {
    framework::Diagnosis diagnosis = OneNodeDiagnosis(verdict);
    // Exactly the rejecting plugin, also when its name is empty (docs/spec/cycle.md 15 step 2).
    diagnosis.unschedulable_plugins = {std::string(verdict.plugin())};
    Fail(attempt, {.status = verdict, .fit = FitFailure::Of(diagnosis)});
    return;
  }
  if (!verdict.ok()) {
    Fail(attempt, {.status = Status::Error("waiting on permit for pod: " + verdict.ErrorText())
                                 .WithPlugin(verdict.plugin())});
    return;
  }
  // From here on a failure is an error with backoff: no event is recorded for the pod any more.
  context_.queue.Done(attempt.pod->meta.uid);
  StartPreBind(attempt);
}

void BindingCycles::StartPreBind(Attempt& attempt) {
  const std::string uid = attempt.pod->meta.uid;
  if (attempt.may_be_canceled) {
    context_.pods_in_pre_bind.AddPodInPreBind(uid, [this, uid](std::string_view cause) {
      const Attempt* canceled = Find(uid);
      if (canceled == nullptr || canceled->pre_bind == nullptr) return;
      canceled->pre_bind->Cancel(cause);
      NoteWait(*canceled);
    });
  }
  attempt.pre_bind_timer = attempt.framework.StartTimer(framework::MetricPoint::kPreBind);
  if (attempt.spans != nullptr) attempt.spans->BeginStep("PreBind");
  const tracing::AttemptScope traced(context_.traces, attempt.spans.get());
  attempt.pre_bind = std::make_unique<framework::PreBindRunner>(
      attempt.framework.binding_points().PreBindGroups(attempt.state),
      framework::PreBindRequest{.state = &attempt.state,
                                .pod = attempt.assumed,
                                .node_name = attempt.node(),
                                .sampler = attempt.framework.Sampler(attempt.state),
                                .observer = attempt.spans.get(),
                                .wait_changed = [this, uid] { NoteWait(At(uid)); }},
      pre_bind_environment_, [this, uid](const Status& status) { FinishPreBind(At(uid), status); });
  if (const auto result = attempt.pre_bind->Start()) {
    FinishPreBind(attempt, *result);
  } else {
    NoteWait(attempt);
  }
}

void BindingCycles::NoteWait(const Attempt& attempt) {
  KS_CHECK(attempt.pre_bind != nullptr, "a pod waits in PreBind before it began");
  if (attempt.pre_bind->finished()) return;
  waits_.Set(attempt.pod->meta.uid, attempt.pre_bind->Wait());
}

void BindingCycles::FinishPreBind(Attempt& attempt, const Status& status) {
  const std::string& uid = attempt.pod->meta.uid;
  waits_.Remove(uid);
  attempt.pre_bind_timer.Stop(status.code());
  if (attempt.spans != nullptr) attempt.spans->EndStep(status);
  if (!status.ok()) {
    Fail(attempt, {.status = status});
    return;
  }
  framework::PodInPreBind* registered = context_.pods_in_pre_bind.GetPodInPreBind(uid);
  if (registered != nullptr && !registered->MarkPrebound()) {
    Fail(attempt, {.status = Status::Error(*context_.pods_in_pre_bind.CancelCause(uid))});
    return;
  }
  StartBind(attempt);
}

// An extender that binds goes before the plugins; one that may be ignored leaves it to them when it
// fails.
void BindingCycles::StartBind(Attempt& attempt) {
  ++binding_;
  if (attempt.spans != nullptr) attempt.spans->BeginStep("Bind");
  if (attempt.extenders == nullptr || !attempt.extenders->Binds(*attempt.assumed)) {
    StartBindPlugins(attempt);
    return;
  }
  attempt.extenders->Bind(
      attempt.assumed, attempt.node(),
      [this, &inbox = context_.inbox, uid = attempt.pod->meta.uid](Status status) {
        inbox.PostTask(Task([this, uid, status = std::move(status)] {
          if (status.IsSkip()) {
            StartBindPlugins(At(uid));
          } else {
            FinishBind(At(uid), status);
          }
        }));
      });
}

void BindingCycles::StartBindPlugins(Attempt& attempt) {
  const tracing::AttemptScope traced(context_.traces, attempt.spans.get());
  Status started = attempt.framework.binding_points().RunBindPlugins(
      attempt.state, attempt.assumed, attempt.node(),
      [this, uid = attempt.pod->meta.uid](Status status) {
        context_.inbox.PostTask(
            Task([this, uid, status = std::move(status)] { FinishBind(At(uid), status); }));
      });
  if (!started.ok()) FinishBind(attempt, started);
}

void BindingCycles::FinishBind(Attempt& attempt, const Status& status) {
  KS_CHECK(binding_ > 0, "a Bind call ended that never began");
  --binding_;
  if (attempt.spans != nullptr) attempt.spans->EndStep(status);
  if (status.ok()) {
    Succeed(attempt);
  } else {
    KS_LOG(1, "Failed to bind pod", {{"pod", attempt.pod->meta.Key()}});
    Fail(attempt, {.status = status});
  }
}

std::unique_ptr<Attempt> BindingCycles::End(Attempt& attempt) {
  const auto it = active_.find(attempt.pod->meta.uid);
  KS_CHECK(it != active_.end(), "a binding cycle ended that never started");
  std::unique_ptr<Attempt> ended = std::move(it->second);
  active_.erase(it);
  if (ended->may_be_canceled) context_.pods_in_pre_bind.RemovePodInPreBind(ended->pod->meta.uid);
  return ended;
}

void BindingCycles::Succeed(Attempt& attempt) {
  const std::unique_ptr<Attempt> ended = End(attempt);
  ++context_.stats.bound;
  context_.decisions.Bound(attempt.decision);

  const api::PodPtr& pod = attempt.assumed;
  KS_LOG(2, "Successfully bound pod to node",
         {{"pod", pod->meta.Key()},
          {"node", attempt.node()},
          {"evaluatedNodes", attempt.result.evaluated_nodes},
          {"feasibleNodes", attempt.result.feasible_nodes}});
  context_.api.RecordEvent(
      {.regarding = pod,
       .related = {},
       .reporting_controller = attempt.framework.ProfileName(),
       .reason = "Scheduled",
       .action = "Binding",
       .note = "Successfully assigned " + pod->meta.Key() + " to " + attempt.node(),
       .warning = false});
  if (context_.scheduler_metrics != nullptr) {
    context_.scheduler_metrics->AttemptEnded(attempt.framework.ProfileName(),
                                             AttemptOutcome::kScheduled, attempt.began);
    context_.scheduler_metrics->PodBound(*attempt.queued);
  }
  const tracing::AttemptScope traced(context_.traces, attempt.spans.get());
  attempt.framework.binding_points().RunPostBindPlugins(attempt.state, pod, attempt.node());
  context_.ActivateRequestedPods(attempt.state);
  if (attempt.spans == nullptr) return;
  context_.traces->Bound(*pod, *attempt.spans,
                         {.result = "scheduled",
                          .node = attempt.node(),
                          .evaluated_nodes = attempt.result.evaluated_nodes,
                          .feasible_nodes = attempt.result.feasible_nodes});
}

bool BindingCycles::Undo(Attempt& attempt) {
  const api::PodPtr& assumed = attempt.assumed;
  KS_CHECK(assumed != nullptr, "what was never assumed is undone");
  attempt.framework.RunReservePluginsUnreserve(attempt.state, assumed, attempt.node());
  if (KS_CANARY(ForgetSkipped)) return true;
  const Result<void> forgotten = context_.cluster.cache.ForgetPod(*assumed);
  if (!forgotten.ok()) {
    log::Error(forgotten.error().message, "scheduler cache ForgetPod failed",
               {{"pod", assumed->meta.Key()}});
  }
  return forgotten.ok();
}

void BindingCycles::Fail(Attempt& attempt, const AttemptFailure& failure) {
  const std::unique_ptr<Attempt> ended = End(attempt);
  ++context_.stats.binding_failures;

  const api::PodPtr& pod = attempt.assumed;
  const tracing::AttemptScope traced(context_.traces, attempt.spans.get());
  const bool forgotten = Undo(attempt);
  // The freed room may help other pods. The late move keeps a rejected pod from being woken by its
  // own release.
  const framework::ClusterEvent freed{
      framework::EventResource::kAssignedPod, framework::kActionDelete, {}};
  const bool late = failure.status.IsRejected();
  if (forgotten && !late && !KS_CANARY(FailedBindingUnheard)) {
    context_.queue.MoveAllToActiveOrBackoff(freed, pod, std::monostate(), nullptr);
  }
  failures_.Handle(attempt, failure);
  if (forgotten && late) {
    context_.queue.MoveAllToActiveOrBackoff(freed, pod, std::monostate(),
                                            [&pod](const framework::QueuedPod& candidate) {
                                              return candidate.pod()->meta.uid != pod->meta.uid;
                                            });
  }
}

void BindingCycles::Poll() {
  const TimePoint now = context_.clock.Now();
  const PreBindWaits::Logs logs{&context_.cluster.storage.changes(),
                                &context_.cluster.devices.changes()};
  for (const std::string& uid : waits_.Due(now, logs)) {
    // A poll may end this pod's cycle, and others'.
    if (!waits_.Contains(uid)) continue;
    const Attempt& attempt = At(uid);
    attempt.pre_bind->Poll(now);
    if (waits_.Contains(uid)) NoteWait(attempt);
  }
}

}  // namespace ks::scheduler
