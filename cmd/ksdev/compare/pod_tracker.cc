// SPDX-License-Identifier: Apache-2.0
#include "ksdev/compare/pod_tracker.h"

#include <algorithm>
#include <utility>

namespace ks::ctl::dev {

using std::chrono::steady_clock;

PodTracker::PodTracker(Cluster& cluster, const Workload& workload)
    : label_key_(kOwnerLabel), label_value_(workload.label) {
  reflector_ = std::make_unique<client::Reflector<api::Pod>>(
      cluster.rest(),
      client::ReflectorOptions{
          .path = PodPath(workload.ns), .type_name = "*v1.Pod", .resource = "pods"},
      [this](const std::vector<api::Delta<api::Pod>>& deltas) { Apply(deltas); });
  reflector_->Start();
}

PodTracker::~PodTracker() { reflector_->Stop(); }

void PodTracker::Apply(const std::vector<api::Delta<api::Pod>>& deltas) {
  const SteadyTime now = steady_clock::now();
  const MutexLock lock(mutex_);
  for (const api::Delta<api::Pod>& delta : deltas) {
    synced_ = synced_ || delta.type == api::Delta<api::Pod>::Type::kReplace;
    for (const api::PodPtr& pod : delta.items) {
      ApplyPod(*pod, now);
    }
    if (delta.type == api::Delta<api::Pod>::Type::kUpsert) {
      ApplyPod(*delta.object, now);
    }
  }
  changed_.NotifyAll();
}

void PodTracker::ApplyPod(const api::Pod& pod, SteadyTime now) {
  const Symbol* label = pod.meta.labels.Find(label_key_);
  if (label == nullptr || *label != label_value_) {
    return;
  }
  const api::Condition* scheduled = pod.FindCondition(api::kPodScheduled);
  if (pod.node_name.empty() && scheduled != nullptr && scheduled->status == "False" &&
      refused_.insert(pod.meta.uid).second) {
    times_[Milestone::kRefused].push_back(now);
  }
  if (pod.node_name.empty()) unbound_.emplace(pod.meta.uid, now);
  const auto known = nodes_.find(pod.meta.uid);
  if (known != nodes_.end()) {
    if (known->second != pod.node_name) {
      moved_.push_back("pod " + pod.meta.name + " went from " + known->second + " to " +
                       pod.node_name.str());
    }
  } else if (!pod.node_name.empty()) {
    nodes_.emplace(pod.meta.uid, pod.node_name.str());
    times_[Milestone::kBound].push_back(now);
    const auto seen = unbound_.find(pod.meta.uid);
    if (seen == unbound_.end()) return;
    waits_.push_back(std::chrono::duration<double, std::milli>(now - seen->second).count());
    unbound_.erase(seen);
  }
}

Result<void> PodTracker::AwaitSynced(std::chrono::seconds timeout) {
  const SteadyTime deadline = steady_clock::now() + timeout;
  {
    const MutexLock lock(mutex_);
    SteadyTime now = steady_clock::now();
    while (!synced_ && now < deadline) {
      changed_.WaitFor(mutex_, deadline - now);
      now = steady_clock::now();
    }
    if (synced_) {
      return {};
    }
  }
  const client::ReflectorStatus status = reflector_->Status();
  return Error{"listing pods: " +
               (status.error ? status.error->message : std::string("no answer in time"))};
}

size_t PodTracker::Bound() const {
  const MutexLock lock(mutex_);
  return nodes_.size();
}

bool PodTracker::AwaitBound(size_t count, SteadyTime deadline,
                            const std::function<bool(size_t)>& tick) {
  return Await(Milestone::kBound, count, deadline, tick);
}

bool PodTracker::Await(Milestone milestone, size_t count, SteadyTime deadline,
                       const std::function<bool(size_t)>& tick) {
  SteadyTime next_tick = steady_clock::now() + std::chrono::seconds(1);
  while (true) {
    size_t bound = 0;
    bool due = false;
    {
      const MutexLock lock(mutex_);
      const SteadyTime now = steady_clock::now();
      if (times_[milestone].size() < count && now < std::min(next_tick, deadline)) {
        changed_.WaitFor(mutex_, std::min(next_tick, deadline) - now);
      }
      bound = times_[milestone].size();
      due = bound >= count || steady_clock::now() >= std::min(next_tick, deadline);
    }
    if (!due) {
      continue;
    }
    next_tick += std::chrono::seconds(1);
    if (!tick(bound) || bound >= count || steady_clock::now() >= deadline) {
      return bound >= count;
    }
  }
}

BindTimes PodTracker::Times(Milestone milestone) const {
  const MutexLock lock(mutex_);
  const auto found = times_.find(milestone);
  return found == times_.end() ? BindTimes() : found->second;
}

std::vector<double> PodTracker::Waits() const {
  const MutexLock lock(mutex_);
  return waits_;
}

std::vector<std::string> PodTracker::Moved() const {
  const MutexLock lock(mutex_);
  return moved_;
}

Pace PaceOf(const BindTimes& times) {
  if (times.size() < 2 || times.front() == times.back()) {
    return {};
  }
  const std::chrono::duration<double> span = times.back() - times.front();
  Pace pace;
  pace.average = static_cast<double>(times.size() - 1) / span.count();
  std::vector<double> per_second(static_cast<size_t>(span.count()), 0);
  for (const SteadyTime time : times) {
    const std::chrono::duration<double> since = time - times.front();
    const auto second = static_cast<size_t>(since.count());
    if (second < per_second.size()) {
      ++per_second[second];
    }
  }
  if (per_second.empty()) {
    pace.median_per_second = pace.average;
    return pace;
  }
  std::sort(per_second.begin(), per_second.end());
  const size_t middle = per_second.size() / 2;
  pace.median_per_second = per_second.size() % 2 == 1
                               ? per_second[middle]
                               : (per_second[middle - 1] + per_second[middle]) / 2;
  return pace;
}

}  // namespace ks::ctl::dev
