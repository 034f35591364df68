// SPDX-License-Identifier: Apache-2.0
#pragma once
// The states behind leader_elector.h, in client-go's words. Internal to leader_elector.cc (acquire
// and renew) and leader_elector_release.cc (release).
//
//           Acquire              acquired
//   idle ------------> acquiring ----------> leading
//    ^                     |                  | | |
//    |--- late renewal, another holder -------' | '-- another is preferred --> called back
//    |                     |                    |                               |    |
//    |                     '------ Release -----+----------- Release -----------'    |
//    |                                |                                              |
//    |                                '--> releasing --> over                        |
//    '--- given back ---- releasing <--------------------- ReleaseToPreferred -------'
//
// Upstream: docs/spec/operations.md section 6, docs/spec/api.md section 11.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "base/random.h"
#include "client/election/callback_runner.h"
#include "client/election/election_steps.h"
#include "client/election/leader_elector.h"
#include "client/election/leader_term.h"
#include "client/election/lease_lock.h"
#include "client/election/lease_object.h"
#include "client/election/observed_record.h"

namespace ks::client {

// Threads and lifetime: as ElectionSteps.
class LeaderElector::Core final : public ElectionSteps {
 public:
  Core(RestClient& client, LeaderElectorOptions options, LeaderMetrics* metrics,
       LeaderCallbacks callbacks)
      : ElectionSteps(client),
        options_(std::move(options)),
        callbacks_(std::move(callbacks)),
        lease_lock_(options_),
        runner_(std::make_shared<CallbackRunner>(client.timers())),
        term_(client.clock(), options_, metrics),
        random_(options_.seed) {}

  // As in leader_elector.h.
  void Acquire(std::shared_ptr<WriteFence> fence) KS_EXCLUDES(mutex_);
  void ReleaseToPreferred(std::function<void()> done) KS_EXCLUDES(mutex_);
  void Release(std::function<void()> done) KS_EXCLUDES(mutex_);
  // The destruction of the elector.
  void Stop() KS_EXCLUDES(mutex_);

  const LeaderTerm& term() const { return term_; }
  const std::string& identity() const { return options_.identity; }

 private:
  enum class Phase : uint8_t { kIdle, kAcquiring, kLeading, kCalledBack, kReleasing, kOver };

  // -- a try to acquire or renew --
  void TryAcquireOrRenew() KS_REQUIRES(mutex_);
  void OnFastUpdate(const RestReply& reply) KS_REQUIRES(mutex_);
  void OnRead(const RestReply& reply) KS_REQUIRES(mutex_);
  void OnMissing() KS_REQUIRES(mutex_);
  void FollowRecord() KS_REQUIRES(mutex_);
  void Create() KS_REQUIRES(mutex_);
  void OnCreated(const RestReply& reply) KS_REQUIRES(mutex_);
  void OnUpdated(const RestReply& reply) KS_REQUIRES(mutex_);
  bool EndsTry(const RestReply& reply) KS_REQUIRES(mutex_);
  void OnSuccess() KS_REQUIRES(mutex_);
  void TryLater() KS_REQUIRES(mutex_);
  void OnSeen(LeaseObject&& lease) KS_REQUIRES(mutex_);

  // -- a term --
  void StartLeading() KS_REQUIRES(mutex_);
  void Renew() KS_REQUIRES(mutex_);
  void OnRenewDeadline() KS_REQUIRES(mutex_);
  void StopLeading(const std::string& why) KS_REQUIRES(mutex_);
  void FollowCallBack() KS_REQUIRES(mutex_);
  void EndTerm(Phase next) KS_REQUIRES(mutex_);

  // -- the release (leader_elector_release.cc) --
  void StartRelease(Duration deadline, std::function<void()> done) KS_REQUIRES(mutex_);
  void RecordStopped() KS_REQUIRES(mutex_);
  void ReadForRelease() KS_REQUIRES(mutex_);
  void OnReadForRelease(const RestReply& reply) KS_REQUIRES(mutex_);
  void OnReleased(const RestReply& reply) KS_REQUIRES(mutex_);
  void FinishRelease() KS_REQUIRES(mutex_);

  const LeaderElectorOptions options_;
  const LeaderCallbacks callbacks_;
  const LeaseLock lease_lock_;
  const std::shared_ptr<CallbackRunner> runner_;
  LeaderTerm term_;

  Phase phase_ KS_GUARDED_BY(mutex_) = Phase::kIdle;
  Random random_ KS_GUARDED_BY(mutex_);
  ObservedRecord observed_ KS_GUARDED_BY(mutex_);
  LeaseRecord written_ KS_GUARDED_BY(mutex_);  // by the write under way
  TimePoint try_began_ KS_GUARDED_BY(mutex_){};
  int times_missing_ KS_GUARDED_BY(mutex_) = 0;     // the lease, one after the other
  bool try_at_once_ KS_GUARDED_BY(mutex_) = false;  // heard during a try: the lease is to be had
  std::function<void()> released_ KS_GUARDED_BY(mutex_);
  Phase after_release_ KS_GUARDED_BY(mutex_) = Phase::kOver;
};

}  // namespace ks::client
