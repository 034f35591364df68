// SPDX-License-Identifier: Apache-2.0
#pragma once
// What this process may do because of the lease, and what others see of it: the fence of the term,
// whether it leads, when it last renewed.
//
//   Begin --> shut, no leader --Lead, Renew--> leader, may write --time passes--> leader, shut
//     ^                                          |         ^                         |      |
//     |                                          |         '--------- Renew ---------'      |
//     '--------------------------- End ----------+------------------- End ------------------'
//
// Upstream: docs/spec/operations.md sections 6.3 and 6.4, docs/spec/metrics.md section 4.

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "client/election/leader_elector.h"
#include "client/election/leader_metrics.h"
#include "client/http/write_fence.h"

namespace ks::client {

// Threads: any; its lock is taken after the elector's. Lifetime: clock and metrics outlive it.
class LeaderTerm {
 public:
  // `metrics` may be null.
  LeaderTerm(const Clock& clock, const LeaderElectorOptions& options, LeaderMetrics* metrics);

  // The next term's fence, which is shut: this process tries to lead.
  void Begin(std::shared_ptr<WriteFence> fence);
  // A write of the lease succeeded that was sent then: what is left of the time since may be used
  // to write. True: the fence was shut and is open. Requires: between Begin and End.
  bool Renew(TimePoint sent);
  void Lead();
  // The term is over: its fence is closed for ever. Without effect before the first Begin.
  void End();
  // The same, but the metrics stay.
  void Close();

  bool IsLeader() const;
  // Requires: after Begin.
  bool MayWrite() const;
  std::shared_ptr<const WriteFence> fence() const;
  // LeaderElector::Failure.
  std::string Failure(Duration tolerance) const;
  // A renewal needed to read the lease first.
  void CountSlowPath();

 private:
  void SetLeading(bool leading) KS_REQUIRES(mutex_);

  const Clock& clock_;
  LeaderMetrics* const metrics_;
  const std::string lease_name_;
  const Duration lease_duration_;
  const Duration write_time_;  // from before a renewal was sent

  mutable Mutex mutex_;
  std::shared_ptr<WriteFence> fence_ KS_GUARDED_BY(mutex_);  // null: before the first Begin
  bool leading_ KS_GUARDED_BY(mutex_) = false;
  TimePoint renewed_ KS_GUARDED_BY(mutex_){};  // when the last good renewal was sent
};

}  // namespace ks::client
