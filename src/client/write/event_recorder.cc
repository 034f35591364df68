// SPDX-License-Identifier: Apache-2.0
#include "client/write/event_recorder.h"

#include <optional>
#include <utility>

#include "client/write/event_job.h"

namespace ks::client {

EventRecorder::EventRecorder(std::shared_ptr<WriteDispatcher> dispatcher, RestClient& events,
                             const WriterOptions& options)
    : dispatcher_(std::move(dispatcher)),
      client_(events),
      most_waiting_(options.event_queue),
      gathering_(options.gathering),
      series_({.host_name = options.host_name,
               .legacy = options.legacy_events,
               .protobuf = [&events] { return events.SendsProtobuf(); },
               .seed = options.seed}) {}

// ---- before they are jobs ----

void EventRecorder::Record(framework::PodEvent event) {
  const size_t queued = dispatcher_->Queued(LaneName::kEvent);
  const Clock& clock = timers().clock();
  const TimePoint now = clock.Now();
  std::optional<Occurrence> dropped{{std::move(event), clock.WallNow(), now}};
  std::optional<Duration> pump_in;
  {
    MutexLock lock(mutex_);
    if (!closed_) {
      waiting_.push_back(*std::exchange(dropped, std::nullopt));
      if (waiting_.size() + queued > most_waiting_) {
        dropped = std::move(waiting_.front());
        waiting_.pop_front();
      }
      if (!std::exchange(pump_due_, true)) pump_in = last_pump_ + gathering_ - now;
    }
  }
  if (dropped) dispatcher_->Count(&WriterStats::events_dropped);
  if (pump_in) PumpSoon(*pump_in);
}

// After the caller, which is scheduling; `wait` may be less than nothing.
void EventRecorder::PumpSoon(Duration wait) {
  const auto pump = [self = shared_from_this()] {
    {
      MutexLock lock(self->mutex_);
      self->pump_due_ = false;
      self->last_pump_ = self->timers().clock().Now();
    }
    self->dispatcher_->Pump(LaneName::kEvent);
  };
  if (wait > Duration::zero()) {
    timers().Schedule(wait, pump);
  } else {
    client_.RunSoon(pump);
  }
}

JobPtr EventRecorder::Next() {
  while (true) {
    std::optional<Occurrence> next;  // destroyed after the lock
    RecordedEventPtr due;
    {
      MutexLock lock(mutex_);
      if (waiting_.empty()) return nullptr;
      next = std::move(waiting_.front());
      waiting_.pop_front();
      due = series_.Record(next->event, next->wall, next->now);
    }
    if (due != nullptr) return MakeJob(due);
  }
}

JobPtr EventRecorder::MakeJob(const RecordedEventPtr& event) {
  return std::make_shared<EventJob>(dispatcher_, client_, shared_from_this(), event);
}

size_t EventRecorder::size() const {
  MutexLock lock(mutex_);
  return waiting_.size();
}

size_t EventRecorder::Close() {
  std::deque<Occurrence> dropped;
  MutexLock lock(mutex_);
  closed_ = true;
  timers().Cancel(finish_timer_);
  timers().Cancel(refresh_timer_);
  dropped.swap(waiting_);
  return dropped.size();
}

// ---- sendings ----

EventRecorder::Sending EventRecorder::MakeSending(const RecordedEvent& event, bool create) const {
  MutexLock lock(mutex_);
  const bool first = event.sent_count == 0;
  if (!first && !create) {
    return {.request = {.method = "PATCH",
                        .target = event.collection + "/" + event.name,
                        .body = series_.PatchBody(event),
                        .content_type = "application/strategic-merge-patch+json",
                        .decoded = true,
                        .resource = "events",
                        .name = event.name},
            .creates = false,
            .count = event.count};
  }
  const bool protobuf = first && !event.protobuf_body.empty() && client_.SendsProtobuf();
  const std::string& body = protobuf ? event.protobuf_body : event.body;
  return {.request = {.method = "POST",
                      .target = event.collection,
                      .body = first ? body : series_.CreationBody(event),
                      .content_type = std::string(protobuf ? kProtobufType : kJsonType),
                      .decoded = true,
                      .resource = "events",
                      .name = event.name},
          .creates = true,
          .count = first ? 1 : event.count};
}

void EventRecorder::FinishSending(const RecordedEventPtr& event, int32_t count, bool accepted) {
  bool more = false;
  {
    MutexLock lock(mutex_);
    // A given-up creation counts as sent: the next occurrence then finds nothing to patch, and
    // creates.
    more = series_.Sent(*event, count) && accepted;
    if (!more) event->sending = false;
  }
  dispatcher_->Count(accepted ? &WriterStats::events_sent : &WriterStats::events_failed);
  if (more) dispatcher_->Add(MakeJob(event));
}

// ---- in their time ----

void EventRecorder::StartTicks() {
  Tick(EventSeries::kFinish, &EventRecorder::finish_timer_, &EventRecorder::FinishSeries);
  Tick(EventSeries::kRefresh, &EventRecorder::refresh_timer_, &EventRecorder::RefreshSeries);
}

void EventRecorder::Tick(Duration period, TimerId EventRecorder::*timer, SeriesTick tick) {
  MutexLock lock(mutex_);
  if (closed_) return;
  this->*timer = timers().Schedule(period, [weak = weak_from_this(), period, timer, tick] {
    const std::shared_ptr<EventRecorder> self = weak.lock();
    if (self == nullptr) return;
    std::vector<RecordedEventPtr> due;
    {
      MutexLock inner(self->mutex_);
      due = (self.get()->*tick)();
    }
    for (const RecordedEventPtr& event : due) self->dispatcher_->Add(self->MakeJob(event));
    self->Tick(period, timer, tick);
  });
}

std::vector<RecordedEventPtr> EventRecorder::FinishSeries() {
  return series_.Finish(timers().clock().Now());
}

std::vector<RecordedEventPtr> EventRecorder::RefreshSeries() { return series_.Refresh(); }

}  // namespace ks::client
