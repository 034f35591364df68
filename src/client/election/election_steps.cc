// SPDX-License-Identifier: Apache-2.0
#include "client/election/election_steps.h"

namespace ks::client {

void ElectionSteps::SendRequest(RestRequest request, OnReply next) {
  StopStep();
  writes_ = request.method != "GET";
  sent_ = clock().Now();
  exchange_ = client_.Send(std::move(request), [self = shared_from_this(), step = step_,
                                                next = std::move(next)](const RestReply& reply) {
    {
      MutexLock lock(self->mutex_);
      if (step != self->step_) return;
      self->exchange_ = nullptr;
      next(reply);
    }
    self->CancelStopped();
  });
}

void ElectionSteps::StartWait(Duration delay, OnTimer next) {
  StopStep();
  wait_ = client_.timers().Schedule(
      delay, [weak = weak_from_this(), step = step_, next = std::move(next)] {
        const auto self = weak.lock();
        if (self == nullptr) return;
        {
          MutexLock lock(self->mutex_);
          if (step != self->step_) return;
          self->wait_ = 0;
          next();
        }
        self->CancelStopped();
      });
}

void ElectionSteps::StopStep() {
  ++step_;
  if (wait_ != 0) client_.timers().Cancel(std::exchange(wait_, 0));
  AddStopped(std::exchange(exchange_, nullptr));
}

void ElectionSteps::StartDeadlineTimer(Duration delay, OnTimer next) {
  StopDeadline();
  deadline_ = client_.timers().Schedule(
      delay, [weak = weak_from_this(), round = round_, next = std::move(next)] {
        const auto self = weak.lock();
        if (self == nullptr) return;
        {
          MutexLock lock(self->mutex_);
          if (round != self->round_) return;
          self->deadline_ = 0;
          next();
        }
        self->CancelStopped();
      });
}

void ElectionSteps::StopDeadline() {
  ++round_;
  if (deadline_ != 0) client_.timers().Cancel(std::exchange(deadline_, 0));
}

void ElectionSteps::FollowLease(const LeaseLock& lock, const LeaseObject& lease,
                                LeaseWatch::Seen seen) {
  watch_.Follow(lock, lease, [weak = weak_from_this(), seen = std::move(seen)](LeaseObject state) {
    const auto self = weak.lock();
    if (self == nullptr) return;
    {
      MutexLock lock(self->mutex_);
      seen(std::move(state));
    }
    self->CancelStopped();
  });
}

void ElectionSteps::CancelStopped() {
  std::vector<std::shared_ptr<Exchange>> stopped;
  {
    MutexLock lock(mutex_);
    stopped.swap(stopped_);
  }
  for (const auto& exchange : stopped) exchange->Cancel();
}

}  // namespace ks::client
