// SPDX-License-Identifier: Apache-2.0
#include "ksdev/soak/soak_pods.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kubeschedctl/cluster/pod_manifest.h"
#include "kubeschedctl/cluster/workload.h"

namespace ks::ctl::dev {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr Duration kRequestTimeout = std::chrono::seconds(60);
constexpr size_t kMostViolations = 20;
constexpr int kNotFound = 404;
// One of so many pods is deleted within kEarly after its creation, while it is being placed.
constexpr uint64_t kEarlyShare = 25;
constexpr milliseconds kEarly{100};
constexpr milliseconds kUnplaceableLifetime{60000};

}  // namespace

SoakPods::SoakPods(Cluster& cluster, std::vector<PlannedPod> plan, SoakPodOptions options)
    : cluster_(cluster),
      plan_(std::move(plan)),
      options_(std::move(options)),
      label_key_(kOwnerLabel),
      random_(options_.seed) {
  reflector_ = std::make_unique<client::Reflector<api::Pod>>(
      cluster.rest(),
      client::ReflectorOptions{
          .path = PodPath(options_.ns), .type_name = "*v1.Pod", .resource = "pods"},
      [this](const std::vector<api::Delta<api::Pod>>& deltas) { Apply(deltas); });
  reflector_->Start();
}

SoakPods::~SoakPods() {
  reflector_->Stop();
  const MutexLock lock(mutex_);
  while (active_ > 0) changed_.Wait(mutex_);
}

void SoakPods::Apply(const std::vector<api::Delta<api::Pod>>& deltas) {
  using Type = api::Delta<api::Pod>::Type;
  const MutexLock lock(mutex_);
  for (const api::Delta<api::Pod>& delta : deltas) {
    if (delta.type == Type::kUpsert) {
      ApplyPod(*delta.object);
    } else if (delta.type == Type::kDelete) {
      Forget(delta.object->meta.name);
    } else {
      std::unordered_set<std::string> there;
      for (const api::PodPtr& pod : delta.items) {
        there.insert(pod->meta.name);
        ApplyPod(*pod);
      }
      std::vector<std::string> gone;
      for (const auto& [name, entry] : pods_) {
        if (!there.contains(name)) gone.push_back(name);
      }
      for (const std::string& name : gone) Forget(name);
    }
  }
}

void SoakPods::ApplyPod(const api::Pod& pod) {
  if (!pod.meta.labels.Contains(label_key_)) return;
  Entry& entry = pods_[pod.meta.name];  // names are not used twice
  entry.placeable = !unplaceable_.contains(pod.meta.name);
  entry.reason = pod.node_name.empty() ? PendingReason(pod) : "";
  const api::Condition* disrupted = pod.FindCondition(api::kDisruptionTarget);
  entry.preempted = disrupted != nullptr && disrupted->reason == "PreemptionByScheduler";
  if (entry.node == pod.node_name) return;
  if (!entry.node.empty()) {
    return Violate(
        fmt::format("pod {} went from {} to {}", pod.meta.name, entry.node, pod.node_name.view()));
  }
  entry.node = pod.node_name.str();
  ++counts_.bound;
  if (!entry.placeable) {
    Violate(fmt::format("pod {}, which fits nowhere, is bound to {}", pod.meta.name, entry.node));
  }
  deaths_.push({steady_clock::now() + DrawLifetime(), pod.meta.name});
}

void SoakPods::Forget(const std::string& name) {
  const auto found = pods_.find(name);
  if (found == pods_.end()) return;
  if (found->second.preempted) {
    ++counts_.preempted;
  } else if (!found->second.deleting) {
    Violate("pod " + name + " went away by itself");
  }
  ++(found->second.node.empty() ? counts_.deleted_pending : counts_.deleted_bound);
  unplaceable_.erase(name);
  pods_.erase(found);
}

void SoakPods::Violate(std::string text) {
  if (violations_.size() < kMostViolations) violations_.push_back(std::move(text));
}

// Exponential.
milliseconds SoakPods::DrawLifetime() {
  const double mean = static_cast<double>(options_.lifetime.count());
  return milliseconds(static_cast<int64_t>(-std::log(1 - random_.Unit()) * mean));
}

void SoakPods::Create(SteadyTime now) {
  const PlannedPod& planned = plan_[sent_ % plan_.size()];
  const std::string name = fmt::format("{}-{}", planned.name, sent_ / plan_.size());
  nlohmann::json body = nlohmann::json::parse(planned.body, nullptr, false);
  body["metadata"]["name"] = name;
  // Half of them go through a grace period, which the node agents end.
  if (sent_ % 2 == 0) body["spec"]["terminationGracePeriodSeconds"] = 30;
  {
    const MutexLock lock(mutex_);
    ++active_;
    if (!planned.placeable) {
      unplaceable_.insert(name);
      deaths_.push({now + kUnplaceableLifetime, name});
    } else if (random_.Below(kEarlyShare) == 0) {
      const auto after = milliseconds(random_.Below(static_cast<uint64_t>(kEarly.count())));
      deaths_.push({now + after, name});
    }
  }
  cluster_.rest().Send({.method = "POST",
                        .target = PodPath(options_.ns),
                        .body = body.dump(),
                        .timeout = kRequestTimeout,
                        .verb = "create",
                        .resource = "pods",
                        .name = name},
                       [this, name](const client::RestReply& reply) {
                         Finished(reply, "creating pod " + name, false);
                       });
}

void SoakPods::Delete(const std::string& name) {
  {
    const MutexLock lock(mutex_);
    const auto found = pods_.find(name);
    if (found == pods_.end() || found->second.deleting) return;
    found->second.deleting = true;
    ++active_;
  }
  cluster_.rest().Send({.method = "DELETE",
                        .target = PodPath(options_.ns) + "/" + name,
                        .timeout = kRequestTimeout,
                        .resource = "pods",
                        .name = name},
                       [this, name](const client::RestReply& reply) {
                         Finished(reply, "deleting pod " + name, true);
                       });
}

void SoakPods::Finished(const client::RestReply& reply, const std::string& what, bool may_be_gone) {
  const MutexLock lock(mutex_);
  if (reply.ok() && !may_be_gone) ++counts_.created;
  if (!reply.ok() && !failure_ && !(may_be_gone && reply.code == kNotFound)) {
    failure_ = Error{what + ": " + reply.error->message};
  }
  --active_;
  changed_.NotifyAll();
}

void SoakPods::Step(SteadyTime now, bool more) {
  if (!start_) start_ = now;
  const double due = std::chrono::duration<double>(now - *start_).count() * options_.rate;
  while (more && static_cast<double>(sent_) < due) {
    Create(now);
    ++sent_;
  }
  std::vector<std::string> dying;
  {
    const MutexLock lock(mutex_);
    while (!deaths_.empty() && deaths_.top().at <= now) {
      dying.push_back(deaths_.top().name);
      deaths_.pop();
    }
  }
  for (const std::string& name : dying) Delete(name);
}

SoakCounts SoakPods::Counts() const {
  const MutexLock lock(mutex_);
  SoakCounts counts = counts_;
  counts.there = pods_.size();
  counts.pending = static_cast<size_t>(std::count_if(pods_.begin(), pods_.end(), [](const auto& p) {
    return p.second.node.empty() && p.second.placeable && !p.second.deleting;
  }));
  return counts;
}

std::vector<ReasonCount> SoakPods::Pending() const {
  const MutexLock lock(mutex_);
  std::unordered_map<std::string, size_t> reasons;
  for (const auto& [name, entry] : pods_) {
    if (!entry.node.empty() || !entry.placeable || entry.deleting) continue;
    ++reasons[entry.reason.empty() ? "not looked at yet" : entry.reason];
  }
  std::vector<ReasonCount> counts;
  for (const auto& [reason, pods] : reasons) counts.push_back({reason, pods});
  return counts;
}

std::vector<std::string> SoakPods::Violations() const {
  const MutexLock lock(mutex_);
  return violations_;
}

std::optional<Error> SoakPods::Failure() const {
  const MutexLock lock(mutex_);
  return failure_;
}

}  // namespace ks::ctl::dev
