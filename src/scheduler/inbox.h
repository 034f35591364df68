// SPDX-License-Identifier: Apache-2.0
#pragma once
// The inbox of the scheduler: everybody else posts here, in order; only who has the scheduler's
// turn takes out (Scheduler::Run, Scheduler::RunBeside). Informers post deltas, operators'
// questions and finished API calls tasks.
//
// What the scheduler's own parts post for themselves (PostTask) comes out before what the world
// posted (Post), so that the order of both together needs no recording: own tasks follow from what
// came before (step_tap.h).

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "api/delta.h"
#include "api/node.h"
#include "api/pod.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "cache/device_stores.h"
#include "cache/group_stores.h"
#include "cache/owner_stores.h"
#include "cache/storage_stores.h"
#include "framework/handle.h"

namespace ks::scheduler {

using PodDeltas = std::vector<api::Delta<api::Pod>>;
using NodeDeltas = std::vector<api::Delta<api::Node>>;
using cache::DeviceDeltas;
using cache::GroupDeltas;
using cache::OwnerDeltas;
using cache::StorageDeltas;
using Task = std::function<void()>;
using Message = std::variant<PodDeltas, NodeDeltas, OwnerDeltas, StorageDeltas, DeviceDeltas,
                             GroupDeltas, Task>;

// Threads: Post, PostTask, Attend and Wake any; the rest who has the scheduler's turn.
class Inbox final : public framework::TaskInbox {
 public:
  void Post(Message message) KS_EXCLUDES(mutex_);
  void PostTask(Task task) override KS_EXCLUDES(mutex_);

  // Moves everything posted so far to `out` (cleared first), own tasks first, each in order. Costs
  // one atomic load when there is nothing.
  void Drain(std::vector<Message>* out) KS_EXCLUDES(mutex_);

  // Blocks until something is posted, or Wake was called, or `timeout` has passed (absent: no
  // limit).
  void Wait(std::optional<Duration> timeout) KS_EXCLUDES(mutex_);
  void Wake() KS_EXCLUDES(mutex_);

  // That thread looks into the inbox by itself after it has posted: what it posts ends nobody's
  // wait. A default-constructed id: nobody does.
  void Attend(std::thread::id thread) { attendant_.store(thread, std::memory_order_relaxed); }
  bool IsAttendedBy(std::thread::id thread) const {
    return attendant_.load(std::memory_order_relaxed) == thread;
  }
  // About how many objects and tasks wait, never 0 while one does; costs one atomic load.
  size_t Waiting() const { return waiting_.load(std::memory_order_acquire); }

 private:
  void PushTo(std::vector<Message> Inbox::*lane, Message message) KS_EXCLUDES(mutex_);

  std::atomic<size_t> waiting_{0};
  std::atomic<std::thread::id> attendant_{};
  Mutex mutex_;
  CondVar posted_;
  std::vector<Message> own_ KS_GUARDED_BY(mutex_);
  std::vector<Message> messages_ KS_GUARDED_BY(mutex_);
  // The wait that lasts, or else the next one, ends; only its end takes this back.
  bool woken_ KS_GUARDED_BY(mutex_) = false;
};

}  // namespace ks::scheduler
