// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is known of a running demo, summed up from watches: which pods are bound and how long that
// took, why the others wait, how full the nodes are. No I/O: deltas and times come in, a ViewState
// goes out.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "api/delta.h"
#include "api/node.h"
#include "api/pod.h"
#include "kubeschedctl/cluster/capacity_check.h"

namespace ks::ctl {

using SteadyTime = std::chrono::steady_clock::time_point;

// In milliseconds, from the pod's creation to its binding, both as seen by the watch.
struct Latency {
  size_t count = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double most = 0;
};
// By the nearest rank; zeroes for none.
Latency LatencyOf(std::vector<double> milliseconds);

struct ReasonCount {
  std::string reason;
  size_t pods = 0;
};

struct EventLine {
  std::string time;  // 12:00:01, UTC
  bool warning = false;
  std::string reason;
  std::string object;
  std::string note;
};

struct ZoneFill {
  std::string name;
  double cpu = 0;
};

struct ProcessFigures {
  bool known = false;
  double cpu_percent = 0;  // of one processor, since the last look
  double cpu_seconds = 0;
  double resident_mb = 0;
};

// All that the view shows. Fractions are 0 to 1.
struct ViewState {
  std::string title;      // what is shown
  std::string server;     // URL
  std::string hint;       // how to look at it with kubectl; may be empty
  std::string scheduler;  // its name
  double seconds = 0;     // since the first pod was sent

  size_t planned = 0;    // pods
  size_t placeable = 0;  // of them
  size_t created = 0;
  size_t bound = 0;
  size_t running = 0;
  std::vector<ReasonCount> pending;  // most pods first

  double rate_now = 0;               // pods bound a second, over the last three whole seconds
  double rate_average = 0;           // from the first to the last binding
  std::vector<double> rate_history;  // per whole second, oldest first
  Latency latency;

  size_t nodes = 0;
  double cpu_fill = 0;
  double memory_fill = 0;
  double pods_fill = 0;
  std::vector<ZoneFill> zones;               // by name
  std::array<size_t, 10> nodes_by_cpu = {};  // nodes up to 10 %, 20 % … of their CPU taken

  ProcessFigures scheduler_process;
  ProcessFigures server_process;
  std::vector<EventLine> events;  // newest first
};

// Why a pod waits, in words that do not depend on how many nodes there are: "Insufficient cpu".
std::string PendingReason(const api::Pod& pod);

// One workload's pods and the nodes. Threads: one at a time.
class DemoState {
 public:
  // `owner`: value of kOwnerLabel; other pods only count for the nodes' fill. Pods named in
  // `unplaceable` are meant to stay pending.
  DemoState(const std::string& owner, std::unordered_set<std::string> unplaceable);

  void ApplyPods(const std::vector<api::Delta<api::Pod>>& deltas, SteadyTime now);
  void ApplyNodes(const std::vector<api::Delta<api::Node>>& deltas);
  void AddEvent(EventLine line);

  size_t Bound() const { return bound_; }
  // The unplaceable pods for which the scheduler has told the reason, or that are gated.
  size_t UnplaceableExplained() const;
  // The placeable pods that exist, are not bound, and were reported unschedulable.
  size_t PlaceableRefused() const;
  size_t PlaceableBound() const { return bound_ - unplaceable_bound_; }
  // What must not be: pods that changed or lost their node, unplaceable ones that are bound.
  const std::vector<std::string>& Violations() const { return violations_; }
  std::vector<ReasonCount> Pending() const;
  std::vector<ReasonCount> PendingUnexpected() const;
  Latency BindLatency() const { return LatencyOf(latencies_); }
  // Changes whenever a pod does.
  uint64_t version() const { return version_; }

  // Fills in what is known here; the rest of `view` stays. `start`: of the first pod.
  void Fill(ViewState& view, SteadyTime start, SteadyTime now) const;

 private:
  struct PodEntry {
    std::string name;
    bool ours = false;
    bool placeable = true;
    std::string node;
    bool occupies = false;  // bound and not ended
    bool running = false;
    Amount amount{};
    SteadyTime seen{};
    std::string reason;  // while pending; empty: not told yet
  };
  struct NodeEntry {
    std::string zone;
    Amount offered{};
    Amount taken{};
  };

  void ApplyPod(const api::Pod& pod, SteadyTime now);
  void NoteBinding(PodEntry& entry, const api::Pod& pod, bool is_new, SteadyTime now);
  void Forget(const std::string& uid);
  void Occupy(const PodEntry& entry, bool on);
  std::vector<ReasonCount> CountReasons(bool unexpected_only) const;
  void FillNodes(ViewState& view) const;
  void FillRates(ViewState& view, SteadyTime start, SteadyTime now) const;

  const Symbol label_key_;
  const Symbol label_value_;
  const std::unordered_set<std::string> unplaceable_;
  std::unordered_map<std::string, PodEntry> pods_;  // by uid
  std::map<std::string, NodeEntry> nodes_;
  std::unordered_map<std::string, Amount> taken_;  // by node name, which may not be known yet
  size_t bound_ = 0;
  size_t unplaceable_bound_ = 0;
  size_t running_ = 0;
  uint64_t version_ = 0;
  std::vector<double> latencies_;
  std::vector<SteadyTime> bind_times_;
  std::vector<std::string> violations_;
  std::deque<EventLine> events_;  // newest first
};

}  // namespace ks::ctl
