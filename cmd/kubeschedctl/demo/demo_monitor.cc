// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/demo/demo_monitor.h"

#include <utility>

#include "kubeschedctl/cluster/workload.h"

namespace ks::ctl {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLeastInterval{500};

template <class T>
bool HasReplace(const std::vector<api::Delta<T>>& deltas) {
  for (const api::Delta<T>& delta : deltas) {
    if (delta.type == api::Delta<T>::Type::kReplace) return true;
  }
  return false;
}

std::string CauseOf(const client::ReflectorStatus& status) {
  return status.error ? status.error->message : "no answer in time";
}

}  // namespace

DemoMonitor::DemoMonitor(Cluster& cluster, const std::string& ns, const std::string& owner,
                         std::unordered_set<std::string> unplaceable)
    : state_(owner, std::move(unplaceable)) {
  pods_ = std::make_unique<client::Reflector<api::Pod>>(
      cluster.rest(),
      client::ReflectorOptions{.path = PodPath(ns), .type_name = "*v1.Pod", .resource = "pods"},
      [this](const std::vector<api::Delta<api::Pod>>& deltas) {
        const MutexLock lock(mutex_);
        state_.ApplyPods(deltas, steady_clock::now());
        pods_synced_ = pods_synced_ || HasReplace(deltas);
        changed_.NotifyAll();
      });
  nodes_ = std::make_unique<client::Reflector<api::Node>>(
      cluster.rest(),
      client::ReflectorOptions{
          .path = "/api/v1/nodes", .type_name = "*v1.Node", .resource = "nodes"},
      [this](const std::vector<api::Delta<api::Node>>& deltas) {
        const MutexLock lock(mutex_);
        state_.ApplyNodes(deltas);
        nodes_synced_ = nodes_synced_ || HasReplace(deltas);
        changed_.NotifyAll();
      });
  pods_->Start();
  nodes_->Start();
  events_ = std::make_unique<EventWatch>(cluster, ns, [this](EventLine line) {
    const MutexLock lock(mutex_);
    state_.AddEvent(std::move(line));
  });
}

DemoMonitor::~DemoMonitor() {
  events_.reset();
  nodes_->Stop();
  pods_->Stop();
}

Result<void> DemoMonitor::AwaitSynced(std::chrono::seconds timeout) {
  const SteadyTime deadline = steady_clock::now() + timeout;
  {
    const MutexLock lock(mutex_);
    for (SteadyTime now = steady_clock::now(); now < deadline; now = steady_clock::now()) {
      if (pods_synced_ && nodes_synced_) return {};
      changed_.WaitFor(mutex_, deadline - now);
    }
    if (pods_synced_ && nodes_synced_) return {};
  }
  if (!pods_->Synced()) return Error{"listing pods: " + CauseOf(pods_->Status())};
  return Error{"listing nodes: " + CauseOf(nodes_->Status())};
}

DemoProgress DemoMonitor::Progress() const {
  const MutexLock lock(mutex_);
  return {.placeable_bound = state_.PlaceableBound(),
          .placeable_refused = state_.PlaceableRefused(),
          .unplaceable_explained = state_.UnplaceableExplained()};
}

void DemoMonitor::Fill(ViewState& view, SteadyTime start) const {
  const MutexLock lock(mutex_);
  state_.Fill(view, start, steady_clock::now());
}

std::vector<std::string> DemoMonitor::Violations() const {
  const MutexLock lock(mutex_);
  return state_.Violations();
}

std::vector<ReasonCount> DemoMonitor::PendingUnexpected() const {
  const MutexLock lock(mutex_);
  return state_.PendingUnexpected();
}

const ProcessFigures& ProcessMeter::Look() {
  const SteadyTime now = steady_clock::now();
  if (figures_.known && now - looked_ < kLeastInterval) return figures_;
  const Result<ProcessUsage> usage = process_.Usage();
  if (!usage.ok()) return figures_;
  if (figures_.known) {
    const std::chrono::duration<double> since = now - looked_;
    figures_.cpu_percent = (usage->cpu_seconds - figures_.cpu_seconds) / since.count() * 100;
  }
  looked_ = now;
  figures_.known = true;
  figures_.cpu_seconds = usage->cpu_seconds;
  figures_.resident_mb = static_cast<double>(usage->resident_bytes) / 1e6;
  return figures_;
}

}  // namespace ks::ctl
