// SPDX-License-Identifier: Apache-2.0
#pragma once
// What all writes have in common, one object for each: one call of the scheduler, or one sending of
// an event. Its kind is a class of its own (bind_job.h, patch_job.h, eviction_job.h, storage_job.h,
// claim_job.h, event_job.h), which knows the requests and what their answers mean.
//
//   made --Add--> queued --Run--> sending --answer--> the kind's next step
//                   |               ^ ^                |       |       |
//                   |               | '---- Send ------'       |       |
//                   |               '-- the wait -- RetryAfter-'       |
//                   | refused, or canceled unsent                     | End
//                   '------------------------> over <------------------'
//
// Upstream: docs/spec/api.md section 9.1 (waits between tries).

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "api/status.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "client/rest/rest_client.h"
#include "client/write/writer.h"

namespace ks::client {

class WriteDispatcher;

enum class LaneName : uint8_t { kBind, kPatch, kEvent };

// Threads: the steps of a job come one after the other, each before the answer or the timer that
// begins the next one; Cancel may come at any time, beside them.
// Lifetime: held by its queue, then by the dispatcher until it is over, and by what it waits for.
// The client outlives it.
class WriteJob : public std::enable_shared_from_this<WriteJob> {
 public:
  // One of the numbers in WriterStats.
  using Counter = uint64_t WriterStats::*;

  virtual ~WriteJob() = default;
  WriteJob(const WriteJob&) = delete;
  WriteJob& operator=(const WriteJob&) = delete;

  LaneName lane() const { return lane_; }
  // When the preemption was whose victim the job evicts; empty: it is no eviction.
  virtual std::optional<TimePoint> EvictionDecided() const { return std::nullopt; }
  // Its name in upstream's metrics of queued calls; empty: it has none.
  virtual std::string_view CallType() const { return {}; }
  // What it counts as when it is over; null: as nothing.
  virtual Counter CountedAs(bool ok) const = 0;

  // Whether it may leave the queue now. The dispatcher holds its lock here and in Started, so
  // neither may call it back.
  virtual bool MayStart() const { return true; }
  // It leaves the queue.
  virtual void Started() {}
  // It is over, was refused, or was canceled unsent: others need not wait for it any more. Once.
  virtual void Ended() {}
  // Gives the caller the result. Once, after Ended, on a client thread.
  virtual void Report(std::optional<api::ApiError> error) = 0;

  // Begins a try.
  void Run();
  // Ends it soon: nothing is waited for, what is in flight is canceled. Without effect when it is
  // over.
  void Cancel();
  // Anything of it has left.
  bool sent() const { return sent_; }
  // When the first try began.
  TimePoint began() const { return began_; }

 protected:
  WriteJob(std::shared_ptr<WriteDispatcher> dispatcher, RestClient& client, LaneName lane)
      : lane_(lane),
        dispatcher_(std::move(dispatcher)),
        client_(client),
        caller_(lane == LaneName::kEvent ? tracing::SpanContext() : tracing::CurrentSpan()) {}

  // The first step of a try. Ends in Send, EndSoon or End.
  virtual void Try() = 0;

  // Sends, behind the fence if it writes; `next`, a method of the kind, gets the answer, by value
  // or by reference.
  template <class Job, class Reply>
  void Send(RestRequest&& request, void (Job::*next)(Reply)) {
    const bool writes = request.method != "GET";
    SendRequest(std::move(request), [job = std::static_pointer_cast<Job>(shared_from_this()), next,
                                     writes](RestReply reply) {
      job->Note(reply, writes);
      (job.get()->*next)(std::move(reply));
    });
  }
  // Whether the body of a try is to be protobuf, if there is such a form.
  bool SendsProtobuf() const { return client_.SendsProtobuf(); }
  // Another try at once, which SendsProtobuf is asked about again, if the server refused the form
  // of the last one. False: it did not.
  bool RetryIfFormRefused(const RestReply& reply);
  // Another try after `wait`.
  void RetryAfter(Duration wait);
  // Another try after a while if the answer is a passing failure (with `on_conflict` a conflict,
  // too) and not all tries are used up. False: no.
  bool RetryIfTemporary(const api::ApiError& error, bool on_conflict);
  // The same whatever the failure was.
  bool RetryIfTriesAreLeft();
  // It is over. `error` empty: it succeeded.
  void End(std::optional<api::ApiError> error);
  // The same with success, from where the caller may still be inside its call.
  void EndSoon();

  int tries() const { return tries_; }
  // Some write of it may have been carried out although no good answer came.
  bool uncertain() const { return uncertain_; }
  WriteDispatcher& dispatcher() const { return *dispatcher_; }
  const std::shared_ptr<WriteDispatcher>& shared_dispatcher() const { return dispatcher_; }

 private:
  void SendRequest(RestRequest request, RestHandler next);
  // Has the sending carry a span of its own, which is told with the answer.
  RestHandler Traced(RestRequest& request, RestHandler next);
  void Note(const RestReply& reply, bool writes);
  bool IsCanceled() const;

  const LaneName lane_;
  const std::shared_ptr<WriteDispatcher> dispatcher_;
  RestClient& client_;
  // That the call belongs to; mostly none, and of events none: who sends them is nobody's caller.
  const tracing::SpanContext caller_;

  // Touched by steps only.
  int tries_ = 0;
  TimePoint began_{};
  bool sent_ = false;
  bool uncertain_ = false;

  mutable Mutex mutex_;
  uint64_t operation_ KS_GUARDED_BY(mutex_) = 0;  // the sending or wait under way
  std::shared_ptr<Exchange> exchange_ KS_GUARDED_BY(mutex_);
  TimerId timer_ KS_GUARDED_BY(mutex_) = 0;
  bool canceled_ KS_GUARDED_BY(mutex_) = false;
};
using JobPtr = std::shared_ptr<WriteJob>;

// What a caller hears whose call came after the writer's end, or was canceled by it.
api::ApiError WriterShutDown();

}  // namespace ks::client
