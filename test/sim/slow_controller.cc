// SPDX-License-Identifier: Apache-2.0
#include "sim/slow_controller.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/random.h"

namespace ks::sim {
namespace {

class SlowController final : public apiserver::Controller {
 public:
  SlowController(apiserver::Service& service, Slowness slowness,
                 std::unique_ptr<apiserver::Controller> real)
      : clock_(service.clock()),
        store_(service.store()),
        start_(clock_.Now()),
        longest_(slowness.longest),
        outages_(std::move(slowness.outages)),
        random_(slowness.seed),
        real_(std::move(real)) {}

  void Step() override {
    const TimePoint now = clock_.Now();
    if (!due_.has_value() || now < *due_) {
      // Other controllers' turns are no news: two would keep each other busy for ever.
      if (seen_ == store_.version()) return;
      seen_ = store_.version();
      const TimePoint soon = AfterDelay(now);
      due_ = std::min(due_.value_or(soon), soon);
      return;
    }
    seen_ = store_.version();
    real_->Step();
    due_ = real_->NextDue();
    if (due_.has_value()) due_ = AfterDelay(std::max(*due_, now));
  }

  std::optional<TimePoint> NextDue() const override { return due_; }

 private:
  // A random delay after `when`, and in no outage.
  TimePoint AfterDelay(TimePoint when) {
    const auto most = static_cast<uint64_t>(longest_.count());
    when += std::chrono::microseconds(1) + Duration(static_cast<int64_t>(random_.Below(most + 1)));
    for (const PlannedOutage& outage : outages_) {
      if (when >= start_ + outage.begin) when = std::max(when, start_ + outage.end);
    }
    return when;
  }

  const Clock& clock_;
  const apiserver::Store& store_;
  const TimePoint start_;
  const Duration longest_;
  const std::vector<PlannedOutage> outages_;
  Random random_;
  const std::unique_ptr<apiserver::Controller> real_;
  std::optional<TimePoint> due_;
  uint64_t seen_ = 0;  // version of the store that due_ answers to
};

}  // namespace

std::unique_ptr<apiserver::Controller> NewSlowController(
    apiserver::Service& service, Slowness slowness, std::unique_ptr<apiserver::Controller> real) {
  return std::make_unique<SlowController>(service, std::move(slowness), std::move(real));
}

}  // namespace ks::sim
