// SPDX-License-Identifier: Apache-2.0
#pragma once
// Events before they are sent: what was recorded and not yet counted, the series, and when these
// are due. Events wait here, where the oldest can be dropped, and not in the lane, for which each
// sending becomes a job (event_job.h).
//
// Upstream: docs/spec/api.md sections 10.2 to 10.5.

#include <deque>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "client/write/event_series.h"
#include "client/write/write_dispatcher.h"
#include "client/write/writer.h"
#include "framework/api_writer.h"

namespace ks::client {

// Threads: any. Lifetime: shared by the writer and the jobs of events; the client outlives it.
class EventRecorder final : public EventBacklog,
                            public std::enable_shared_from_this<EventRecorder> {
 public:
  EventRecorder(std::shared_ptr<WriteDispatcher> dispatcher, RestClient& events,
                const WriterOptions& options);

  // Sends the counts of series, and forgets old ones, in their time, until Close. Once.
  void StartTicks();
  // Takes an event; the oldest one is dropped when too many wait. Does not make the texts: the
  // caller is the scheduling thread.
  void Record(framework::PodEvent event);

  // As EventBacklog says.
  JobPtr Next() override;
  size_t size() const override;
  size_t Close() override;

  // What to send of an event now.
  struct Sending {
    RestRequest request;
    bool creates = false;
    int32_t count = 0;  // occurrences that the server then knows of
  };
  // `create`: even if the event was created before.
  Sending MakeSending(const RecordedEvent& event, bool create) const;
  // The sending with that count is over; it was accepted or given up. What follows at once, if
  // anything does, is queued.
  void FinishSending(const RecordedEventPtr& event, int32_t count, bool accepted);

 private:
  struct Occurrence {
    framework::PodEvent event;
    TimePoint wall;
    TimePoint now;
  };
  using SeriesTick = std::vector<RecordedEventPtr> (EventRecorder::*)();

  std::vector<RecordedEventPtr> FinishSeries() KS_REQUIRES(mutex_);
  std::vector<RecordedEventPtr> RefreshSeries() KS_REQUIRES(mutex_);
  void Tick(Duration period, TimerId EventRecorder::*timer, SeriesTick tick) KS_EXCLUDES(mutex_);
  void PumpSoon(Duration wait);
  JobPtr MakeJob(const RecordedEventPtr& event);
  TimerService& timers() const { return dispatcher_->timers(); }

  const std::shared_ptr<WriteDispatcher> dispatcher_;
  RestClient& client_;
  const size_t most_waiting_;  // what is queued in the lane included
  const Duration gathering_;

  mutable Mutex mutex_;
  std::deque<Occurrence> waiting_ KS_GUARDED_BY(mutex_);
  EventSeries series_ KS_GUARDED_BY(mutex_);
  bool pump_due_ KS_GUARDED_BY(mutex_) = false;
  TimePoint last_pump_ KS_GUARDED_BY(mutex_) = TimePoint() - gathering_;
  bool closed_ KS_GUARDED_BY(mutex_) = false;
  TimerId finish_timer_ KS_GUARDED_BY(mutex_) = 0;
  TimerId refresh_timer_ KS_GUARDED_BY(mutex_) = 0;
};

}  // namespace ks::client
