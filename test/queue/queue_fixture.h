// SPDX-License-Identifier: Apache-2.0
#pragma once
// A queue under a virtual clock, with plugins made of a few lines. Shared by the queue's tests.

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "queue/scheduling_queue.h"
#include "testing/builders.h"
#include "testing/fake_clock.h"

namespace ks::queue::testing {

using framework::ClusterEvent;
using framework::EventObject;
using framework::EventResource;
using framework::QueueingHint;

// PrioritySort.
inline bool PriorityLess(const framework::QueuedEntity& a, const framework::QueuedEntity& b) {
  if (a.Priority() != b.Priority()) return a.Priority() > b.Priority();
  return a.timestamp < b.timestamp;
}

inline framework::QueueingHintFn Says(QueueingHint hint) {
  return [hint](const api::Pod&, const EventObject&, const EventObject&) -> Result<QueueingHint> {
    return hint;
  };
}
inline framework::QueueingHintFn Fails() {
  return [](const api::Pod&, const EventObject&, const EventObject&) -> Result<QueueingHint> {
    return Error{"the hint failed"};
  };
}

inline constexpr ClusterEvent kNodeAdd{EventResource::kNode, framework::kActionAdd, {}};
inline constexpr ClusterEvent kNodeTaint{
    EventResource::kNode, framework::kActionUpdateNodeTaint, {}};
inline constexpr ClusterEvent kNodeLabel{
    EventResource::kNode, framework::kActionUpdateNodeLabel, {}};
inline constexpr ClusterEvent kAssignedPodDelete{
    EventResource::kAssignedPod, framework::kActionDelete, {}};
inline constexpr ClusterEvent kClaimAdd{
    EventResource::kPersistentVolumeClaim, framework::kActionAdd, {}};
inline constexpr ClusterEvent kVolumeAdd{
    EventResource::kPersistentVolume, framework::kActionAdd, {}};
inline constexpr ClusterEvent TargetPod(uint32_t actions) {
  return {EventResource::kTargetPod, actions, {}};
}

// Gates by spec.schedulingGates, as the plugin of that name; `extra` first.
inline framework::Status GateBySpec(const api::Pod& pod) {
  if (pod.spec->scheduling_gates.empty()) return {};
  return framework::Status(framework::Code::kUnschedulableAndUnresolvable,
                           {"waiting for scheduling gates"}, "SchedulingGates");
}

class QueueTest : public ::testing::Test {
 protected:
  using Registrations = ProfileHooks::Registrations;

  // Times of the examples are seconds after a whole minute.
  QueueTest() { clock_.Advance(std::chrono::seconds(55)); }

  // X wants new nodes, Y always refuses them, SchedulingGates its own event.
  static Registrations DefaultRegistrations() {
    Registrations registrations;
    registrations["X"] = {{kNodeAdd, Says(QueueingHint::kQueue)}};
    registrations["Skipper"] = {{kNodeAdd, Says(QueueingHint::kSkip)},
                                {kAssignedPodDelete, Says(QueueingHint::kSkip)}};
    registrations["SchedulingGates"] = {
        {TargetPod(framework::kActionUpdatePodSchedulingGatesEliminated),
         Says(QueueingHint::kQueue)}};
    return registrations;
  }

  // Builds the queue; call once, before anything else.
  SchedulingQueue& Make(Registrations registrations = DefaultRegistrations(),
                        std::function<void(SchedulingQueueOptions&)> change = {}) {
    SchedulingQueueOptions options;
    options.clock = &clock_;
    ProfileHooks hooks;
    hooks.less = PriorityLess;
    hooks.pre_enqueue = [this](const api::Pod& pod, std::string_view first) {
      pre_enqueue_first_ = std::string(first);
      framework::Status status = gate_ ? gate_(pod) : framework::Status();
      return status.ok() ? GateBySpec(pod) : status;
    };
    hooks.registrations = std::move(registrations);
    options.profiles.emplace("default-scheduler", std::move(hooks));
    if (change) change(options);
    profiles_ = options.profiles;
    queue_ = std::make_unique<SchedulingQueue>(std::move(options));
    start_ = clock_.Now();
    return *queue_;
  }

  // Moves the clock to that many seconds after the minute in which the test began.
  void At(double seconds) {
    const auto nanos = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
    // Whole milliseconds: the examples are written in decimals.
    const Duration target = std::chrono::round<std::chrono::milliseconds>(nanos);
    const Duration now = clock_.Now() - start_;
    ASSERT_LE(now, target) << "the clock cannot go back";
    clock_.Advance(target - now);
  }
  double Seconds(TimePoint time) const {
    return std::chrono::duration<double>(time - start_).count();
  }

  // Pops the pod, which must be the named one, and returns it rejected by the plugins.
  framework::QueuedPodPtr PopNamed(const std::string& name) {
    framework::QueuedPodPtr pod = queue_->Pop().pod;
    EXPECT_EQ(pod == nullptr ? "nothing" : pod->pod()->meta.name, name);
    return pod;
  }
  void Fail(const framework::QueuedPodPtr& pod, std::set<std::string> unschedulable,
            std::set<std::string> pending = {}) {
    ASSERT_NE(pod, nullptr);
    pod->unschedulable_plugins = std::move(unschedulable);
    pod->pending_plugins = std::move(pending);
    pod->gating_plugin = {};
    const Result<void> returned = queue_->AddUnschedulableIfNotPresent(pod);
    EXPECT_TRUE(returned.ok()) << (returned.ok() ? "" : returned.error().message);
  }
  void PopAndFail(const std::string& name, std::set<std::string> unschedulable,
                  std::set<std::string> pending = {}) {
    Fail(PopNamed(name), std::move(unschedulable), std::move(pending));
  }
  void Send(const ClusterEvent& event, const SchedulingQueue::PreCheck& precheck = {}) {
    queue_->MoveAllToActiveOrBackoff(event, {}, {}, precheck);
  }

  Store StoreOf(const std::string& name) const { return queue_->stores().StoreOf("ns/" + name); }
  const framework::QueuedPod& Stored(const std::string& name) const {
    const framework::QueuedPod* pod = queue_->stores().FindPod("ns/" + name);
    EXPECT_NE(pod, nullptr);
    return *pod;
  }
  // "NodeAdd PodPopped" …: labels with a count, ascending, repeated by count.
  std::string Logged() const {
    std::string text;
    for (const auto& [label, count] : queue_->in_flight().counts()) {
      for (int64_t i = 0; i < count; ++i) text += (text.empty() ? "" : " ") + label;
    }
    return text;
  }
  // "label=count …" in the order of labels.
  static std::string Counts(const std::map<std::string, int64_t, std::less<>>& counters) {
    std::string text;
    for (const auto& [label, count] : counters) {
      text += (text.empty() ? "" : " ") + label + "=" + std::to_string(count);
    }
    return text;
  }
  std::string Rejections() const {
    std::string text;
    for (const auto& [key, count] : queue_->stats().unschedulable_pods) {
      if (count != 0) text += (text.empty() ? "" : " ") + key.first + "=" + std::to_string(count);
    }
    return text;
  }

  ks::testing::FakeClock clock_;
  ProfileHooksByName profiles_;  // as given to the queue
  TimePoint start_{};
  std::function<framework::Status(const api::Pod&)> gate_;
  std::string pre_enqueue_first_;
  std::unique_ptr<SchedulingQueue> queue_;
};

}  // namespace ks::queue::testing
