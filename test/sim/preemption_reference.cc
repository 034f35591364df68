// SPDX-License-Identifier: Apache-2.0
#include "sim/preemption_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace ks::sim {
namespace {

using framework::Code;
using framework::CycleState;
using framework::Handle;
using framework::NodeInfo;
using framework::PodInfoPtr;

bool IsPreempted(const api::Pod& pod) {
  if (!pod.meta.deletion_timestamp) return false;
  const api::Condition* condition = pod.FindCondition("DisruptionTarget");
  return condition != nullptr && condition->status == "True" &&
         condition->reason == "PreemptionByScheduler";
}

std::string WhyNotEligible(Handle& handle, const api::Pod& pod,
                           const framework::NodeStatuses& statuses) {
  if (pod.spec->preemption_policy.view() == "Never") {
    return "not eligible due to preemptionPolicy=Never.";
  }
  // The status, once it shows what was patched.
  std::string nominated = pod.status.nominated_node_name.str();
  if (nominated.empty()) nominated = handle.nominator().NodeOf(pod.meta.uid);
  const NodeInfo* node = nominated.empty() ? nullptr : handle.snapshot().Find(nominated);
  if (node == nullptr) return {};
  if (statuses.Get(node->index()).code() == Code::kUnschedulableAndUnresolvable) return {};
  const bool waits = std::any_of(node->pods().begin(), node->pods().end(), [&](const auto& info) {
    return info->pod().Priority() < pod.Priority() && IsPreempted(info->pod());
  });
  return waits ? "not eligible due to a terminating pod on the nominated node." : "";
}

bool Covers(const api::PodDisruptionBudget& budget, const api::Pod& pod) {
  if (pod.meta.labels.empty() || budget.meta.ns != pod.meta.ns) return false;
  const auto& gone = budget.disrupted_pods;
  return budget.selector.Matches(pod.meta.labels) &&
         std::find(gone.begin(), gone.end(), pod.meta.name) == gone.end();
}

// Spends the budgets in the order of the pods; true: the pod's eviction violates one.
bool Spend(std::vector<Budget>& budgets, const api::Pod& pod) {
  for (Budget& budget : budgets) {
    if (Covers(*budget.object, pod) && --budget.left < 0) return true;
  }
  return false;
}

// A pod that has not started counts as started later than all others.
bool StartedBefore(const api::Pod& a, const api::Pod& b) {
  constexpr TimePoint kNever = TimePoint::max();
  return a.status.start_time.value_or(kNever) < b.status.start_time.value_or(kNever);
}

// One node without its lower-priority pods, to which they come back one by one.
class DryRun {
 public:
  DryRun(Handle& handle, const CycleState& state, const api::Pod& pod, const NodeInfo& node)
      : handle_(handle), state_(state.Clone()), pod_(pod), node_(node) {}

  bool RemoveLower() {
    for (const PodInfoPtr& info : node_.pods()) {
      if (info->pod().Priority() < pod_.Priority()) lower_.push_back(info);
    }
    for (const PodInfoPtr& info : lower_) Remove(info);
    return !lower_.empty();
  }
  bool Fits() const {
    return handle_.runner().RunFilterPluginsWithNominatedPods(state_, pod_, node_).ok();
  }
  bool failed() const { return failed_; }

  PreemptionCandidate Reprieve(std::vector<Budget> budgets) {
    std::stable_sort(lower_.begin(), lower_.end(), [](const auto& a, const auto& b) {
      if (a->pod().Priority() != b->pod().Priority()) {
        return a->pod().Priority() > b->pod().Priority();
      }
      return StartedBefore(a->pod(), b->pod());
    });
    std::vector<size_t> violating;
    std::vector<size_t> others;
    for (size_t i = 0; i < lower_.size(); ++i) {
      (Spend(budgets, lower_[i]->pod()) ? violating : others).push_back(i);
    }
    std::set<size_t> victims;
    PreemptionCandidate result;
    for (const size_t i : violating) {
      if (!Back(lower_[i])) victims.insert(i);
    }
    result.violations = static_cast<int64_t>(victims.size());
    for (const size_t i : others) {
      if (!Back(lower_[i])) victims.insert(i);
    }
    result.node = node_.name();
    for (const size_t i : victims) result.victims.push_back(lower_[i]->ptr());
    return result;
  }

 private:
  void Remove(const PodInfoPtr& info) {
    node_.RemovePod(info->pod());
    failed_ |= !handle_.runner().RunPreFilterExtensionRemovePod(state_, pod_, *info, node_).ok();
  }
  bool Back(const PodInfoPtr& info) {
    node_.AddPod(info);
    failed_ |= !handle_.runner().RunPreFilterExtensionAddPod(state_, pod_, *info, node_).ok();
    if (Fits()) return true;
    Remove(info);
    return false;
  }

  Handle& handle_;
  CycleState state_;
  const api::Pod& pod_;
  NodeInfo node_;
  std::vector<PodInfoPtr> lower_;
  bool failed_ = false;
};

// The earliest start among the victims of the highest priority.
TimePoint EarliestStart(const PreemptionCandidate& candidate, TimePoint now) {
  TimePoint earliest = TimePoint::max();
  const int32_t highest = candidate.victims.front()->Priority();
  for (const api::PodPtr& victim : candidate.victims) {
    if (victim->Priority() != highest) continue;
    earliest = std::min(earliest, victim->status.start_time.value_or(now));
  }
  return earliest;
}

int64_t Sum(const PreemptionCandidate& candidate) {
  int64_t sum = 0;
  for (const api::PodPtr& victim : candidate.victims) sum += victim->Priority() + 2147483648LL;
  return sum;
}

}  // namespace

PreemptionAnswer SearchPreemption(Handle& handle, const CycleState& state, const api::Pod& pod,
                                  const framework::NodeStatuses& statuses,
                                  const std::vector<Budget>& budgets) {
  PreemptionAnswer answer;
  answer.not_eligible = WhyNotEligible(handle, pod, statuses);
  if (!answer.not_eligible.empty()) return answer;
  for (const NodeInfo* node : handle.snapshot().nodes()) {
    if (statuses.Get(node->index()).code() != Code::kUnschedulable) continue;
    DryRun run(handle, state, pod, *node);
    if (!run.RemoveLower()) continue;
    if (!run.failed() && !run.Fits()) continue;
    PreemptionCandidate candidate = run.Reprieve(budgets);
    if (run.failed() || candidate.victims.empty()) {
      answer.errors = true;
    } else {
      answer.candidates.push_back(std::move(candidate));
    }
  }
  return answer;
}

std::string WhyNotBest(const PreemptionAnswer& answer, const PreemptionCandidate& chosen,
                       TimePoint now) {
  // Smaller is better, in this order.
  const auto rank = [now](const PreemptionCandidate& c) {
    return std::vector<int64_t>{c.violations, c.victims.front()->Priority(), Sum(c),
                                static_cast<int64_t>(c.victims.size()),
                                -EarliestStart(c, now).time_since_epoch().count()};
  };
  constexpr const char* kNames[] = {"violated budgets", "highest priority", "sum of priorities",
                                    "victims", "start"};
  const std::vector<int64_t> mine = rank(chosen);
  for (const PreemptionCandidate& other : answer.candidates) {
    const std::vector<int64_t> its = rank(other);
    for (size_t i = 0; i < mine.size() && its[i] <= mine[i]; ++i) {
      if (its[i] == mine[i]) continue;
      return fmt::format("{} is better by its {} ({}, not {})", other.node, kNames[i], its[i],
                         mine[i]);
    }
  }
  return {};
}

}  // namespace ks::sim
