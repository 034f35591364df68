// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the steps of an elector run on: one request or one wait at a time, whose end begins the next
// step, and beside it a deadline, and what is heard of a lease. A step is a method of the elector
// that requires its mutex; it is called with the mutex held, and not at all once the request, wait
// or deadline was stopped.
//
//              Send            the answer
//   idle <---> sending ----------------------> step
//        <---> waiting ----------------------> step
//              Wait            the time

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "client/election/lease_watch.h"
#include "client/rest/rest_client.h"

namespace ks::client {

// To be derived from; `Elector` below is the derived class. Threads: any.
// Lifetime: held by a shared_ptr, which a request under way shares, a wait and the deadline do not.
// The client outlives it.
class ElectionSteps : public std::enable_shared_from_this<ElectionSteps> {
 public:
  ElectionSteps(const ElectionSteps&) = delete;
  ElectionSteps& operator=(const ElectionSteps&) = delete;

 protected:
  explicit ElectionSteps(RestClient& client) : client_(client), watch_(client) {}
  ~ElectionSteps() = default;

  // Each stops what is under way, and begins this instead. An answer that does not matter need not
  // be taken.
  template <class Elector>
  void Send(RestRequest&& request, void (Elector::*next)(const RestReply&)) KS_REQUIRES(mutex_) {
    SendRequest(std::move(request), [elector = static_cast<Elector*>(this),
                                     next](const RestReply& reply) { (elector->*next)(reply); });
  }
  template <class Elector>
  void Send(RestRequest&& request, void (Elector::*next)()) KS_REQUIRES(mutex_) {
    SendRequest(std::move(request), [elector = static_cast<Elector*>(this),
                                     next](const RestReply& /*reply*/) { (elector->*next)(); });
  }
  template <class Elector>
  void Wait(Duration delay, void (Elector::*next)()) KS_REQUIRES(mutex_) {
    StartWait(delay, [elector = static_cast<Elector*>(this), next] { (elector->*next)(); });
  }
  void StopStep() KS_REQUIRES(mutex_);
  // A request is under way that may change the lease.
  bool IsWriting() const KS_REQUIRES(mutex_) { return exchange_ != nullptr && writes_; }
  // When the last request was sent, or a moment before.
  TimePoint sent() const KS_REQUIRES(mutex_) { return sent_; }

  // In place of the deadline before, if any.
  template <class Elector>
  void StartDeadline(Duration delay, void (Elector::*next)()) KS_REQUIRES(mutex_) {
    StartDeadlineTimer(delay,
                       [elector = static_cast<Elector*>(this), next] { (elector->*next)(); });
  }
  void StopDeadline() KS_REQUIRES(mutex_);

  // A wait is under way, not a request.
  bool IsWaiting() const KS_REQUIRES(mutex_) { return wait_ != 0; }

  // What happens to the lease is told, beside everything else, until StopFollowing (LeaseWatch).
  template <class Elector>
  void Follow(const LeaseLock& lock, const LeaseObject& lease, void (Elector::*seen)(LeaseObject&&))
      KS_REQUIRES(mutex_) {
    FollowLease(lock, lease, [elector = static_cast<Elector*>(this), seen](LeaseObject state) {
      (elector->*seen)(std::move(state));
    });
  }
  void StopFollowing() KS_REQUIRES(mutex_) { AddStopped(watch_.Close()); }

  // To be called at the end of whatever may have stopped a request: the transport may answer from
  // inside Cancel.
  void CancelStopped() KS_EXCLUDES(mutex_);

  RestClient& client() const { return client_; }
  const Clock& clock() const { return client_.clock(); }

  Mutex mutex_;

 private:
  using OnReply = std::function<void(const RestReply&)>;
  using OnTimer = std::function<void()>;

  void SendRequest(RestRequest request, OnReply next) KS_REQUIRES(mutex_);
  void StartWait(Duration delay, OnTimer next) KS_REQUIRES(mutex_);
  void StartDeadlineTimer(Duration delay, OnTimer next) KS_REQUIRES(mutex_);
  void FollowLease(const LeaseLock& lock, const LeaseObject& lease, LeaseWatch::Seen seen)
      KS_REQUIRES(mutex_);
  // Null: nothing to cancel.
  void AddStopped(std::shared_ptr<Exchange> exchange) KS_REQUIRES(mutex_) {
    if (exchange != nullptr) stopped_.push_back(std::move(exchange));
  }

  RestClient& client_;
  LeaseWatch watch_ KS_GUARDED_BY(mutex_);
  uint64_t step_ KS_GUARDED_BY(mutex_) = 0;  // the request or wait under way
  std::shared_ptr<Exchange> exchange_ KS_GUARDED_BY(mutex_);
  bool writes_ KS_GUARDED_BY(mutex_) = false;  // the last request sent does
  TimePoint sent_ KS_GUARDED_BY(mutex_){};
  TimerId wait_ KS_GUARDED_BY(mutex_) = 0;
  uint64_t round_ KS_GUARDED_BY(mutex_) = 0;  // the deadline under way
  TimerId deadline_ KS_GUARDED_BY(mutex_) = 0;
  std::vector<std::shared_ptr<Exchange>> stopped_ KS_GUARDED_BY(mutex_);  // not canceled yet
};

}  // namespace ks::client
