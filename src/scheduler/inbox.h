// SPDX-License-Identifier: Apache-2.0
#pragma once
// The inbox of the scheduling thread: everybody else posts here, in order; only the scheduling
// thread takes out. Informers post deltas, finished API calls and operators' questions post tasks.

#include <atomic>
#include <functional>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "api/delta.h"
#include "api/node.h"
#include "api/pod.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "cache/owner_stores.h"
#include "framework/handle.h"

namespace ks::scheduler {

using PodDeltas = std::vector<api::Delta<api::Pod>>;
using NodeDeltas = std::vector<api::Delta<api::Node>>;
using cache::OwnerDeltas;
using Task = std::function<void()>;
using Message = std::variant<PodDeltas, NodeDeltas, OwnerDeltas, Task>;

// Threads: Post any; the rest the scheduling thread.
class Inbox final : public framework::TaskInbox {
 public:
  void Post(Message message) KS_EXCLUDES(mutex_);
  void PostTask(Task task) override { Post(std::move(task)); }

  // Moves everything posted so far to `out` (cleared first), in order. Costs one atomic load when
  // there is nothing.
  void Drain(std::vector<Message>* out) KS_EXCLUDES(mutex_);

  // Blocks until something is posted or `timeout` has passed (absent: no limit).
  void Wait(std::optional<Duration> timeout) KS_EXCLUDES(mutex_);

 private:
  std::atomic<bool> pending_{false};
  Mutex mutex_;
  CondVar posted_;
  std::vector<Message> messages_ KS_GUARDED_BY(mutex_);
};

}  // namespace ks::scheduler
