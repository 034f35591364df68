// SPDX-License-Identifier: Apache-2.0
#include "client/election/lease_lock.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace ks::client {
namespace {

constexpr Duration kEventTimeout = std::chrono::seconds(1);

}  // namespace

LeaseLock::LeaseLock(const LeaderElectorOptions& options)
    : namespace_(options.lease_namespace),
      name_(options.lease_name),
      identity_(options.identity),
      lease_duration_(std::chrono::floor<std::chrono::seconds>(options.lease_duration)),
      event_component_(options.event_component),
      timeout_(std::max<Duration>(std::chrono::seconds(1), options.renew_deadline / 2)),
      description_(namespace_ + "/" + name_),
      collection_("/apis/coordination.k8s.io/v1/namespaces/" + EscapeUrl(namespace_) + "/leases"),
      timeout_query_("?timeout=" + EscapeUrl(FormatDuration(timeout_))) {}

// A request about the object itself.
RestRequest LeaseLock::OfLease(const char* method, std::string body) const {
  return {.method = method,
          .target = collection_ + "/" + EscapeUrl(name_) + timeout_query_,
          .body = std::move(body),
          .timeout = timeout_,
          .resource = "leases",
          .name = name_};
}

RestRequest LeaseLock::Get() const { return OfLease("GET", ""); }

RestRequest LeaseLock::Watch(const LeaseObject& lease) const {
  return {.target = collection_ + "?fieldSelector=" + EscapeUrl("metadata.name=" + name_) +
                    "&resourceVersion=" + EscapeUrl(lease.resource_version()) + "&watch=true",
          .verb = "watch",
          .resource = "leases",
          .name = name_};
}

RestRequest LeaseLock::Create(const LeaseRecord& record) const {
  return {.method = "POST",
          .target = collection_ + timeout_query_,
          .body = NewLeaseBody(namespace_, name_, record),
          .timeout = timeout_,
          .resource = "leases",
          .name = name_};
}

RestRequest LeaseLock::Update(const LeaseObject& lease, const LeaseRecord& record) const {
  return OfLease("PUT", lease.With(record));
}

RestRequest LeaseLock::RecordEvent(const LeaseObject& lease, std::string_view what,
                                   TimePoint wall_now) const {
  const LeaseEvent event{.ns = namespace_,
                         .name = name_,
                         .uid = lease.uid(),
                         .resource_version = lease.resource_version(),
                         .message = (identity_ + " ").append(what),
                         .component = event_component_,
                         .now = wall_now};
  return {.method = "POST",
          .target = "/api/v1/namespaces/" + EscapeUrl(namespace_) + "/events" + timeout_query_,
          .body = LeaseEventBody(event),
          .timeout = kEventTimeout,
          .resource = "events"};
}

}  // namespace ks::client
