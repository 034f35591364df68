// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an elector asks of the API server about its Lease, in the words of client-go's LeaseLock.
// Makes the requests; sends nothing.
//
// Upstream: docs/spec/api.md sections 11.1 to 11.5.

#include <string>
#include <string_view>

#include "base/clock.h"
#include "client/election/leader_elector.h"
#include "client/election/lease_object.h"
#include "client/rest/rest_client.h"

namespace ks::client {

// Threads: any; immutable.
class LeaseLock {
 public:
  explicit LeaseLock(const LeaderElectorOptions& options);

  RestRequest Get() const;
  RestRequest Create(const LeaseRecord& record) const;
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
  const std::string event_component_;
  const Duration timeout_;  // of a request
  const std::string description_;
  const std::string collection_;     // path
  const std::string timeout_query_;  // "?timeout=5s"
};

}  // namespace ks::client
