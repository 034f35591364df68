// SPDX-License-Identifier: Apache-2.0
#include "scheduler/step_tap.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace ks::scheduler {

using framework::EvictionOutcome;
using framework::ExtenderReply;
using framework::ExtenderRequest;
using framework::ExtenderTransport;

// Moves on when a round begins, and by something, so that what happens in two rounds never happens
// at the same time.
class StepTap::StepClock final : public Clock {
 public:
  explicit StepClock(const Clock& real) : real_(real) { Advance(); }

  void Advance() {
    const TimePoint last(Duration(now_.load(std::memory_order_relaxed)));
    now_.store(std::max(real_.Now(), last + Duration(1)).time_since_epoch().count());
    wall_.store(real_.WallNow().time_since_epoch().count());
  }
  const Clock& real() const { return real_; }
  TimePoint Now() const override { return TimePoint(Duration(now_.load())); }
  TimePoint WallNow() const override { return TimePoint(Duration(wall_.load())); }

 private:
  const Clock& real_;
  std::atomic<int64_t> now_{0};
  std::atomic<int64_t> wall_{0};
};

class StepTap::Api final : public framework::ApiWriter {
 public:
  Api(framework::ApiWriter& inner, StepTap& tap) : inner_(inner), tap_(tap) {}

  void Bind(api::PodPtr pod, std::string node_name, Done done) override {
    inner_.Bind(std::move(pod), std::move(node_name), Answered(std::move(done)));
  }
  void PatchPodStatus(api::PodPtr pod, api::PodStatusChange change, Done done) override {
    inner_.PatchPodStatus(std::move(pod), std::move(change), Answered(std::move(done)));
  }
  void PatchPodGroupStatus(api::PodGroupPtr group, api::Condition condition, Done done) override {
    inner_.PatchPodGroupStatus(std::move(group), std::move(condition), Answered(std::move(done)));
  }
  void EvictPod(api::PodPtr pod, api::Condition condition, TimePoint decided,
                EvictionDone done) override {
    tap_.record_.evictions.push_back({pod});
    inner_.EvictPod(std::move(pod), std::move(condition), decided,
                    [&tap = tap_, call = ++tap_.calls_, done = std::move(done)](
                        EvictionOutcome outcome, const std::optional<api::ApiError>& error) {
                      tap.Deliver(CallResult{.call = call, .eviction = outcome, .error = error},
                                  [done, outcome, error] { done(outcome, error); });
                    });
  }
  void WriteVolume(api::PersistentVolumePtr version, WriteDone done) override {
    inner_.WriteVolume(std::move(version), Written(std::move(done)));
  }
  void WriteClaim(api::PersistentVolumeClaimPtr version, WriteDone done) override {
    inner_.WriteClaim(std::move(version), Written(std::move(done)));
  }
  void SendClaimRequest(api::ClaimRequest request, ClaimDone done) override {
    inner_.SendClaimRequest(
        std::move(request),
        [&tap = tap_, call = ++tap_.calls_, done = std::move(done)](
            const std::optional<api::ApiError>& error, const api::ResourceClaimPtr& claim) {
          tap.Deliver(CallResult{.call = call, .error = error, .claim = claim},
                      [done, error, claim] { done(error, claim); });
        });
  }
  void RecordEvent(framework::PodEvent event) override { inner_.RecordEvent(std::move(event)); }

 private:
  Done Answered(Done done) {
    return [&tap = tap_, call = ++tap_.calls_,
            done = std::move(done)](const std::optional<api::ApiError>& error) {
      tap.Deliver(CallResult{.call = call, .error = error}, [done, error] { done(error); });
    };
  }

  WriteDone Written(WriteDone done) {
    return [&tap = tap_, call = ++tap_.calls_, done = std::move(done)](
               const std::optional<api::ApiError>& error, const std::string& resource_version) {
      tap.Deliver(CallResult{.call = call, .error = error, .resource_version = resource_version},
                  [done, error, resource_version] { done(error, resource_version); });
    };
  }

  framework::ApiWriter& inner_;
  StepTap& tap_;
};

class StepTap::Transport final : public ExtenderTransport {
 public:
  Transport(std::shared_ptr<ExtenderTransport> inner, StepTap& tap)
      : inner_(std::move(inner)), tap_(tap) {}

  void Call(ExtenderRequest request, Done done) override {
    inner_->Call(std::move(request), [&tap = tap_, number = ++tap_.requests_,
                                      done = std::move(done)](const ExtenderReply& reply) {
      tap.Deliver(ExtenderAnswer{.request = number, .reply = reply},
                  [done, reply] { done(reply); });
    });
  }

  // The answers are of this round, behind what came in at its beginning.
  std::optional<std::vector<ExtenderReply>> CallAndWait(std::vector<ExtenderRequest> requests,
                                                        const std::stop_token& stop) override {
    const uint64_t before = tap_.requests_.fetch_add(requests.size());
    auto replies = inner_->CallAndWait(std::move(requests), stop);
    if (!replies) return replies;
    for (size_t i = 0; i < replies->size(); ++i) {
      tap_.Note(ExtenderAnswer{.request = before + 1 + i, .reply = (*replies)[i]});
    }
    return replies;
  }

 private:
  const std::shared_ptr<ExtenderTransport> inner_;
  StepTap& tap_;
};

StepTap::StepTap(const Clock& clock, framework::ApiWriter& api, Inbox& inbox, StepObserver observer)
    : clock_(std::make_unique<StepClock>(clock)),
      api_(std::make_unique<Api>(api, *this)),
      inbox_(inbox),
      observer_(std::move(observer)) {}

StepTap::~StepTap() = default;

const Clock& StepTap::outer_clock() const { return clock_->real(); }
const Clock& StepTap::clock() const { return *clock_; }

framework::ApiWriter& StepTap::api() { return *api_; }

framework::ExtenderTransportFactory StepTap::Wrap(framework::ExtenderTransportFactory factory) {
  if (!factory) return factory;
  return [this, factory = std::move(factory)](const std::vector<config::Extender>& extenders)
             -> Result<std::shared_ptr<ExtenderTransport>> {
    auto made = factory(extenders);
    if (!made.ok()) return made.error();
    return std::shared_ptr<ExtenderTransport>(
        std::make_shared<Transport>(std::move(made).value(), *this));
  };
}

void StepTap::Deliver(StepInput input, Task task) {
  inbox_.Post(Task([this, input = std::move(input), task = std::move(task)]() mutable {
    Note(std::move(input));
    task();
  }));
}

void StepTap::Begin() {
  KS_CHECK(!std::exchange(in_round_, true), "a round begins within another");
  clock_->Advance();
  record_.now = clock_->Now();
  record_.wall = clock_->WallNow();
  record_.may_attempt = true;
}

void StepTap::End(bool worked) {
  KS_CHECK(std::exchange(in_round_, false), "a round ends that never began");
  if (!worked) {
    idle_ |= record_.may_attempt;
    return;
  }
  record_.idle_before = std::exchange(idle_, false);
  observer_(std::exchange(record_, StepRecord()));
}

}  // namespace ks::scheduler
