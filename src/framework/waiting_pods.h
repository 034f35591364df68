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

#include "base/clock.h"
#include "framework/handle.h"

namespace ks::framework {

// Threads: the scheduling thread. Lifetime: `clock` outlives it.
class WaitingPods final : public WaitingPodAccess {
 public:
  // Told once, when the first verdict falls; never from inside Add.
  using Verdict = std::function<void(Status)>;

  explicit WaitingPods(const Clock& clock);
  ~WaitingPods() override;

  // Holds the pod; replaces an entry of the same uid. `timeouts`: plugin -> wait time, already cut
  // to 15 minutes. A time of 0 or less is rejected by the next Expire.
  void Add(api::PodPtr pod, const std::map<std::string, Duration>& timeouts, Verdict verdict);
  // Rejects pods whose shortest timer has passed: `rejected due to timeout after waiting <d> at
  // plugin <P>`.
  void Expire();
  // When Expire has work next.
  std::optional<TimePoint> NextDeadline() const;
  // Drops the entry without a verdict. No-op for unknown uids.
  void Remove(std::string_view uid);
  size_t size() const;

  void ForEachWaitingPod(const std::function<void(WaitingPod&)>& visit) override;
  WaitingPod* GetWaitingPod(std::string_view uid) override;
  bool RejectWaitingPod(std::string_view uid) override;

 private:
  class Entry;
  void Settle(const std::string& uid);

  const Clock& clock_;
  std::map<std::string, std::unique_ptr<Entry>, std::less<>> entries_;
};

}  // namespace ks::framework
