// SPDX-License-Identifier: Apache-2.0
#include "client/write/event_job.h"

#include <chrono>

#include "base/logging.h"
#include "client/write/write_dispatcher.h"

namespace ks::client {
namespace {

// docs/spec/api.md 10.4.
constexpr int kTries = 12;
constexpr Duration kWait = std::chrono::seconds(10);
constexpr double kJitter = 0.25;

}  // namespace

void EventJob::Try() {
  EventRecorder::Sending sending = recorder_->MakeSending(*event_, creates_);
  creates_ = sending.creates;
  count_ = sending.count;
  Send(std::move(sending.request), &EventJob::OnAnswer);
}

void EventJob::OnAnswer(const RestReply& reply) {
  if (reply.ok()) return Finish(/*accepted=*/true);
  const api::ApiError& error = *reply.error;
  if (error.IsAlreadyExists() && creates_ && uncertain()) return Finish(/*accepted=*/true);
  const bool ends = reply.fenced || dispatcher().IsClosed();
  if (!ends && RetryIfFormRefused(reply)) return;
  if (!ends && tries() < kTries && TryAgain(error)) return;
  if (!ends) {
    log::Error(error.message, "Server rejected event (will not retry!)", {{"event", event_->name}});
  }
  Finish(/*accepted=*/false);
}

// False: the answer is final.
bool EventJob::TryAgain(const api::ApiError& error) {
  if (!creates_ && error.IsNotFound()) {
    creates_ = true;
    RetryAfter(Duration::zero());
    return true;
  }
  if (creates_ && error.IsAlreadyExists() && count_ > 1) {
    creates_ = false;
    RetryAfter(kWait);
    return true;
  }
  if (!error.IsTransport()) return false;
  RetryAfter(dispatcher().Jittered(kWait, kJitter));
  return true;
}

void EventJob::Finish(bool accepted) {
  recorder_->FinishSending(event_, count_, accepted);
  End(std::nullopt);
}

}  // namespace ks::client
