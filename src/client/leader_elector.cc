// SPDX-License-Identifier: Apache-2.0
#include "client/leader_elector.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/logging.h"
#include "base/mutex.h"
#include "client/lease_object.h"

namespace ks::client {
namespace {

constexpr double kJitter = 1.2;
// How long the end waits: for the answer of a try that may just have won, and for that of an event.
constexpr Duration kPatience = std::chrono::seconds(1);

Duration Times(Duration duration, double factor) {
  return Duration(static_cast<int64_t>(static_cast<double>(duration.count()) * factor));
}

std::chrono::seconds WholeSeconds(Duration duration) {
  return std::chrono::floor<std::chrono::seconds>(duration);
}

}  // namespace

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
        // The lease that others see is cut to whole seconds.
        write_time_(
            std::min<Duration>(options_.renew_deadline, WholeSeconds(options_.lease_duration))),
        random_(options_.seed) {}

  void Stand(std::shared_ptr<WriteFence> fence) KS_EXCLUDES(mutex_);
  void Release(std::function<void()> done) KS_EXCLUDES(mutex_);
  void End() KS_EXCLUDES(mutex_);
  bool IsLeader() const { return leading_.load(std::memory_order_acquire); }
  std::string Failure(Duration tolerance) const;
  const std::string& identity() const { return options_.identity; }

 private:
  enum class Phase : uint8_t { kIdle, kAcquiring, kLeading, kReleasing, kOver };
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
  void Judge() KS_REQUIRES(mutex_);
  void Create() KS_REQUIRES(mutex_);
  void Put() KS_REQUIRES(mutex_);
  void PutFast(RestReply reply) KS_REQUIRES(mutex_);
  void PutSlow(RestReply reply) KS_REQUIRES(mutex_);
  void Created(RestReply reply) KS_REQUIRES(mutex_);
  bool Take(const RestReply& reply) KS_REQUIRES(mutex_);
  bool IsMine() const KS_REQUIRES(mutex_) { return record_.holder == options_.identity; }
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

  // -- the release --
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
  const Duration write_time_;  // of the fence, from the beginning of a renewal

  std::atomic<bool> leading_{false};
  std::atomic<int64_t> renewed_{0};  // when the last renewal that succeeded began

  Mutex mutex_;
  CondVar quiet_;
  Phase phase_ KS_GUARDED_BY(mutex_) = Phase::kIdle;
  Random random_ KS_GUARDED_BY(mutex_);
  std::shared_ptr<WriteFence> fence_ KS_GUARDED_BY(mutex_);
  std::function<void()> released_ KS_GUARDED_BY(mutex_);
  int notices_running_ KS_GUARDED_BY(mutex_) = 0;
  bool ended_for_good_ KS_GUARDED_BY(mutex_) = false;  // nobody is told anything any more

  // What is known of the lease.
  LeaseObject lease_ KS_GUARDED_BY(mutex_);     // as last received
  LeaseRecord record_ KS_GUARDED_BY(mutex_);    // what counts
  TimePoint observed_ KS_GUARDED_BY(mutex_){};  // when it changed, by this clock

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
  if (lease_.exists() && IsMine() && IsRecordAlive()) {
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
    if (reply.error->IsNotFound()) return Create();
    log::Error(reply.error->message, "Error retrieving lease lock", {{"lock", lock_}});
    return Failed();
  }
  Result<LeaseObject> read = LeaseObject::Parse(reply.body);
  if (!read.ok()) {
    log::Error(read.error().message, "Error retrieving lease lock", {{"lock", lock_}});
    return Failed();
  }
  // An object that changed, but not its spec, says nothing of its holder.
  const bool changed = !lease_.exists() || read->spec() != lease_.spec();
  lease_ = std::move(read).value();
  if (changed) {
    record_ = lease_.record();
    observed_ = Now();
  }
  Judge();
}

void LeaderElector::Core::Judge() {
  if (phase_ == Phase::kLeading && !IsMine()) {
    return Lose(record_.holder.empty() ? "the lease was released by somebody else"
                                       : "the lease is held by " + record_.holder);
  }
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
                     .duration_seconds = WholeSeconds(options_.lease_duration).count(),
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
    KS_CHECK(phase_ == Phase::kIdle, "Stand of a candidate, a leader, or after Release");
    phase_ = Phase::kAcquiring;
    fence_ = std::move(fence);
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

void LeaderElector::Core::Lose(const std::string& why) {
  EndOperation();
  fence_->Close();
  fence_ = nullptr;
  ++round_;
  if (deadline_ != 0) timers().Cancel(std::exchange(deadline_, 0));
  phase_ = Phase::kIdle;
  leading_.store(false, std::memory_order_release);
  if (metrics_ != nullptr) metrics_->SetLeading(false);
  log::Info(0, "Failed to renew lease", {{"lock", lock_}, {"err", why}});
  if (callbacks_.stopped_leading) {
    Notify([this, why] { callbacks_.stopped_leading(why); });
  }
}

RestRequest LeaderElector::Core::EventRequest(const char* what) const {
  const LeaseEvent event{.ns = options_.lease_namespace,
                         .name = options_.lease_name,
                         .uid = lease_.uid(),
                         .resource_version = lease_.resource_version(),
                         .message = options_.identity + " " + what,
                         .component = options_.event_component,
                         .now = client_.clock().WallNow()};
  return {.method = "POST",
          .target = "/api/v1/namespaces/" + EscapeUrl(event.ns) + "/events" + TimeoutQuery(),
          .body = LeaseEventBody(event),
          .timeout = kPatience,
          .resource = "events"};
}

// ---- the release ----

void LeaderElector::Core::Release(std::function<void()> done) {
  {
    MutexLock lock(mutex_);
    KS_CHECK(phase_ != Phase::kReleasing && phase_ != Phase::kOver, "Release is called once");
    const Phase before = std::exchange(phase_, Phase::kReleasing);
    released_ = std::move(done);
    leading_.store(false, std::memory_order_release);
    if (fence_ != nullptr) fence_->Close();
    if (metrics_ != nullptr && before != Phase::kIdle) metrics_->SetLeading(false);
    ++round_;
    if (deadline_ != 0) timers().Cancel(std::exchange(deadline_, 0));
    // A try under way may be winning the lease just now: its answer is waited for.
    const bool winning = before == Phase::kAcquiring && writing_;
    deadline_ =
        timers().Schedule(winning ? kPatience : options_.renew_deadline, [weak = weak_from_this()] {
          const auto self = weak.lock();
          if (self == nullptr) return;
          {
            MutexLock inner(self->mutex_);
            if (self->phase_ == Phase::kReleasing) self->Finish();
          }
          self->CancelWhatEnded();
        });
    if (before == Phase::kLeading) {
      TellAndRelease();
    } else if (!winning) {
      Finish();
    }
  }
  CancelWhatEnded();
}

void LeaderElector::Core::TellAndRelease() { Send(EventRequest("stopped leading"), &Core::Told); }

// By value, as all steps get their answers.
void LeaderElector::Core::Told(
    RestReply /*reply*/) {  // NOLINT(performance-unnecessary-value-param)
  ReadForRelease();
}

void LeaderElector::Core::ReadForRelease() { Get(&Core::ReleaseRead); }

void LeaderElector::Core::ReleaseRead(RestReply reply) {
  if (!reply.ok()) {
    if (!reply.error->IsNotFound()) {
      log::Error(reply.error->message, "Failed to release lock", {{"lock", lock_}});
    }
    return Finish();
  }
  Result<LeaseObject> read = LeaseObject::Parse(reply.body);
  if (!read.ok() || read->record().holder != options_.identity) return Finish();
  lease_ = std::move(read).value();
  const std::string now = FormatMicroTime(client_.clock().WallNow());
  Send(Update({.holder = "",
               .duration_seconds = 1,
               .acquire_time = now,
               .renew_time = now,
               .transitions = lease_.record().transitions}),
       &Core::ReleaseWritten);
}

void LeaderElector::Core::ReleaseWritten(RestReply reply) {
  if (!reply.ok()) {
    if (reply.error->IsConflict()) return ReadForRelease();
    log::Error(reply.error->message, "Failed to release lock", {{"lock", lock_}});
  }
  Finish();
}

void LeaderElector::Core::Finish() {
  EndOperation();
  if (deadline_ != 0) timers().Cancel(std::exchange(deadline_, 0));
  phase_ = Phase::kOver;
  Notify(std::exchange(released_, nullptr));
}

// ---- callbacks and the end ----

void LeaderElector::Core::Notify(std::function<void()> callback) {
  if (!callback) return;
  timers().Schedule(Duration::zero(), [weak = weak_from_this(), callback = std::move(callback)] {
    if (const auto self = weak.lock()) self->RunNotice(callback);
  });
}

void LeaderElector::Core::RunNotice(const std::function<void()>& callback) {
  {
    MutexLock lock(mutex_);
    if (ended_for_good_) return;
    ++notices_running_;
  }
  callback();
  MutexLock lock(mutex_);
  --notices_running_;
  quiet_.NotifyAll();
}

void LeaderElector::Core::End() {
  {
    MutexLock lock(mutex_);
    ended_for_good_ = true;
    phase_ = Phase::kOver;
    leading_.store(false, std::memory_order_release);
    EndOperation();
    ++round_;
    if (deadline_ != 0) timers().Cancel(std::exchange(deadline_, 0));
    if (fence_ != nullptr) fence_->Close();
    while (notices_running_ != 0) quiet_.Wait(mutex_);
  }
  CancelWhatEnded();
}

std::string LeaderElector::Core::Failure(Duration tolerance) const {
  if (!IsLeader()) return "";
  const TimePoint renewed{Duration(renewed_.load(std::memory_order_acquire))};
  if (Now() <= renewed + options_.lease_duration + tolerance) return "";
  return "failed election to renew leadership on lease " + options_.lease_name;
}

// ---- the public object ----

LeaderElector::LeaderElector(RestClient& client, LeaderElectorOptions options,
                             LeaderMetrics* metrics, LeaderCallbacks callbacks)
    : core_(std::make_shared<Core>(client, std::move(options), metrics, std::move(callbacks))) {}

LeaderElector::~LeaderElector() { core_->End(); }

void LeaderElector::Stand(std::shared_ptr<WriteFence> fence) { core_->Stand(std::move(fence)); }
void LeaderElector::Release(std::function<void()> done) { core_->Release(std::move(done)); }
bool LeaderElector::IsLeader() const { return core_->IsLeader(); }
std::string LeaderElector::Failure(Duration tolerance) const { return core_->Failure(tolerance); }
const std::string& LeaderElector::identity() const { return core_->identity(); }

}  // namespace ks::client
