// SPDX-License-Identifier: Apache-2.0
#include "client/election/leader_elector.h"

#include <algorithm>
#include <utility>
#include <vector>

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

}  // namespace

// ---- the chain ----

void LeaderElector::Core::Send(RestRequest request, OnReply next) {
  EndOperation();
  writing_ = request.method != "GET";
  sent_ = Now();
  request.resource = request.resource.empty() ? "leases" : request.resource;
  if (request.timeout == Duration::zero()) request.timeout = timeout_;
  exchange_ = client_.Send(std::move(request), [self = shared_from_this(), operation = operation_,
                                                next](RestReply reply) {
    self->Answered(operation, next, std::move(reply));
  });
}

void LeaderElector::Core::Wait(Duration delay, OnTimer next) {
  EndOperation();
  timer_ = timers().Schedule(delay, [weak = weak_from_this(), operation = operation_, next] {
    if (const auto self = weak.lock()) self->Woken(operation, next);
  });
}

void LeaderElector::Core::EndOperation() {
  ++operation_;
  if (timer_ != 0) timers().Cancel(std::exchange(timer_, 0));
  if (exchange_ != nullptr) ended_.push_back(std::move(exchange_));
  exchange_ = nullptr;
  writing_ = false;
}

void LeaderElector::Core::CancelWhatEnded() {
  std::vector<std::shared_ptr<Exchange>> ended;
  {
    MutexLock lock(mutex_);
    ended.swap(ended_);
  }
  for (const auto& exchange : ended) exchange->Cancel();
}

void LeaderElector::Core::Answered(uint64_t operation, OnReply next, RestReply reply) {
  {
    MutexLock lock(mutex_);
    if (operation != operation_) return;
    exchange_ = nullptr;
    writing_ = false;
    (this->*next)(std::move(reply));
  }
  CancelWhatEnded();
}

void LeaderElector::Core::Woken(uint64_t operation, OnTimer next) {
  {
    MutexLock lock(mutex_);
    if (operation != operation_) return;
    timer_ = 0;
    (this->*next)();
  }
  CancelWhatEnded();
}

// ---- a try (docs/spec/api.md 11.3) ----

void LeaderElector::Core::Try() {
  try_began_ = Now();
  if (!options_.coordinated && lease_.exists() && IsMine() && IsRecordAlive()) {
    written_ = Mine();
    return Send(Update(written_), &Core::PutFast);
  }
  Get(&Core::Read);
}

void LeaderElector::Core::Get(OnReply next) {
  Send({.target = LeaseTarget(), .name = options_.lease_name}, next);
}

void LeaderElector::Core::PutFast(RestReply reply) {
  if (phase_ == Phase::kReleasing) return ReadForRelease();
  if (reply.ok() && Take(reply)) return Succeeded();
  log::Info(
      2, "Failed to update lease optimistically, falling back to slow path",
      {{"lock", lock_}, {"err", reply.ok() ? "no Lease in the answer" : reply.error->message}});
  Get(&Core::Read);
}

void LeaderElector::Core::Read(RestReply reply) {
  if (!reply.ok()) {
    if (reply.error->IsNotFound()) return options_.coordinated ? Missing() : Create();
    log::Error(reply.error->message, "Error retrieving lease lock", {{"lock", lock_}});
    return Failed();
  }
  Result<LeaseObject> read = LeaseObject::Parse(reply.body);
  if (!read.ok()) {
    log::Error(read.error().message, "Error retrieving lease lock", {{"lock", lock_}});
    return Failed();
  }
  missing_ = 0;
  // An object that changed, but not its spec, says nothing of its holder.
  const bool changed = !lease_.exists() || read->spec() != lease_.spec();
  lease_ = std::move(read).value();
  if (changed) {
    record_ = lease_.record();
    observed_ = Now();
  }
  Judge();
}

// Whoever makes it anew, with whatever name in it, asks nobody: not even its former holder.
void LeaderElector::Core::Missing() {
  lease_ = LeaseObject();
  record_ = LeaseRecord();
  if (phase_ == Phase::kLeading) return Lose("the lease was deleted");
  if (++missing_ == kMissingLong) {
    log::Error(
        "lease not found", "The API server names no leader",
        {{"lock", lock_}, {"cure", "it needs --feature-gates=CoordinatedLeaderElection=true"}});
  }
  Failed();
}

void LeaderElector::Core::Judge() {
  if (phase_ == Phase::kLeading && !IsMine()) {
    return Lose(record_.holder.empty() ? "the lease was released by somebody else"
                                       : "the lease is held by " + record_.holder);
  }
  if (phase_ == Phase::kLeading && IsForAnother()) return GetCalledBack();
  if (options_.coordinated && !IsMine()) {
    KS_LOG(4, "Not named as the holder of the lease",
           {{"lock", lock_},
            {"holder", record_.holder},
            {"preferredHolder", lease_.record().preferred_holder}});
    return Failed();
  }
  // Of candidates that are alike the server names one and prefers another in the same moment, each
  // time anew: if the one waited for the other, nobody would lead.
  if (phase_ == Phase::kAcquiring) tolerated_ = lease_.record().preferred_holder;
  if (!record_.holder.empty() && !IsMine() && IsRecordAlive()) {
    KS_LOG(4, "Lease is held by and has not yet expired",
           {{"lock", lock_}, {"holder", record_.holder}});
    return Failed();
  }
  if (phase_ == Phase::kLeading && metrics_ != nullptr) metrics_->SlowPath();
  Put();
}

void LeaderElector::Core::Put() {
  written_ = Mine();
  Send(Update(written_), &Core::PutSlow);
}

void LeaderElector::Core::PutSlow(RestReply reply) {
  if (phase_ == Phase::kReleasing) return ReadForRelease();
  if (reply.ok() && Take(reply)) return Succeeded();
  const std::string error = reply.ok() ? "no Lease in the answer" : reply.error->message;
  if (!reply.ok() && reply.error->IsConflict()) {
    log::Info(2, "Somebody else was faster to write the lease", {{"lock", lock_}, {"err", error}});
  } else {
    log::Error(error, "Failed to update lease", {{"lock", lock_}});
  }
  Failed();
}

void LeaderElector::Core::Create() {
  lease_ = LeaseObject();
  record_ = LeaseRecord();
  written_ = Mine();
  written_.transitions = 0;
  Send({.method = "POST",
        .target = collection_ + TimeoutQuery(),
        .body = NewLeaseBody(options_.lease_namespace, options_.lease_name, written_),
        .name = options_.lease_name},
       &Core::Created);
}

void LeaderElector::Core::Created(RestReply reply) {
  if (phase_ == Phase::kReleasing) return ReadForRelease();
  if (reply.ok() && Take(reply)) return Succeeded();
  log::Error(reply.ok() ? "no Lease in the answer" : reply.error->message,
             "Error initially creating lease lock", {{"lock", lock_}});
  Failed();
}

// Remembers what the server made of a write. Its age counts from before it was sent.
bool LeaderElector::Core::Take(const RestReply& reply) {
  Result<LeaseObject> read = LeaseObject::Parse(reply.body);
  if (!read.ok()) return false;
  lease_ = std::move(read).value();
  record_ = written_;
  observed_ = sent_;
  return true;
}

// Acquire time and transitions stay as long as the holder does.
LeaseRecord LeaderElector::Core::Mine() const {
  const std::string now = FormatMicroTime(client_.clock().WallNow());
  LeaseRecord record{.holder = options_.identity,
                     .duration_seconds = lease_seconds_.count(),
                     .acquire_time = now,
                     .renew_time = now,
                     .transitions = record_.transitions};
  if (IsMine()) {
    record.acquire_time = record_.acquire_time;
  } else {
    ++record.transitions;
  }
  return record;
}

RestRequest LeaderElector::Core::Update(const LeaseRecord& record) const {
  return {.method = "PUT",
          .target = LeaseTarget(),
          .body = lease_.With(record),
          .name = options_.lease_name};
}

void LeaderElector::Core::Failed() {
  if (phase_ == Phase::kAcquiring) {
    return Wait(Times(options_.retry_period, 1 + kJitter * random_.Unit()), &Core::Try);
  }
  Wait(std::max(try_began_ + options_.retry_period - Now(), Duration::zero()), &Core::Try);
}

void LeaderElector::Core::Succeeded() {
  const bool was_open = fence_->IsOpen();
  renewed_.store(sent_.time_since_epoch().count(), std::memory_order_release);
  fence_->OpenUntil(sent_ + write_time_);
  if (phase_ == Phase::kAcquiring) return Win();
  if (deadline_ != 0) timers().Cancel(std::exchange(deadline_, 0));
  ++round_;
  const bool open = fence_->IsOpen();
  if (open && !was_open) Notify(callbacks_.may_write_again);
  // An answer that took too long gives no right to write: the next one may.
  Wait(open ? options_.retry_period : Duration::zero(), &Core::BeginRound);
}

// ---- a term ----

void LeaderElector::Core::Stand(std::shared_ptr<WriteFence> fence) {
  {
    MutexLock lock(mutex_);
    KS_CHECK(phase_ == Phase::kIdle,
             "Stand of a candidate, a leader, before Yield or after Release");
    phase_ = Phase::kAcquiring;
    fence_ = std::move(fence);
    missing_ = 0;
    if (metrics_ != nullptr) metrics_->SetLeading(false);
    log::Info(0, "Attempting to acquire leader lease...", {{"lock", lock_}});
    Try();
  }
  CancelWhatEnded();
}

void LeaderElector::Core::Win() {
  phase_ = Phase::kLeading;
  leading_.store(true, std::memory_order_release);
  if (metrics_ != nullptr) metrics_->SetLeading(true);
  log::Info(0, "Successfully acquired lease", {{"lock", lock_}});
  RestRequest event = EventRequest("became leader");
  event.fence = fence_;
  client_.Send(std::move(event), [lock = lock_](const RestReply& reply) {
    if (reply.ok()) return;
    log::Error(reply.error->message, "Server rejected event (will not retry!)", {{"lock", lock}});
  });
  Notify(callbacks_.started_leading);
  BeginRound();
}

void LeaderElector::Core::BeginRound() {
  const uint64_t round = ++round_;
  deadline_ = timers().Schedule(options_.renew_deadline, [weak = weak_from_this(), round] {
    if (const auto self = weak.lock()) self->RoundIsOver(round);
  });
  Try();
}

void LeaderElector::Core::RoundIsOver(uint64_t round) {
  {
    MutexLock lock(mutex_);
    if (phase_ != Phase::kLeading || round != round_) return;
    deadline_ = 0;
    Lose("context deadline exceeded");
  }
  CancelWhatEnded();
}

void LeaderElector::Core::EndTerm(Phase next) {
  EndOperation();
  fence_->Close();
  fence_ = nullptr;
  ++round_;
  if (deadline_ != 0) timers().Cancel(std::exchange(deadline_, 0));
  phase_ = next;
  leading_.store(false, std::memory_order_release);
  if (metrics_ != nullptr) metrics_->SetLeading(false);
}

// Others wait out the lease, so what was sent last has been answered long before they write. Who is
// called back gives it away before its end: not before the owner of the writes has seen to them.
void LeaderElector::Core::GetCalledBack() {
  EndTerm(Phase::kCalledBack);
  const std::string why = "the lease is wanted for " + lease_.record().preferred_holder;
  log::Info(0, "The API server calls the lease back", {{"lock", lock_}, {"reason", why}});
  Notify([this, why] {
    if (callbacks_.called_back) callbacks_.called_back(why);
  });
}

void LeaderElector::Core::Lose(const std::string& why) {
  EndTerm(Phase::kIdle);
  log::Info(0, "Failed to renew lease", {{"lock", lock_}, {"err", why}});
  if (callbacks_.stopped_leading) {
    Notify([this, why] { callbacks_.stopped_leading(why); });
  }
}

// ---- the public object ----

LeaderElector::LeaderElector(RestClient& client, LeaderElectorOptions options,
                             LeaderMetrics* metrics, LeaderCallbacks callbacks)
    : core_(std::make_shared<Core>(client, std::move(options), metrics, std::move(callbacks))) {}

LeaderElector::~LeaderElector() { core_->End(); }

void LeaderElector::Stand(std::shared_ptr<WriteFence> fence) { core_->Stand(std::move(fence)); }
void LeaderElector::Yield(std::function<void()> done) { core_->Yield(std::move(done)); }
void LeaderElector::Release(std::function<void()> done) { core_->Release(std::move(done)); }
bool LeaderElector::IsLeader() const { return core_->IsLeader(); }
std::string LeaderElector::Failure(Duration tolerance) const { return core_->Failure(tolerance); }
const std::string& LeaderElector::identity() const { return core_->identity(); }

}  // namespace ks::client
