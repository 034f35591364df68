// SPDX-License-Identifier: Apache-2.0
#pragma once
// A Lease as leader election handles it: what its spec says, compared as text, and the object as
// received, so that an update keeps what it does not know.
//
// Upstream: docs/spec/api.md sections 11.1, 11.3 and 11.5.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace ks::client {

// Times as text: those of others are never interpreted (trap 14).
struct LeaseRecord {
  std::string holder;  // empty: released, or never held
  int64_t duration_seconds = 0;
  std::string acquire_time;  // empty: none
  std::string renew_time;
  int64_t transitions = 0;
  // Coordinated election: who shall have it next, as the API server decided. Read only: an update
  // keeps what was received.
  std::string preferred_holder{};
};

// Threads: like a value.
class LeaseObject {
 public:
  LeaseObject() = default;  // of a Lease that does not exist

  // Error: no Lease.
  static Result<LeaseObject> Parse(std::string_view json);

  const LeaseRecord& record() const { return record_; }
  // The whole spec in one form: equal texts are equal records.
  const std::string& spec() const { return spec_; }
  const std::string& uid() const { return uid_; }
  const std::string& resource_version() const { return resource_version_; }
  bool exists() const { return !text_.empty(); }

  // The body of a PUT: this object with another record; everything else as received.
  std::string With(const LeaseRecord& record) const;

 private:
  std::string text_;
  LeaseRecord record_;
  std::string spec_;
  std::string uid_;
  std::string resource_version_;
};

// The body of a POST.
std::string NewLeaseBody(std::string_view ns, std::string_view name, const LeaseRecord& record);

// A core/v1 Event about the lease.
struct LeaseEvent {
  std::string ns;    // of the lease
  std::string name;  // of the lease
  std::string uid;
  std::string resource_version;
  std::string message;    // "<identity> became leader"
  std::string component;  // the first profile's schedulerName
  TimePoint now;
};
std::string LeaseEventBody(const LeaseEvent& event);

}  // namespace ks::client
