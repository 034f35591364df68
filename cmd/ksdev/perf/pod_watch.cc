// SPDX-License-Identifier: Apache-2.0
#include "ksdev/perf/pod_watch.h"

namespace ks::ctl::dev::perf {
namespace {

using std::chrono::steady_clock;

std::string Describe(const api::Pod& pod) {
  const api::Condition* condition = pod.FindCondition(api::kPodScheduled);
  return pod.meta.Key() + (condition == nullptr ? "" : ": " + condition->message);
}

}  // namespace

PodWatch::Matcher::Matcher(const PodSelection& selection) {
  for (const std::string& ns : selection.namespaces) namespaces.insert(Symbol(ns));
  for (const auto& [key, value] : selection.labels) labels.emplace_back(key, value);
}

bool PodWatch::Matcher::Matches(const api::Pod& pod) const {
  if (!namespaces.empty() && !namespaces.contains(pod.meta.ns)) return false;
  for (const auto& [key, value] : labels) {
    const Symbol* found = pod.meta.labels.Find(key);
    if (found == nullptr || *found != value) return false;
  }
  return true;
}

PodWatch::PodWatch(Cluster& cluster) {
  reflector_ = std::make_unique<client::Reflector<api::Pod>>(
      cluster.rest(),
      client::ReflectorOptions{.path = "/api/v1/pods", .type_name = "*v1.Pod", .resource = "pods"},
      [this](const std::vector<api::Delta<api::Pod>>& deltas) { Apply(deltas); });
  reflector_->Start();
}

PodWatch::~PodWatch() { reflector_->Stop(); }

void PodWatch::Apply(const std::vector<api::Delta<api::Pod>>& deltas) {
  using Type = api::Delta<api::Pod>::Type;
  const SteadyTime now = steady_clock::now();
  const MutexLock lock(mutex_);
  for (const api::Delta<api::Pod>& delta : deltas) {
    if (delta.type == Type::kReplace) Replace(delta.items, now);
    if (delta.type == Type::kUpsert) Upsert(delta.object, now);
    if (delta.type == Type::kDelete) pods_.erase(delta.object->meta.uid);
  }
  changed_.NotifyAll();
}

void PodWatch::Replace(const std::vector<api::PodPtr>& pods, SteadyTime now) {
  std::set<std::string> there;
  for (const api::PodPtr& pod : pods) {
    there.insert(pod->meta.uid);
    Upsert(pod, now);
  }
  std::erase_if(pods_, [&there](const auto& known) { return !there.contains(known.first); });
  synced_ = true;
}

void PodWatch::Upsert(const api::PodPtr& pod, SteadyTime now) {
  api::PodPtr& known = pods_[pod->meta.uid];
  const bool was_scheduled = known && !known->node_name.empty();
  known = pod;
  if (was_scheduled || pod->node_name.empty()) return;
  if (noted_ && noted_->Matches(*pod)) times_.push_back(now);
  if (!followed_.empty() && pod->meta.ns == followed_) queue_.push_back(pod->meta.name);
}

Result<void> PodWatch::AwaitSynced(std::chrono::seconds timeout) {
  const SteadyTime deadline = steady_clock::now() + timeout;
  {
    const MutexLock lock(mutex_);
    while (!synced_ && steady_clock::now() < deadline) {
      changed_.WaitFor(mutex_, deadline - steady_clock::now());
    }
    if (synced_) return {};
  }
  const client::ReflectorStatus status = reflector_->Status();
  return Error{"listing pods: " +
               (status.error ? status.error->message : std::string("no answer in time"))};
}

PodCounts PodWatch::Counts(const PodSelection& selection) const {
  const Matcher matcher(selection);
  PodCounts counts;
  const api::Pod* waiting = nullptr;
  const MutexLock lock(mutex_);
  for (const auto& [uid, pod] : pods_) {
    if (!matcher.Matches(*pod)) continue;
    if (!pod->node_name.empty()) {
      ++counts.scheduled;
      continue;
    }
    const bool tried = pod->FindCondition(api::kPodScheduled) != nullptr;
    if (tried) ++counts.attempted;
    if (tried || waiting == nullptr) waiting = pod.get();
  }
  if (waiting != nullptr) counts.waiting = Describe(*waiting);
  return counts;
}

std::vector<std::string> PodWatch::Names(const PodSelection& selection) const {
  const Matcher matcher(selection);
  std::vector<std::string> names;
  const MutexLock lock(mutex_);
  for (const auto& [uid, pod] : pods_) {
    if (matcher.Matches(*pod)) names.push_back(pod->meta.name);
  }
  return names;
}

void PodWatch::StartNoting(const PodSelection& selection) {
  const MutexLock lock(mutex_);
  noted_.emplace(selection);
  times_.clear();
}

std::vector<SteadyTime> PodWatch::StopNoting() {
  const MutexLock lock(mutex_);
  noted_.reset();
  return std::exchange(times_, {});
}

void PodWatch::Follow(const std::string& ns) {
  const MutexLock lock(mutex_);
  followed_ = Symbol(ns);
  queue_.clear();
}

std::optional<std::string> PodWatch::TakeScheduled(SteadyTime deadline) {
  const MutexLock lock(mutex_);
  while (queue_.empty() && steady_clock::now() < deadline) {
    changed_.WaitFor(mutex_, deadline - steady_clock::now());
  }
  if (queue_.empty()) return std::nullopt;
  std::string name = std::move(queue_.front());
  queue_.pop_front();
  return name;
}

}  // namespace ks::ctl::dev::perf
