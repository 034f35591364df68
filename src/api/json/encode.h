// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bodies of the scheduler's writes, as text: Binding, pod status patches, Events, Lease.
//
// Upstream: docs/spec/api.md sections 9 (bodies and the difference rules of status patches), 10.2
// (events), 11.1 (leases).

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/lease.h"
#include "api/pod.h"
#include "api/pod_group.h"

namespace ks::api {

// {"kind":"Binding",…}
std::string BindingBody(const Pod& pod, std::string_view node_name);

// Which request of a claim serves an extended resource of a container.
struct ExtendedResourceMapping {
  std::string container;
  std::string resource;
  std::string request;

  friend bool operator==(const ExtendedResourceMapping&, const ExtendedResourceMapping&) = default;
};
// status.extendedResourceClaimStatus of a pod.
struct ExtendedResourceClaimStatus {
  std::string claim_name;
  std::vector<ExtendedResourceMapping> mappings;
};

// What a status patch should bring about. Absent: leave as it is.
struct PodStatusChange {
  // last_transition_time is "now", used unless the status is unchanged.
  std::optional<Condition> condition;
  std::optional<std::string> nominated_node_name;  // "" clears
  std::optional<ExtendedResourceClaimStatus> extended_resource_claim{};
};

// The strategic merge patch from the pod's known status to the wanted one; empty when nothing needs
// to be sent. The condition's observed_generation is the caller's (metadata.generation).
std::string PodStatusPatch(const Pod& pod, const PodStatusChange& change);

// The same from the group's known conditions to the wanted one.
std::string PodGroupStatusPatch(const PodGroup& group, const Condition& condition);

// {"kind":"DeleteOptions",…}: deletes the object only while it has that uid.
std::string DeleteOptionsBody(std::string_view uid);

// What else an event is about.
using EventRelated = std::variant<std::monostate, PodPtr, PodGroupPtr, CompositePodGroupPtr>;
// Null for nothing.
const ObjectMeta* MetaOf(const EventRelated& related);

// An events.k8s.io/v1 Event about a pod.
struct EventRecord {
  Symbol ns;
  std::string name;
  std::string reporting_controller;
  std::string reporting_instance;
  std::string action;
  std::string reason;
  std::string note;
  bool warning = false;
  PodPtr regarding;
  EventRelated related;
  TimePoint event_time;
  // Only for a series whose patch found no event: it is posted again.
  int32_t series_count = 0;  // 0: no series
  TimePoint series_last_observed{};
};
std::string EventBody(const EventRecord& event);
// {"series":{"count":2,"lastObservedTime":"…"}}
std::string EventSeriesPatch(int32_t count, TimePoint last_observed);
// `<name>.<now in unix nanoseconds, hex>`, or a random-looking UUID made from `salt` when that is
// no DNS subdomain.
std::string EventName(std::string_view object_name, TimePoint now, uint64_t salt);
// The note as it leaves a printf-like formatter without arguments, then cut to 1024 bytes rules
// (docs/spec/api.md 10.2, trap 11: the cut comes first). `cut`: FailedScheduling notes only.
std::string EventNote(std::string_view text, bool cut);

}  // namespace ks::api
