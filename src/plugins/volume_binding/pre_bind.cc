// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/pre_bind.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/canary.h"
#include "plugins/volume_binding/binding_check.h"

namespace ks::plugins {
namespace {

using framework::PreBindStep;
using framework::Status;

constexpr Duration kAskAgain = std::chrono::seconds(1);

class BindingSequence final : public framework::PreBindSequence {
 public:
  BindingSequence(framework::Handle& handle, BindingWork work)
      : handle_(handle), work_(std::move(work)) {}

  PreBindStep Next(const Status& previous) override {
    if (check_) return Wait();
    Reservation& reservation = *work_.reservation;
    reservation.TakeAnswers();
    if (!previous.ok()) {
      reservation.Revert(started_ - 1);
      return Failed(previous);
    }
    if (started_ < reservation.writes()) {
      PreBindStep step;
      step.calls.push_back(reservation.Write(started_++));
      return step;
    }
    check_.emplace(handle_, work_.reservation, work_.pod);
    deadline_ = handle_.clock().Now() + work_.timeout;
    return Wait();
  }

  void Cancel(std::string_view) override { CountError(); }

 private:
  PreBindStep Wait() {
    const TimePoint now = handle_.clock().Now();
    if (KS_CANARY(ClaimsNotAwaited)) verdict_ = "";
    if (!verdict_ && now < deadline_) verdict_ = check_->Ask();
    if (!verdict_ && now >= deadline_) verdict_ = "context deadline exceeded";
    if (verdict_) {
      if (!verdict_->empty()) return Failed(Status::Error("binding volumes: " + *verdict_));
      PreBindStep done;
      done.finished = true;
      return done;
    }
    PreBindStep step;
    step.condition = [this]() -> std::optional<Status> {
      verdict_ = check_->Ask();
      return verdict_ ? std::optional<Status>(Status()) : std::nullopt;
    };
    step.concerned_by = [this] { return check_->Objects(); };
    // Not a failure yet: Next asks whether it is.
    step.deadline = std::min(deadline_, now + kAskAgain);
    return step;
  }

  void CountError() {
    if (work_.metrics != nullptr) work_.metrics->CountBindError();
  }

  PreBindStep Failed(Status status) {
    CountError();
    PreBindStep step;
    step.finished = true;
    step.status = std::move(status);
    return step;
  }

  framework::Handle& handle_;
  const BindingWork work_;
  size_t started_ = 0;  // writes
  // While it waits for the volumes to be bound.
  std::optional<BindingCheck> check_;
  TimePoint deadline_;
  std::optional<std::string> verdict_;  // as BindingCheck::Ask says it
};

}  // namespace

std::unique_ptr<framework::PreBindSequence> NewBindingSequence(framework::Handle& handle,
                                                               BindingWork work) {
  return std::make_unique<BindingSequence>(handle, std::move(work));
}

}  // namespace ks::plugins
