// SPDX-License-Identifier: Apache-2.0
#pragma once
// The unit that flows through the queue and one scheduling attempt: an entity, which is one pod or
// the pods of a tree of groups.
//
// Upstream: docs/spec/queue.md sections 2 and 18.2.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/pod.h"
#include "base/clock.h"
#include "base/symbol.h"
#include "framework/name_set.h"
#include "framework/pod_group_state.h"

namespace ks::framework {

// What QueueSort compares and backoff counts. Threads: the scheduling thread.
class QueuedEntity {
 public:
  virtual ~QueuedEntity() = default;

  // "pod/<namespace>/<name>": identity inside the stores.
  virtual std::string Key() const = 0;
  virtual int32_t Priority() const = 0;
  // Number of pods, at least 1: scales the longest backoff.
  virtual size_t PodCount() const = 0;

  // Time used for ordering and backoff: set at creation and on every return after a failed attempt,
  // by nothing else.
  TimePoint timestamp{};
  int64_t attempts = 0;
  int64_t unschedulable_count = 0;                     // attempts rejected by plugins
  int64_t consecutive_errors_count = 0;                // errors in a row
  std::optional<TimePoint> initial_attempt_timestamp;  // first entry into the active heap
  std::optional<TimePoint> backoff_expiration;         // computed when first asked for
  std::optional<TimePoint> flush_timestamp;
  NameSet unschedulable_plugins;
  NameSet pending_plugins;
  Symbol gating_plugin;  // empty: not gated
  bool was_flushed_from_unschedulable = false;

  bool HasRejectingPlugins() const {
    return !unschedulable_plugins.empty() || !pending_plugins.empty();
  }
};

// Kept small: there is one for each pending pod of the cluster.
class QueuedPod final : public QueuedEntity {
 public:
  explicit QueuedPod(api::PodPtr pod) : pod_(std::move(pod)) {}

  std::string Key() const override { return "pod/" + pod_->meta.Key(); }
  int32_t Priority() const override { return pod_->Priority(); }
  size_t PodCount() const override { return 1; }

  const api::PodPtr& pod() const { return pod_; }
  // Requires: the same namespace/name.
  void set_pod(api::PodPtr pod) { pod_ = std::move(pod); }

 private:
  api::PodPtr pod_;
};
using QueuedPodPtr = std::shared_ptr<QueuedPod>;

// The queued members of a tree of groups: what is tried, fails and waits together. Counters,
// timestamps and the gating plugin are the group's own and its plugin sets stay empty; each member
// has its own besides.
class QueuedPodGroup final : public QueuedEntity {
 public:
  // The members of one PodGroup: priority descending, attempts descending, timestamp ascending,
  // name ascending.
  struct Leaf {
    PodGroupKey group;
    std::vector<QueuedPodPtr> members;  // not empty
  };

  QueuedPodGroup(PodGroupKey root, int32_t priority)
      : root_(std::move(root)), priority_(priority) {}

  // "podgroup/<namespace>/<root's name>", for composite roots too.
  std::string Key() const override { return "podgroup/" + root_.Name(); }
  int32_t Priority() const override { return priority_; }
  void set_priority(int32_t priority) { priority_ = priority; }
  size_t PodCount() const override { return pod_count; }

  const PodGroupKey& root() const { return root_; }

  // Set when the group is popped, in the order of the tree; empty while it is stored.
  std::vector<Leaf> leaves;
  size_t pod_count = 0;  // members, stored or in `leaves`

 private:
  PodGroupKey root_;
  int32_t priority_;
};
using QueuedPodGroupPtr = std::shared_ptr<QueuedPodGroup>;

}  // namespace ks::framework
