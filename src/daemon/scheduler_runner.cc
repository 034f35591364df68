// SPDX-License-Identifier: Apache-2.0
#include "daemon/scheduler_runner.h"

#include "base/check.h"

namespace ks::daemon {
namespace {

// Longest wait for the bindings in flight, if nobody stops with less.
constexpr Duration kLongestGrace = std::chrono::minutes(1);

}  // namespace

void ThreadRunner::Start(scheduler::Scheduler& scheduler) {
  KS_CHECK(scheduler_ == nullptr, "a runner runs one scheduler, once");
  scheduler_ = &scheduler;
  thread_ = std::thread([&scheduler] { scheduler.Run(kLongestGrace); });
  transport_.SetAfterDelivery([&scheduler] { scheduler.RunBeside(); });
}

void ThreadRunner::Stop(Duration grace) {
  if (!thread_.joinable()) return;
  transport_.SetAfterDelivery(nullptr);
  scheduler_->Stop(grace);
  thread_.join();
}

}  // namespace ks::daemon
