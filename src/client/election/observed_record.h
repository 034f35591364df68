// SPDX-License-Identifier: Apache-2.0
#pragma once
// What was last seen of the lease, and since when: client-go's observedRecord and observedTime. Age
// is counted by this process's monotonic clock, from when a change was seen; the times in the
// record are those of others and never compared.
//
// Upstream: docs/spec/operations.md section 6.3, docs/spec/api.md section 11.3.

#include <chrono>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "client/election/lease_object.h"

namespace ks::client {

// Threads: one at a time.
class ObservedRecord {
 public:
  // The lease as it was read now. An object that changed, but not its spec, says nothing of its
  // holder: neither record nor age change.
  void Observe(LeaseObject lease, TimePoint now);
  // The answer to a write of this record, which was sent then: its age counts from there. False:
  // the answer is no Lease, and nothing changes.
  bool ObserveWrite(std::string_view answer, const LeaseRecord& written, TimePoint sent);
  // The lease does not exist.
  void Clear();

  // As last received.
  const LeaseObject& lease() const { return lease_; }
  // What counts.
  const LeaseRecord& record() const { return record_; }
  bool IsHeldBy(const std::string& identity) const { return record_.holder == identity; }
  // The lease has not run out since it was seen to change.
  bool IsLeaseValid(TimePoint now) const { return now < expires(); }
  // Until the lease runs out, if it does not change before. Duration::max(): there is none, or it
  // has run out.
  Duration TimeLeft(TimePoint now) const {
    return lease_.exists() && now < expires() ? expires() - now : Duration::max();
  }

  // The record by which `identity` acquires or renews the lease. Acquire time and transitions stay
  // as long as the holder does.
  LeaseRecord NextRecord(const std::string& identity, std::chrono::seconds duration,
                         TimePoint wall_now) const;

  // Coordinated election. Of candidates that are alike the server names one and prefers another in
  // the same moment, each time anew: if the one waited for the other, nobody would lead. So whoever
  // is preferred when this process acquires the lease is no reason to give it up.
  void ToleratePreferred() { tolerated_ = lease_.record().preferred_holder; }
  // The server prefers another holder, who is not tolerated.
  bool PrefersAnotherThan(const std::string& identity) const;

 private:
  TimePoint expires() const { return observed_ + std::chrono::seconds(record_.duration_seconds); }

  LeaseObject lease_;
  LeaseRecord record_;
  TimePoint observed_{};
  std::string tolerated_;
};

}  // namespace ks::client
