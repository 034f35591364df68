// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which write is sent when: three lanes with a limit of requests in flight each, and the end of
// them all. Upstream's word is APIDispatcher. What a write is, its own class knows (write_job.h).
//
// While the lane of bindings and evictions is full, the others have a quarter of theirs: with as
// many in flight as else they took a third of the API server from 500 preemptors' 1,500 victims.
// Patches that wait are superseded by later ones; too many events that wait would be dropped, so
// they have all of their lane as soon as half of event_queue wait.
//
// Upstream: docs/spec/api.md sections 9 and 10.

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"
#include "client/write/write_job.h"
#include "client/write/write_lane.h"
#include "client/write/writer.h"

namespace ks::client {

// What waits for the event lane outside of it, because it is no job yet. Threads: any.
class EventBacklog {
 public:
  virtual ~EventBacklog() = default;

  // The next job; null: nothing waits. Called without the dispatcher's lock.
  virtual JobPtr Next() = 0;
  // How much waits. Called with the dispatcher's lock held, so it must not call back.
  virtual size_t size() const = 0;
  // Ends the intake and drops what waits; how much that was. Idempotent.
  virtual size_t Close() = 0;
};

// Threads: any. Callbacks run on client threads, never from inside a call. Its lock is taken before
// those of jobs, of PodWrites and of the backlog, which call nothing while they hold theirs.
// Lifetime: shared by the writer and its jobs; the timers outlive it.
class WriteDispatcher final : public std::enable_shared_from_this<WriteDispatcher> {
 public:
  WriteDispatcher(TimerService& timers, const WriterOptions& options);

  // Once, before the first job. Without effect when the backlog is gone.
  void SetEventBacklog(std::weak_ptr<EventBacklog> backlog);

  // Queues a job, which runs as soon as its lane lets it. Once closed: the job is reported as
  // failed instead.
  void Add(const JobPtr& job);
  // Starts what may be started in a lane.
  void Pump(LaneName name);
  // The same after `wait`, for a job that may not start before.
  void PumpAfter(Duration wait, LaneName name);
  // A job that ran is over.
  void End(const JobPtr& job, std::optional<api::ApiError> error);
  // Runs `report`, the callback of a call that needs no job of its own, after
  // WriterOptions::gathering. The call is pending in the lane until then.
  void ReportSoon(LaneName name, std::function<void()> report);

  // Adds `by` to one of the numbers of Stats.
  void Count(WriteJob::Counter counter, size_t by = 1);
  WriterStats Stats() const;
  size_t Queued(LaneName name) const;
  // Drain has begun.
  bool IsClosed() const;

  // Writer::Drain.
  bool Drain(Duration deadline);

  // `wait` and up to that share of it more.
  Duration Jittered(Duration wait, double share);
  // What writes are sent behind; null: none.
  const std::shared_ptr<const WriteFence>& fence() const { return options_.fence; }
  TimerService& timers() const { return timers_; }
  // What is told of each sending; null: nothing.
  tracing::SpanSink* spans() const { return options_.spans; }

 private:
  struct DueReport {
    LaneName lane;
    std::function<void()> run;
  };

  WriteLane& LaneOf(LaneName name) KS_REQUIRES(mutex_) { return lanes_[static_cast<size_t>(name)]; }
  int LimitOf(LaneName name) const KS_REQUIRES(mutex_);
  JobPtr TakeNext(LaneName name);
  void Enqueue(const JobPtr& job);
  void EndUnsent(const JobPtr& job);
  void RunReports();
  void RemovePending(LaneName name);
  void Observe(const WriteJob& job, bool ok) const;
  size_t BacklogSize() const KS_REQUIRES(mutex_);
  void Close();
  bool WaitForCalls(Duration deadline);
  bool CallsAreOver() const KS_REQUIRES(mutex_);
  void CancelAll();

  TimerService& timers_;
  const WriterOptions options_;

  mutable Mutex mutex_;
  CondVar changed_;  // pending jobs are fewer, or a deadline has passed
  std::weak_ptr<EventBacklog> backlog_ KS_GUARDED_BY(mutex_);
  std::array<WriteLane, 3> lanes_ KS_GUARDED_BY(mutex_);
  std::unordered_set<JobPtr> running_ KS_GUARDED_BY(mutex_);
  std::vector<DueReport> reports_ KS_GUARDED_BY(mutex_);  // not empty: a timer is set
  Random random_ KS_GUARDED_BY(mutex_);
  bool closed_ KS_GUARDED_BY(mutex_) = false;
  WriterStats stats_ KS_GUARDED_BY(mutex_);
};

}  // namespace ks::client
