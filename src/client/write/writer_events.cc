// SPDX-License-Identifier: Apache-2.0
// The events lane of the writer.
#include "base/logging.h"
#include "client/write/writer_core.h"

namespace ks::client {
namespace {

// docs/spec/api.md 10.4.
constexpr int kEventTries = 12;
constexpr Duration kEventWait = std::chrono::seconds(10);

}  // namespace

void Writer::Core::Record(framework::PodEvent event) {
  bool schedule = false;
  std::optional<RawEvent> dropped;  // destroyed after the lock
  {
    MutexLock lock(mutex_);
    if (closed_) {
      ++stats_.events_dropped;
      return;
    }
    const Clock& clock = timers().clock();
    raw_events_.push_back({std::move(event), clock.WallNow(), clock.Now()});
    if (raw_events_.size() + LaneOf(LaneName::kEvent).queue.size() > options_.event_queue) {
      dropped = std::move(raw_events_.front());
      raw_events_.pop_front();
      ++stats_.events_dropped;
    }
    schedule = !std::exchange(event_pump_due_, true);
  }
  // Off the caller's thread, which is the scheduler's.
  if (schedule) Later([self = shared_from_this()] { self->PumpEvents(); });
}

void Writer::Core::PumpEvents() {
  {
    MutexLock lock(mutex_);
    event_pump_due_ = false;
  }
  while (true) {
    std::optional<RawEvent> raw;
    RecordedEventPtr due;
    {
      MutexLock lock(mutex_);
      const Lane& lane = LaneOf(LaneName::kEvent);
      // Events wait here, where the oldest can be dropped, and not in the lane.
      if (raw_events_.empty() ||
          lane.in_flight + static_cast<int>(lane.queue.size()) >= LimitOf(LaneName::kEvent)) {
        return;
      }
      raw = std::move(raw_events_.front());
      raw_events_.pop_front();
      due = series_.Record(raw->event, raw->wall, raw->now);
    }
    if (due != nullptr) EnqueueEvents({due});
  }
}

void Writer::Core::EnqueueEvents(const std::vector<RecordedEventPtr>& due) {
  for (const RecordedEventPtr& event : due) {
    auto job = std::make_shared<Job>();
    job->lane = LaneName::kEvent;
    job->event = event;
    Enqueue(job);
  }
}

void Writer::Core::SendEvent(const JobPtr& job) {
  RestRequest request{.content_type = "application/strategic-merge-patch+json",
                      .resource = "events"};
  {
    MutexLock lock(mutex_);
    const RecordedEvent& event = *job->event;
    job->told_count = event.count;
    // A PATCH that found nothing is followed by a creation.
    job->creating = job->creating || event.sent_count == 0;
    request.name = event.name;
    if (job->creating) {
      request.method = "POST";
      request.target = event.collection;
      request.content_type = "application/json";
      const bool plain = event.sent_count == 0;
      request.body = plain ? event.body : series_.CreationBody(event);
      if (plain) job->told_count = 1;
    } else {
      request.method = "PATCH";
      request.target = event.collection + "/" + event.name;
      request.body = series_.PatchBody(event);
    }
  }
  Send(job, events_, std::move(request), [self = shared_from_this(), job](RestReply reply) {
    self->EventAnswered(job, std::move(reply));
  });
}

void Writer::Core::EventAnswered(const JobPtr& job, RestReply reply) {
  if (reply.ok()) return EventOver(job, true);
  const api::ApiError& error = *reply.error;
  job->uncertain = job->uncertain || reply.uncertain;
  const bool exists = error.reason == "AlreadyExists";
  if (exists && job->creating && job->uncertain) return EventOver(job, true);
  bool cancelled = false;
  {
    MutexLock lock(mutex_);
    cancelled = cancelled_ || closed_;
  }
  const bool last = cancelled || reply.fenced || job->tries >= kEventTries;
  if (!last && !job->creating && error.IsNotFound()) {
    job->creating = true;
    return Again(job, Duration::zero());
  }
  if (!last && exists && job->creating && job->told_count > 1) {
    job->creating = false;
    return Again(job, kEventWait);
  }
  if (!last && error.IsTransport()) {
    const double jitter = 0.25 * Unit();
    return Again(job, kEventWait + Duration(static_cast<int64_t>(
                                       static_cast<double>(kEventWait.count()) * jitter)));
  }
  if (!cancelled && !reply.fenced) {
    log::Error(error.message, "Server rejected event (will not retry!)",
               {{"event", job->event->name}});
  }
  EventOver(job, false);
}

void Writer::Core::EventOver(const JobPtr& job, bool told) {
  bool more = false;
  {
    MutexLock lock(mutex_);
    ++(told ? stats_.events_sent : stats_.events_failed);
    // A given-up creation counts as told: the next occurrence then finds nothing to patch, and
    // creates.
    more = series_.Sent(*job->event, job->told_count) && told;
    if (!more) job->event->sending = false;
  }
  if (more) EnqueueEvents({job->event});
  Finish(job, std::nullopt);
  PumpEvents();
}

void Writer::Core::Tick(Duration period, TimerId Core::*id, SeriesTick tick) {
  std::weak_ptr<Core> weak = weak_from_this();
  MutexLock lock(mutex_);
  if (closed_) return;
  this->*id = timers().Schedule(period, [weak, period, id, tick] {
    const std::shared_ptr<Core> self = weak.lock();
    if (self == nullptr) return;
    std::vector<RecordedEventPtr> due;
    {
      MutexLock inner(self->mutex_);
      due = tick(self->series_, self->timers().clock().Now());
    }
    self->EnqueueEvents(due);
    self->Tick(period, id, tick);
  });
}

}  // namespace ks::client
