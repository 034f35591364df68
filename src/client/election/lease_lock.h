// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an elector asks of the API server about its Lease, in the words of client-go's LeaseLock.
// Makes the requests; sends nothing.
//
// Upstream: docs/spec/api.md sections 11.1 to 11.5.

#include <chrono>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "client/election/leader_elector.h"
#include "client/election/lease_object.h"
#include "client/election/observed_record.h"
#include "client/rest/rest_client.h"

namespace ks::client {

// Threads: any; immutable.
class LeaseLock {
 public:
  explicit LeaseLock(const LeaderElectorOptions& options);

  // By which this process acquires or renews the lease.
  LeaseRecord NextRecord(const ObservedRecord& observed, TimePoint wall_now) const {
    return observed.NextRecord(identity_, lease_duration_, wall_now);
  }

  RestRequest Get() const;
  RestRequest Create(const LeaseRecord& record) const;
  // What happens to the object after this state of it.
  RestRequest Watch(const LeaseObject& lease) const;
  // `lease`: as last received. Fails with a conflict if it is another one by now.
  RestRequest Update(const LeaseObject& lease, const LeaseRecord& record) const;
  // An event about the lease: that this process `what` ("became leader").
  RestRequest RecordEvent(const LeaseObject& lease, std::string_view what,
                          TimePoint wall_now) const;

  // "<namespace>/<name>", for log lines.
  const std::string& Describe() const { return description_; }

 private:
  RestRequest OfLease(const char* method, std::string body) const;

  const std::string namespace_;
  const std::string name_;
  const std::string identity_;
  const std::chrono::seconds lease_duration_;
  const std::string event_component_;
  const Duration timeout_;  // of a request
  const std::string description_;
  const std::string collection_;     // path
  const std::string timeout_query_;  // "?timeout=5s"
};

}  // namespace ks::client
