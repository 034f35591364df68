// SPDX-License-Identifier: Apache-2.0
#include "client/election/leader_elector.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/logging.h"
#include "client/election/leader_elector_core.h"

namespace ks::client {
namespace {

constexpr double kJitter = 1.2;
// About half a minute: a server that elects has made the lease long before so many tries.
constexpr int kMissingLong = 10;

Duration Times(Duration duration, double factor) {
  return Duration(static_cast<int64_t>(static_cast<double>(duration.count()) * factor));
}

// Why a write did not end well.
std::string FailureText(const RestReply& reply) {
  return reply.ok() ? "no Lease in the answer" : reply.error->message;
}

}  // namespace

// ---- a try to acquire or renew (docs/spec/api.md 11.3) ----

void LeaderElector::Core::TryAcquireOrRenew() {
  try_began_ = clock().Now();
  try_at_once_ = false;
  const bool fast = !options_.coordinated && observed_.lease().exists() &&
                    observed_.IsHeldBy(options_.identity) && observed_.IsLeaseValid(clock().Now());
  if (!fast) return Send(lease_lock_.Get(), &Core::OnRead);
  written_ = lease_lock_.NextRecord(observed_, clock().WallNow());
  Send(lease_lock_.Update(observed_.lease(), written_), &Core::OnFastUpdate);
}

void LeaderElector::Core::OnFastUpdate(const RestReply& reply) {
  if (EndsTry(reply)) return;
  log::Info(2, "Failed to update lease optimistically, falling back to slow path",
            {{"lock", lease_lock_.Describe()}, {"err", FailureText(reply)}});
  Send(lease_lock_.Get(), &Core::OnRead);
}

void LeaderElector::Core::OnRead(const RestReply& reply) {
  if (!reply.ok() && reply.error->IsNotFound()) {
    return options_.coordinated ? OnMissing() : Create();
  }
  Result<LeaseObject> read =
      reply.ok() ? LeaseObject::Parse(reply.body) : Error{reply.error->message};
  if (!read.ok()) {
    log::Error(read.error().message, "Error retrieving lease lock",
               {{"lock", lease_lock_.Describe()}});
    return TryLater();
  }
  times_missing_ = 0;
  observed_.Observe(std::move(read).value(), clock().Now());
  FollowRecord();
}

// Coordinated election: whoever makes the lease anew, with whatever name in it, asks nobody, not
// even its former holder.
void LeaderElector::Core::OnMissing() {
  observed_.Clear();
  if (phase_ == Phase::kLeading) return StopLeading("the lease was deleted");
  if (++times_missing_ == kMissingLong) {
    log::Error("lease not found", "The API server names no leader",
               {{"lock", lease_lock_.Describe()},
                {"cure", "it needs --feature-gates=CoordinatedLeaderElection=true"}});
  }
  TryLater();
}

// What the record, just read, means for this process.
void LeaderElector::Core::FollowRecord() {
  const bool held = observed_.IsHeldBy(options_.identity);
  const std::string& holder = observed_.record().holder;
  if (phase_ == Phase::kLeading && !held) {
    return StopLeading(holder.empty() ? "the lease was released by somebody else"
                                      : "the lease is held by " + holder);
  }
  if (phase_ == Phase::kLeading && options_.coordinated &&
      observed_.PrefersAnotherThan(options_.identity)) {
    return FollowCallBack();
  }
  if (options_.coordinated && !held) {
    KS_LOG(4, "Not named as the holder of the lease",
           {{"lock", lease_lock_.Describe()},
            {"holder", holder},
            {"preferredHolder", observed_.lease().record().preferred_holder}});
    return TryLater();
  }
  if (phase_ == Phase::kAcquiring) observed_.ToleratePreferred();
  if (!holder.empty() && !held && observed_.IsLeaseValid(clock().Now())) {
    KS_LOG(4, "Lease is held by and has not yet expired",
           {{"lock", lease_lock_.Describe()}, {"holder", holder}});
    return TryLater();
  }
  if (phase_ == Phase::kLeading) term_.CountSlowPath();
  written_ = lease_lock_.NextRecord(observed_, clock().WallNow());
  Send(lease_lock_.Update(observed_.lease(), written_), &Core::OnUpdated);
}

void LeaderElector::Core::OnUpdated(const RestReply& reply) {
  if (EndsTry(reply)) return;
  if (!reply.ok() && reply.error->IsConflict()) {
    log::Info(2, "Somebody else was faster to write the lease",
              {{"lock", lease_lock_.Describe()}, {"err", FailureText(reply)}});
  } else {
    log::Error(FailureText(reply), "Failed to update lease", {{"lock", lease_lock_.Describe()}});
  }
  TryLater();
}

void LeaderElector::Core::Create() {
  observed_.Clear();
  written_ = lease_lock_.NextRecord(observed_, clock().WallNow());
  Send(lease_lock_.Create(written_), &Core::OnCreated);
}

void LeaderElector::Core::OnCreated(const RestReply& reply) {
  if (EndsTry(reply)) return;
  log::Error(FailureText(reply), "Error initially creating lease lock",
             {{"lock", lease_lock_.Describe()}});
  TryLater();
}

// The answer to a write. False: it failed.
bool LeaderElector::Core::EndsTry(const RestReply& reply) {
  if (phase_ == Phase::kReleasing) {
    ReadForRelease();
    return true;
  }
  if (!reply.ok() || !observed_.ObserveWrite(reply.body, written_, sent())) return false;
  OnSuccess();
  return true;
}

void LeaderElector::Core::OnSuccess() {
  const bool reopened = term_.Renew(sent());
  if (phase_ == Phase::kAcquiring) return StartLeading();
  StopDeadline();
  if (reopened) runner_->RunSoon(callbacks_.may_write_again);
  // An answer that took too long gives no right to write: the next one may.
  Wait(term_.MayWrite() ? options_.retry_period : Duration::zero(), &Core::Renew);
}

void LeaderElector::Core::TryLater() {
  if (phase_ == Phase::kAcquiring) {
    if (observed_.lease().exists()) Follow(lease_lock_, observed_.lease(), &Core::OnSeen);
    Duration pause = Times(options_.retry_period, 1 + kJitter * random_.Unit());
    // The lease of another may be taken when it has run out.
    if (!options_.coordinated) pause = std::min(pause, observed_.TimeLeft(clock().Now()));
    return Wait(try_at_once_ ? Duration::zero() : pause, &Core::TryAcquireOrRenew);
  }
  Wait(std::max(try_began_ + options_.retry_period - clock().Now(), Duration::zero()),
       &Core::TryAcquireOrRenew);
}

// What a candidate hears between its tries. Whether the lease may be taken, the next try finds out
// by reading it.
void LeaderElector::Core::OnSeen(LeaseObject&& lease) {
  if (phase_ != Phase::kAcquiring) return;
  const bool exists = lease.exists();
  if (exists) observed_.Observe(std::move(lease), clock().Now());
  if (exists && !observed_.IsHeldBy(options_.coordinated ? options_.identity : "")) return;
  if (!IsWaiting()) {
    try_at_once_ = true;
    return;
  }
  TryAcquireOrRenew();
}

// ---- a term ----

void LeaderElector::Core::Acquire(std::shared_ptr<WriteFence> fence) {
  {
    MutexLock lock(mutex_);
    KS_CHECK(phase_ == Phase::kIdle,
             "Acquire of a candidate, a leader, before ReleaseToPreferred or after Release");
    phase_ = Phase::kAcquiring;
    times_missing_ = 0;
    term_.Begin(std::move(fence));
    log::Info(0, "Attempting to acquire leader lease...", {{"lock", lease_lock_.Describe()}});
    TryAcquireOrRenew();
  }
  CancelStopped();
}

void LeaderElector::Core::StartLeading() {
  phase_ = Phase::kLeading;
  StopFollowing();
  term_.Lead();
  log::Info(0, "Successfully acquired lease", {{"lock", lease_lock_.Describe()}});
  RestRequest event =
      lease_lock_.RecordEvent(observed_.lease(), "became leader", clock().WallNow());
  event.fence = term_.fence();
  client().Send(std::move(event), [lease = lease_lock_.Describe()](const RestReply& reply) {
    if (reply.ok()) return;
    log::Error(reply.error->message, "Server rejected event (will not retry!)", {{"lock", lease}});
  });
  runner_->RunSoon(callbacks_.started_leading);
  Renew();
}

// A round of tries, of which one has to succeed before the deadline.
void LeaderElector::Core::Renew() {
  StartDeadline(options_.renew_deadline, &Core::OnRenewDeadline);
  TryAcquireOrRenew();
}

void LeaderElector::Core::OnRenewDeadline() { StopLeading("context deadline exceeded"); }

void LeaderElector::Core::EndTerm(Phase next) {
  StopStep();
  StopDeadline();
  term_.End();
  phase_ = next;
}

// Others wait out the lease, so what was sent last has been answered long before they write. Who is
// called back gives it away before its end: not before the owner of the writes has seen to them.
void LeaderElector::Core::FollowCallBack() {
  EndTerm(Phase::kCalledBack);
  const std::string why = "the lease is wanted for " + observed_.lease().record().preferred_holder;
  log::Info(0, "The API server calls the lease back",
            {{"lock", lease_lock_.Describe()}, {"reason", why}});
  if (!callbacks_.called_back) return;
  runner_->RunSoon([called_back = callbacks_.called_back, why] { called_back(why); });
}

void LeaderElector::Core::StopLeading(const std::string& why) {
  EndTerm(Phase::kIdle);
  log::Info(0, "Failed to renew lease", {{"lock", lease_lock_.Describe()}, {"err", why}});
  if (!callbacks_.stopped_leading) return;
  runner_->RunSoon([stopped_leading = callbacks_.stopped_leading, why] { stopped_leading(why); });
}

// ---- the public object ----

LeaderElector::LeaderElector(RestClient& client, LeaderElectorOptions options,
                             LeaderMetrics* metrics, LeaderCallbacks callbacks)
    : core_(std::make_shared<Core>(client, std::move(options), metrics, std::move(callbacks))) {}

LeaderElector::~LeaderElector() { core_->Stop(); }

void LeaderElector::Acquire(std::shared_ptr<WriteFence> fence) { core_->Acquire(std::move(fence)); }
void LeaderElector::ReleaseToPreferred(std::function<void()> done) {
  core_->ReleaseToPreferred(std::move(done));
}
void LeaderElector::Release(std::function<void()> done) { core_->Release(std::move(done)); }
bool LeaderElector::IsLeader() const { return core_->term().IsLeader(); }
std::string LeaderElector::Failure(Duration tolerance) const {
  return core_->term().Failure(tolerance);
}
const std::string& LeaderElector::identity() const { return core_->identity(); }

}  // namespace ks::client
