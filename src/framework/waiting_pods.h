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

// Threads: the scheduling thread. Lifetime: `clock` outlives it. A WaitingPod* stays valid until
// the next Add or Expire, decided or not, so that a second verdict can be tried on it.
class WaitingPods final : public WaitingPodAccess {
 public:
  // Told once, when the first verdict falls, from inside Allow, Reject, Preempt, RejectWaitingPod
  // or Expire; never from inside Add or Adopt. The entry is gone by then. Reject and timeouts give
  // U, Preempt gives Error with the bare message: the caller puts `waiting on permit for pod: `
  // before it.
  using Verdict = std::function<void(Status)>;

  explicit WaitingPods(const Clock& clock);
  ~WaitingPods() override;

  // Holds the pod; replaces an entry of the same uid. `timeouts`: plugin -> wait time, already cut
  // to 15 minutes. A time of 0 or less is rejected by the next Expire.
  void Add(api::PodPtr pod, const std::map<std::string, Duration>& timeouts, Verdict verdict);
  // The attempt that held the pod is over without a verdict, and the entry stays: a verdict that
  // falls from now on is kept for Adopt (docs/spec/cycle.md, trap 23). Remove it when the pod is
  // deleted. No-op for unknown uids.
  void Abandon(std::string_view uid);
  // A later attempt of the same uid takes over an entry that is still there; a kept verdict is told
  // by the next Expire. False when there is none: the pod does not wait.
  bool Adopt(std::string_view uid, Verdict verdict);
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
