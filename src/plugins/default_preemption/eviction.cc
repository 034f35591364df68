// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/eviction.h"

#include <algorithm>
#include <utility>

#include "base/canary.h"
#include "base/logging.h"
#include "framework/find_pod.h"
#include "framework/metrics/preemption_metrics.h"
#include "framework/pod_requests.h"
#include "plugins/default_preemption/default_preemption.h"

namespace ks::plugins {
namespace {

using framework::EvictionOutcome;

// On the node where it ran. Between attempts the snapshot shows the present state.
bool IsThere(const api::Pod& victim, const framework::Snapshot& snapshot) {
  const framework::NodeInfo* node = snapshot.Find(victim.node_name.str());
  return node != nullptr && framework::FindPodByUid(node->pods(), victim.meta.uid) != nullptr;
}
bool AnyIsThere(const std::vector<api::PodPtr>& victims, const framework::Snapshot& snapshot) {
  return std::any_of(victims.begin(), victims.end(),
                     [&snapshot](const api::PodPtr& victim) { return IsThere(*victim, snapshot); });
}

// What the handle gave: it may be gone before the job is.
struct Surroundings {
  framework::ApiWriter& api;
  framework::Nominator& nominator;
  framework::PodActivator& activator;
  framework::TaskInbox& tasks;
  const framework::Snapshot& snapshot;  // between attempts, what it shows is the present state
  const framework::PodLister& pods;
  framework::WaitingPodAccess& waiting_pods;
  framework::PodsInPreBindAccess& pods_in_pre_bind;
  const Clock& clock;
  framework::PreemptionMetrics* metrics;  // null: nothing is measured
  bool workload_metrics;
  std::string profile;
  size_t at_once;

  static Surroundings Of(framework::Handle& handle) {
    return {.api = handle.api(),
            .nominator = handle.nominator(),
            .activator = handle.activator(),
            .tasks = handle.tasks(),
            .snapshot = handle.snapshot(),
            .pods = handle.pods(),
            .waiting_pods = handle.waiting_pods(),
            .pods_in_pre_bind = handle.pods_in_pre_bind(),
            .clock = handle.clock(),
            .metrics = handle.preemption_metrics(),
            .workload_metrics = handle.gates().Enabled(config::Gate::kGenericWorkload),
            .profile = handle.ProfileName(),
            .at_once = static_cast<size_t>(std::max(handle.parallelism(), 1))};
  }
};

// One preemption. Every step runs on the scheduling thread; answers of calls are posted there.
//
//   in the background:  clear nominations -> all victims but the last -> the last -> end
//   at once:            all victims -> clear nominations -> end
class Job final : public std::enable_shared_from_this<Job> {
 public:
  enum class Mode : uint8_t { kInBackground, kAtOnce };

  // `chosen`: the number of victims before those that are leaving were taken out.
  Job(framework::Handle& handle, Preemption preemption, size_t chosen, Mode mode,
      std::shared_ptr<OngoingPreemptions> ongoing)
      : around_(Surroundings::Of(handle)),
        preemption_(std::move(preemption)),
        chosen_(chosen),
        in_background_(mode == Mode::kInBackground),
        ongoing_(std::move(ongoing)),
        start_(around_.clock.Now()) {
    wave_end_ = preemption_.victims.size() - (in_background_ ? 1 : 0);
  }

  void StartInBackground() {
    KS_LOG(2, "Start the preemption asynchronously",
           {{"preemptor", preemption_.preemptor.key},
            {"node", preemption_.node},
            {"numVictims", chosen_},
            {"numVictimsToDelete", preemption_.victims.size()}});
    Begin();
    around_.tasks.PostTask(
        [self = shared_from_this()] { self->ClearNominations([self] { self->EvictWave(); }); });
  }
  void StartAtOnce() {
    if (!preemption_.victims.empty()) Begin();
    EvictWave();
  }

 private:
  using Step = std::function<void()>;

  void Begin() { number_ = ongoing_->Begin(preemption_); }

  // The lower-priority pods that counted on the node get it no more. `next` follows in any case.
  void ClearNominations(const Step& next) {
    const std::vector<api::PodPtr> pods = LowerNominated();
    clearing_ = pods.size();
    if (pods.empty()) return next();
    for (const api::PodPtr& pod : pods) {
      api::PodStatusChange change;
      change.nominated_node_name.emplace();
      around_.api.PatchPodStatus(
          pod, std::move(change),
          [self = shared_from_this(), next, pod](std::optional<api::ApiError> error) {
            self->around_.tasks.PostTask(
                [self, next, pod, error = std::move(error)] { self->Cleared(*pod, error, next); });
          });
    }
  }
  std::vector<api::PodPtr> LowerNominated() const {
    std::vector<api::PodPtr> pods;
    for (const framework::PodInfoPtr& info :
         around_.nominator.NominatedPodsForNode(preemption_.node)) {
      const api::Pod& pod = info->pod();
      if (pod.Priority() >= preemption_.preemptor.priority) continue;
      if (!pod.status.nominated_node_name.empty()) pods.push_back(info->ptr());
    }
    return pods;
  }
  void Cleared(const api::Pod& pod, const std::optional<api::ApiError>& error, const Step& next) {
    if (error.has_value()) {
      log::Error(error->message, "Cannot clear 'NominatedNodeName' field of pod",
                 {{"pod", pod.meta.Key()}});
      if (in_background_) failed_ = true;
    }
    if (--clearing_ == 0) next();
  }

  // Goes on with the victims before wave_end_.
  void EvictWave() {
    while (!stopped_ && next_ < wave_end_ && in_flight_ < around_.at_once) {
      Evict(preemption_.victims[next_++]);
    }
    if (in_flight_ == 0 && (stopped_ || next_ == wave_end_)) WaveOver();
  }
  void WaveOver() {
    if (!in_background_) {
      if (stopped_) return End();
      return ClearNominations([self = shared_from_this()] { self->End(); });
    }
    if (stopped_ || wave_end_ == preemption_.victims.size()) return End();
    const api::PodPtr& last = preemption_.victims.back();
    ongoing_->SetLastVictim(preemption_.preemptor.uid, number_, last->meta.Key());
    wave_end_ = preemption_.victims.size();
    EvictWave();
  }

  void Evict(const api::PodPtr& victim) {
    if (EndInMemory(*victim)) {
      last_in_memory_ = next_ == preemption_.victims.size();
      TellVictim(victim, " (in kube-scheduler memory).");
      return;
    }
    api::Condition condition;
    condition.type = api::kDisruptionTarget;
    condition.status = "True";
    condition.reason = "PreemptionByScheduler";
    condition.message = preemption_.preemptor.pods.front()->spec->scheduler_name.str() +
                        ": preempting to accommodate a higher priority ";
    condition.message += preemption_.preemptor.kind;
    condition.observed_generation = victim->meta.generation;
    condition.last_transition_time = around_.clock.WallNow();
    ++in_flight_;
    around_.api.EvictPod(
        victim, std::move(condition), start_,
        [self = shared_from_this(), victim](EvictionOutcome outcome,
                                            std::optional<api::ApiError> error) {
          self->around_.tasks.PostTask([self, victim, outcome, error = std::move(error)] {
            self->Evicted(victim, outcome, error);
          });
        });
  }
  // Whether the victim was given up before it was bound.
  bool EndInMemory(const api::Pod& victim) {
    const std::string& uid = victim.meta.uid;
    if (framework::WaitingPod* waiting = around_.waiting_pods.GetWaitingPod(uid)) {
      return waiting->Preempt(kDefaultPreemptionName, "preempted");
    }
    framework::PodInPreBind* pre_bind = around_.pods_in_pre_bind.GetPodInPreBind(uid);
    return pre_bind != nullptr && pre_bind->Cancel("preempted by DefaultPreemption");
  }
  void Evicted(const api::PodPtr& victim, EvictionOutcome outcome,
               const std::optional<api::ApiError>& error) {
    --in_flight_;
    if (outcome == EvictionOutcome::kEvicted) TellVictim(victim, "");
    // In the background the others were heard of when the last one is.
    const bool awaited = !in_background_ || victim == preemption_.victims.back();
    if (outcome == EvictionOutcome::kEvicted && awaited) deleted_.push_back(victim);
    if (outcome == EvictionOutcome::kFailed && !KS_CANARY(EvictionErrorSwallowed)) {
      log::Error(error.has_value() ? error->message : std::string(), "Failed to preempt pod",
                 {{"pod", victim->meta.Key()},
                  {"preemptor", preemption_.preemptor.key},
                  {"node", preemption_.node}});
      failed_ = stopped_ = true;
    }
    EvictWave();
  }
  void TellVictim(const api::PodPtr& victim, std::string_view suffix) {
    KS_LOG(2, "Preemptor Pod preempted victim Pod",
           {{"preemptor", preemption_.preemptor.key},
            {"victim", victim->meta.Key()},
            {"node", preemption_.node}});
    std::string note = "Preempted by ";
    note.append(preemption_.preemptor.kind).append(" ").append(preemption_.preemptor.uid);
    note.append(" on node ").append(preemption_.node).append(suffix);
    around_.api.RecordEvent({.regarding = victim,
                             .related = preemption_.preemptor.related,
                             .reporting_controller = around_.profile,
                             .reason = "Preempted",
                             .action = "Preempting",
                             .note = std::move(note),
                             .warning = false});
  }

  void End() {
    Measure();
    if (in_background_) {
      KS_LOG(2, "Async Preemption finished completely",
             {{"preemptor", preemption_.preemptor.key},
              {"node", preemption_.node},
              {"result", failed_ ? "error" : "success"}});
    }
    // A victim given up in memory is forgotten by tasks posted before this one: a preemptor that
    // comes back earlier would find it in its place.
    around_.tasks.PostTask([self = shared_from_this()] {
      const Preemptor& preemptor = self->preemption_.preemptor;
      // It has the job from now on, which must not have it then.
      const auto ongoing = std::exchange(self->ongoing_, nullptr);
      const bool missed = ongoing->End(preemptor.uid, self->number_,
                                       {.left = [self] { return self->NothingToAwait(); },
                                        .unheard = [self] { return self->AnyUnheard(); }});
      // A victim in PreBind may be slow to stop; its removal wakes the preemptor, which would only
      // give it up again and again until then.
      const bool given_up = self->in_background_ && self->last_in_memory_ && self->AllHaveLeft();
      if (self->failed_ || given_up || missed) {
        self->around_.activator.Activate(preemptor.pods);
      }
    });
  }
  // The room that was made is there, or is no longer the preemptor's: its node was lost meanwhile.
  bool NothingToAwait() const {
    if (AllHaveLeft()) return true;
    const Preemptor& preemptor = preemption_.preemptor;
    // Of a group each member has a node of its own; a running pod makes room where it is.
    if (preemptor.pods.front()->meta.uid != preemptor.uid || preemptor.runs) return false;
    const auto nominated = around_.nominator.NominatedPodsForNode(preemption_.node);
    return framework::FindPodByUid(nominated, preemptor.uid) == nullptr;
  }
  // No victim's removal is to come. Somebody else may have deleted the last one, or its binding
  // failed before its eviction ended, so that its deletion frees nothing.
  bool AllHaveLeft() const { return !AnyIsThere(preemption_.victims, around_.snapshot); }
  // The change or the deletion of a deleted victim is to come.
  bool AnyUnheard() const {
    return std::any_of(deleted_.begin(), deleted_.end(), [this](const api::PodPtr& victim) {
      if (!IsThere(*victim, around_.snapshot)) return false;
      const api::PodPtr known = around_.pods.FindPod(victim->meta.Key());
      return known != nullptr && known->meta.uid == victim->meta.uid &&
             !known->meta.deletion_timestamp;
    });
  }
  void Measure() const {
    if (around_.metrics == nullptr) return;
    const Duration took = around_.clock.Now() - start_;
    if (in_background_) around_.metrics->JobEnded(!failed_, took);
    if (around_.workload_metrics) {
      around_.metrics->ObserveExecution(preemption_.preemptor.kind, !failed_, took);
    }
  }

  const Surroundings around_;
  const Preemption preemption_;
  const size_t chosen_;
  const bool in_background_;
  std::shared_ptr<OngoingPreemptions> ongoing_;  // null at the end
  const TimePoint start_;
  uint64_t number_ = 0;  // of `ongoing_`; 0: it does not have the preemptor, who awaits nothing
  size_t clearing_ = 0;  // patches without answer
  size_t next_ = 0;      // victim
  size_t wave_end_ = 0;
  size_t in_flight_ = 0;
  bool stopped_ = false;  // an eviction failed
  bool failed_ = false;
  bool last_in_memory_ = false;
  std::vector<api::PodPtr> deleted_;  // as the server says
};

// Without victims that are leaving already.
std::shared_ptr<Job> MakeJob(framework::Handle& handle, Preemption preemption, Job::Mode mode,
                             std::shared_ptr<OngoingPreemptions> ongoing) {
  const size_t chosen = preemption.victims.size();
  std::erase_if(preemption.victims,
                [](const api::PodPtr& pod) { return pod->meta.deletion_timestamp.has_value(); });
  if (preemption.victims.empty() && mode == Job::Mode::kInBackground) return nullptr;
  return std::make_shared<Job>(handle, std::move(preemption), chosen, mode, std::move(ongoing));
}

}  // namespace

Preemptor PodPreemptor(const api::PodPtr& pod, const framework::PodLister& pods) {
  const bool runs = !pod->node_name.empty();
  Preemptor preemptor{.uid = pod->meta.uid,
                      .key = pod->meta.Key(),
                      .priority = pod->Priority(),
                      .runs = runs,
                      .pods = {pod},
                      .gone = {}};
  preemptor.gone = [&pods, key = preemptor.key, uid = preemptor.uid, runs] {
    const api::PodPtr known = pods.FindPod(key);
    if (known == nullptr || known->meta.uid != uid) return true;
    return runs ? !framework::HasDeferredResize(*known) : !known->node_name.empty();
  };
  return preemptor;
}

uint64_t OngoingPreemptions::Begin(const Preemption& preemption) {
  absl::erase_if(preemptors_,
                 [](const auto& entry) { return entry.second.aftermath && entry.second.gone(); });
  preemptors_[preemption.preemptor.uid] = {.number = ++begun_,
                                           .node = preemption.node,
                                           .victims = preemption.victims,
                                           .gone = preemption.preemptor.gone};
  return begun_;
}

void OngoingPreemptions::SetLastVictim(const std::string& uid, uint64_t number, std::string key) {
  const auto found = preemptors_.find(uid);
  if (found == preemptors_.end() || found->second.number != number) return;
  found->second.last_victim = std::move(key);
}

bool OngoingPreemptions::End(const std::string& uid, uint64_t number, Aftermath aftermath) {
  const auto found = preemptors_.find(uid);
  if (found == preemptors_.end() || found->second.number != number) return false;
  const bool missed = found->second.turned_away && aftermath.left();
  if (missed || (!found->second.turned_away && !aftermath.unheard())) {
    preemptors_.erase(found);
    return missed;
  }
  found->second.aftermath = std::move(aftermath);
  return false;
}

bool OngoingPreemptions::Blocks(std::string_view uid, framework::Handle& handle) {
  if (preemptors_.empty() || KS_CANARY(PreemptorsNotHeld)) return false;
  const auto found = preemptors_.find(uid);
  if (found == preemptors_.end()) return false;
  Entry& preemptor = found->second;
  if (preemptor.aftermath) {
    preemptor.turned_away = false;
    if (!preemptor.aftermath->unheard()) preemptors_.erase(found);
    return false;
  }
  preemptor.turned_away = Holds(preemptor, handle.pods());
  return preemptor.turned_away;
}

// Until the evictions are over, or its last victim is leaving or gone.
bool OngoingPreemptions::Holds(const Entry& preemptor, const framework::PodLister& pods) {
  if (preemptor.aftermath) return false;
  if (!preemptor.last_victim.has_value()) return true;
  const api::PodPtr victim = pods.FindPod(*preemptor.last_victim);
  return victim != nullptr && !victim->meta.deletion_timestamp;
}

OngoingPreemptions::Stage OngoingPreemptions::StageOf(std::string_view uid, std::string_view freed,
                                                      const framework::Handle& handle) const {
  const auto found = preemptors_.find(uid);
  if (found == preemptors_.end()) return Stage::kFree;
  const Entry& preemptor = found->second;
  if (!Holds(preemptor, handle.pods())) {
    return preemptor.turned_away ? Stage::kTurnedAway : Stage::kFree;
  }
  const std::vector<api::PodPtr>& victims = preemptor.victims;
  const bool may_be_last =
      std::any_of(victims.begin(), victims.end(),
                  [freed](const api::PodPtr& victim) { return victim->node_name == freed; });
  return may_be_last && !AnyIsThere(victims, handle.snapshot()) ? Stage::kBelated : Stage::kHeld;
}

bool OngoingPreemptions::MayComeBack(std::string_view uid) const {
  const auto found = preemptors_.find(uid);
  return found != preemptors_.end() && found->second.turned_away && found->second.aftermath &&
         found->second.aftermath->left();
}

const std::string* OngoingPreemptions::NodeOfUnheardVictim(std::string_view uid) const {
  const auto found = preemptors_.find(uid);
  const bool unheard =
      found != preemptors_.end() && found->second.aftermath && found->second.aftermath->unheard();
  return unheard ? &found->second.node : nullptr;
}

void EvictInBackground(framework::Handle& handle, Preemption preemption,
                       const std::shared_ptr<OngoingPreemptions>& ongoing) {
  auto job = MakeJob(handle, std::move(preemption), Job::Mode::kInBackground, ongoing);
  if (job != nullptr) job->StartInBackground();
}

void EvictAtOnce(framework::Handle& handle, Preemption preemption,
                 const std::shared_ptr<OngoingPreemptions>& ongoing) {
  MakeJob(handle, std::move(preemption), Job::Mode::kAtOnce, ongoing)->StartAtOnce();
}

}  // namespace ks::plugins
