// SPDX-License-Identifier: Apache-2.0
#include "scheduler/binding_cycle.h"

#include <utility>
#include <vector>

#include "base/check.h"
#include "base/logging.h"

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
    context_.inbox.Post(std::move(task));
  };
  pre_bind_environment_.run_blocking = [this](Task task) { blocking_.Run(std::move(task)); };
}

Binding* BindingCycles::Find(const std::string& uid) {
  const auto it = active_.find(uid);
  return it == active_.end() ? nullptr : it->second.get();
}

void BindingCycles::Start(std::unique_ptr<Binding> owned) {
  Binding& binding = *owned;
  const std::string uid = binding.assumed->meta.uid;
  KS_CHECK(active_.emplace(uid, std::move(owned)).second, "one binding cycle per pod");

  const bool waiting = binding.permit.status.IsWait();
  const Status flight =
      binding.framework->RunPreBindPreFlights(binding.state, binding.assumed, binding.node());
  if (!flight.ok() && !flight.IsSkip()) {
    Fail(uid, flight, false);
    return;
  }
  if (flight.ok() || waiting) PatchNomination(binding);
  if (!waiting) {
    ContinueAfterPermit(uid, Status());
    return;
  }
  context_.waiting_pods.Add(binding.assumed, binding.permit.timeouts, [this, uid](Status verdict) {
    // The verdict may fall inside a plugin's call; the cycle goes on from the loop.
    context_.inbox.Post(Task([this, uid, verdict = std::move(verdict)] {
      if (Find(uid) != nullptr) ContinueAfterPermit(uid, verdict);
    }));
  });
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
  auto groups = binding.framework->PreBindGroups(binding.state);
  if (groups.empty()) {
    StartBind(binding);
    return;
  }
  const std::string uid = binding.assumed->meta.uid;
  binding.pre_bind = std::make_unique<framework::PreBindRunner>(
      std::move(groups), framework::PreBindRequest{&binding.state, binding.assumed, binding.node()},
      pre_bind_environment_, [this, uid](const Status& status) { FinishPreBind(uid, status); });
  pre_binding_.insert(uid);
  if (const auto result = binding.pre_bind->Start()) FinishPreBind(uid, *result);
}

void BindingCycles::FinishPreBind(const std::string& uid, const Status& status) {
  pre_binding_.erase(uid);
  if (status.ok()) {
    StartBind(*Find(uid));
  } else {
    Fail(uid, status, false);
  }
}

void BindingCycles::StartBind(Binding& binding) {
  const std::string uid = binding.assumed->meta.uid;
  ++binding_;
  Status started = binding.framework->RunBindPlugins(
      binding.state, binding.assumed, binding.node(), [this, uid](Status status) {
        context_.inbox.Post(Task([this, uid, status = std::move(status)] {
          --binding_;
          if (status.ok()) {
            Succeed(uid);
          } else {
            Fail(uid, status, false);
          }
        }));
      });
  if (started.ok()) return;
  --binding_;
  Fail(uid, started, false);
}

void BindingCycles::Succeed(const std::string& uid) {
  const auto it = active_.find(uid);
  KS_CHECK(it != active_.end(), "a binding ended that never started");
  const std::unique_ptr<Binding> binding = std::move(it->second);
  active_.erase(it);
  ++context_.stats.bound;

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
  binding->framework->RunPostBindPlugins(binding->state, pod, binding->node());
  const auto& activate = binding->state.pods_to_activate;
  if (activate != nullptr && !activate->empty()) context_.queue.Activate(*activate);
}

bool BindingCycles::Undo(const framework::Framework& framework, framework::CycleState& state,
                         const api::PodPtr& assumed) {
  framework.RunReservePluginsUnreserve(state, assumed, assumed->node_name);
  const Result<void> forgotten = context_.cache.ForgetPod(*assumed);
  if (!forgotten.ok()) {
    log::Error(forgotten.error().message, "scheduler cache ForgetPod failed",
               {{"pod", assumed->meta.Key()}});
  }
  return forgotten.ok();
}

void BindingCycles::Fail(const std::string& uid, const Status& status, bool rejected_by_permit) {
  const auto it = active_.find(uid);
  KS_CHECK(it != active_.end(), "a binding failed that never started");
  const std::unique_ptr<Binding> binding = std::move(it->second);
  active_.erase(it);
  ++context_.stats.binding_failures;

  const api::PodPtr& pod = binding->assumed;
  const bool forgotten = Undo(*binding->framework, binding->state, pod);
  // The freed room may help other pods. The late move keeps a rejected pod from being woken by its
  // own release.
  const framework::ClusterEvent freed{
      framework::EventResource::kAssignedPod, framework::kActionDelete, {}};
  const bool late = status.IsRejected();
  if (forgotten && !late) {
    context_.queue.MoveAllToActiveOrBackoff(freed, pod, std::monostate(), nullptr);
  }

  AttemptFailure failure;
  failure.status = status;
  failure.nomination.emplace();  // clears
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
  if (pre_binding_.empty()) return;
  const std::vector<std::string> uids(pre_binding_.begin(), pre_binding_.end());
  for (const std::string& uid : uids) {
    // A poll may end this pod's cycle.
    if (Binding* binding = Find(uid)) binding->pre_bind->Poll(context_.clock.Now());
  }
}

std::optional<TimePoint> BindingCycles::NextDeadline() const {
  std::optional<TimePoint> next;
  for (const std::string& uid : pre_binding_) {
    const auto deadline = active_.find(uid)->second->pre_bind->NextDeadline();
    if (deadline && (!next || *deadline < *next)) next = deadline;
  }
  return next;
}

}  // namespace ks::scheduler
