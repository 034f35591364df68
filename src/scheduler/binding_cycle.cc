// SPDX-License-Identifier: Apache-2.0
#include "scheduler/binding_cycle.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/canary.h"
#include "base/check.h"
#include "base/logging.h"
#include "scheduler/decision_ring.h"
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
    return entry.second->framework == framework;
  });
}

Binding* BindingCycles::Find(const std::string& uid) {
  const auto it = active_.find(uid);
  return it == active_.end() ? nullptr : it->second.get();
}

void BindingCycles::ForEach(const std::function<void(const Binding& binding)>& visit) const {
  for (const auto& [uid, binding] : active_) visit(*binding);
}

void BindingCycles::Start(std::unique_ptr<Binding> owned) {
  Binding& binding = *owned;
  const std::string uid = binding.assumed->meta.uid;
  KS_CHECK(binding.queued->pod()->node_name.empty(), "a pod that runs is bound again");
  KS_CHECK(active_.emplace(uid, std::move(owned)).second, "one binding cycle per pod");

  if (binding.permit.status.IsWait()) {
    context_.waiting_pods.Add(binding.assumed, binding.permit.timeouts);
  }
  // Also what an earlier attempt left behind, whatever Permit said this time (docs/spec/cycle.md,
  // trap 23).
  const bool waiting = context_.waiting_pods.GetWaitingPod(uid) != nullptr;
  binding.may_be_canceled = true;
  if (binding.framework->gates().Enabled(config::Gate::kNominatedNodeNameForExpectation)) {
    const Status flight =
        binding.framework->RunPreBindPreFlights(binding.state, binding.assumed, binding.node());
    if (!flight.ok() && !flight.IsSkip()) {
      Fail(uid, flight, false);
      return;
    }
    binding.may_be_canceled = flight.ok();
    if (flight.ok() || waiting) PatchNomination(binding);
  }
  if (waiting) {
    WaitOnPermit(binding);
  } else {
    ContinueAfterPermit(uid, Status());
  }
}

void BindingCycles::WaitOnPermit(Binding& binding) {
  const std::string uid = binding.assumed->meta.uid;
  binding.wait_start = context_.clock.Now();
  const bool listening = context_.waiting_pods.Listen(uid, [this, uid](Status verdict) {
    const Binding* waiting = Find(uid);
    KS_CHECK(waiting != nullptr, "the cycle of a pod that waits for its verdict is active");
    if (context_.metrics != nullptr) {
      context_.metrics->ObservePermitWait(verdict.code(),
                                          context_.clock.Now() - waiting->wait_start);
    }
    // The verdict may fall inside a plugin's call; the cycle goes on from the loop.
    context_.inbox.PostTask(Task([this, uid, verdict = std::move(verdict)] {
      if (Find(uid) != nullptr) ContinueAfterPermit(uid, verdict);
    }));
  });
  if (!listening) ContinueAfterPermit(uid, Status());  // a pre-flight dropped the entry
}

// The status nomination tells others where the pod is heading while it waits (gate
// NominatedNodeNameForExpectation).
void BindingCycles::PatchNomination(const Binding& binding) {
  const api::PodPtr& pod = binding.queued->pod();
  if (pod->status.nominated_node_name == binding.node()) return;
  api::PodStatusChange change;
  change.nominated_node_name = binding.node();
  context_.api.PatchPodStatus(
      pod, std::move(change), [key = pod->meta.Key()](std::optional<api::ApiError> error) {
        if (error) {
          log::Error(error->message, "Failed to update nominated node", {{"pod", key}});
        }
      });
}

void BindingCycles::ContinueAfterPermit(const std::string& uid, const Status& verdict) {
  Binding& binding = *Find(uid);
  if (verdict.IsRejected()) {
    Fail(uid, verdict, true);
    return;
  }
  if (!verdict.ok()) {
    Fail(uid,
         Status::Error("waiting on permit for pod: " + verdict.ErrorText())
             .WithPlugin(verdict.plugin()),
         false);
    return;
  }
  // From here on a failure is an error with backoff: no event is recorded for the pod any more.
  context_.queue.Done(uid);
  StartPreBind(binding);
}

void BindingCycles::StartPreBind(Binding& binding) {
  const std::string uid = binding.assumed->meta.uid;
  if (binding.may_be_canceled) {
    context_.pods_in_pre_bind.AddPodInPreBind(uid, [this, uid](std::string_view cause) {
      const Binding* canceled = Find(uid);
      if (canceled == nullptr || canceled->pre_bind == nullptr) return;
      canceled->pre_bind->Cancel(cause);
      NoteWait(*canceled);
    });
  }
  binding.pre_bind_timer = binding.framework->StartTimer(framework::MetricPoint::kPreBind);
  binding.pre_bind = std::make_unique<framework::PreBindRunner>(
      binding.framework->PreBindGroups(binding.state),
      framework::PreBindRequest{.state = &binding.state,
                                .pod = binding.assumed,
                                .node_name = binding.node(),
                                .sampler = binding.framework->Sampler(binding.state),
                                .wait_changed = [this, uid] { NoteWait(*Find(uid)); }},
      pre_bind_environment_, [this, uid](const Status& status) { FinishPreBind(uid, status); });
  if (const auto result = binding.pre_bind->Start()) {
    FinishPreBind(uid, *result);
  } else {
    NoteWait(binding);
  }
}

void BindingCycles::NoteWait(const Binding& binding) {
  if (binding.pre_bind->finished()) return;
  waits_.Set(binding.assumed->meta.uid, binding.pre_bind->Wait());
}

void BindingCycles::FinishPreBind(const std::string& uid, const Status& status) {
  waits_.Remove(uid);
  Binding& binding = *Find(uid);
  binding.pre_bind_timer.Stop(status.code());
  if (!status.ok()) {
    Fail(uid, status, false);
    return;
  }
  framework::PodInPreBind* registered = context_.pods_in_pre_bind.GetPodInPreBind(uid);
  if (registered != nullptr && !registered->MarkPrebound()) {
    Fail(uid, Status::Error(*context_.pods_in_pre_bind.CancelCause(uid)), false);
    return;
  }
  StartBind(binding);
}

// An extender that binds goes before the plugins; one that may be ignored leaves it to them when it
// fails.
void BindingCycles::StartBind(Binding& binding) {
  ++binding_;
  if (binding.extenders == nullptr || !binding.extenders->Binds(*binding.assumed)) {
    StartBindPlugins(binding);
    return;
  }
  binding.extenders->Bind(
      binding.assumed, binding.node(),
      [this, &inbox = context_.inbox, uid = binding.assumed->meta.uid](Status status) {
        inbox.PostTask(Task([this, uid, status = std::move(status)] {
          if (status.IsSkip()) {
            StartBindPlugins(*Find(uid));
          } else {
            FinishBind(uid, status);
          }
        }));
      });
}

void BindingCycles::StartBindPlugins(Binding& binding) {
  const std::string uid = binding.assumed->meta.uid;
  Status started = binding.framework->RunBindPlugins(
      binding.state, binding.assumed, binding.node(), [this, uid](Status status) {
        context_.inbox.PostTask(
            Task([this, uid, status = std::move(status)] { FinishBind(uid, status); }));
      });
  if (!started.ok()) FinishBind(uid, started);
}

void BindingCycles::FinishBind(const std::string& uid, const Status& status) {
  --binding_;
  if (status.ok()) {
    Succeed(uid);
  } else {
    KS_LOG(1, "Failed to bind pod", {{"pod", active_.at(uid)->assumed->meta.Key()}});
    Fail(uid, status, false);
  }
}

std::unique_ptr<Binding> BindingCycles::End(const std::string& uid) {
  const auto it = active_.find(uid);
  KS_CHECK(it != active_.end(), "a binding ended that never started");
  std::unique_ptr<Binding> binding = std::move(it->second);
  active_.erase(it);
  if (binding->may_be_canceled) context_.pods_in_pre_bind.RemovePodInPreBind(uid);
  return binding;
}

void BindingCycles::Succeed(const std::string& uid) {
  const std::unique_ptr<Binding> binding = End(uid);
  ++context_.stats.bound;
  context_.decisions.Bound(binding->decision);

  const api::PodPtr& pod = binding->assumed;
  KS_LOG(2, "Successfully bound pod to node",
         {{"pod", pod->meta.Key()},
          {"node", binding->node()},
          {"evaluatedNodes", binding->evaluated_nodes},
          {"feasibleNodes", binding->feasible_nodes}});
  context_.api.RecordEvent(
      {.regarding = pod,
       .related = nullptr,
       .reporting_controller = binding->framework->ProfileName(),
       .reason = "Scheduled",
       .action = "Binding",
       .note = "Successfully assigned " + pod->meta.Key() + " to " + binding->node(),
       .warning = false});
  if (context_.scheduler_metrics != nullptr) {
    context_.scheduler_metrics->AttemptEnded(binding->framework->ProfileName(),
                                             AttemptOutcome::kScheduled, binding->began);
    context_.scheduler_metrics->PodBound(*binding->queued);
  }
  binding->framework->RunPostBindPlugins(binding->state, pod, binding->node());
  if (binding->state.pods_to_activate != nullptr) {
    const std::vector<api::PodPtr> activated = binding->state.pods_to_activate->Take();
    if (!activated.empty()) context_.queue.Activate(activated);
  }
}

bool BindingCycles::Undo(const framework::Framework& framework, framework::CycleState& state,
                         const api::PodPtr& assumed) {
  framework.RunReservePluginsUnreserve(state, assumed, assumed->node_name);
  if (KS_CANARY(ForgetSkipped)) return true;
  const Result<void> forgotten = context_.cache.ForgetPod(*assumed);
  if (!forgotten.ok()) {
    log::Error(forgotten.error().message, "scheduler cache ForgetPod failed",
               {{"pod", assumed->meta.Key()}});
  }
  return forgotten.ok();
}

void BindingCycles::Fail(const std::string& uid, const Status& status, bool rejected_by_permit) {
  const std::unique_ptr<Binding> binding = End(uid);
  ++context_.stats.binding_failures;

  const api::PodPtr& pod = binding->assumed;
  const bool forgotten = Undo(*binding->framework, binding->state, pod);
  // The freed room may help other pods. The late move keeps a rejected pod from being woken by its
  // own release.
  const framework::ClusterEvent freed{
      framework::EventResource::kAssignedPod, framework::kActionDelete, {}};
  const bool late = status.IsRejected();
  if (forgotten && !late && !KS_CANARY(FailedBindingUnheard)) {
    context_.queue.MoveAllToActiveOrBackoff(freed, pod, std::monostate(), nullptr);
  }

  AttemptFailure failure;
  failure.status = status;
  failure.nomination.emplace();  // clears
  failure.decision = binding->decision;
  failure.began = binding->began;
  framework::Diagnosis diagnosis;
  if (rejected_by_permit) {
    diagnosis = OneNodeDiagnosis(status);
    // Exactly the rejecting plugin, also when its name is empty (docs/spec/cycle.md 15 step 2).
    diagnosis.unschedulable_plugins = {std::string(status.plugin())};
    failure.diagnosis = &diagnosis;
  }
  failures_.Handle(*binding->framework, binding->queued, pod, failure);
  if (forgotten && late) {
    context_.queue.MoveAllToActiveOrBackoff(
        freed, pod, std::monostate(),
        [&pod](const api::Pod& candidate) { return candidate.meta.uid != pod->meta.uid; });
  }
}

void BindingCycles::Poll() {
  const TimePoint now = context_.clock.Now();
  for (const std::string& uid : waits_.Due(now, context_.storage.changes())) {
    // A poll may end this pod's cycle, and others'.
    if (!waits_.Contains(uid)) continue;
    const Binding& binding = *Find(uid);
    binding.pre_bind->Poll(now);
    if (waits_.Contains(uid)) NoteWait(binding);
  }
}

}  // namespace ks::scheduler
