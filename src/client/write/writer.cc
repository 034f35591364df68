// SPDX-License-Identifier: Apache-2.0
#include "client/write/writer.h"

#include <atomic>

#include "api/json/decode.h"
#include "api/json/encode.h"
#include "base/canary.h"
#include "base/check.h"
#include "client/write/writer_core.h"

namespace ks::client {
namespace {

// docs/spec/api.md 9.1.
constexpr std::array<Duration, 3> kRetryWaits = {
    std::chrono::milliseconds(10), std::chrono::milliseconds(50), std::chrono::milliseconds(250)};
constexpr const char* kStrategicMerge = "application/strategic-merge-patch+json";
// The API server's words for a precondition that does not hold. Any other conflict is an error.
constexpr std::string_view kOtherUid = "UID in the precondition";

std::string PodPath(const api::Pod& pod) {
  std::string path = "/api/v1/namespaces/";
  path.append(pod.meta.ns.view()).append("/pods/").append(pod.meta.name);
  return path;
}

RestRequest StatusPatch(const api::Pod& pod, std::string body) {
  return {.method = "PATCH",
          .target = PodPath(pod) + "/status",
          .body = std::move(body),
          .content_type = kStrategicMerge,
          .resource = "pods",
          .name = pod.meta.name};
}

bool IsTemporary(const api::ApiError& error) {
  return error.IsInternal() || error.IsUnavailable() || error.connection_refused;
}

api::ApiError ShutDown() {
  api::ApiError error;
  error.message = "the writer is shut down";
  return error;
}

}  // namespace

// ---- lanes ----

void Writer::Core::Enqueue(const JobPtr& job) {
  const LaneName name = job->lane;
  bool refused = false;
  {
    MutexLock lock(mutex_);
    refused = closed_;
    LaneOf(name).pending += 1;
    if (!refused) LaneOf(name).Add(job, job->evicted != nullptr);
  }
  if (refused) {
    Later([self = shared_from_this(), job] {
      Tell(job, ShutDown());
      MutexLock lock(self->mutex_);
      self->LaneOf(job->lane).pending -= 1;
      self->changed_.NotifyAll();
    });
    return;
  }
  Pump(name);
}

// One patch of a pod at a time, and no binding beside it: two in flight could arrive in either
// order, and a bound pod must not be told afterwards that it is unschedulable.
bool Writer::Core::WaitsForPatch(const Job& job) const {
  if (job.lane == LaneName::kEvent || job.evicted || job.IsStorageWrite()) return false;
  return !patching_.empty() && patching_.contains(job.pod->meta.uid);
}

// While bindings and evictions wait for answers, patches and events leave the API server to them:
// with as many in flight as else they took a third of it from 500 preemptors' 1,500 victims.
// Patches that wait are replaced by later ones; too many events that wait would be dropped.
int Writer::Core::LimitOf(LaneName name) const {
  const Lane& bindings = lanes_[static_cast<size_t>(LaneName::kBind)];
  const Lane& lane = lanes_[static_cast<size_t>(name)];
  if (name == LaneName::kBind || bindings.in_flight < bindings.limit) return lane.limit;
  const bool too_many =
      name == LaneName::kEvent && raw_events_.size() + lane.queue.size() > options_.event_queue / 2;
  return too_many ? lane.limit : std::max(lane.limit / 4, 1);
}

Writer::Core::JobPtr Writer::Core::TakeNext(LaneName name) {
  Lane& lane = LaneOf(name);
  if (lane.in_flight >= LimitOf(name)) return nullptr;
  size_t place = 0;
  while (place < lane.first_eviction && WaitsForPatch(*lane.queue[place])) ++place;
  // A preemptor that may be bound is not kept behind everybody's victims, and bindings leave a
  // quarter of the lane to evictions.
  const bool eviction_due = lane.evictions_in_flight * 4 < lane.limit;
  if (place == lane.first_eviction || eviction_due) {
    if (lane.first_eviction < lane.queue.size()) place = lane.first_eviction;
  }
  if (place == lane.queue.size()) return nullptr;
  JobPtr job = lane.Take(place);
  if (name == LaneName::kPatch) {
    const auto newest = queued_patches_.find(job->pod->meta.uid);
    if (newest != queued_patches_.end() && newest->second == job) queued_patches_.erase(newest);
    patching_.insert(job->pod->meta.uid);
  }
  ++lane.in_flight;
  running_.insert(job);
  return job;
}

void Writer::Core::Pump(LaneName name) {
  while (true) {
    JobPtr job;
    {
      MutexLock lock(mutex_);
      job = TakeNext(name);
    }
    if (job == nullptr) return;
    Run(job);
  }
}

void Writer::Core::Run(const JobPtr& job) {
  {
    MutexLock lock(mutex_);
    job->timer = 0;
  }
  if (job->tries++ == 0) job->started = timers().clock().Now();
  if (job->lane == LaneName::kEvent) {
    SendEvent(job);
  } else if (job->lane == LaneName::kPatch) {
    std::string body = job->dropped ? std::string() : api::PodStatusPatch(*job->pod, job->change);
    if (body.empty()) {
      Later([self = shared_from_this(), job] { self->Finish(job, std::nullopt); });
      return;
    }
    Send(job, scheduling_, StatusPatch(*job->pod, std::move(body)),
         [self = shared_from_this(), job](RestReply reply) {
           self->Patched(job, std::move(reply));
         });
  } else if (job->IsStorageWrite()) {
    SendStorage(job);
  } else if (job->evicted) {
    StartEviction(job);
  } else {
    Send(job, scheduling_,
         {.method = "POST",
          .target = PodPath(*job->pod) + "/binding",
          .body = api::BindingBody(*job->pod, job->node_name),
          .resource = "pods",
          .name = job->pod->meta.name},
         [self = shared_from_this(), job](RestReply reply) { self->Bound(job, std::move(reply)); });
  }
}

void Writer::Core::Send(const JobPtr& job, RestClient& client, RestRequest request,
                        RestHandler next) {
  uint64_t operation = 0;
  {
    MutexLock lock(mutex_);
    operation = ++job->operation;
    job->exchange.reset();
    job->sent = true;
  }
  if (request.method != "GET" && options_.fence != nullptr) {
    request.fence = options_.fence;
    next = [this, next = std::move(next)](RestReply reply) {
      if (reply.fenced) CountFenced();
      next(std::move(reply));
    };
  }
  std::shared_ptr<Exchange> exchange = client.Send(std::move(request), std::move(next));
  bool cancel = false;
  {
    MutexLock lock(mutex_);
    // The answer, and the next sending, may have come before.
    if (job->operation != operation) return;
    job->exchange = exchange;
    cancel = cancelled_;
  }
  if (cancel) exchange->Cancel();
}

void Writer::Core::CountFenced() {
  MutexLock lock(mutex_);
  ++stats_.fenced;
}

void Writer::Core::Again(const JobPtr& job, Duration wait) {
  MutexLock lock(mutex_);
  ++job->operation;
  job->exchange.reset();
  if (cancelled_) wait = Duration::zero();
  job->timer = timers().Schedule(wait, [self = shared_from_this(), job] { self->Run(job); });
}

void Writer::Core::Finish(const JobPtr& job, std::optional<api::ApiError> error) {
  {
    MutexLock lock(mutex_);
    ++job->operation;
    job->exchange.reset();
    running_.erase(job);
    if (job->lane == LaneName::kPatch) patching_.erase(job->pod->meta.uid);
    const bool binds = job->lane == LaneName::kBind && !job->evicted && !job->IsStorageWrite();
    if (binds) binding_.erase(job->pod->meta.uid);
    LaneOf(job->lane).in_flight -= 1;
    if (job->evicted) LaneOf(job->lane).evictions_in_flight -= 1;
    if (job->lane == LaneName::kPatch) {
      ++(error.has_value() ? stats_.patch_failures : stats_.patches);
    } else if (job->lane == LaneName::kBind && job->evicted) {
      ++(error.has_value() ? stats_.eviction_failures : stats_.evictions);
    } else if (binds) {
      ++(error.has_value() ? stats_.bind_failures : stats_.binds);
    } else if (job->IsStorageWrite()) {
      ++(error.has_value() ? stats_.volume_write_failures : stats_.volume_writes);
    }
  }
  Observe(*job, !error.has_value());
  Pump(job->lane);
  if (job->lane == LaneName::kPatch) Pump(LaneName::kBind);  // one may have waited for this patch
  if (job->lane == LaneName::kBind) {                        // they may have stood back
    Pump(LaneName::kPatch);
    Pump(LaneName::kEvent);
    PumpEvents();
  }
  Tell(job, std::move(error));
  MutexLock lock(mutex_);
  LaneOf(job->lane).pending -= 1;
  changed_.NotifyAll();
}

void Writer::Core::Observe(const Job& job, bool ok) const {
  if (!options_.call_done || job.lane == LaneName::kEvent || job.evicted || !job.sent) return;
  if (job.IsStorageWrite()) return;
  options_.call_done(job.lane == LaneName::kPatch ? "pod_status_patch" : "pod_binding", ok,
                     timers().clock().Now() - job.started);
}

void Writer::Core::Tell(const JobPtr& job, std::optional<api::ApiError> error) {
  using framework::EvictionOutcome;
  if (job->evicted) {
    const EvictionDone evicted = std::move(job->evicted);
    const EvictionOutcome outcome = error.has_value() ? EvictionOutcome::kFailed
                                    : job->gone       ? EvictionOutcome::kGone
                                                      : EvictionOutcome::kEvicted;
    evicted(outcome, std::move(error));
  } else if (job->written) {
    const WriteDone written = std::move(job->written);
    written(std::move(error), std::move(job->resource_version));
  } else if (job->done) {
    const Done done = std::move(job->done);
    done(std::move(error));
  }
}

// ---- bindings, evictions, patches ----

void Writer::Core::Bind(api::PodPtr pod, std::string node_name, Done done) {
  auto job = std::make_shared<Job>();
  job->pod = std::move(pod);
  job->node_name = std::move(node_name);
  job->done = std::move(done);
  {
    MutexLock lock(mutex_);
    if (!closed_) binding_.insert(job->pod->meta.uid);
    // What a patch that nobody has sent yet would say of the pod is no longer true.
    const auto queued = queued_patches_.find(job->pod->meta.uid);
    if (queued != queued_patches_.end()) {
      queued->second->dropped = true;
      queued_patches_.erase(queued);
      ++stats_.patches_superseded;
    }
  }
  Enqueue(job);
}

void Writer::Core::Evict(api::PodPtr pod, api::Condition condition, TimePoint decided,
                         EvictionDone done) {
  auto job = std::make_shared<Job>();
  job->decided = decided;
  job->pod = std::move(pod);
  job->change.condition = std::move(condition);
  job->evicted = std::move(done);
  Enqueue(job);
}

void Writer::Core::Patch(api::PodPtr pod, api::PodStatusChange change, Done done) {
  auto job = std::make_shared<Job>();
  job->lane = LaneName::kPatch;
  job->pod = std::move(pod);
  job->change = std::move(change);
  job->done = std::move(done);
  Done replaced;
  bool superseded = false;
  {
    MutexLock lock(mutex_);
    JobPtr& newest = queued_patches_[job->pod->meta.uid];
    if (closed_) {
      if (newest == nullptr) queued_patches_.erase(job->pod->meta.uid);
    } else if (binding_.contains(job->pod->meta.uid)) {
      // The binding says more.
      if (newest == nullptr) queued_patches_.erase(job->pod->meta.uid);
      replaced = std::move(job->done);
      superseded = true;
      ++stats_.patches_superseded;
      LaneOf(LaneName::kPatch).pending += 1;
    } else if (newest != nullptr &&
               (!newest->change.condition || !job->change.condition ||
                newest->change.condition->type == job->change.condition->type)) {
      // What the later patch leaves alone stays as the earlier one wanted it.
      if (!job->change.condition) job->change.condition = std::move(newest->change.condition);
      if (!job->change.nominated_node_name) {
        job->change.nominated_node_name = std::move(newest->change.nominated_node_name);
      }
      newest->change = std::move(job->change);
      newest->pod = std::move(job->pod);
      replaced = std::exchange(newest->done, std::move(job->done));
      superseded = true;
      ++stats_.patches_superseded;
      LaneOf(LaneName::kPatch).pending += 1;  // until the replaced callback has run
    } else {
      newest = job;
    }
  }
  if (!superseded) return Enqueue(job);
  Later([self = shared_from_this(), replaced = std::move(replaced)] {
    if (replaced) replaced(std::nullopt);
    MutexLock lock(self->mutex_);
    self->LaneOf(LaneName::kPatch).pending -= 1;
    self->changed_.NotifyAll();
  });
}

bool Writer::Core::Retry(const JobPtr& job, const RestReply& reply, bool on_conflict) {
  const bool temporary = IsTemporary(*reply.error) || (on_conflict && reply.error->IsConflict());
  if (!temporary || job->tries > static_cast<int>(kRetryWaits.size())) return false;
  {
    MutexLock lock(mutex_);
    if (cancelled_) return false;
    if (job->lane == LaneName::kBind && !job->evicted && !job->IsStorageWrite()) {
      ++stats_.bind_retries;
    }
  }
  const Duration wait = kRetryWaits[static_cast<size_t>(job->tries - 1)];
  Again(job,
        wait + Duration(static_cast<int64_t>(static_cast<double>(wait.count()) * 0.1 * Unit())));
  return true;
}

void Writer::Core::Bound(const JobPtr& job, RestReply reply) {
  if (reply.ok()) return Finish(job, std::nullopt);
  job->uncertain = job->uncertain || reply.uncertain;
  if (!reply.error->IsConflict() && Retry(job, reply, /*on_conflict=*/false)) return;
  // Whoever hears of a failure gives the node's room free, so one that may be none is looked into.
  if (job->uncertain) return AskWhoWon(job, std::move(*reply.error));
  Finish(job, std::move(reply.error));
}

namespace {

// The pod, as the server has it now, stands on the node this job wants.
bool IsBoundByUs(const RestReply& reply, const api::Pod& pod, const std::string& node_name) {
  if (!reply.ok()) return false;
  api::Decoder decoder;
  const Result<api::PodPtr> found = decoder.Object<api::Pod>(reply.body);
  return found.ok() && (*found)->meta.uid == pod.meta.uid && (*found)->node_name == node_name;
}

}  // namespace

// A try of ours may have been carried out although no good answer came, and may be what the server
// now calls a conflict.
void Writer::Core::AskWhoWon(const JobPtr& job, api::ApiError error) {
  if (KS_CANARY(ConflictTakenForSuccess)) return Finish(job, std::nullopt);
  auto handler = [self = shared_from_this(), job,
                  error = std::move(error)](const RestReply& reply) {
    if (!IsBoundByUs(reply, *job->pod, job->node_name)) return self->Finish(job, error);
    {
      MutexLock lock(self->mutex_);
      ++self->stats_.binds_resolved_by_get;
    }
    self->Finish(job, std::nullopt);
  };
  Send(job, scheduling_,
       {.target = PodPath(*job->pod), .resource = "pods", .name = job->pod->meta.name},
       std::move(handler));
}

// First the condition that says why the pod goes.
void Writer::Core::StartEviction(const JobPtr& job) {
  std::string body = api::PodStatusPatch(*job->pod, job->change);
  if (body.empty()) return Delete(job);
  Send(job, scheduling_, StatusPatch(*job->pod, std::move(body)),
       [self = shared_from_this(), job](RestReply reply) {
         if (reply.ok()) return self->Delete(job);
         if (self->Retry(job, reply, /*on_conflict=*/true)) return;
         self->Deleted(job, std::move(reply));
       });
}

void Writer::Core::Delete(const JobPtr& job) {
  Send(job, scheduling_,
       {.method = "DELETE",
        .target = PodPath(*job->pod),
        .body = api::DeleteOptionsBody(job->pod->meta.uid),
        .resource = "pods",
        .name = job->pod->meta.name},
       [self = shared_from_this(), job](RestReply reply) { self->Deleted(job, std::move(reply)); });
}

// A pod that is gone, or whose name another pod has by now, needs no eviction.
void Writer::Core::Deleted(const JobPtr& job, RestReply reply) {
  if (!reply.ok()) {
    const api::ApiError& error = *reply.error;
    job->gone = error.IsNotFound() ||
                (error.IsConflict() && error.message.find(kOtherUid) != std::string::npos);
    if (job->gone) reply.error.reset();
  }
  Finish(job, std::move(reply.error));
}

void Writer::Core::Patched(const JobPtr& job, RestReply reply) {
  if (!reply.ok() && Retry(job, reply, /*on_conflict=*/true)) return;
  Finish(job, std::move(reply.error));
}

// ---- shutdown ----

bool Writer::Core::Idle(bool events_too) const {
  return lanes_[0].pending == 0 && lanes_[1].pending == 0 &&
         (!events_too || lanes_[2].pending == 0);
}

bool Writer::Core::Drain(Duration deadline) {
  bool clean = true;
  {
    MutexLock lock(mutex_);
    closed_ = true;
    timers().Cancel(finish_tick_);
    timers().Cancel(refresh_tick_);
    stats_.events_dropped += raw_events_.size() + LaneOf(LaneName::kEvent).queue.size();
    LaneOf(LaneName::kEvent).pending -= LaneOf(LaneName::kEvent).queue.size();
    raw_events_.clear();
    LaneOf(LaneName::kEvent).Clear();
  }
  bool expired = deadline <= Duration::zero();
  const auto flag = std::make_shared<std::atomic<bool>>(expired);
  TimerId timer = 0;
  if (!expired) {
    timer = timers().Schedule(deadline, [self = shared_from_this(), flag] {
      MutexLock lock(self->mutex_);
      *flag = true;
      self->changed_.NotifyAll();
    });
  }
  {
    MutexLock lock(mutex_);
    while (!Idle(false) && !*flag) changed_.Wait(mutex_);
    clean = Idle(false);
  }
  if (timer != 0) timers().Cancel(timer);
  CancelEverything();
  MutexLock lock(mutex_);
  while (!Idle(true)) changed_.Wait(mutex_);
  return clean;
}

void Writer::Core::CancelEverything() {
  std::vector<std::shared_ptr<Exchange>> exchanges;
  std::vector<JobPtr> unsent;
  std::vector<JobPtr> waiting;
  {
    MutexLock lock(mutex_);
    cancelled_ = true;
    for (Lane& lane : lanes_) {
      unsent.insert(unsent.end(), lane.queue.begin(), lane.queue.end());
      lane.Clear();
    }
    queued_patches_.clear();
    for (const JobPtr& job : running_) {
      if (job->timer != 0 && timers().Cancel(job->timer)) {
        waiting.push_back(job);
      } else if (job->exchange != nullptr) {
        exchanges.push_back(job->exchange);
      }
    }
  }
  for (const std::shared_ptr<Exchange>& exchange : exchanges) exchange->Cancel();
  for (const JobPtr& job : waiting) {
    Later([self = shared_from_this(), job] { self->Finish(job, ShutDown()); });
  }
  for (const JobPtr& job : unsent) {
    Later([self = shared_from_this(), job] {
      Tell(job, ShutDown());
      MutexLock lock(self->mutex_);
      self->LaneOf(job->lane).pending -= 1;
      self->changed_.NotifyAll();
    });
  }
}

WriterStats Writer::Core::Stats() const {
  MutexLock lock(mutex_);
  WriterStats stats = stats_;
  stats.binds_pending = lanes_[0].pending;
  stats.patches_pending = lanes_[1].pending;
  stats.events_pending = lanes_[2].pending + raw_events_.size();
  return stats;
}

// ---- the public object ----

Writer::Writer(RestClient& scheduling, RestClient& events, WriterOptions options)
    : core_(std::make_shared<Core>(scheduling, events, std::move(options))) {
  core_->StartTicks();
}

Writer::~Writer() { core_->Drain(Duration::zero()); }

void Writer::Bind(api::PodPtr pod, std::string node_name, Done done) {
  core_->Bind(std::move(pod), std::move(node_name), std::move(done));
}

void Writer::PatchPodStatus(api::PodPtr pod, api::PodStatusChange change, Done done) {
  core_->Patch(std::move(pod), std::move(change), std::move(done));
}

void Writer::EvictPod(api::PodPtr pod, api::Condition condition, TimePoint decided,
                      EvictionDone done) {
  core_->Evict(std::move(pod), std::move(condition), decided, std::move(done));
}

void Writer::WriteVolume(api::PersistentVolumePtr version, WriteDone done) {
  core_->WriteVolume(std::move(version), std::move(done));
}
void Writer::WriteClaim(api::PersistentVolumeClaimPtr version, WriteDone done) {
  core_->WriteClaim(std::move(version), std::move(done));
}

void Writer::RecordEvent(framework::PodEvent event) { core_->Record(std::move(event)); }

bool Writer::Drain(Duration deadline) { return core_->Drain(deadline); }

WriterStats Writer::Stats() const { return core_->Stats(); }

std::function<WriterStats()> Writer::StatsSource() const {
  return [core = core_] { return core->Stats(); };
}

bool DetectEventsApi(RestClient& client) { return client.Get("/apis/events.k8s.io/v1").ok(); }

}  // namespace ks::client
