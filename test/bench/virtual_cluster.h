// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the benchmarks of a whole scheduler in one process put around it: virtual time, and an API
// server that answers after a few virtual milliseconds and reports what it did.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "api/kinds.h"
#include "scheduler/scheduler.h"
#include "testing/deltas.h"
#include "testing/fake_clock.h"
#include "testing/no_objects.h"

namespace ks::bench {

// What happens at a time, in the order of times and then of calls.
class Agenda {
 public:
  explicit Agenda(testing::FakeClock& clock) : clock_(clock) {}

  void In(Duration delay, std::function<void()> what) {
    events_.push({clock_.Now() + delay, next_++, std::move(what)});
  }
  std::optional<TimePoint> Next() const {
    if (events_.empty()) return std::nullopt;
    return events_.top().at;
  }
  void RunDue() {
    while (!events_.empty() && events_.top().at <= clock_.Now()) {
      const std::function<void()> what = events_.top().what;
      events_.pop();
      what();
    }
  }

 private:
  struct Entry {
    TimePoint at;
    uint64_t number;
    std::function<void()> what;
    bool operator<(const Entry& other) const {
      return at != other.at ? at > other.at : number > other.number;
    }
  };
  testing::FakeClock& clock_;
  std::priority_queue<Entry> events_;
  uint64_t next_ = 0;
};

// The API server's part: what it is asked happens some milliseconds later and is then reported.
class VirtualApiServer final : public framework::ApiWriter {
 public:
  explicit VirtualApiServer(Agenda& agenda) : agenda_(agenda) {}

  void Bind(api::PodPtr pod, std::string node_name, Done done) override {
    agenda_.In(kLatency, [this, pod, node_name, done] {
      Change(pod->meta.uid, [&node_name](api::Pod& changed) {
        changed.node_name = Symbol(node_name);
        changed.status.conditions = {};
      });
      done(std::nullopt);
      if (on_bound) on_bound(pod->meta.uid);
    });
  }
  void PatchPodStatus(api::PodPtr pod, api::PodStatusChange change, Done done) override {
    agenda_.In(kLatency, [this, pod, change, done] {
      Change(pod->meta.uid, [&change](api::Pod& changed) {
        if (change.condition) changed.status.conditions.Mutable().Add(*change.condition);
        if (change.nominated_node_name) {
          changed.status.nominated_node_name = Symbol(*change.nominated_node_name);
        }
      });
      done(std::nullopt);
    });
  }
  void PatchPodGroupStatus(api::PodGroupPtr /*group*/, api::Condition /*condition*/,
                           Done done) override {
    done(std::nullopt);
  }
  void EvictPod(api::PodPtr pod, api::Condition /*condition*/, TimePoint /*decided*/,
                EvictionDone done) override {
    agenda_.In(kLatency, [this, pod, done] {
      Remove(pod->meta.uid);
      done(framework::EvictionOutcome::kEvicted, std::nullopt);
    });
  }
  void WriteVolume(api::PersistentVolumePtr, WriteDone) override {}
  void WriteClaim(api::PersistentVolumeClaimPtr, WriteDone) override {}
  void SendClaimRequest(api::ClaimRequest, ClaimDone) override {}
  void RecordEvent(framework::PodEvent) override { ++events; }

  void Create(const api::PodPtr& pod) {
    pods_[pod->meta.uid] = pod;
    Report(testing::Upsert(pod));
  }
  void Remove(const std::string& uid) {
    const auto it = pods_.find(uid);
    if (it == pods_.end()) return;
    Report(testing::Delete(it->second));
    pods_.erase(it);
  }
  size_t size() const { return pods_.size(); }

  scheduler::Scheduler* scheduler = nullptr;
  std::function<void(const std::string& uid)> on_bound;
  uint64_t events = 0;

 private:
  void Change(const std::string& uid, const std::function<void(api::Pod&)>& change) {
    const auto it = pods_.find(uid);
    if (it == pods_.end()) return;
    auto changed = std::make_shared<api::Pod>(*it->second);
    change(*changed);
    changed->meta.resource_version = std::to_string(++version_);
    it->second = changed;
    Report(testing::Upsert(it->second));
  }
  void Report(api::Delta<api::Pod> delta) {
    scheduler->Post(scheduler::PodDeltas{std::move(delta)});
  }

  static constexpr Duration kLatency = std::chrono::milliseconds(5);

  Agenda& agenda_;
  std::map<std::string, api::PodPtr> pods_;  // by uid
  uint64_t version_ = 0;
};

// The first full states of a cluster of nodes: there is nothing else.
inline void PostNodesOnly(scheduler::Scheduler& scheduler, std::vector<api::NodePtr> nodes) {
  api::Delta<api::Node> delta;
  delta.items = std::move(nodes);
  scheduler.Post(scheduler::NodeDeltas{std::move(delta)});
  scheduler.Post(scheduler::PodDeltas{api::Delta<api::Pod>{}});
  testing::PostNoOwners(scheduler);
  testing::PostNoStorageOrDevices(scheduler);
}

// When something happens next; at the latest in a second.
inline TimePoint NextTime(TimePoint now, const Agenda& agenda,
                          const scheduler::Scheduler& scheduler) {
  TimePoint next = now + std::chrono::seconds(1);
  for (const auto& at : {agenda.Next(), scheduler.NextTimer()}) {
    if (at) next = std::min(next, *at);
  }
  return std::max(next, now + std::chrono::microseconds(1));
}

// In MiB, from /proc/self/status.
inline double Memory(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":")) return std::stod(line.substr(field.size() + 1)) / 1024;
  }
  return 0;
}

}  // namespace ks::bench
