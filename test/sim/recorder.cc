// SPDX-License-Identifier: Apache-2.0
#include "sim/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "framework/handle.h"
#include "sim/oracle.h"

namespace ks::sim {

using framework::PermitResult;
using framework::Status;

namespace {

const char* TextOf(const api::ClaimRequest& request) {
  using Verb = api::ClaimRequest::Verb;
  switch (request.verb) {
    case Verb::kGet:
      return "get";
    case Verb::kCreate:
      return "create";
    case Verb::kPatch:
      return "patch";
    case Verb::kPatchStatus:
      return "patch status of";
    case Verb::kDelete:
      return "delete";
  }
  return "";
}

}  // namespace

// The plugin.
class Recorder::Part final : public framework::Plugin,
                             public framework::PostFilterPlugin,
                             public framework::PodGroupPostFilterPlugin,
                             public framework::ReservePlugin,
                             public framework::PermitPlugin,
                             public framework::PostBindPlugin {
 public:
  Part(Recorder& recorder, framework::Handle& handle) : recorder_(recorder), handle_(handle) {}

  std::string_view Name() const override { return kRecorderName; }
  framework::PostFilterResult PostFilter(framework::CycleState& state, const api::PodPtr& pod,
                                         const framework::NodeStatuses& statuses) override {
    // The reference knows no victims that go together, nor the priorities of their groups.
    if (recorder_.host_.gangs == nullptr) {
      recorder_.host_.preemption->Asked(handle_, state, *pod, statuses);
    }
    return {Status(framework::Code::kUnschedulable, {}), {}};
  }
  bool IsIdle(const api::Pod& /*pod*/, std::string_view /*freed*/) override { return true; }
  framework::GroupPostFilterResult PodGroupPostFilter(
      const framework::GroupPreemptor& preemptor) override {
    recorder_.host_.group_victims->Asked(handle_, preemptor);
    return {.status = Status(framework::Code::kUnschedulable, {})};
  }
  Status Reserve(framework::CycleState& /*state*/, const api::PodPtr& pod,
                 const std::string& node_name) override {
    return recorder_.Reserve(handle_, pod, node_name);
  }
  void Unreserve(framework::CycleState& /*state*/, const api::PodPtr& pod,
                 const std::string& /*node_name*/) override {
    recorder_.Unreserve(pod);
  }
  PermitResult Permit(framework::CycleState& state, const api::PodPtr& pod,
                      const std::string& /*node_name*/) override {
    // Somebody else says no to it, and then nobody is activated.
    if (recorder_.host_.waits_for_resize(*pod)) return {};
    recorder_.Activate(state);
    return recorder_.Permit(handle_, *pod);
  }
  void PostBind(framework::CycleState& state, const api::PodPtr& pod,
                const std::string& node_name) override {
    recorder_.Activate(state);
    recorder_.PostBind(*pod, node_name);
  }

 private:
  Recorder& recorder_;
  framework::Handle& handle_;
};

class Recorder::Writer final : public framework::ApiWriter {
 public:
  Writer(Recorder& recorder, framework::ApiWriter& real) : recorder_(recorder), real_(real) {}

  void Bind(api::PodPtr pod, std::string node_name, Done done) override {
    recorder_.CheckBind(pod->meta.name, pod->meta.uid, node_name);
    real_.Bind(std::move(pod), std::move(node_name), std::move(done));
  }
  void PatchPodStatus(api::PodPtr pod, api::PodStatusChange change, Done done) override {
    if (change.condition) recorder_.host_.says(*pod, *change.condition);
    if (change.nominated_node_name) {
      recorder_.host_.group_victims->Nominated(pod->meta.uid, *change.nominated_node_name);
    }
    recorder_.CheckSaid(*pod);
    real_.PatchPodStatus(std::move(pod), std::move(change), std::move(done));
  }
  void PatchPodGroupStatus(api::PodGroupPtr group, api::Condition condition, Done done) override {
    if (recorder_.host_.gangs == nullptr) {
      return real_.PatchPodGroupStatus(std::move(group), std::move(condition), std::move(done));
    }
    Done watched = recorder_.SaysOfGroup(group, condition, std::move(done));
    real_.PatchPodGroupStatus(std::move(group), std::move(condition), std::move(watched));
  }
  void EvictPod(api::PodPtr pod, api::Condition condition, TimePoint decided,
                EvictionDone done) override {
    PreemptionWatch* const watch = recorder_.host_.preemption;
    if (recorder_.host_.gangs != nullptr) {
      recorder_.host_.trace("evict " + pod->meta.name + ": " + condition.message);
      GroupVictimWatch* const groups = recorder_.host_.group_victims;
      if (groups->EvictionStarts(*pod, decided, condition.message)) {
        done = [groups, decided, done = std::move(done)](framework::EvictionOutcome outcome,
                                                         std::optional<api::ApiError> error) {
          groups->EvictionEnds(decided, outcome == framework::EvictionOutcome::kFailed);
          done(outcome, std::move(error));
        };
      }
      return real_.EvictPod(std::move(pod), std::move(condition), decided, std::move(done));
    }
    const uint64_t decision = watch->EvictionStarts(*pod, decided);
    real_.EvictPod(pod, std::move(condition), decided,
                   [watch, decision, uid = pod->meta.uid, done = std::move(done)](
                       framework::EvictionOutcome outcome, std::optional<api::ApiError> error) {
                     watch->EvictionEnds(decision, uid, outcome);
                     done(outcome, std::move(error));
                   });
  }
  void WriteVolume(api::PersistentVolumePtr version, WriteDone done) override {
    recorder_.CheckWrite(*version);
    real_.WriteVolume(std::move(version), std::move(done));
  }
  void WriteClaim(api::PersistentVolumeClaimPtr version, WriteDone done) override {
    recorder_.CheckWrite(*version);
    real_.WriteClaim(std::move(version), std::move(done));
  }
  void SendClaimRequest(api::ClaimRequest request, ClaimDone done) override {
    ClaimDone watched = recorder_.SendsClaim(request, std::move(done));
    real_.SendClaimRequest(std::move(request), std::move(watched));
  }
  void RecordEvent(framework::PodEvent event) override {
    if (event.reason == "FailedScheduling") {
      recorder_.CheckSaid(*event.regarding);
      if (recorder_.host_.gangs == nullptr) {
        recorder_.host_.preemption->Answered(*event.regarding, event.note);
      }
      recorder_.host_.extenders->Failed(*event.regarding, event.note);
    }
    if (recorder_.host_.plan->events) real_.RecordEvent(std::move(event));
  }

 private:
  Recorder& recorder_;
  framework::ApiWriter& real_;
};

Recorder::Recorder(RecorderHost host)
    : host_(std::move(host)),
      random_(host_.seed),
      slot_([this](const config::PluginArgs& /*args*/,
                   framework::Handle& handle) -> Result<std::unique_ptr<framework::Plugin>> {
        return std::unique_ptr<framework::Plugin>(new Part(*this, handle));
      }) {}

std::unique_ptr<framework::ApiWriter> Recorder::Watch(framework::ApiWriter& real) {
  return std::make_unique<Writer>(*this, real);
}

void Recorder::CheckSaid(const api::Pod& pod) {
  // That a pod which is terminating is not tried is said wherever it is.
  if (pod.meta.deletion_timestamp || !host_.waits_for_resize(pod)) return;
  host_.fail("users are told that pod " + pod.meta.name + " waits, which has a node");
}

Status Recorder::Reserve(framework::Handle& handle, const api::PodPtr& pod_ptr,
                         const std::string& node) {
  const api::Pod& pod = *pod_ptr;
  if (IsTrial(pod)) return Try(handle, pod, node);
  host_.trace("reserve " + pod.meta.name + " on " + node);
  if (!reserved_.emplace(pod.meta.uid, node).second) {
    host_.fail("pod " + pod.meta.name + " is reserved twice");
  }
  if (bound_.contains(pod.meta.uid)) {
    host_.fail("pod " + pod.meta.name + " is decided again after it was bound");
  }
  waiting_.insert(pod.meta.uid);
  reserved_pods_[pod.meta.uid] = pod_ptr;
  if (host_.api->device_watch() != nullptr) host_.api->device_watch()->GivesUp(pod.meta.uid);
  CheckReserved(handle, pod, node);
  if (host_.was_flushed(pod)) {
    host_.fail("pod " + pod.meta.name + " fits on " + node + ", and only the flush found out");
  }
  host_.preemption->Tried(pod);
  host_.extenders->Reserved(pod, node);
  if (host_.gangs != nullptr && !GroupOf(pod).empty()) {
    host_.api->gang_watch()->Decided(host_.scheduler, pod, host_.gangs->KnownOf(pod));
    host_.gangs->Reserved(pod_ptr);
  }
  if (Chance(host_.plan->reserve_fails)) return Status::Error("a fault of the simulation");
  return {};
}

// A member on its node for the time of an attempt of its group.
Status Recorder::Try(framework::Handle& handle, const api::Pod& pod, const std::string& node) {
  if (!tried_.emplace(pod.meta.uid, pod.meta.name).second) {
    host_.fail("pod " + pod.meta.name + " is tried on two nodes at once");
  }
  if (reserved_.contains(pod.meta.uid)) {
    host_.fail("pod " + pod.meta.name + " is tried while it is reserved");
  }
  // When victims are spared, nobody is asked again who found nothing to do while all were away: a
  // pod that is put back may repel a member (docs/spec/preemption.md 18.4, step 6). What comes of
  // it is looked at in full when it is reserved.
  CheckReserved(handle, pod, node);
  // Where there are placements, what was possible once has to be again.
  if (!Chance(host_.plan->reserve_fails)) return {};
  return Status::Error("a fault of the simulation");
}

void Recorder::CheckReserved(framework::Handle& handle, const api::Pod& pod,
                             const std::string& node) {
  const framework::NodeInfo* info = handle.snapshot().Find(node);
  if (info == nullptr) {
    host_.fail("pod " + pod.meta.name + " is to go to the unknown node " + node);
  } else if (const std::string why =
                 IsTrial(pod) ? WhyUnfit(pod, *info) : WhyInfeasible(pod, *info, handle.snapshot());
             !why.empty()) {
    host_.fail("pod " + pod.meta.name + " is to go to " + node + ", which " + why);
  } else if (reserved_.contains(pod.meta.uid) && !GroupOf(pod).empty()) {
    // It was looked at when it was tried.
  } else {
    std::vector<framework::PodInfoPtr> nominated;
    for (const framework::PodInfoPtr& other : handle.nominator().NominatedPodsForNode(node)) {
      if (!taken_off_.contains(other->pod().meta.uid)) nominated.push_back(other);
    }
    if (const std::string room = WhyNoRoom(pod, *info, nominated); !room.empty()) {
      host_.fail("pod " + pod.meta.name + " is to go to " + node + ", which " + room);
    }
  }
  // With extenders it was decided some time ago.
  if (!host_.plan->volumes || !host_.plan->extenders.empty()) return;
  const std::string why =
      WhyOutOfReach(pod, node, handle.snapshot(), handle.storage(), IsTrial(pod));
  if (!why.empty()) host_.fail("pod " + pod.meta.name + " is to go to " + node + ", which " + why);
}

bool Recorder::IsClaimReserved(const std::string& claim) const {
  return std::any_of(reserved_pods_.begin(), reserved_pods_.end(), [&](const auto& reserved) {
    return ClaimsOf(*reserved.second).contains(claim);
  });
}

void Recorder::CheckWrite(const api::PersistentVolume& version) {
  const std::string claim = ClaimOf(version);
  host_.trace("claim volume " + version.meta.name + " for " + claim);
  if (IsClaimReserved(claim)) return;
  host_.fail("volume " + version.meta.name + " is written for " + claim +
             ", which no reserved pod uses");
}

void Recorder::CheckWrite(const api::PersistentVolumeClaim& version) {
  const std::string claim = version.meta.Key();
  const std::string node = version.selected_node.value_or("");
  host_.trace("pin claim " + claim + " to " + node);
  host_.api->volume_watch()->Announce(version);
  const bool known =
      std::any_of(reserved_pods_.begin(), reserved_pods_.end(), [&](const auto& reserved) {
        return ClaimsOf(*reserved.second).contains(claim) && reserved_.at(reserved.first) == node;
      });
  if (!known) host_.fail("claim " + claim + " is written for a node that no pod of it goes to");
}

bool Recorder::IsDeviceClaimReserved(const std::string& claim) const {
  return std::any_of(reserved_pods_.begin(), reserved_pods_.end(), [&](const auto& reserved) {
    return DeviceClaimsOf(*reserved.second).contains(claim);
  });
}

framework::ApiWriter::ClaimDone Recorder::SendsClaim(const api::ClaimRequest& request,
                                                     framework::ApiWriter::ClaimDone done) {
  DeviceWatch* const watch = host_.api->device_watch();
  if (watch == nullptr) return done;
  host_.trace(fmt::format("{} claim {}/{} {}", TextOf(request), request.ns, request.name,
                          request.verb == api::ClaimRequest::Verb::kGet ? "" : request.body));
  watch->Sent(host_.scheduler, request);
  const std::string key = request.ns + "/" + request.name;
  asked_claims_.insert(key);
  return [this, watch, key, request, done = std::move(done)](std::optional<api::ApiError> error,
                                                             api::ResourceClaimPtr claim) {
    if (!dead_) {
      host_.trace(fmt::format("{} claim {}/{}: {}", TextOf(request), request.ns, request.name,
                              error ? error->message : "done"));
      watch->Answered(request, !error.has_value(), claim);
      asked_claims_.erase(asked_claims_.find(key));
    }
    done(std::move(error), std::move(claim));
  };
}

framework::ApiWriter::Done Recorder::SaysOfGroup(const api::PodGroupPtr& group,
                                                 const api::Condition& condition,
                                                 framework::ApiWriter::Done done) {
  host_.trace(
      fmt::format("group {} is {}: {}", group->meta.Key(), condition.reason, condition.message));
  const bool scheduled = condition.status == "True";
  host_.api->gang_watch()->ConditionSent(host_.scheduler, *group, scheduled);
  return
      [this, group, scheduled, done = std::move(done)](const std::optional<api::ApiError>& error) {
        if (!dead_)
          host_.api->gang_watch()->ConditionAnswered(*group, scheduled, !error.has_value());
        done(error);
      };
}

void Recorder::Die() {
  dead_ = true;
  if (host_.api->gang_watch() != nullptr) host_.api->gang_watch()->Orphaned(host_.scheduler);
  if (host_.api->device_watch() == nullptr) return;
  host_.api->device_watch()->Orphaned(host_.scheduler);
  for (const auto& [uid, pod] : reserved_pods_) host_.api->device_watch()->Orphan(*pod);
}

void Recorder::Unreserve(const api::PodPtr& assumed) {
  const api::Pod& pod = *assumed;
  if (tried_.erase(pod.meta.uid) != 0) {
    taken_off_.insert(pod.meta.uid);
    return;
  }
  host_.trace("unreserve " + pod.meta.name);
  if (host_.gangs != nullptr && !GroupOf(pod).empty()) {
    host_.api->gang_watch()->GivenUp(pod);
    host_.gangs->GivenUp(pod);
  }
  if (host_.api->device_watch() != nullptr) host_.api->device_watch()->GivesUp(pod.meta.uid);
  if (binding_.erase(pod.meta.uid) != 0) host_.binding_failed(assumed);
  const auto before = joined_before_.find(pod.meta.uid);
  const bool held = waiting_.erase(pod.meta.uid) != 0 && before != joined_before_.end();
  if (held && before->second < host_.nodes_joined()) to_retry_[pod.meta.Key()] = pod.meta.uid;
  reserved_pods_.erase(pod.meta.uid);
  if (reserved_.erase(pod.meta.uid) == 0) {
    host_.fail("pod " + pod.meta.name + " is unreserved without being reserved");
  }
}

PermitResult Recorder::Permit(framework::Handle& handle, const api::Pod& pod) {
  joined_before_.erase(pod.meta.uid);
  binding_.insert(pod.meta.uid);
  if (!Chance(host_.plan->permit_waits)) return {};
  const bool times_out = Chance(host_.plan->permit_times_out);
  const Duration wait = std::chrono::milliseconds(50 + random_.Below(8000));
  if (!times_out) {
    host_.later(wait, [&handle, uid = pod.meta.uid] {
      framework::WaitingPod* waiting = handle.waiting_pods().GetWaitingPod(uid);
      if (waiting != nullptr) waiting->Allow(kRecorderName);
    });
  }
  host_.trace("permit: wait " + pod.meta.name);
  joined_before_[pod.meta.uid] = host_.nodes_joined();
  PermitResult result;
  result.status = Status(framework::Code::kWait, {"a fault of the simulation"});
  result.timeout = times_out ? wait : std::chrono::minutes(10);
  return result;
}

// Some other pod, whether or not it waits for anything.
void Recorder::Activate(framework::CycleState& state) {
  if (!Chance(host_.plan->activates)) return;
  const api::PodPtr pod = host_.any_pending(random_);
  if (pod == nullptr) return;
  host_.trace("activate " + pod->meta.name);
  activated_[pod->meta.Key()] = pod->meta.uid;
  state.pods_to_activate->Add(pod);
}

void Recorder::PostBind(const api::Pod& pod, const std::string& node) {
  host_.trace("bound " + pod.meta.name + " to " + node);
  waiting_.erase(pod.meta.uid);
  binding_.erase(pod.meta.uid);
  reserved_pods_.erase(pod.meta.uid);
  if (reserved_.erase(pod.meta.uid) == 0) {
    host_.fail("pod " + pod.meta.name + " is bound without being reserved");
  }
  bound_[pod.meta.uid] = node;
  if (host_.gangs != nullptr && !GroupOf(pod).empty()) host_.api->gang_watch()->Landed(pod);
  const std::string real = host_.api->NodeOf(pod.meta.uid);
  if (real != node) {
    host_.fail("pod " + pod.meta.name + " is taken to be on " + node + ", but the server has it " +
               (real.empty() ? "nowhere" : "on " + real));
  }
}

void Recorder::CheckBind(const std::string& name, const std::string& uid, const std::string& node) {
  host_.trace("bind " + name + " to " + node);
  if (host_.api->device_watch() != nullptr) host_.api->device_watch()->Binds(host_.scheduler, uid);
  if (host_.gangs != nullptr) {
    if (const std::string wrong = host_.gangs->Binds(uid); !wrong.empty()) host_.fail(wrong);
  }
  const auto it = reserved_.find(uid);
  if (it == reserved_.end() || it->second != node) {
    host_.fail("pod " + name + " is to be bound to " + node + " without being reserved");
  }
  const bool again = asked_to_bind_.erase(uid) != 0;
  if (waiting_.erase(uid) == 0 && !again) {
    host_.fail("pod " + name + " is to be bound a second time");
  }
}

void Recorder::ExtenderBinds(const std::string& name, const std::string& uid,
                             const std::string& node) {
  CheckBind(name, uid, node);
  asked_to_bind_.insert(uid);
}

}  // namespace ks::sim
