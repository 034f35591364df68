// SPDX-License-Identifier: Apache-2.0
// The end of a term that is given back, the events of leader election, and the end of an elector.
#include <utility>

#include "base/check.h"
#include "base/logging.h"
#include "client/election/leader_elector_core.h"

namespace ks::client {
namespace {

// How long the end waits: for the answer of a try that may just have won, and for that of an event.
constexpr Duration kPatience = std::chrono::seconds(1);

}  // namespace

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

void LeaderElector::Core::BeginRelease(Duration patience, std::function<void()> done) {
  phase_ = Phase::kReleasing;
  released_ = std::move(done);
  const uint64_t round = ++round_;
  if (deadline_ != 0) timers().Cancel(std::exchange(deadline_, 0));
  deadline_ = timers().Schedule(patience, [weak = weak_from_this(), round] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    {
      MutexLock inner(self->mutex_);
      if (self->phase_ == Phase::kReleasing && self->round_ == round) self->Finish();
    }
    self->CancelWhatEnded();
  });
}

void LeaderElector::Core::Yield(std::function<void()> done) {
  {
    MutexLock lock(mutex_);
    KS_CHECK(phase_ == Phase::kCalledBack, "Yield of a lease that nobody called back");
    after_release_ = Phase::kIdle;
    BeginRelease(options_.renew_deadline, std::move(done));
    TellAndRelease();
  }
  CancelWhatEnded();
}

void LeaderElector::Core::Release(std::function<void()> done) {
  {
    MutexLock lock(mutex_);
    KS_CHECK(phase_ != Phase::kReleasing && phase_ != Phase::kOver, "Release is called once");
    const Phase before = phase_;
    after_release_ = Phase::kOver;
    leading_.store(false, std::memory_order_release);
    if (fence_ != nullptr) fence_->Close();
    if (metrics_ != nullptr && before != Phase::kIdle) metrics_->SetLeading(false);
    // A try under way may be winning the lease just now: its answer is waited for.
    const bool winning = before == Phase::kAcquiring && writing_;
    BeginRelease(winning ? kPatience : options_.renew_deadline, std::move(done));
    if (before == Phase::kLeading || before == Phase::kCalledBack) {
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
  phase_ = after_release_;
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

}  // namespace ks::client
