// SPDX-License-Identifier: Apache-2.0
#pragma once
// The machinery behind writer.h: the lanes and their jobs. Internal to writer.cc (lanes, bindings,
// evictions, patches, shutdown), writer_storage.cc (volumes, claims) and writer_events.cc (events).
//
// Upstream: docs/spec/api.md sections 9 and 10.

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"
#include "client/write/event_series.h"
#include "client/write/writer.h"

namespace ks::client {

enum class LaneName : uint8_t { kBind, kPatch, kEvent };

// Threads: any. Lifetime: shared by the writer and by what runs.
class Writer::Core final : public std::enable_shared_from_this<Core> {
 public:
  using Done = framework::ApiWriter::Done;
  using EvictionDone = framework::ApiWriter::EvictionDone;
  using WriteDone = framework::ApiWriter::WriteDone;

  Core(RestClient& scheduling, RestClient& events, WriterOptions options)
      : scheduling_(scheduling),
        events_(events),
        options_(std::move(options)),
        series_({.host_name = options_.host_name,
                 .legacy = options_.legacy_events,
                 .seed = options_.seed}),
        random_(options_.seed) {
    MutexLock lock(mutex_);
    lanes_[0].limit = options_.bind_in_flight;
    lanes_[1].limit = options_.patch_in_flight;
    lanes_[2].limit = options_.event_in_flight;
  }

  void StartTicks() {
    Tick(EventSeries::kFinish, &Core::finish_tick_, &EventSeriesFinish);
    Tick(EventSeries::kRefresh, &Core::refresh_tick_, &EventSeriesRefresh);
  }

  void Bind(api::PodPtr pod, std::string node_name, Done done);
  void Patch(api::PodPtr pod, api::PodStatusChange change, Done done);
  void Evict(api::PodPtr pod, api::Condition condition, TimePoint decided, EvictionDone done);
  void WriteVolume(api::PersistentVolumePtr version, WriteDone done);
  void WriteClaim(api::PersistentVolumeClaimPtr version, WriteDone done);
  void Record(framework::PodEvent event);
  bool Drain(Duration deadline);
  WriterStats Stats() const;

 private:
  struct Job;
  using JobPtr = std::shared_ptr<Job>;
  using SeriesTick = std::vector<RecordedEventPtr> (*)(EventSeries&, TimePoint);

  // One call of the scheduler, or one sending of an event; in a queue or in flight.
  struct Job {
    LaneName lane = LaneName::kBind;
    api::PodPtr pod;
    Done done;
    std::string node_name;                   // bindings
    EvictionDone evicted;                    // evictions, instead of `done`
    TimePoint decided{};                     // evictions: when their preemption was
    bool gone = false;                       // an eviction found no pod
    api::PersistentVolumePtr volume;         // of a storage write one of the two, and no pod
    api::PersistentVolumeClaimPtr claim;     //
    WriteDone written;                       // storage writes, instead of `done`
    std::string resource_version;            // after a storage write
    bool puts = false;                       // a storage write reads the object and puts it
    std::optional<api::ApiError> forbidden;  // what the other way of a storage write was told
    api::PodStatusChange change;             // patches, and what an eviction begins with
    RecordedEventPtr event;                  // events
    int32_t told_count = 0;                  // of the event's sending in flight
    bool creating = false;                   // the sending in flight is a POST
    int tries = 0;
    TimePoint started{};     // of the first try
    bool sent = false;       // some try left
    bool dropped = false;    // a patch that a binding made untrue
    bool uncertain = false;  // an earlier try may have been carried out
    // Guarded by the core's mutex_.
    uint64_t operation = 0;
    std::shared_ptr<Exchange> exchange;
    TimerId timer = 0;

    bool IsStorageWrite() const { return volume != nullptr || claim != nullptr; }
  };

  struct Lane {
    int limit = 1;
    int in_flight = 0;
    int evictions_in_flight = 0;  // of these
    std::deque<JobPtr> queue;     // evictions behind all others, in the order of their decisions
    size_t first_eviction = 0;    // queue.size(): none
    size_t pending = 0;           // queued, in flight, or in their callback

    void Add(const JobPtr& job, bool eviction) {
      if (eviction) {
        const auto begin = queue.begin() + static_cast<ptrdiff_t>(first_eviction);
        queue.insert(std::upper_bound(
                         begin, queue.end(), job,
                         [](const JobPtr& a, const JobPtr& b) { return a->decided < b->decided; }),
                     job);
      } else {
        queue.insert(queue.begin() + static_cast<ptrdiff_t>(first_eviction++), job);
      }
    }
    JobPtr Take(size_t place) {
      JobPtr job = std::move(queue[place]);
      queue.erase(queue.begin() + static_cast<ptrdiff_t>(place));
      if (place < first_eviction) {
        --first_eviction;
      } else {
        ++evictions_in_flight;
      }
      return job;
    }
    void Clear() {
      queue.clear();
      first_eviction = 0;
    }
  };

  // An event as recorded, before it is known whether it is a repetition.
  struct RawEvent {
    framework::PodEvent event;
    TimePoint wall;
    TimePoint now;
  };

  Lane& LaneOf(LaneName name) KS_REQUIRES(mutex_) { return lanes_[static_cast<size_t>(name)]; }

  // -- lanes --
  void Enqueue(const JobPtr& job);
  void Pump(LaneName name);
  int LimitOf(LaneName name) const KS_REQUIRES(mutex_);  // requests in flight, for now
  bool WaitsForPatch(const Job& job) const KS_REQUIRES(mutex_);
  void Observe(const Job& job, bool ok) const;
  JobPtr TakeNext(LaneName name) KS_REQUIRES(mutex_);
  void Run(const JobPtr& job);
  void Send(const JobPtr& job, RestClient& client, RestRequest request, RestHandler next);
  void Again(const JobPtr& job, Duration wait);
  void CountFenced() KS_EXCLUDES(mutex_);
  void Finish(const JobPtr& job, std::optional<api::ApiError> error);
  void Later(std::function<void()> task) { timers().Schedule(Duration::zero(), std::move(task)); }

  // -- bindings, evictions, patches --
  bool Retry(const JobPtr& job, const RestReply& reply, bool on_conflict);
  void Bound(const JobPtr& job, RestReply reply);
  void AskWhoWon(const JobPtr& job, api::ApiError error);
  void StartEviction(const JobPtr& job);
  void Delete(const JobPtr& job);
  void Deleted(const JobPtr& job, RestReply reply);
  static void Tell(const JobPtr& job, std::optional<api::ApiError> error);
  void Patched(const JobPtr& job, RestReply reply);

  // -- volumes and claims (writer_storage.cc) --
  static RestRequest StorageRequest(const Job& job);
  static std::string VersionIfAsWanted(const Job& job, const RestReply& reply);
  void SendStorage(const JobPtr& job);
  void Put(const JobPtr& job, RestReply found);
  void RememberWay(const Job& job) KS_EXCLUDES(mutex_);
  void StorageAnswered(const JobPtr& job, RestReply reply);
  void AskWhatBecame(const JobPtr& job, api::ApiError error);

  // -- events --
  void PumpEvents();
  void SendEvent(const JobPtr& job);
  void EventAnswered(const JobPtr& job, RestReply reply);
  void EventOver(const JobPtr& job, bool told);
  void EnqueueEvents(const std::vector<RecordedEventPtr>& due);
  void Tick(Duration period, TimerId Core::*id, SeriesTick tick);
  static std::vector<RecordedEventPtr> EventSeriesFinish(EventSeries& series, TimePoint now) {
    return series.Finish(now);
  }
  static std::vector<RecordedEventPtr> EventSeriesRefresh(EventSeries& series, TimePoint) {
    return series.Refresh();
  }

  // -- shutdown --
  void CancelEverything();
  bool Idle(bool events_too) const KS_REQUIRES(mutex_);

  TimerService& timers() const { return scheduling_.timers(); }
  double Unit() {
    MutexLock lock(mutex_);
    return random_.Unit();
  }

  RestClient& scheduling_;
  RestClient& events_;
  const WriterOptions options_;

  mutable Mutex mutex_;
  CondVar changed_;
  std::array<Lane, 3> lanes_ KS_GUARDED_BY(mutex_);
  std::unordered_set<JobPtr> running_ KS_GUARDED_BY(mutex_);
  std::unordered_map<std::string, JobPtr> queued_patches_ KS_GUARDED_BY(mutex_);  // newest by uid
  std::unordered_set<std::string> patching_ KS_GUARDED_BY(mutex_);                // uids in flight
  std::unordered_set<std::string> binding_ KS_GUARDED_BY(mutex_);  // uids, queued and in flight
  std::unordered_set<std::string> storage_puts_ KS_GUARDED_BY(mutex_);  // resources; else patched
  std::deque<RawEvent> raw_events_ KS_GUARDED_BY(mutex_);
  bool event_pump_due_ KS_GUARDED_BY(mutex_) = false;
  EventSeries series_ KS_GUARDED_BY(mutex_);
  Random random_ KS_GUARDED_BY(mutex_);
  TimerId finish_tick_ KS_GUARDED_BY(mutex_) = 0;
  TimerId refresh_tick_ KS_GUARDED_BY(mutex_) = 0;
  bool closed_ KS_GUARDED_BY(mutex_) = false;     // no intake
  bool cancelled_ KS_GUARDED_BY(mutex_) = false;  // nothing is retried
  WriterStats stats_ KS_GUARDED_BY(mutex_);
};

}  // namespace ks::client
