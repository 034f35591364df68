// SPDX-License-Identifier: Apache-2.0
#pragma once
// The scheduler's writes over HTTPS: bindings and evictions, status patches, events, each in a lane
// with its own limit of requests in flight, so that a flood of events cannot delay a binding. This
// is the front: write_dispatcher.h says what is sent when, write_job.h and the files of its kinds
// how.
//
// Upstream: docs/spec/api.md sections 1.3, 9, 10; docs/spec/cycle.md section 18.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "client/rest/rest_client.h"
#include "framework/api_writer.h"
#include "tracing/span.h"

namespace ks::client {

class EventRecorder;
class PodWrites;
class StorageVerbs;
class WriteDispatcher;

struct WriterOptions {
  std::string host_name{};  // for reportingInstance
  // Bindings, evictions, volumes and claims together; a quarter is the evictions' if wanted.
  int bind_in_flight = 32;
  // While that many are in flight, patches and events have a quarter (at least 1) of theirs; events
  // all of it again once half of event_queue wait.
  int patch_in_flight = 8;
  int event_in_flight = 8;
  size_t event_queue = 1000;  // pending events; the oldest is dropped beyond
  // Events, and answers to calls that need no request, are gathered for so long after the last
  // ones: to wake a thread for each costs more than what it does then.
  Duration gathering = std::chrono::milliseconds(1);
  bool legacy_events = false;  // core/v1; see DetectEventsApi
  // Asked before every sending that writes; what it keeps back fails, and is not tried again. Null:
  // none (no leader election).
  std::shared_ptr<const WriteFence> fence{};
  // Called for each binding ("pod_binding") and status patch ("pod_status_patch") that was sent,
  // when it is over; on a client thread. May be empty.
  std::function<void(std::string_view call_type, bool ok, Duration took)> call_done{};
  // Takes a span for each sending of a call that was made within a recorded one
  // (tracing::CurrentSpan); null: nothing is traced. Outlives the writer.
  tracing::SpanSink* spans = nullptr;
  uint64_t seed = 0;  // jitter of retries, names of last resort
};

// Monotonic counts since start, but for the pending ones.
struct WriterStats {
  uint64_t binds = 0;
  uint64_t bind_failures = 0;
  uint64_t bind_retries = 0;
  uint64_t binds_resolved_by_get = 0;  // failed by the answer, but bound as a GET showed
  uint64_t patches = 0;                // of pods and pod groups
  uint64_t patch_failures = 0;
  uint64_t patches_superseded = 0;
  uint64_t evictions = 0;  // of pods that were gone already, too
  uint64_t eviction_failures = 0;
  uint64_t volume_writes = 0;  // of claims, too
  uint64_t volume_write_failures = 0;
  uint64_t claim_writes = 0;  // about claims of devices; reads do not count
  uint64_t claim_write_failures = 0;
  uint64_t events_sent = 0;     // POSTs and PATCHes that succeeded
  uint64_t events_failed = 0;   // given up
  uint64_t events_dropped = 0;  // queue full, or shut down
  uint64_t fenced = 0;          // sendings that the fence kept back
  uint64_t binds_pending = 0;   // queued and in flight; evictions, volumes and claims included
  uint64_t patches_pending = 0;
  uint64_t events_pending = 0;
};

// Threads: any. Callbacks run on client threads, never from inside a call.
// Lifetime: the clients outlive it. Destruction drains with a deadline of zero.
class Writer final : public framework::ApiWriter {
 public:
  // `events` is a client of its own: its token bucket must not delay bindings.
  Writer(RestClient& scheduling, RestClient& events, const WriterOptions& options);
  ~Writer() override;

  void Bind(api::PodPtr pod, std::string node_name, Done done) override;
  void PatchPodStatus(api::PodPtr pod, api::PodStatusChange change, Done done) override;
  void PatchPodGroupStatus(api::PodGroupPtr group, api::Condition condition, Done done) override;
  void EvictPod(api::PodPtr pod, api::Condition condition, TimePoint decided,
                EvictionDone done) override;
  void WriteVolume(api::PersistentVolumePtr version, WriteDone done) override;
  void WriteClaim(api::PersistentVolumeClaimPtr version, WriteDone done) override;
  void SendClaimRequest(api::ClaimRequest request, ClaimDone done) override;
  void RecordEvent(framework::PodEvent event) override;

  // Ends the intake (later calls fail with a transport error "the writer is shut down"), drops
  // queued events, and waits until everything queued and in flight in the first two lanes is
  // answered or `deadline` has passed; then cancels the rest and waits for its callbacks. True:
  // nothing was canceled. Idempotent. Requires: not called on a client thread.
  bool Drain(Duration deadline);

  WriterStats Stats() const;
  // The same, to be asked as long as one likes.
  std::function<WriterStats()> StatsSource() const;

 private:
  void ReportDone(Done done);

  RestClient& scheduling_;
  const std::shared_ptr<WriteDispatcher> dispatcher_;
  const std::shared_ptr<PodWrites> pods_;
  const std::shared_ptr<StorageVerbs> storage_verbs_;
  const std::shared_ptr<EventRecorder> recorder_;
};

// True: the server has events.k8s.io/v1 (one GET; any failure counts as no). Blocking.
bool DetectEventsApi(RestClient& client);

}  // namespace ks::client
