// SPDX-License-Identifier: Apache-2.0
#include "client/write/write_dispatcher.h"

#include <utility>
#include <vector>

namespace ks::client {

WriteDispatcher::WriteDispatcher(TimerService& timers, const WriterOptions& options)
    : timers_(timers),
      options_(options),
      lanes_{WriteLane(options.bind_in_flight), WriteLane(options.patch_in_flight),
             WriteLane(options.event_in_flight)},
      random_(options.seed) {}

void WriteDispatcher::SetEventBacklog(std::weak_ptr<EventBacklog> backlog) {
  MutexLock lock(mutex_);
  backlog_ = std::move(backlog);
}

// ---- beginning ----

void WriteDispatcher::Add(const JobPtr& job) {
  Enqueue(job);
  Pump(job->lane());
}

void WriteDispatcher::Enqueue(const JobPtr& job) {
  {
    MutexLock lock(mutex_);
    if (!closed_) return LaneOf(job->lane()).Add(job);
    LaneOf(job->lane()).AddPending();
  }
  EndUnsent(job);
}

void WriteDispatcher::Pump(LaneName name) {
  while (const JobPtr job = TakeNext(name)) job->Run();
}

void WriteDispatcher::PumpAfter(Duration wait, LaneName name) {
  timers_.Schedule(wait, [self = shared_from_this(), name] { self->Pump(name); });
}

// The next job of a lane, if need be one from the backlog, taken; null: none.
JobPtr WriteDispatcher::TakeNext(LaneName name) {
  while (true) {
    std::shared_ptr<EventBacklog> backlog;
    {
      MutexLock lock(mutex_);
      WriteLane& lane = LaneOf(name);
      const int limit = LimitOf(name);
      if (JobPtr job = lane.Take(limit)) {
        running_.insert(job);
        return job;
      }
      if (name == LaneName::kEvent && !closed_ && lane.HasRoom(limit)) backlog = backlog_.lock();
    }
    const JobPtr made = backlog == nullptr ? nullptr : backlog->Next();
    if (made == nullptr) return nullptr;
    Enqueue(made);
  }
}

// How many requests of a lane may be in flight, for now.
int WriteDispatcher::LimitOf(LaneName name) const {
  const WriteLane& lane = lanes_[static_cast<size_t>(name)];
  const WriteLane& bindings = lanes_[static_cast<size_t>(LaneName::kBind)];
  if (name == LaneName::kBind || !bindings.IsFull()) return lane.limit();
  const bool too_many =
      name == LaneName::kEvent && BacklogSize() + lane.queued() > options_.event_queue / 2;
  return too_many ? lane.limit() : lane.Quarter();
}

size_t WriteDispatcher::BacklogSize() const {
  const std::shared_ptr<EventBacklog> backlog = backlog_.lock();
  return backlog == nullptr ? 0 : backlog->size();
}

// ---- ending ----

void WriteDispatcher::End(const JobPtr& job, std::optional<api::ApiError> error) {
  const LaneName lane = job->lane();
  const bool ok = !error.has_value();
  job->Ended();
  {
    MutexLock lock(mutex_);
    running_.erase(job);
    LaneOf(lane).End(*job);
    if (const WriteJob::Counter counter = job->CountedAs(ok)) ++(stats_.*counter);
  }
  Observe(*job, ok);
  Pump(lane);
  if (lane == LaneName::kPatch) Pump(LaneName::kBind);  // one may have waited for this patch
  if (lane == LaneName::kBind) {                        // they may have had a quarter only
    Pump(LaneName::kPatch);
    Pump(LaneName::kEvent);
  }
  job->Report(std::move(error));
  RemovePending(lane);
}

void WriteDispatcher::Observe(const WriteJob& job, bool ok) const {
  if (!options_.call_done || !job.sent() || job.CallType().empty()) return;
  options_.call_done(job.CallType(), ok, timers_.clock().Now() - job.began());
}

// The end of a pending job that never ran, and never will.
void WriteDispatcher::EndUnsent(const JobPtr& job) {
  timers_.Schedule(Duration::zero(), [self = shared_from_this(), job] {
    job->Ended();
    job->Report(WriterShutDown());
    self->RemovePending(job->lane());
  });
}

void WriteDispatcher::ReportSoon(LaneName name, std::function<void()> report) {
  bool first = false;
  {
    MutexLock lock(mutex_);
    LaneOf(name).AddPending();
    first = reports_.empty();
    reports_.push_back({.lane = name, .run = std::move(report)});
  }
  if (!first) return;
  timers_.Schedule(options_.gathering, [self = shared_from_this()] { self->RunReports(); });
}

void WriteDispatcher::RunReports() {
  std::vector<DueReport> due;
  {
    MutexLock lock(mutex_);
    due.swap(reports_);
  }
  for (const DueReport& report : due) {
    report.run();
    RemovePending(report.lane);
  }
}

void WriteDispatcher::RemovePending(LaneName name) {
  MutexLock lock(mutex_);
  LaneOf(name).RemovePending();
  changed_.NotifyAll();
}

// ---- the end of the writer ----

bool WriteDispatcher::Drain(Duration deadline) {
  Close();
  const bool clean = WaitForCalls(deadline);
  CancelAll();
  MutexLock lock(mutex_);
  while (!CallsAreOver() || LaneOf(LaneName::kEvent).pending() != 0) changed_.Wait(mutex_);
  return clean;
}

// Events that are not in flight are dropped, and nobody waits for the others.
void WriteDispatcher::Close() {
  std::vector<JobPtr> events;
  std::shared_ptr<EventBacklog> backlog;
  {
    MutexLock lock(mutex_);
    closed_ = true;
    WriteLane& lane = LaneOf(LaneName::kEvent);
    events = lane.TakeAll();
    lane.RemovePending(events.size());
    backlog = backlog_.lock();
  }
  Count(&WriterStats::events_dropped, events.size() + (backlog == nullptr ? 0 : backlog->Close()));
}

// False: the deadline came first.
bool WriteDispatcher::WaitForCalls(Duration deadline) {
  const auto expired = std::make_shared<bool>(deadline <= Duration::zero());  // under the lock
  TimerId timer = 0;
  if (deadline > Duration::zero()) {
    timer = timers_.Schedule(deadline, [self = shared_from_this(), expired] {
      MutexLock lock(self->mutex_);
      *expired = true;
      self->changed_.NotifyAll();
    });
  }
  bool over = false;
  {
    MutexLock lock(mutex_);
    while (!CallsAreOver() && !*expired) changed_.Wait(mutex_);
    over = CallsAreOver();
  }
  if (timer != 0) timers_.Cancel(timer);
  return over;
}

bool WriteDispatcher::CallsAreOver() const {
  return lanes_[static_cast<size_t>(LaneName::kBind)].pending() == 0 &&
         lanes_[static_cast<size_t>(LaneName::kPatch)].pending() == 0;
}

void WriteDispatcher::CancelAll() {
  std::vector<JobPtr> running;
  std::vector<JobPtr> unsent;
  bool reports_wait = false;
  {
    MutexLock lock(mutex_);
    reports_wait = !reports_.empty();
    running.assign(running_.begin(), running_.end());
    for (WriteLane& lane : lanes_) {
      for (JobPtr& job : lane.TakeAll()) unsent.push_back(std::move(job));
    }
  }
  for (const JobPtr& job : running) job->Cancel();
  for (const JobPtr& job : unsent) EndUnsent(job);
  if (!reports_wait) return;
  timers_.Schedule(Duration::zero(), [self = shared_from_this()] { self->RunReports(); });
}

// ---- numbers ----

void WriteDispatcher::Count(WriteJob::Counter counter, size_t by) {
  MutexLock lock(mutex_);
  stats_.*counter += by;
}

WriterStats WriteDispatcher::Stats() const {
  MutexLock lock(mutex_);
  WriterStats stats = stats_;
  stats.binds_pending = lanes_[static_cast<size_t>(LaneName::kBind)].pending();
  stats.patches_pending = lanes_[static_cast<size_t>(LaneName::kPatch)].pending();
  stats.events_pending = lanes_[static_cast<size_t>(LaneName::kEvent)].pending() + BacklogSize();
  return stats;
}

size_t WriteDispatcher::Queued(LaneName name) const {
  MutexLock lock(mutex_);
  return lanes_[static_cast<size_t>(name)].queued();
}

bool WriteDispatcher::IsClosed() const {
  MutexLock lock(mutex_);
  return closed_;
}

Duration WriteDispatcher::Jittered(Duration wait, double share) {
  MutexLock lock(mutex_);
  return wait +
         Duration(static_cast<int64_t>(static_cast<double>(wait.count()) * share * random_.Unit()));
}

}  // namespace ks::client
