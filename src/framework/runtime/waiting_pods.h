// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pods held by Permit, and pods in PreBind: shared by all profiles, keyed by uid.
//
// Upstream: docs/spec/framework.md section 10, docs/spec/cycle.md section 14.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "framework/handle.h"

namespace ks::framework {

// Nothing in here points into a framework: pods go on waiting, for the plugins of the profile that
// held them, when the configuration is exchanged.
//
// Threads: the scheduling thread. Lifetime: `clock` outlives it. A WaitingPod* stays valid until
// the next Add or Expire, decided or not, so that a second verdict can be tried on it.
class WaitingPods final : public WaitingPodAccess {
 public:
  // Told once, when the first verdict falls, from inside Allow, Reject, Preempt, RejectWaitingPod
  // or Expire; never from inside Add or Listen. The entry is gone by then. Reject and timeouts give
  // U, Preempt gives Error with the bare message: the caller puts `waiting on permit for pod: `
  // before it.
  using Verdict = std::function<void(Status)>;

  explicit WaitingPods(const Clock& clock);
  ~WaitingPods() override;

  // Holds the pod; replaces an entry of the same uid. `timeouts`: plugin -> wait time, already cut
  // to 15 minutes. A time of 0 or less is rejected by the next Expire. Nobody listens yet: a
  // verdict that falls before Listen is kept.
  void Add(api::PodPtr pod, const std::map<std::string, Duration>& timeouts);
  // The pod's attempt begins to wait; a kept verdict is told by the next Expire. False when there
  // is no entry: the pod does not wait. An attempt that failed before it got here leaves its entry
  // behind, and a later attempt of the same uid finds it, told to wait or not (docs/spec/cycle.md,
  // trap 23).
  bool Listen(std::string_view uid, Verdict verdict);
  // Drops the entry if nobody listens: the pod is gone, so is its next attempt.
  void RemoveUnheard(std::string_view uid);
  // Rejects pods whose shortest timer has passed: `rejected due to timeout after waiting <d> at
  // plugin <P>`. Of equal timers the first plugin by name counts.
  void Expire();
  // When Expire has work next.
  std::optional<TimePoint> NextDeadline() const;
  // Drops the entry without a verdict. No-op for unknown uids.
  void Remove(std::string_view uid);
  size_t size() const;

  // In the order of uids. `visit` may decide, remove and add pods.
  void ForEachWaitingPod(const std::function<void(WaitingPod&)>& visit) override;
  WaitingPod* GetWaitingPod(std::string_view uid) override;
  bool RejectWaitingPod(std::string_view uid) override;

 private:
  class Entry;
  void Settle(const std::shared_ptr<Entry>& entry);

  const Clock& clock_;
  std::map<std::string, std::shared_ptr<Entry>, std::less<>> entries_;
  std::vector<std::shared_ptr<Entry>> decided_;  // kept alive for pointers handed out
};

}  // namespace ks::framework
