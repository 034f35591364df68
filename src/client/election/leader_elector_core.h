// SPDX-License-Identifier: Apache-2.0
#pragma once
// The machinery behind leader_elector.h. Internal to leader_elector.cc (tries and terms) and
// leader_elector_release.cc (how a term is given back, and the end).
//
// Upstream: docs/spec/operations.md section 6, docs/spec/api.md section 11.

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "client/election/leader_elector.h"
#include "client/election/lease_object.h"

namespace ks::client {

// A chain: a request or a wait, whose end begins the next one. Beside it run the deadline of a
// round of renewals or of the release, and the answer of the first event.
class LeaderElector::Core final : public std::enable_shared_from_this<Core> {
 public:
  Core(RestClient& client, LeaderElectorOptions options, LeaderMetrics* metrics,
       LeaderCallbacks callbacks)
      : client_(client),
        options_(std::move(options)),
        metrics_(metrics),
        callbacks_(std::move(callbacks)),
        collection_("/apis/coordination.k8s.io/v1/namespaces/" +
                    EscapeUrl(options_.lease_namespace) + "/leases"),
        lock_(options_.lease_namespace + "/" + options_.lease_name),
        timeout_(std::max<Duration>(std::chrono::seconds(1), options_.renew_deadline / 2)),
        lease_seconds_(std::chrono::floor<std::chrono::seconds>(options_.lease_duration)),
        write_time_(std::min<Duration>(options_.renew_deadline, lease_seconds_)),
        random_(options_.seed) {}

  void Stand(std::shared_ptr<WriteFence> fence) KS_EXCLUDES(mutex_);
  void Yield(std::function<void()> done) KS_EXCLUDES(mutex_);
  void Release(std::function<void()> done) KS_EXCLUDES(mutex_);
  void End() KS_EXCLUDES(mutex_);
  bool IsLeader() const { return leading_.load(std::memory_order_acquire); }
  std::string Failure(Duration tolerance) const;
  const std::string& identity() const { return options_.identity; }

 private:
  enum class Phase : uint8_t { kIdle, kAcquiring, kLeading, kCalledBack, kReleasing, kOver };
  using OnReply = void (Core::*)(RestReply);
  using OnTimer = void (Core::*)();

  // -- the chain --
  void Send(RestRequest request, OnReply next) KS_REQUIRES(mutex_);
  void Wait(Duration delay, OnTimer next) KS_REQUIRES(mutex_);
  void Answered(uint64_t operation, OnReply next, RestReply reply) KS_EXCLUDES(mutex_);
  void Woken(uint64_t operation, OnTimer next) KS_EXCLUDES(mutex_);
  void EndOperation() KS_REQUIRES(mutex_);
  void CancelWhatEnded() KS_EXCLUDES(mutex_);

  // -- a try --
  void Try() KS_REQUIRES(mutex_);
  void Get(OnReply next) KS_REQUIRES(mutex_);
  void Read(RestReply reply) KS_REQUIRES(mutex_);
  void Missing() KS_REQUIRES(mutex_);
  void Judge() KS_REQUIRES(mutex_);
  void Create() KS_REQUIRES(mutex_);
  void Put() KS_REQUIRES(mutex_);
  void PutFast(RestReply reply) KS_REQUIRES(mutex_);
  void PutSlow(RestReply reply) KS_REQUIRES(mutex_);
  void Created(RestReply reply) KS_REQUIRES(mutex_);
  bool Take(const RestReply& reply) KS_REQUIRES(mutex_);
  bool IsMine() const KS_REQUIRES(mutex_) { return record_.holder == options_.identity; }
  bool IsForAnother() const KS_REQUIRES(mutex_) {
    const std::string& preferred = lease_.record().preferred_holder;
    return options_.coordinated && !preferred.empty() && preferred != options_.identity &&
           preferred != tolerated_;
  }
  bool IsRecordAlive() const KS_REQUIRES(mutex_) {
    return Now() < observed_ + std::chrono::seconds(record_.duration_seconds);
  }
  void Failed() KS_REQUIRES(mutex_);
  void Succeeded() KS_REQUIRES(mutex_);

  // -- a term --
  void Win() KS_REQUIRES(mutex_);
  void BeginRound() KS_REQUIRES(mutex_);
  void RoundIsOver(uint64_t round) KS_EXCLUDES(mutex_);
  void Lose(const std::string& why) KS_REQUIRES(mutex_);
  void GetCalledBack() KS_REQUIRES(mutex_);
  void EndTerm(Phase next) KS_REQUIRES(mutex_);

  // -- the release --
  void BeginRelease(Duration patience, std::function<void()> done) KS_REQUIRES(mutex_);
  void TellAndRelease() KS_REQUIRES(mutex_);
  void ReadForRelease() KS_REQUIRES(mutex_);
  void Told(RestReply reply) KS_REQUIRES(mutex_);
  void ReleaseRead(RestReply reply) KS_REQUIRES(mutex_);
  void ReleaseWritten(RestReply reply) KS_REQUIRES(mutex_);
  void Finish() KS_REQUIRES(mutex_);

  void Notify(std::function<void()> callback) KS_REQUIRES(mutex_);
  void RunNotice(const std::function<void()>& callback) KS_EXCLUDES(mutex_);
  RestRequest EventRequest(const char* what) const KS_REQUIRES(mutex_);
  LeaseRecord Mine() const KS_REQUIRES(mutex_);
  RestRequest Update(const LeaseRecord& record) const KS_REQUIRES(mutex_);
  std::string LeaseTarget() const {
    return collection_ + "/" + EscapeUrl(options_.lease_name) + TimeoutQuery();
  }
  std::string TimeoutQuery() const { return "?timeout=" + EscapeUrl(FormatDuration(timeout_)); }
  TimePoint Now() const { return client_.clock().Now(); }
  TimerService& timers() const { return client_.timers(); }

  RestClient& client_;
  const LeaderElectorOptions options_;
  LeaderMetrics* const metrics_;
  const LeaderCallbacks callbacks_;
  const std::string collection_;
  const std::string lock_;  // in log lines
  const Duration timeout_;
  const std::chrono::seconds lease_seconds_;  // what others see of the lease duration
  const Duration write_time_;                 // of the fence, from the beginning of a renewal

  std::atomic<bool> leading_{false};
  std::atomic<int64_t> renewed_{0};  // when the last renewal that succeeded began

  Mutex mutex_;
  CondVar quiet_;
  Phase phase_ KS_GUARDED_BY(mutex_) = Phase::kIdle;
  Random random_ KS_GUARDED_BY(mutex_);
  std::shared_ptr<WriteFence> fence_ KS_GUARDED_BY(mutex_);
  std::function<void()> released_ KS_GUARDED_BY(mutex_);
  Phase after_release_ KS_GUARDED_BY(mutex_) = Phase::kOver;
  int notices_running_ KS_GUARDED_BY(mutex_) = 0;
  bool ended_for_good_ KS_GUARDED_BY(mutex_) = false;  // nobody is told anything any more

  // What is known of the lease.
  LeaseObject lease_ KS_GUARDED_BY(mutex_);      // as last received
  LeaseRecord record_ KS_GUARDED_BY(mutex_);     // what counts
  TimePoint observed_ KS_GUARDED_BY(mutex_){};   // when it changed, by this clock
  std::string tolerated_ KS_GUARDED_BY(mutex_);  // the preferred holder when this one was named
  int missing_ KS_GUARDED_BY(mutex_) = 0;        // how often it was not there, one after the other

  // The chain.
  uint64_t operation_ KS_GUARDED_BY(mutex_) = 0;
  std::shared_ptr<Exchange> exchange_ KS_GUARDED_BY(mutex_);
  bool writing_ KS_GUARDED_BY(mutex_) = false;  // the exchange may change the lease
  TimerId timer_ KS_GUARDED_BY(mutex_) = 0;
  TimePoint try_began_ KS_GUARDED_BY(mutex_){};
  TimePoint sent_ KS_GUARDED_BY(mutex_){};  // before the write under way was sent
  LeaseRecord written_ KS_GUARDED_BY(mutex_);
  uint64_t round_ KS_GUARDED_BY(mutex_) = 0;
  TimerId deadline_ KS_GUARDED_BY(mutex_) = 0;
  // To be cancelled once the lock is let go: the transport may answer from inside Cancel.
  std::vector<std::shared_ptr<Exchange>> ended_ KS_GUARDED_BY(mutex_);
};

}  // namespace ks::client
